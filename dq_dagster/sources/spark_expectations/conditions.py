"""Recipes of Spark-Expectations: what conditions in SQL mean that this library has rules for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dq_dagster.sql.across_rows import is_constant, window_comparison
from dq_dagster.sql.functions import AGGREGATES
from dq_dagster.sql.tokens import Refused, Token, tokenise

# What makes a condition of values.
_PREDICATES = frozenset(
    "= == <=> <> != < <= > >= and between exists ilike in is like not or regexp rlike !".split()
)
# Calls whose result is a time, to be asked whether there is one.
_READING = frozenset("cast to_date to_timestamp try_cast try_to_date try_to_timestamp".split())


@dataclass(frozen=True, slots=True)
class UniqueRows:
    """Columns that are a key, and the order by which the first of alike rows may stay."""

    columns: tuple[str, ...]
    keep: str | None


def unique_rows(text: str) -> UniqueRows | None:
    """The key that a condition on a window says to be unique, if that is all that it says."""
    found = window_comparison(text)
    if found is None or found.columns is None or not found.means_at_most_one:
        return None
    call = found.call
    if call.frame or len(set(map(str.lower, found.columns))) < len(found.columns):
        return None
    no_order = not call.order or is_constant(call.order)
    if call.function == "count" and call.arguments in {("*",), ("1",)} and no_order:
        return UniqueRows(found.columns, None)
    if call.function == "row_number" and not call.arguments and call.order:
        # Rows are alike in their key, so that only what decides between others does.
        order = call.among[0] if no_order else call.order
        return UniqueRows(found.columns, order)
    return None


def with_null_check(text: str) -> str | None:
    """``try_cast(x as date)`` is no condition: that it is not NULL is; None for all others."""
    tokens = _outermost(text)
    if tokens is None or not tokens or tokens[0].key not in _READING:
        return None
    if any(token.key in _PREDICATES for token in tokens) or len(tokens) != 3:
        return None
    kind = re.search(r"\bas\s+(\w+)[^)]*\)\s*$", text, re.IGNORECASE)
    if tokens[0].key in {"cast", "try_cast"} and kind and kind[1].lower() == "boolean":
        return None
    return f"{text} is not null"


def lacks_subject(text: str) -> bool:
    """Whether a condition begins with its predicate: ``is not null``."""
    tokens = _outermost(text) or []
    return len(tokens) > 1 and tokens[0].key in _PREDICATES - {"not", "!", "exists", "and", "or"}


def names_nothing_compared(text: str) -> bool:
    """Whether it is a mere call over a window: ``sum(x) over (...)`` without any comparison."""
    tokens = _outermost(text)
    if not tokens or any(token.key in _PREDICATES for token in tokens):
        return False
    words = [token.key for token in tokens]
    return words[0] in {*AGGREGATES, "size", "row_number", "rank"} and "over" in text.lower()


_DISTINCT = re.compile(r"\bcount\s*\(\s*distinct\b", re.IGNORECASE)


def counted_without_distinct(text: str) -> str | None:
    """``count(distinct x) over (...)`` as what Spark can do; None if there is no such call."""
    changed = text
    while found := _DISTINCT.search(changed):
        inner = _closing(changed, changed.index("(", found.start()))
        over = re.match(r"\s*over\s*\(", changed[inner + 1 :], re.IGNORECASE) if inner else None
        if inner is None or over is None:
            return None
        window = _closing(changed, inner + over.end())
        if window is None:
            return None
        gathered = f"collect_set({changed[found.end() : inner].strip()})"
        call = f"size({gathered}{changed[inner + 1 : window + 1]})"
        changed = f"{changed[: found.start()]}{call}{changed[window + 1 :]}"
    return None if changed == text else changed


def _closing(text: str, opening: int) -> int | None:
    """Where the bracket closes that opens there; brackets between quotes are none."""
    try:
        tokens = tokenise(text)
    except Refused:
        return None
    depth = 0
    for token in tokens:
        if token.start >= opening:
            depth += (token.key == "(") - (token.key == ")")
            if depth == 0:
                return token.start
    return None


def _outermost(text: str) -> list[Token] | None:
    """The tokens outside every bracket, with the brackets themselves; None if it has no words."""
    try:
        tokens = tokenise(text)[:-1]
    except Refused:
        return None
    found, depth = [], 0
    for token in tokens:
        depth -= token.key == ")"
        if depth == 0:
            found.append(token)
        depth += token.key == "("
    return found
