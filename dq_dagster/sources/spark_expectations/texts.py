"""The SQL of Spark-Expectations' rules as this library reads it.

Placeholders are filled in, the parts of a query that stand behind delimiters are put into their
places, and what raises under ANSI is written so that it gives NULL, as it does without.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from dq_dagster.sources.migration import Untranslatable
from dq_dagster.sql.keywords import NEVER_CALLED
from dq_dagster.sql.queries import TABLE, tables_named
from dq_dagster.sql.tokens import NAMES, Refused, Token, TokenKind, tokenise

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_NAME = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.|'')*+'|\"(?:[^\"\\]|\\.|\"\")*+\"|`(?:[^`]|``)*+`", re.DOTALL)


def filled(text: str, params: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The text with the placeholders that have a value filled in, and their names."""
    names: list[str] = []

    def value(found: re.Match[str]) -> str:
        if found[1] not in params:
            return found[0]
        names.append(found[1])
        return str(params[found[1]])

    return _PLACEHOLDER.sub(value, text), list(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class QueryParts:
    """A condition, and the queries that it calls by name in curly brackets."""

    main: str
    queries: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, delimiter: str) -> QueryParts:
        """``main@alias@query@alias@query``; a delimiter between quotes is none."""
        pieces = _split(text, delimiter)
        aliases = [_NAME.fullmatch(piece) for piece in pieces[1::2]]
        if len(pieces) == 1 or any(alias is None for alias in aliases):
            return cls(text)
        if len(pieces) % 2 == 0:
            raise Untranslatable(f"behind the last '{delimiter}' there is a name without a query.")
        names = [alias[1] for alias in aliases if alias is not None]
        if len(set(names)) < len(names):
            [(twice, _)] = Counter(names).most_common(1)
            raise Untranslatable(f"there are two queries of the name '{twice}'.")
        return cls(pieces[0], dict(zip(names, (q.strip() for q in pieces[2::2]), strict=True)))

    def whole(self, params: Mapping[str, Any]) -> str:
        """One text; raises Untranslatable for a placeholder that nobody gives a value."""
        unused = [name for name in self.queries if f"{{{name}}}" not in self.main]
        if unused:
            raise Untranslatable(f"the condition does not use the query '{unused[0]}'.")
        given = {name: filled(query, params)[0] for name, query in self.queries.items()}
        text, _ = filled(_with_queries(self.main, given), params)
        unknown = [name for name in _PLACEHOLDER.findall(text) if f"{{{name}}}" != TABLE]
        if unknown:
            raise Untranslatable(
                f"'{{{unknown[0]}}}' has no value: give it by params={{'{unknown[0]}': ...}}."
            )
        return text.replace("{{", "{").replace("}}", "}")


def _split(text: str, delimiter: str) -> list[str]:
    pieces, start = [], 0
    for found in re.finditer(f"{_QUOTED.pattern}|({re.escape(delimiter)})", text, re.DOTALL):
        if found[1]:
            pieces.append(text[start : found.start()])
            start = found.end()
    return [*pieces, text[start:]]


def _with_queries(main: str, queries: Mapping[str, str]) -> str:
    """The queries in their places, each between brackets."""

    def query(found: re.Match[str]) -> str:
        if found[1] not in queries:
            return found[0]
        before, after = main[: found.start()].rstrip(), main[found.end() :].lstrip()
        bare = queries[found[1]]
        return bare if before.endswith("(") and after.startswith(")") else f"({bare})"

    return _PLACEHOLDER.sub(query, main)


def with_tables(text: str, slots: Mapping[tuple[str, ...], str]) -> tuple[str, list[str]]:
    """The query, in which these tables are called by slots such as ``{table}``; and all others.

    A name in front of a column keeps its meaning: the slot gets it as its alias.
    """
    try:
        named = tables_named(text)
    except Refused as refused:
        raise Untranslatable(refused.refusal.reason) from None
    pieces, others, position = [], [], 0
    for parts, start, stop in named:
        slot = slots.get(tuple(part.lower() for part in parts))
        if slot is None:
            others.append(".".join(parts))
            continue
        alias = parts[-1]
        qualifies = re.search(rf"(?<![\w.`]){re.escape(alias)}\s*\.", text[:start] + text[stop:])
        called = f"{slot} AS {text[start:stop].rpartition('.')[2]}" if qualifies else slot
        pieces += [text[position:start], called]
        position = stop
    return "".join([*pieces, text[position:]]), list(dict.fromkeys(others))


