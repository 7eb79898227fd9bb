"""Conditions that are whole queries, or that compare what subqueries give.

They are written by somebody who is trusted, so that within a query everything is allowed that only
reads. Still the text is one query or one condition, whose brackets, strings and names end where
they seem to end, and it calls other things by name only: ``{table}`` for the rows, ``{name}`` for a
reference or a column, ``:name`` for a value. Nothing is ever pasted into it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, product

from dq_dagster.sql.expressions import (
    aggregate_calls,
    aggregate_columns_used,
    aggregate_refusals,
    columns_used,
    refusals,
    restricted,
)
from dq_dagster.sql.findings import (
    MAX_LENGTH,
    MAX_NESTING,
    MAX_REFUSALS,
    Findings,
    Place,
    Subquery,
)
from dq_dagster.sql.functions import SPELLED
from dq_dagster.sql.grammar import Grammar
from dq_dagster.sql.keywords import AFTER_VALUES, HIDDEN, QUERY_STARTS, SHAPING, STATEMENT_STARTS
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.refused_functions import REFUSED_IN_QUERIES
from dq_dagster.sql.tokens import NAMES, Cursor, Refused, Token, TokenKind, tokenise, unquoted

#: What a query calls the rows that are judged.
TABLE = "{table}"

_REMEMBERED = 1024
_OPENING, _CLOSING = frozenset("(["), frozenset(")]")
_TABLE_WORDS = frozenset({"from", "join", "table"})
# What may follow a list of tables, and what joins two queries.
_ENDS_TABLES = frozenset(
    "cluster distribute group having limit order select sort where window".split()
)
_SET_WORDS = frozenset("except intersect limit minus offset order union".split())
# Only these change something without being the first word: after WITH, and within FROM.
_CHANGES = {
    ("insert", "into"),
    ("insert", "overwrite"),
    ("merge", "into"),
    *product(
        ("alter", "create", "drop", "truncate"),
        ("database", "function", "or", "schema", "table", "temporary", "view"),
    ),
}
_CHANGES_FIRST = frozenset("alter create delete drop insert merge truncate update".split())
# In front of a name these are no databases to Spark, but formats of files to read.
_FILE_FORMATS = frozenset(
    "avro binaryfile csv delta image json libsvm orc parquet text xml".split()
)


@dataclass(frozen=True, slots=True)
class QueryText:
    """A text that was read: one query, or one condition on subqueries; or why it is neither."""

    text: str
    tokens: tuple[Token, ...] = ()
    is_query: bool = False
    subqueries: tuple[Subquery, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    @property
    def slots(self) -> tuple[str, ...]:
        """What it calls by name, such as ``{table}`` and ``:least``, in order."""
        return tuple(dict.fromkeys(token.text for token in self._slots))

    @property
    def handles_nan(self) -> bool:
        """Whether it says itself what is to become of NaN."""
        return any(token.key in {"isnan", "nanvl"} for token in self.tokens)

    def is_listed(self, slot: str) -> bool:
        """Whether a slot stands behind IN and nowhere else, as a list of values must."""
        before = [first.key for first, then in pairwise(self.tokens) if then.text == slot]
        return all(key == "in" for key in before)

    @property
    def values(self) -> tuple[Subquery, ...]:
        """The subqueries that stand for a value, written alike only once, unless one is all."""
        by_text = {one.text: one for one in self.subqueries if one.is_value}
        return () if self.text.strip() in by_text else tuple(by_text.values())

    def filled(
        self,
        slots: Mapping[str, str],
        start: int = 0,
        stop: int | None = None,
        literally: Callable[[str], str] = str,
    ) -> str:
        """The text, or a piece of it, with its slots replaced; KeyError if one is not given.

        ``literally`` is done to all that stands between them.
        """
        end = len(self.text) if stop is None else stop
        pieces, position = [], start
        for slot in self._slots:
            if start <= slot.start < end:
                pieces += [literally(self.text[position : slot.start]), slots[slot.text]]
                position = slot.stop
        return "".join([*pieces, literally(self.text[position:end])])

    @property
    def _slots(self) -> list[Token]:
        return [token for token in self.tokens if token.kind is TokenKind.SLOT]


@lru_cache(maxsize=_REMEMBERED)
def read_query(text: str) -> QueryText:
    """What the text is, and why it is refused, if it is."""
    try:
        return _read(text)
    except Refused as stop:
        return QueryText(text, refusals=(stop.refusal,))


def query_refusals(text: str) -> tuple[Refusal, ...]:
    """Why the text is neither a query nor a condition on subqueries; nothing if it is."""
    return read_query(text).refusals


def _read(text: str) -> QueryText:
    if len(text) > MAX_LENGTH:
        raise Refused(Refusal.too_long(len(text), MAX_LENGTH))
    tokens = tokenise(text, slots=True)
    if tokens[0].kind is TokenKind.END:
        raise Refused(Refusal.empty())
    _refuse_depth(tokens)
    cursor = Cursor(text, tokens)
    found = QueryText(text, tokens)
    refused = [
        *_statements(found),
        *_calls(found),
        *_programs(found),
        *_hidden(found),
        *_paths(found),
    ]
    if refused:
        return replace(found, refusals=tuple(dict.fromkeys(refused))[:MAX_REFUSALS])
    if _is_query(tokens):
        return replace(found, is_query=True)
    if not any(one.key == "(" and then.key in QUERY_STARTS for one, then in pairwise(tokens)):
        return replace(found, refusals=_without_query(found))
    findings = _findings(cursor, Place.QUERY)
    outside = [Refusal.outside_subqueries(name) for name in findings.loose]
    return replace(
        found,
        subqueries=tuple(findings.subqueries),
        refusals=tuple(findings.refusals) or tuple(outside[:MAX_REFUSALS]),
    )


def _findings(cursor: Cursor, place: Place) -> Findings:
    findings = Findings(place)
    try:
        Grammar(cursor, findings).read()
    except Refused as stop:
        findings.refusals[stop.refusal] = None
    except RecursionError:
        # The caller's own stack was nearly full.
        findings.refusals[Refusal.too_deep(MAX_NESTING)] = None
    return findings


def _without_query(found: QueryText) -> tuple[Refusal, ...]:
    """What is wrong with a condition without any query: mostly, it is of another type."""
    aggregates, row = (
        _findings(Cursor(found.text, found.tokens), place) for place in (Place.DATASET, Place.ROW)
    )
    if aggregates.calls and not aggregates.refusals:
        return (Refusal.no_query("agg_dq"),)
    if not row.refusals:
        return (Refusal.no_query("row_dq"),)
    return (*(aggregates if aggregates.calls else row).refusals, Refusal.no_query())


def tables_named(text: str) -> list[tuple[tuple[str, ...], int, int]]:
    """The tables that a query names: the parts of each name, and from where to where it stands.

    Raises Refused if the text cannot even be split into words.
    """
    return [
        (tuple(map(_name, names)), names[0].start, names[-1].stop)
        for names in _tables(tokenise(text, slots=True))
    ]


def _refuse_depth(tokens: Sequence[Token]) -> None:
    depth = 0
    for token in tokens:
        depth += (token.key in _OPENING) - (token.key in _CLOSING)
        if depth > MAX_NESTING:
            raise Refused(Refusal.too_deep(MAX_NESTING))


def _is_query(tokens: Sequence[Token]) -> bool:
    if tokens[0].key in QUERY_STARTS:
        return True
    first = next((token for token in tokens if token.key != "("), tokens[-1])
    outermost = {token.key for token, depth in _with_depth(tokens) if not depth}
    return first.key in QUERY_STARTS and not outermost.isdisjoint(_SET_WORDS)


def _with_depth(tokens: Sequence[Token]) -> Iterator[tuple[Token, int]]:
    """Each token with the number of brackets around it; a bracket is not within itself."""
    depth = 0
    for token in tokens:
        depth -= token.key in _CLOSING
        yield token, depth
        depth += token.key in _OPENING


def _statements(found: QueryText) -> Iterator[Refusal]:
    first, second = found.tokens[:2] if len(found.tokens) > 1 else (found.tokens[0],) * 2
    follows = second.kind in {*NAMES, TokenKind.SLOT} and second.key not in AFTER_VALUES
    if first.key in STATEMENT_STARTS and follows:
        changes = first.key in _CHANGES_FIRST
        yield Refusal.writes(found.text) if changes else Refusal.statement(found.text)
        return
    for one, then in pairwise(found.tokens):
        if (one.key, then.key) in _CHANGES:
            yield Refusal.writes(found.text[one.start : then.stop])


def _calls(found: QueryText) -> Iterator[Refusal]:
    """Functions whose answer does not come from the data; quoted or qualified they are the same."""
    for name, then in pairwise(found.tokens):
        if name.kind in NAMES and then.key == "(":
            family = REFUSED_IN_QUERIES.get(unquoted(name).lower())
            if family is not None:
                yield Refusal.of_family(f"{name.text}(...)", family)


def _programs(found: QueryText) -> Iterator[Refusal]:
    """``TRANSFORM (...) USING 'program'``, and MAP and REDUCE: rows go through any program."""
    for word, then in pairwise(found.tokens):
        if word.key == "using" and then.kind in {TokenKind.STRING, TokenKind.SLOT}:
            yield Refusal.program(word.text)


def _hidden(found: QueryText) -> Iterator[Refusal]:
    for token in found.tokens:
        what = HIDDEN.get(unquoted(token).upper().lower()) if token.kind in NAMES else None
        if what is not None:
            yield Refusal.spelling(token.text, what)


def _paths(found: QueryText) -> Iterator[Refusal]:
    for names in _tables(found.tokens):
        parts = [_name(token) for token in names]
        qualified = len(parts) > 1
        is_format = len(parts) == 2 and parts[0].lower() in _FILE_FORMATS
        # A format can also be the name of its class.
        is_class = qualified and "." in parts[0]
        if is_format or is_class or (qualified and any(set(part) & set("/\\:") for part in parts)):
            yield Refusal.path(found.text[names[0].start : names[-1].stop])


def _name(token: Token) -> str:
    # Between double quotes it is a name to some sessions.
    return token.text[1:-1] if token.kind is TokenKind.STRING else unquoted(token)


def _tables(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The names that stand where a table does, each with what qualifies it."""
    # Of each bracket around: whether a list of tables is being read in it; None in extract(...).
    lists: list[bool | None] = [False]
    expects = False
    for number, token in enumerate(tokens):
        if token.key in _OPENING:
            spelled = number > 0 and tokens[number - 1].key in SPELLED
            lists.append(None if spelled else expects)
            continue
        if token.key in _CLOSING:
            lists.pop()
            expects = False
        elif token.key in _TABLE_WORDS and tokens[number - 1].key != "distinct":
            expects = lists[-1] is not None
            lists[-1] = None if lists[-1] is None else True
        elif token.key == ",":
            expects = bool(lists[-1])
        elif token.key in _ENDS_TABLES:
            expects, lists[-1] = False, lists[-1] and False
        elif token.key != "lateral":
            if expects and token.kind in {*NAMES, TokenKind.STRING}:
                yield _chain(tokens, number)
            expects = False


