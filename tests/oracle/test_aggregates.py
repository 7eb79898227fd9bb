"""Conditions on aggregates against plain Python, on many small tables.

Each table is four columns of a wide one, and the rows that its rule's filter leaves.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from tests.depth import deep_after
from tests.oracle.aggregates import condition, values_of, verdict
from tests.oracle.comparing import differences
from tests.oracle.frames import frame
from tests.oracle.generate import Column, Table
from tests.oracle.names import HOSTILE_NAMES
from tests.oracle.verdicts import Verdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WIDE_TABLES = 5
TABLES_IN_EACH = 57
# What is distinct or needs all values takes passes of its own: many in one wide table, none in the
# others.
BURDENED = 4
TABLES_WITH_BURDENS = 20
_MOST_ROWS = 12
_NUMBERS = {
    "int": (-5, -1, 0, 0, 1, 2, 3, 40, 2**31 - 1),
    # All of one sign: a sum that overflows does so in any order.
    "bigint": (0, 1, 2, 7, 2**62, 2**61),
    "double": (-2.5, 0.0, -0.0, 0.5, 1.0, 1e6, 1e-9, math.nan, math.inf, -math.inf),
    "decimal(10,2)": tuple(map(Decimal, ("-1.25", "0.00", "0.01", "3.50", "99999999.99"))),
}
_OTHERS: dict[str, tuple[Any, ...]] = {
    "string": ("", "a", "b", "abc", "é", "\U0001f600"),
    "boolean": (True, False),
    "date": tuple(date(2024, 1, 1) + timedelta(days=n) for n in range(4)),
}


@dataclass(frozen=True, slots=True)
class Case:
    """Some columns, some of their rows, and a rule about them."""

    columns: list[Column]
    size: int
    rule: dict[str, Any]

    def rows(self) -> list[dict[str, Any]]:
        return [{c.name: c.values[n] for c in self.columns} for n in range(self.size)]

    def right(self) -> Verdict:
        return verdict(self.rule, self.rows())


def cases(seed: int) -> list[Case]:
    random = Random(seed)
    if seed == BURDENED:
        return [_case(random, f"{seed}.{n}", 0.4) for n in range(TABLES_WITH_BURDENS)]
    return [_case(random, f"{seed}.{n}", 0) for n in range(TABLES_IN_EACH)]


def _case(random: Random, label: str, burdens: float) -> Case:
    number = random.choice(list(_NUMBERS))
    # One odd value in ten tables or so: with more of them nothing else would show.
    usual = 7 if number == "double" and random.random() < 0.6 else None
    pools = {number: _NUMBERS[number][:usual], **_OTHERS}
    columns = [
        Column(f"{random.choice(HOSTILE_NAMES)} {label}", kind, _values(random, pool))
        for kind, pool in pools.items()
    ]
    names = [(f"{column.name} {column.kind}", column.kind) for column in columns]
    columns = [Column(name, kind, c.values) for (name, kind), c in zip(names, columns, strict=True)]
    size = random.choice((0, 0, 1, 2, 5, _MOST_ROWS, _MOST_ROWS))
    rule = {
        "type": "agg_dq",
        "name": label,
        "expectation": condition(random, names, burdens=burdens),
        "null_is": random.choice(("fail", "fail", "pass")),
    }
    if size < _MOST_ROWS:
        rule["where"] = f"id < {size}"
    return Case(columns, size, rule)


def _values(random: Random, pool: tuple[Any, ...]) -> list[Any]:
    nulls = random.choice((0.0, 0.0, 0.2, 0.5, 1.0))
    return [None if random.random() < nulls else random.choice(pool) for _ in range(_MOST_ROWS)]


def test_there_are_enough_cases_of_each_sort() -> None:
    every = [case for seed in range(WIDE_TABLES) for case in cases(seed)]
    assert len(every) >= 240
    assert len({case.rule["expectation"] for case in every}) > 200
    statuses = Counter(case.right().status for case in every)
    assert min(statuses[status] for status in ("Ok", "Error", "Empty")) > 20
    of_nothing = Counter(case.right().status for case in every if not case.size)
    assert min(of_nothing[status] for status in ("Ok", "Error", "Empty")) > 10
    raised = [case for case in every if case.size and case.right().rows is None]
    assert 3 < len(raised) < 30
    together = " ".join(case.rule["expectation"] for case in every)
    for words in ("distinct", "median", "mode", "FILTER", "stddev", "bool_and", "any(", " / "):
        assert words in together


@pytest.mark.parametrize("seed", deep_after(1, range(WIDE_TABLES)))
def test_conditions_on_aggregates_say_what_plain_python_says(
    spark: SparkSession, seed: int
) -> None:
    asked = cases(seed)
    columns = [Column("id", "int", range(_MOST_ROWS)), *(c for case in asked for c in case.columns)]
    wide = frame(spark, Table(_MOST_ROWS, columns))
    outcomes = dq.evaluate(wide, [case.rule for case in asked])
    wrong = [
        f"{case.rule}\n  {found}\n  {outcome.message}\n  {case.rows()}"
        for case, outcome in zip(asked, outcomes, strict=True)
        if (found := [*differences(outcome, case.right()), *_parts_wrong(case, outcome)])
    ]
    assert not wrong, f"{len(wrong)} rules differ:\n" + "\n".join(wrong[:5])


def _parts_wrong(case: Case, outcome: dq.Outcome) -> Iterator[str]:
    """Which values of aggregates are not those of plain Python."""
    if outcome.observed is None or not isinstance(outcome.observed, dict):
        return
    right = values_of(case.rule["expectation"], case.rows())
    if set(outcome.observed) != set(right):
        yield f"aggregates {list(outcome.observed)}, not {list(right)}"
    for text, value in outcome.observed.items():
        if not _alike(value, right[text]):
            yield f"{text} is {value!r}, not {right[text]!r}"


def _alike(found: Any, right: Any) -> bool:
    if found is None or right is None or isinstance(right, bool):
        return found is right
    if isinstance(found, Decimal | int) and isinstance(right, Fraction | int):
        return Fraction(found) == right
    nan = math.isnan(found) and math.isnan(right)
    return nan or math.isclose(found, right, rel_tol=1e-9, abs_tol=1e-6)
