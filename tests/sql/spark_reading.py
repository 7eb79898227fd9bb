"""How Spark itself reads an expression: its tokens and its tree, before anything is resolved."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.errors import ParseException
from pyspark.sql import SparkSession

Node = dict[str, Any]

#: Spark checks the values of literals while it parses; they are none of the front door's business.
_BAD_LITERALS = frozenset({"INVALID_TYPED_LITERAL", "INVALID_NUMERIC_LITERAL_RANGE"})


@dataclass(frozen=True)
class Reading:
    """What Spark's parser makes of a text; names are in Spark's notation: ``[a, b]``."""

    nodes: frozenset[str]
    functions: frozenset[str]
    columns: frozenset[str]
    lambda_names: frozenset[str]
    tree: Tree


@dataclass(frozen=True)
class Tree:
    """A node with the name of what it calls or stands for, and the nodes below it."""

    kind: str
    name: str
    children: tuple[Tree, ...]

    def paths(self, above: tuple[Tree, ...] = ()) -> Iterator[tuple[Tree, ...]]:
        """Every way down from the root to a node."""
        path = (*above, self)
        yield path
        for child in self.children:
            yield from child.paths(path)


class SparkParser:
    """The parser of a classic Spark session."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark._jvm  # noqa: SLF001 (the oracle is Spark's own parser)
        self._parser: Any = spark._jsparkSession.sessionState().sqlParser()  # noqa: SLF001

    def read(self, text: str) -> Reading | None:
        """The text as one expression; nothing if only the value of a literal is wrong."""
        try:
            tree = json.loads(self._parser.parseExpression(text).toJSON())
        except ParseException as error:
            if error.getCondition() in _BAD_LITERALS:
                return None
            raise
        nodes = [(_kind(node), node) for node in _nodes(tree)]
        return Reading(
            nodes=frozenset(kind for kind, _ in nodes),
            functions=_names(nodes, "UnresolvedFunction"),
            columns=_names(nodes, "UnresolvedAttribute"),
            lambda_names=_names(nodes, "UnresolvedNamedLambdaVariable"),
            tree=_tree(iter(tree)),
        )

    def tokens(self, text: str) -> str:
        """The tokens in ANTLR's notation: each with its place, text and type."""
        stream = self._jvm.org.antlr.v4.runtime.CharStreams.fromString(text)
        package = self._jvm.org.apache.spark.sql.catalyst.parser
        lexer = package.SqlBaseLexer(package.UpperCaseCharStream(stream))
        return str(lexer.getAllTokens().toString())

    def keywords(self) -> list[str]:
        """Every keyword of Spark's lexer."""
        stream = self._jvm.org.antlr.v4.runtime.CharStreams.fromString("")
        lexer = self._jvm.org.apache.spark.sql.catalyst.parser.SqlBaseLexer(stream)
        vocabulary = lexer.getVocabulary()
        literals = map(vocabulary.getLiteralName, range(vocabulary.getMaxTokenType() + 1))
        words = (literal.strip("'") for literal in literals if literal)
        return sorted(word.lower() for word in words if word.replace("_", "").isalpha())

    def functions(self) -> dict[str, tuple[str, str]]:
        """Each built-in function with its group and its documented examples."""
        registry = self._jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry
        known = registry.functionSet().iterator()
        found = {}
        while known.hasNext():
            info = registry.builtin().lookupFunction(known.next()).get()
            found[info.getName()] = (info.getGroup(), info.getExamples())
        return found


def _nodes(part: Any) -> Iterator[Node]:
    """Every node of the tree, however deep its JSON hides it."""
    if isinstance(part, dict):
        if "class" in part:
            yield part
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from _nodes(inner)


def _tree(nodes: Iterator[Node]) -> Tree:
    """The tree from its nodes in order, each of which says how many are below it."""
    node = next(nodes)
    name = str(node.get("nameParts", ""))
    return Tree(_kind(node), name, tuple(_tree(nodes) for _ in range(node["num-children"])))


def _kind(node: Node) -> str:
    return str(node["class"]).rsplit(".", 1)[-1].split("$")[0]


def _names(nodes: list[tuple[str, Node]], wanted: str) -> frozenset[str]:
    return frozenset(node["nameParts"] for kind, node in nodes if kind == wanted)
