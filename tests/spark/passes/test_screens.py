"""Very many rules at once answer as a few of them do, whatever the rows hold."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.usefixtures("large")
Rule = dict[str, Any]
# So few at a time are counted without a screen.
FEW = 20
TEXTS = (None, "", "a", "ab", "abcd", "abcdefgh", "ä", "12")


def _rows(chance: random.Random) -> list[tuple[Any, ...]]:
    def number(*odd: Any) -> Any:
        return chance.choice([None, *odd, *(chance.randint(0, 40) for _ in range(8))])

    return [
        (
            f"p{n % 4}",
            number(),
            float(chance.choice([1, 2, 30, float("nan"), float("inf"), -0.0])),
            Decimal(chance.randint(-500, 500)).scaleb(-1),
            chance.choice(TEXTS),
            # Only one partition has values that some bounds leave out.
            -n if n % 4 == 3 else 5,
            7,
        )
        for n in range(200)
    ]


SCHEMA = "p string, n int, d double, m decimal(9, 1), t string, odd int, good int"


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(_rows(random.Random(3)), SCHEMA)


def _rules(many: int) -> list[Rule]:
    """Rules of each kind with other bounds each, so that some of a kind hold and some do not."""
    rules: list[Rule] = []
    for turn in range(many):
        bounds = {"min": -turn, "max": 9 + turn}
        rules += [
            *(
                {"type": "column_values_in_range", "columns": column, **bounds}
                for column in ("n", "d", "m", "odd", "good")
            ),
            {"type": "column_value_lengths_in_range", "columns": "t", "max": turn},
            {"type": "column_values_not_in_set", "columns": "t", "values": [f"a{turn}", "ab"]},
            {"type": "column_values_not_in_set", "columns": "t", "values": [f"none {turn}"]},
            {"type": "row_dq", "expectation": f"n < {20 + turn}", "null_is": "pass"},
            # Raises on texts that are no numbers; of whom, each rule says by itself.
            {"type": "row_dq", "expectation": f"t < {turn}"},
            {"type": "column_values_in_range", "columns": "nowhere", "max": turn},
            {"type": "column_values_in_range", "columns": "n", "where": "good = 7", "max": turn},
        ]
    return [{**rule, "name": f"r{n}", "scope": "both"} for n, rule in enumerate(rules)]


def _found(frame: DataFrame, rules: list[Rule]) -> dict[tuple[str, str | None], Any]:
    found = dq.evaluate(frame, rules, partition_by="p", samples=False)
    return {(one.rule.name, one.partition): one for one in found}


def test_many_rules_find_what_few_find(table: DataFrame) -> None:
    rules = _rules(9)
    assert "only among the rows" in str(dq.explain(rules))
    together = _found(table, rules)
    apart: dict[tuple[str, str | None], Any] = {}
    for start in range(0, len(rules), FEW):
        some = rules[start : start + FEW]
        assert "only among the rows" not in str(dq.explain(some))
        apart |= _found(table, some)
    assert together.keys() == apart.keys()
    for key, one in together.items():
        other = apart[key]
        assert (one.status, one.message) == (other.status, other.message), key
        assert (one.rows, one.failed_rows) == (other.rows, other.failed_rows), key
    assert {one.status for one in together.values()} == {"Ok", "Error"}


def test_rows_without_faults_are_looked_at_once(
    table: DataFrame, count_jobs: Callable[[Callable[[], object]], int]
) -> None:
    def of(column: str, many: int) -> Callable[[], object]:
        rules = [
            {"type": "column_values_in_range", "name": f"r{n}", "columns": column, "max": 7 + n}
            for n in range(many)
        ]
        return lambda: dq.evaluate(table, rules, samples=False)

    once = count_jobs(of("good", 2))
    assert count_jobs(of("good", 400)) == once
    # Those with faults once more, however many rules there are.
    assert count_jobs(of("n", 200)) == count_jobs(of("n", 400)) == 2 * once


def test_the_plan_says_what_is_screened() -> None:
    rules = [
        {"type": "column_values_in_range", "name": f"r{n}", "columns": "n", "max": n}
        for n in range(300)
    ]
    text = str(dq.explain(rules))
    assert text.startswith("300 rules -> 301 metrics -> 1 Spark pass")
    assert "(300 metrics only among the rows that 1 count of any such fault finds)" in text