def _chain(tokens: Sequence[Token], number: int) -> list[Token]:
    """The names from that one on that are joined by dots."""
    names = [tokens[number]]
    while tokens[number + 1].key == "." and number + 2 < len(tokens):
        number += 2
        names.append(tokens[number])
    return names


@dataclass(frozen=True, slots=True)
class AggregateForm:
    """A condition on aggregates that says the same as one with queries, and its values by text."""

    condition: str
    parts: tuple[tuple[str, str], ...]


@lru_cache(maxsize=_REMEMBERED)
def aggregate_form(text: str, slots: tuple[tuple[str, str], ...]) -> AggregateForm | None:
    """The same without queries, if all of them only aggregate the rows that are judged.

    ``slots`` has the values and columns that the text calls by name. None in case of any doubt: as
    it is written, the text always has an answer.
    """
    query = read_query(text)
    known = dict(slots)
    try:
        found = _of_query(query, known) if query.is_query else _of_condition(query, known)
    except (KeyError, _Otherwise):
        return None
    return None if aggregate_refusals(found.condition) else found


class _Otherwise(Exception):
    """A query that does more than aggregate the rows."""


def _of_query(query: QueryText, slots: Mapping[str, str]) -> AggregateForm:
    select, where = _plain(query, query.tokens[:-1], slots)
    calls = {call.text: _among(call.text, where) for call in aggregate_calls(select)}
    return AggregateForm(_among(select, where), tuple(calls.items()))