# --- ANSI ---------------------------------------------------------------------------------------

# Functions that raise on what they cannot read, and those that give NULL instead.
_TRYING = {
    "cast": "try_cast",
    "to_timestamp": "try_to_timestamp",
    "to_number": "try_to_number",
    "to_binary": "try_to_binary",
    "element_at": "try_element_at",
    "parse_url": "try_parse_url",
    "url_decode": "try_url_decode",
    "parse_json": "try_parse_json",
}
# Types that are called like functions, to cast to them.
_CASTING = frozenset(
    "bigint boolean date decimal double float int smallint timestamp tinyint".split()
)
_DIVIDING = frozenset({"/", "%", "div"})
# The same as calls: their second argument is the divisor.
_REMAINDERS = frozenset({"mod", "pmod"})
_FURTHER = frozenset({"[", "::", ".", "over", "filter"})
# What ends something longer than the bracket or the word in front of it.
_ENDING = frozenset({"end", "filter", "over", "within"})


@dataclass(frozen=True, slots=True)
class Edit:
    """What stands in the place of a piece of the text; ``closes`` what an edit before it opened."""

    start: int
    stop: int
    new: str
    closes: bool = False


def without_raising(text: str) -> tuple[str, list[str]]:
    """The text, in which what cannot be cast, read or divided gives NULL; and what was changed."""
    try:
        tokens = tokenise(text, slots=True)
    except Refused:
        # It is refused later, with the reason.
        return text, []
    partners = _brackets(tokens)
    edits: list[Edit] = []
    changed: list[str] = []
    for number, (token, then) in enumerate(pairwise(tokens)):
        found: list[Edit] = []
        if token.key in _DIVIDING:
            found = _guarded(tokens, partners, number)
        elif token.key == "::":
            found = _cast_after(tokens, partners, number)
        elif token.kind is TokenKind.WORD and then.key == "(" and not _is_type(tokens, number):
            found = _tried(tokens, partners, number)
        edits += found
        changed += [token.text.lower()] if found else []
    return _edited(text, edits), list(dict.fromkeys(changed))


def _is_type(tokens: Sequence[Token], number: int) -> bool:
    """Whether it is the name of a type: ``cast(a AS decimal(10))``."""
    before = [token.key for token in tokens[max(0, number - 2) : number]]
    return before[-1:] in (["as"], ["::"]) or before in (["array", "<"], ["map", "<"])


def _tried(tokens: Sequence[Token], partners: Mapping[int, int], number: int) -> list[Edit]:
    """What a call that may raise is written like."""
    name, close = tokens[number], tokens[partners[number + 1]]

    def called(new: str) -> Edit:
        return Edit(name.start, name.stop, new)

    if name.key in _TRYING:
        return [called(_TRYING[name.key])]
    commas = _commas(tokens, partners, number + 1)
    if name.key in _REMAINDERS and len(commas) == 1:
        start = tokens[commas[0]].stop
        return [
            Edit(start, start, " nullif("),
            Edit(close.start, close.start, ", 0)", closes=True),
        ]
    arguments = len(commas) + 1 if partners[number + 1] > number + 2 else 0
    if name.key in _CASTING | {"to_date"} and arguments == 1:
        kind = "DATE" if name.key == "to_date" else name.text
        return [called("try_cast"), Edit(close.start, close.start, f" AS {kind}", closes=True)]
    if name.key == "to_date" and arguments == 2:
        read = called("CAST(try_to_timestamp")
        return [read, Edit(close.stop, close.stop, " AS DATE)", closes=True)]
    return []


