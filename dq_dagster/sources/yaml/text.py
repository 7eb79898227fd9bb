"""YAML as plain data with line numbers; nothing in a file can run code or exhaust memory."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import yaml

from dq_dagster.errors import DeclarationError, Problem
from dq_dagster.rules.fields.constraints import refuse_vast
from dq_dagster.sources.reading import Declaration

_MICROSECONDS = re.compile(r"\.\d{6}\d*[1-9]")
_PLAIN = re.compile(r"[-+]?\d+")


def number(text: str) -> int | float | Decimal:
    """The number that a text writes; a decimal where a float would have other digits.

    0.1 stays a float: it reads 0.1 everywhere, and bounds mean what their text says. Raises
    ValueError for numbers of absurd size.
    """
    if not any(digit in text for digit in "0123456789"):
        # .inf and .nan
        return float(text.replace(".", ""))
    exact = _decimal(text)
    refuse_vast(exact)
    if _PLAIN.fullmatch(text):
        return int(text)
    nearest = float(text)
    return nearest if _is_written(nearest, exact) else exact


def refuse_lost_fraction(text: str) -> None:
    """A time is held to the microsecond; digits beyond would be dropped without a word."""
    if _MICROSECONDS.search(text):
        raise ValueError("a time has at most six digits behind the point")


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except ArithmeticError:
        raise ValueError("a number of that size is a mistake") from None


def _is_written(nearest: float, exact: Decimal) -> bool:
    return math.isfinite(nearest) and Decimal(repr(nearest)) == exact


LARGEST_FILE = 1_048_576
# Keys that begin so are there to hold anchors.
ANCHORS = "x-"
_MERGE = "<<"
_MOST_NODES = 100_000
_DEEPEST = 50
_LONGEST_SHOWN = 60
SCALARS = {
    "tag:yaml.org,2002:null": re.compile(r"^(?:~|null|Null|NULL|)$"),
    "tag:yaml.org,2002:bool": re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"),
    "tag:yaml.org,2002:int": re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"),
    "tag:yaml.org,2002:float": re.compile(
        r"^[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?"
        r"|\.inf|\.Inf|\.INF)$|^\.(?:nan|NaN|NAN)$"
    ),
    "tag:yaml.org,2002:timestamp": re.compile(
        r"^\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)?)?$"
    ),
}
# What usually lies behind the words of the YAML library.
_TIPS = {
    "cannot start any token": " Indent with spaces, not tabs, and quote texts with % @ or `.",
    "mapping values are not allowed": " Put a text that has ': ' in it into quotes.",
    "expected node content": " A value, or the end of a '[' or '{', is missing.",
    "expected ',' or ']'": " A '[' before it is never closed.",
    "expected ',' or '}'": " A '{' before it is never closed.",
}
_PLAIN_TAGS = {
    *SCALARS,
    "tag:yaml.org,2002:str",
    "tag:yaml.org,2002:seq",
    "tag:yaml.org,2002:map",
}


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads scalars as YAML 1.2 does: ``NO`` is a country, ``010`` a code, ``12:30`` a text."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012 (PyYAML's own convention)


def _number(loader: Any, node: yaml.ScalarNode) -> Any:
    if not SCALARS[node.tag].match(node.value):
        # Written with a tag of its own, such as !!int 0x1F.
        raise ValueError("write a number in digits")
    return number(node.value)


def _moment(loader: Any, node: yaml.ScalarNode) -> Any:
    refuse_lost_fraction(node.value)
    return loader.construct_yaml_timestamp(node)


for _tag, _pattern in SCALARS.items():
    _Loader.add_implicit_resolver(_tag, _pattern, None)
for _kind, _constructor in {"int": _number, "float": _number, "timestamp": _moment}.items():
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _constructor)


# Of JSON, what YAML reads otherwise: tabs between values, and characters as pairs of escapes.
_IN_JSON = re.compile(r'"(?:[^"\\]|\\.)*+"|\t', re.DOTALL)
_PAIR = re.compile(
    r"(?<!\\)((?:\\\\)*)((?:\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})+)"
)


def json_as_yaml(text: str) -> str:
    """JSON as a text that means the same in YAML, with the same lines."""

    def character(found: re.Match[str]) -> str:
        return found[1] + str(json.loads(f'"{found[2]}"'))

    def rewritten(found: re.Match[str]) -> str:
        return " " if found[0] == "\t" else _PAIR.sub(character, found[0])

    return _IN_JSON.sub(rewritten, text)


def read_documents(text: str, *, name: str) -> list[Any]:
    """The documents of a YAML text; mappings come as declarations, at every depth."""
    _refuse_depth(text, name)
    loader = _Loader(text)
    try:
        nodes = []
        while loader.check_node():
            nodes.append(loader.get_node())
        return [_build(node, name, loader) for node in nodes if _is_harmless(node, name)]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        # The end of a file has a line of its own for the library, but not for an editor.
        line = min(mark.line + 1, max(1, len(text.splitlines()))) if mark else 1
        hint = next((tip for sign, tip in _TIPS.items() if sign in str(error.problem)), "")
        raise _problem(name, line, f"not valid YAML: {error.problem}.{hint}") from None
    except yaml.YAMLError as error:
        raise _problem(name, 1, f"not valid YAML: {error}.") from None
    finally:
        loader.dispose()


def _refuse_depth(text: str, name: str) -> None:
    """Refuses deep nesting before anything recurses into it."""
    depth = 0
    try:
        for event in yaml.parse(text, Loader=_Loader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                line = event.start_mark.line + 1
                raise _problem(name, line, f"nested more than {_DEEPEST} levels deep.")
    except yaml.YAMLError:
        # Reported with its line when the text is read for good.
        return


def _is_harmless(root: yaml.Node, name: str) -> bool:
    """Refuses foreign tags, and aliases that refer to themselves or multiply without end."""
    sizes: dict[int, int | None] = {}

    def size(node: yaml.Node) -> int:
        if node.tag not in _PLAIN_TAGS:
            raise _problem(name, _line(node), f"the tag '{node.tag}' is not allowed.")
        known = sizes.get(id(node), 0)
        if known is None:
            raise _problem(name, _line(node), "an alias refers to itself.")
        if not known:
            sizes[id(node)] = None
            known = 1 + sum(size(child) for child in _children(node))
            sizes[id(node)] = known
        if known > _MOST_NODES:
            raise _problem(name, _line(node), f"more than {_MOST_NODES:,} values, with aliases.")
        return known

    size(root)
    return True


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key
            yield value
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value


def _build(node: yaml.Node, name: str, loader: Any) -> Any:
    if isinstance(node, yaml.MappingNode):
        return _build_mapping(node, name, loader)
    if isinstance(node, yaml.SequenceNode):
        return [_build(item, name, loader) for item in node.value]
    try:
        return loader.construct_object(node)
    except ValueError as error:
        shown = node.value if len(node.value) <= _LONGEST_SHOWN else f"{node.value[:40]}…"
        raise _problem(name, _line(node), f"'{shown}' is not valid: {error}.") from None


def _build_mapping(node: yaml.MappingNode, name: str, loader: Any) -> Declaration:
    data: dict[str, Any] = {}
    places: dict[str, str] = {}
    inherited: list[Declaration] = []
    for key_node, value_node in node.value:
        key = key_node.value
        if not isinstance(key, str):
            raise _problem(name, _line(key_node), "a key must be a plain word.")
        if key in data or (inherited and _is_merge(key_node)):
            raise _problem(name, _line(key_node), f"'{key}' stands here twice.")
        if _is_merge(key_node):
            inherited = _inherited(key_node, value_node, name, loader)
            continue
        data[key] = _build(value_node, name, loader)
        places[key] = _place(key_node, name)
    # What stands here comes before what is inherited, and that in the order of the list.
    for one in inherited:
        data = {**one.fields, **data}
        places = {**one.places, **places}
    return Declaration(data, _place(node, name), places)


def _is_merge(key: yaml.Node) -> bool:
    """Whether a key is YAML's sign to take over the keys of another mapping; a text is not."""
    return isinstance(key, yaml.ScalarNode) and key.value == _MERGE and not key.style


