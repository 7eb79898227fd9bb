"""What many rules cost: a few passes over the data, not one for each rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from dq_dagster.spark.passes.blocks.workers import has_blocks
from examples.bench.data import orders
from examples.bench.suites import EVERYDAY, IN_ONE_PASS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Rule = dict[str, Any]
pytestmark = pytest.mark.usefixtures("large")
Counter = Callable[[Callable[[], object]], int]
KINDS: list[Rule] = [
    {"type": "column_min_in_range", "min": 0},
    {"type": "column_max_in_range", "max": 1000},
    {"type": "column_avg_in_range", "min": 0},
    {"type": "column_sum_in_range", "min": 0},
    {"type": "column_stddev_in_range", "min": 0},
    {"type": "column_not_empty"},
    {"type": "column_empty", "threshold": {"type": "count", "min": 0}},
    {"type": "column_values_in_set", "values": [1, 2, 3]},
    {"type": "column_values_not_in_set", "values": [-1]},
    {"type": "column_values_in_range", "min": 0, "soft_max": 50},
]


@pytest.fixture(scope="module")
def narrow(spark: SparkSession) -> DataFrame:
    columns = ", ".join(f"id + {n} AS c{n}" for n in range(10))
    return spark.range(20).selectExpr(*columns.split(", "))


@pytest.fixture(scope="module")
def wide(spark: SparkSession) -> DataFrame:
    return spark.range(5).selectExpr(*[f"id + {n} AS c{n}" for n in range(200)])


def _mixed(many: int) -> list[Rule]:
    """Rules that share columns and types, yet no two of the same name."""
    rules = []
    for n in range(many):
        rule = {**KINDS[n % len(KINDS)], "columns": f"c{n // len(KINDS) % 10}", "name": f"r{n}"}
        if n >= len(KINDS) * 10 and "min" in rule:
            # The same metric with other bounds.
            rule["min"] = -n
        rules.append(rule)
    return rules


def _texts(many: int) -> list[Rule]:
    return [
        {"type": "row_dq", "expectation": f"c{n % 10} >= {n % 7} - {n}", "name": f"r{n}"}
        for n in range(many)
    ]


def _not_empty(many: int) -> list[Rule]:
    return [{"type": "column_not_empty", "columns": f"c{n}", "name": f"r{n}"} for n in range(many)]


@pytest.mark.parametrize(
    ("make", "data"),
    [(_mixed, "narrow"), (_texts, "narrow"), (_not_empty, "wide")],
    ids=["mixed", "texts", "columns"],
)
def test_200_rules_take_as_many_jobs_as_one(
    request: pytest.FixtureRequest,
    count_jobs: Counter,
    make: Callable[[int], list[Rule]],
    data: str,
) -> None:
    table = request.getfixturevalue(data)
    few, many = make(1), make(200)
    found: list[dq.Outcome] = []
    one = count_jobs(lambda: dq.evaluate(table, few, samples=False))
    all_of_them = count_jobs(lambda: found.extend(dq.evaluate(table, many, samples=False)))
    assert all_of_them == one
    assert len(found) == 200
    assert {outcome.status for outcome in found} <= {"Ok", "Warning", "Error"}
    assert not [outcome.message for outcome in found if "error" in outcome.details]


@pytest.mark.deep
def test_1000_rules_take_a_bounded_number_of_passes(
    spark: SparkSession, count_jobs: Counter
) -> None:
    table = spark.range(5).selectExpr(*[f"id + {n} AS c{n}" for n in range(100)])
    rules = [
        {**kind, "columns": f"c{n}", "name": f"{kind['type']}_{n}"}
        for n in range(100)
        for kind in KINDS
    ]
    assert len(rules) == 1000
    passes = len(dq.explain(rules).passes)
    assert passes <= 35
    found: list[dq.Outcome] = []
    jobs = count_jobs(lambda: found.extend(dq.evaluate(table, rules, samples=False)))
    assert jobs <= 2 * passes
    sums = {o.rule.name: o.observed for o in found if o.rule.type == "column_sum_in_range"}
    assert sums == {f"column_sum_in_range_{n}": 10 + 5 * n for n in range(100)}


def test_rules_that_need_no_rows_read_none(spark: SparkSession, count_jobs: Counter) -> None:
    table = spark.range(5)
    rules = [{"type": "column_count_in_range", "min": 1, "max": 1}]
    found: list[dq.Outcome] = []
    assert count_jobs(lambda: found.extend(dq.evaluate(table, rules, samples=False))) == 0
    assert [(outcome.status, outcome.observed) for outcome in found] == [("Ok", 1)]


def test_30_everyday_rules_take_at_most_12_jobs(spark: SparkSession, count_jobs: Counter) -> None:
    table = orders(spark, 200)
    found: list[dq.Outcome] = []
    assert len(EVERYDAY) == 30
    # What workers can do is found out once a session, by a job of its own.
    assert has_blocks(spark)
    assert count_jobs(lambda: found.extend(dq.evaluate(table, EVERYDAY, samples=False))) <= 12
    assert [outcome.message for outcome in found if outcome.status != "Ok"] == []


def test_everyday_rules_that_share_a_pass_take_one(
    spark: SparkSession, count_jobs: Counter
) -> None:
    table = orders(spark, 200)
    rows = count_jobs(
        lambda: dq.evaluate(table, [dq.RecordCountInRange(min=200, max=200)], samples=False)
    )
    assert count_jobs(lambda: dq.evaluate(table, IN_ONE_PASS, samples=False)) == rows