def _of_condition(query: QueryText, slots: Mapping[str, str]) -> AggregateForm:
    pieces, parts, position = [], {}, 0
    for one in query.subqueries:
        if not one.is_value:
            raise _Otherwise
        within = [t for t in query.tokens if one.start < t.start < one.stop - 1]
        select, where = _plain(query, within, slots)
        parts[one.text] = _among(select, where)
        pieces += [query.filled(slots, position, one.start), f"({parts[one.text]})"]
        position = one.stop
        if one.text == query.text.strip():
            return _of_query(replace(query, tokens=(*within, query.tokens[-1])), slots)
    condition = "".join([*pieces, query.filled(slots, position)])
    return AggregateForm(condition, tuple(parts.items()))


def _among(aggregates: str, where: str | None) -> str:
    """Over the rows that pass the filter; as it is written, if there is none."""
    return aggregates if where is None else restricted(aggregates, where)


def _plain(
    query: QueryText, tokens: Sequence[Token], slots: Mapping[str, str]
) -> tuple[str, str | None]:
    """What ``SELECT ... FROM {table} [WHERE ...]`` selects, and of which rows."""
    words = [("" if depth else token.key) for token, depth in _with_depth(tokens)]
    places = [n for n, word in enumerate(words) if word == "from" and words[n - 1] != "distinct"]
    if words[0] != "select" or len(places) != 1 or tokens[-1].key == "from":
        raise _Otherwise
    selected, (table, *rest) = tokens[1 : places[0]], tokens[places[0] + 1 :]
    rest, alias = _without_alias(rest)
    if not selected or table.text != TABLE or (rest and rest[0].key != "where") or len(rest) == 1:
        raise _Otherwise
    if len(selected) > 2 and selected[-2].key == "as" and selected[-1].kind in NAMES:
        selected = selected[:-2]
    select = query.filled(slots, selected[0].start, selected[-1].stop)
    where = query.filled(slots, rest[1].start, rest[-1].stop) if rest else None
    if aggregate_refusals(select) or (where is not None and refusals(where)):
        raise _Otherwise
    names = [*aggregate_columns_used(select), *(columns_used(where) if where else ())]
    if alias is not None and alias.lower() in map(str.lower, names):
        # It may be the table that is meant, or a column of that name.
        raise _Otherwise
    return select, where


def _without_alias(tokens: Sequence[Token]) -> tuple[list[Token], str | None]:
    """What follows the name of a table, without a name of its own that it may get."""
    rest = list(tokens)
    size = 2 if rest[:1] and rest[0].key == "as" else 1
    alias = rest[size - 1 : size]
    if not alias or alias[0].kind not in NAMES or alias[0].key in SHAPING:
        return rest, None
    return rest[size:], unquoted(alias[0])