def _inherited(key: yaml.Node, value: yaml.Node, name: str, loader: Any) -> list[Declaration]:
    many: list[Any] = value.value if isinstance(value, yaml.SequenceNode) else [value]
    if not many or not all(isinstance(one, yaml.MappingNode) for one in many):
        message = (
            f"'{_MERGE}' takes over fields: give it a mapping such as *name, or a list of them."
        )
        raise _problem(name, _line(key), message)
    return [_build_mapping(one, name, loader) for one in many]


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _place(node: yaml.Node, name: str) -> str:
    return f"{name}:{_line(node)}"


def _problem(name: str, line: int, message: str) -> DeclarationError:
    return DeclarationError([Problem(message, place=f"{name}:{line}")])


class _Dumper(yaml.SafeDumper):
    """Quotes every text that would else be read as something other than text."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: FBT001, FBT002 (PyYAML's own)
        # Lists are indented below their key, as people write them.
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: Any) -> bool:
        # What occurs twice is written twice: not every tool reads anchors, and nobody likes them.
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    # YAML takes these for line breaks, unless they are escaped.
    style = '"' if set(text) & {"\x85", "\u2028", "\u2029"} else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _written_decimal(dumper: _Dumper, value: Decimal) -> yaml.ScalarNode:
    if not value.is_finite():
        return dumper.represent_float(float(value))
    text = str(value)
    kind = "int" if SCALARS["tag:yaml.org,2002:int"].match(text) else "float"
    return dumper.represent_scalar(f"tag:yaml.org,2002:{kind}", text)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(Decimal, _written_decimal)
for _tag, _pattern in SCALARS.items():
    _Dumper.add_implicit_resolver(_tag, _pattern, None)


def to_yaml(data: Any) -> str:
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
