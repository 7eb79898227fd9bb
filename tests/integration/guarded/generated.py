"""Random rows and random rules for guarded assets, with the bad rows in plain Python."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.integration.guarded.gate import untyped

SCHEMA = "part string, id int, n int, s string, x double, k int"
Case: TypeAlias = Mapping[str, Any]
# The ids of rows beyond hard bounds, and of those beyond soft ones.
Bad: TypeAlias = tuple[set[int], set[int]]
CUSTOMERS = [0, 1, 2]

_TEXTS = [None, "", "  ", "a", "A", "b", "bb", "ccc", "Dd", "4"]
_WHERE: list[tuple[str | None, Callable[[Case], bool]]] = [
    (None, lambda row: True),
    (None, lambda row: True),
    ("n > 0", lambda row: row["n"] is not None and row["n"] > 0),
    ("s IS NOT NULL", lambda row: row["s"] is not None),
    ("id % 2 = 0", lambda row: row["id"] % 2 == 0),
]


def random_rows(chance: random.Random, part: str, count: int, first: int) -> list[dict[str, Any]]:
    return [
        {
            "part": part,
            "id": first + place,
            "n": chance.choice([None, -2, -1, 0, 1, 2, 3, 4, 5]),
            "s": chance.choice(_TEXTS),
            "x": chance.choice([None, math.nan, -math.inf, 0.0, -0.0, 1.5, 2.5]),
            "k": chance.choice([None, 0, 1, 2, 3, *range(10, 30)]),
        }
        for place in range(count)
    ]


@dataclass(frozen=True)
class RandomRule:
    """A rule, and what it finds among the rows of one slice."""

    rule: Any
    applies: Callable[[Case], bool]
    find: Callable[[Sequence[Case]], Bad]

    def bad(self, rows: Sequence[Case]) -> Bad:
        return self.find([row for row in rows if self.applies(row)])

    @property
    def keeps_out(self) -> bool:
        return bool(self.rule.action_if_failed != "ignore")


def random_rules(chance: random.Random, count: int, actions: Sequence[str]) -> list[RandomRule]:
    found = []
    for place in range(count):
        make = _MAKERS[place % len(_MAKERS)]
        where, applies = chance.choice(_WHERE)
        common = {
            "name": f"r{place}_{make.__name__.strip('_')}",
            "where": where,
            "action_if_failed": chance.choice(actions),
        }
        rule, find = make(chance, common)
        found.append(RandomRule(rule, applies, find))
    return found


def _hard(is_bad: Callable[[Case], bool]) -> Callable[[Sequence[Case]], Bad]:
    return lambda rows: ({row["id"] for row in rows if is_bad(row)}, set())


def _condition(chance: random.Random, common: dict[str, Any]) -> Any:
    bound, null_is = chance.randint(-1, 4), chance.choice(["fail", "pass"])
    rule = untyped.RowExpectation(expectation=f"n > {bound}", null_is=null_is, **common)
    return rule, _hard(lambda row: null_is == "fail" if row["n"] is None else row["n"] <= bound)


def _number(chance: random.Random, common: dict[str, Any]) -> Any:
    rule = untyped.RowExpectation(expectation="x < 2.0 AND id > 0", **common)
    return rule, _hard(lambda row: row["x"] is None or not row["x"] < 2)


def _of_today(chance: random.Random, common: dict[str, Any]) -> Any:
    """A condition that depends on when it is asked."""
    bound = chance.randint(0, 3)
    text = f"n <= {bound} OR current_date() < DATE'2000-01-01'"
    rule = untyped.RowExpectation(expectation=text, **common)
    return rule, _hard(lambda row: row["n"] is None or row["n"] > bound)


def _filled(chance: random.Random, common: dict[str, Any]) -> Any:
    blank = chance.random() < 0.5
    columns = chance.choice([["s"], ["n"], ["n", "s"], ["k", "x"]])
    rule = untyped.ColumnNotEmpty(columns=columns, empty_includes_blank=blank, **common)
    return rule, _hard(
        lambda row: any(
            row[name] is None or (blank and name == "s" and not row["s"].strip())
            for name in columns
        )
    )


def _empty(chance: random.Random, common: dict[str, Any]) -> Any:
    return untyped.ColumnEmpty(columns="n", **common), _hard(lambda row: row["n"] is not None)


def _in_set(chance: random.Random, common: dict[str, Any]) -> Any:
    values, ignoring = chance.sample(["a", "b", "ccc", "DD", ""], 3), chance.random() < 0.5
    rule = untyped.ColumnValuesInSet(columns="s", values=values, ignore_case=ignoring, **common)
    folded = {value.lower() if ignoring else value for value in values}
    return rule, _hard(
        lambda row: (
            row["s"] is not None and (row["s"].lower() if ignoring else row["s"]) not in folded
        )
    )


def _not_in_set(chance: random.Random, common: dict[str, Any]) -> Any:
    values = chance.sample(range(-2, 6), 2)
    rule = untyped.ColumnValuesNotInSet(columns="n", values=values, **common)
    return rule, _hard(lambda row: row["n"] in values)


def _in_range(chance: random.Random, common: dict[str, Any]) -> Any:
    low, soft_low, soft_high, high = sorted(chance.choices(range(-2, 6), k=4))
    rule = untyped.ColumnValuesInRange(
        columns="n", min=low, soft_min=soft_low, soft_max=soft_high, max=high, **common
    )

    def find(rows: Sequence[Case]) -> Bad:
        known = {row["id"]: row["n"] for row in rows if row["n"] is not None}
        hard = {key for key, n in known.items() if n < low or n > high}
        soft = {key for key, n in known.items() if n < soft_low or n > soft_high}
        return hard, soft - hard

    return rule, find


def _lengths(chance: random.Random, common: dict[str, Any]) -> Any:
    rule = untyped.ColumnValueLengthsInRange(columns="s", min=1, max=2, **common)
    return rule, _hard(lambda row: row["s"] is not None and not 1 <= len(row["s"]) <= 2)


def _pattern(chance: random.Random, common: dict[str, Any]) -> Any:
    pattern = chance.choice(["[a-z]*", "[A-Za-z]", "."])
    rule = untyped.ColumnValuesMatch(columns="s", pattern=pattern, **common)
    return rule, _hard(lambda row: row["s"] is not None and re.fullmatch(pattern, row["s"]) is None)


def _unique(chance: random.Random, common: dict[str, Any]) -> Any:
    keep = chance.choice([None, "id", "n DESC, id"])
    rule = untyped.ColumnUnique(columns="k", keep=keep and {"order_by": keep}, **common)
    return rule, _repeated(["k"], keep)


def _unique_key(chance: random.Random, common: dict[str, Any]) -> Any:
    keep = chance.choice([None, None, "id DESC"])
    rule = untyped.UniqueKey(columns=["n", "s"], keep=keep and {"order_by": keep}, **common)
    return rule, _repeated(["n", "s"], keep)


def _repeated(columns: Sequence[str], keep: str | None) -> Callable[[Sequence[Case]], Bad]:
    def order(row: Case) -> Any:
        if keep == "id":
            return row["id"]
        if keep == "id DESC":
            return -row["id"]
        # Spark puts NULL last where the order is descending.
        return (row["n"] is None, -(row["n"] or 0), row["id"])

    def find(rows: Sequence[Case]) -> Bad:
        keys = {row["id"]: tuple(row[name] for name in columns) for row in rows}
        keys = {key: value for key, value in keys.items() if any(v is not None for v in value)}
        counts = Counter(keys.values())
        bad = {key for key, value in keys.items() if counts[value] > 1}
        if keep is not None:
            firsts: dict[Any, int] = {}
            for row in sorted((row for row in rows if row["id"] in bad), key=order):
                firsts.setdefault(keys[row["id"]], row["id"])
            bad -= set(firsts.values())
        return bad, set()

    return find


def _known(chance: random.Random, common: dict[str, Any]) -> Any:
    rule = untyped.ColumnValuesInReference(
        columns="k", reference={"asset": "customers"}, reference_columns=["number"], **common
    )
    return rule, _hard(lambda row: row["k"] is not None and row["k"] not in CUSTOMERS)


_MAKERS = [
    _condition,
    _number,
    _of_today,
    _filled,
    _empty,
    _in_set,
    _not_in_set,
    _in_range,
    _lengths,
    _pattern,
    _unique,
    _unique_key,
    _known,
]
