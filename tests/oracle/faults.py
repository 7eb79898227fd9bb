"""Which rows break a rule, and how, computed with plain Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.oracle.plain import expected, identity
from tests.oracle.sql import answer, column_of
from tests.oracle.values import is_empty
from tests.oracle.verdicts import Row, Rule, Types, Verdict

REPEATS = {"column_unique", "unique_key"}
_SEVERITY = {"Error": "error", "Warning": "warning"}


@dataclass(frozen=True, slots=True)
class Blame:
    """What is wrong with a row: how bad it is, and in which of the rule's columns."""

    severity: str
    columns: tuple[str, ...]


def columns_of(rule: Rule) -> tuple[str, ...]:
    if "expectation" in rule:
        return (column_of(rule["expectation"]),)
    listed = rule.get("columns", ())
    return (listed,) if isinstance(listed, str) else tuple(listed)


def fits(rule: Rule, types: Types) -> bool:
    """Whether the rule can be judged on columns of these types."""
    found = _alone(rule, None, types)
    return all(one.failed_rows is not None for one in (found.by_column or {"": found}).values())


def blamed(
    rule: Rule, rows: Sequence[Row], types: Types, part: str | None = None
) -> dict[int, Blame]:
    """By their numbers, the rows that break a rule; values repeat within a part."""
    if rule["type"] in REPEATS:
        return _repeating(rule, rows, part)
    found = {n: _blame(rule, _alone(rule, row, types)) for n, row in enumerate(rows)}
    return {n: blame for n, blame in found.items() if blame is not None}


def _alone(rule: Rule, row: Row | None, types: Types) -> Verdict:
    """What a rule that tolerates nothing says of a table of that row only, or of no row."""
    strict = {**rule, "threshold": "all", "on_empty": "pass"}
    return expected(strict, [] if row is None else [row], types)


def _blame(rule: Rule, found: Verdict) -> Blame | None:
    if found.status not in _SEVERITY:
        return None
    names = columns_of(rule)
    if found.by_column:
        names = tuple(n for n, one in found.by_column.items() if one.status in _SEVERITY)
    return Blame(_SEVERITY[found.status], names)


def _repeating(rule: Rule, rows: Sequence[Row], part: str | None) -> dict[int, Blame]:
    found: dict[int, Blame] = {}
    for columns in groupings(rule):
        for numbers in alike(rule, columns, rows, part).values():
            if len(numbers) > 1:
                for n in numbers:
                    before = found[n].columns if n in found else ()
                    found[n] = Blame("error", (*before, *columns))
    return found


def groupings(rule: Rule) -> list[tuple[str, ...]]:
    """The columns whose values are compared together."""
    names = columns_of(rule)
    return [names] if rule["type"] == "unique_key" else [(name,) for name in names]


def alike(
    rule: Rule, columns: Sequence[str], rows: Sequence[Row], part: str | None = None
) -> dict[Hashable, list[int]]:
    """The numbers of the rows that have a value, by that value."""
    blank = bool(rule.get("empty_includes_blank"))
    where = rule.get("where")
    found: dict[Hashable, list[int]] = defaultdict(list)
    for n, row in enumerate(rows):
        if where is not None and answer(where, row) is not True:
            continue
        key: tuple[Any, ...] = tuple(
            None if is_empty(row[name], blank=blank) else identity(row[name]) for name in columns
        )
        if any(value is not None for value in key):
            found[key, row[part] if part else None].append(n)
    return found