def _guarded(tokens: Sequence[Token], partners: Mapping[int, int], number: int) -> list[Edit]:
    """The divisor as NULL where it is zero, if it is clear where that ends."""
    first = last = number + 1
    if tokens[first].kind is TokenKind.NUMBER and float_or_zero(tokens[first].text):
        return []
    if tokens[first].kind in NAMES:
        while tokens[last + 1].key == "." and tokens[last + 2].kind in NAMES:
            last += 2
        last = partners.get(last + 1, last)
    elif tokens[first].key == "(":
        last = partners[first]
    elif tokens[first].kind is not TokenKind.NUMBER:
        return []
    if tokens[last + 1].key in _FURTHER or tokens[first].key in {"nullif", "case"}:
        return []
    start, stop = tokens[first].start, tokens[last].stop
    return [Edit(start, start, "nullif("), Edit(stop, stop, ", 0)", closes=True)]


def float_or_zero(text: str) -> float:
    """The number that a token writes; zero if Python reads it otherwise."""
    try:
        return float(text)
    except ValueError:
        return 0.0


def _cast_after(tokens: Sequence[Token], partners: Mapping[int, int], number: int) -> list[Edit]:
    """``x::int`` as a call that does not raise, if it is clear what is cast to what."""
    first = _operand_before(tokens, partners, number)
    last = number + 1
    if first is None or tokens[last].kind is not TokenKind.WORD or tokens[last].key == "interval":
        return []
    if tokens[last + 1].key == "(":
        last = partners[last + 1]
    if tokens[last + 1].key in {*_FURTHER, "<"}:
        return []
    sign, start, stop = tokens[number], tokens[first].start, tokens[last].stop
    return [
        Edit(start, start, "try_cast("),
        Edit(sign.start, sign.stop, " AS "),
        Edit(stop, stop, ")", closes=True),
    ]


def _operand_before(
    tokens: Sequence[Token], partners: Mapping[int, int], number: int
) -> int | None:
    """Where the operand begins that ends there: a name, a literal, a bracket or a call."""
    first = number - 1
    if first < 0:
        return None
    if tokens[first].key == ")":
        opened = [index for index, closing in partners.items() if closing == first]
        first = opened[0]
        if not first or tokens[first - 1].kind not in NAMES:
            return first
        if tokens[first - 1].key in {"case", *NEVER_CALLED} - _ENDING:
            return first
        first -= 1
    if tokens[first].key in _ENDING:
        return None
    if tokens[first].kind in NAMES:
        while first > 1 and tokens[first - 1].key == "." and tokens[first - 2].kind in NAMES:
            first -= 2
        return None if first and tokens[first - 1].key in {".", "::"} else first
    # Behind a word, as in DATE '2024-01-01', a text is only a part of a literal.
    is_literal = tokens[first].kind in {TokenKind.STRING, TokenKind.NUMBER}
    return first if is_literal and not (first and tokens[first - 1].kind in NAMES) else None


def _commas(tokens: Sequence[Token], partners: Mapping[int, int], opening: int) -> list[int]:
    """Where the arguments of a call are parted."""
    found, index = [], opening + 1
    while index < partners[opening]:
        if tokens[index].key == ",":
            found.append(index)
        index = partners.get(index, index) + 1
    return found


def _brackets(tokens: Sequence[Token]) -> dict[int, int]:
    """For each opening bracket's index the index of the one that closes it; without any if odd."""
    partners: dict[int, int] = {}
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.key == "(":
            opened.append(index)
        elif token.key == ")" and opened:
            partners[opened.pop()] = index
    for index in opened:
        partners[index] = len(tokens) - 1
    return partners


def _edited(text: str, edits: Sequence[Edit]) -> str:
    pieces, position = [], 0
    # Of several that close at one place, the last one opened is the first.
    inner_first = [*[e for e in edits if not e.closes], *reversed([e for e in edits if e.closes])]
    # What is put before a name comes before what replaces it.
    for edit in sorted(inner_first, key=lambda one: (one.start, not one.closes, one.stop)):
        pieces += [text[position : edit.start], edit.new]
        position = edit.stop
    return "".join([*pieces, text[position:]])
