"""How Spark itself reads an expression: its tokens and its tree, before anything is resolved."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pyspark.errors import ParseException
from pyspark.sql import SparkSession

@dataclass(frozen=True)
class SparkReading:
    """What Spark's parser makes of one text."""

    nodes: frozenset[str]
    functions: frozenset[str]
    columns: frozenset[str]
    variables: frozenset[str]


class SparkParser:
    """The parser of a classic Spark session."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark._jvm
        self._parser = spark._jsparkSession.sessionState().sqlParser()  # noqa: SLF001

    def read(self, text: str) -> SparkReading | None:
        """The reading of the text as one expression; nothing if Spark refuses it."""
        try:
            tree = json.loads(self._parser.parseExpression(text).toJSON())
        except ParseException:
            return None
        found = list(_nodes(tree))
        return SparkReading(
            nodes=frozenset(name for name, _ in found),
            functions=_named(found, "UnresolvedFunction"),
            columns=_named(found, "UnresolvedAttribute"),
            variables=_named(found, "UnresolvedNamedLambdaVariable"),
        )

    def tokens(self, text: str) -> str:
        """Its tokens in ANTLR's notation: each with place, text and type."""
        package = self._jvm.org.apache.spark.sql.catalyst.parser
        stream = self._jvm.org.antlr.v4.runtime.CharStreams.fromString(text)
        lexer = package.SqlBaseLexer(package.UpperCaseCharStream(stream))
        return str(lexer.getAllTokens().toString())


def _nodes(tree: Any) -> list[tuple[str, dict[str, Any]]]:
    """Every node of the tree, at whatever depth its JSON hides it."""
    if isinstance(tree, list):
        return [node for part in tree for node in _nodes(part)]
    if not isinstance(tree, dict):
        return []
    inner = [node for part in tree.values() for node in _nodes(part)]
    return [(tree["class"].rsplit(".", 1)[-1], tree), *inner] if "class" in tree else inner


def _named(nodes: list[tuple[str, dict[str, Any]]], kind: str) -> frozenset[str]:
    return frozenset(node["nameParts"] for name, node in nodes if name == kind)
