"""Breakdowns that reach their limits: too many groups, and others that do not merge."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any, NoReturn, Self

import pytest

import dq_dagster as dq
from dq_dagster.evaluation.breakdown import OTHERS, Ranked, breakdown, groups_in
from dq_dagster.evaluation.history.baseline import NO_BASELINE
from dq_dagster.evaluation.judge import Measurements
from dq_dagster.metrics.measured import UNDIVIDED, WHOLE, Cut, Measured, Slice
from dq_dagster.metrics.metric import RecordCount
from dq_dagster.metrics.states import State, Tally
from dq_dagster.plan.request import RequestedRule
from dq_dagster.spark.frames.slicing import MOST_PARTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Count = Callable[[Callable[[], object]], int]
Shown = dict[str, Any]

TOO_MANY = "There are too many groups by 'customer' to report on; take something coarser."


def test_a_dimension_that_is_not_in_the_table_is_an_error(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("n", 1), ("s", 2)], "region string, amount int")
    [outcome] = dq.evaluate(
        frame,
        [dq.ColumnSumInRange(columns="amount", max=10, dimensions=("regoin", "region"))],
    )
    assert outcome.status is dq.Status.ERROR
    assert outcome.message == (
        "The sum of 'amount' is 3, as expected (at most 10). But it cannot be broken down: "
        "Column 'regoin' is not in the table. Did you mean 'region'?"
    )
    # What was measured counts, and other dimensions have their groups.
    assert {outcome.judged_of(key) for key in outcome.metrics} == {dq.Status.OK}
    assert len(outcome.details["dimensions"]["region"]) == 2


def requested(rule: dq.Rule) -> RequestedRule:
    return RequestedRule.of(rule, on_partitions=True, on_whole=True)


@pytest.fixture
def customers(spark: SparkSession) -> DataFrame:
    """One customer more than is reported on, in five regions and on two days."""
    return spark.range(MOST_PARTS + 1).selectExpr(
        "id AS customer",
        "concat('r', id % 5) AS region",
        "concat('d', id % 2) AS day",
        "CAST(id % 10 AS DOUBLE) AS amount",
        "if(id = 7, NULL, id) AS number",
    )


def dimensions(evaluation: dq.Evaluation, rule: str, partition: str | None = None) -> Shown:
    found: Shown = evaluation[rule, partition].details["dimensions"]
    return found


def rows_by_group(table: list[Shown]) -> dict[str | None, int]:
    return {record["group"]: record["rows"] for record in table}


def failed_groups(table: list[Shown]) -> dict[str | None, int]:
    return {one["group"]: one["failed_rows"] for one in table if one["failed_rows"]}


def test_too_many_groups_of_one_dimension_leave_those_of_others(
    customers: DataFrame, count_jobs: Count
) -> None:
    rules: list[dq.Rule] = [
        dq.ColumnNotEmpty(name="few", columns="number", dimensions="region"),
        dq.RecordCountInRange(name="many", min=1, dimensions="customer"),
        dq.ColumnNotEmpty(name="both", columns="number", dimensions=["customer", "region"]),
        dq.ColumnMedianInRange(
            name="median", columns="amount", max=100, dimensions=["region", "customer"]
        ),
        dq.ColumnUnique(name="unique", columns="number", dimensions=["region", "customer"]),
    ]
    found: list[dq.Evaluation] = []
    jobs = count_jobs(lambda: found.append(dq.evaluate(customers, rules, samples=False)))
    [evaluation] = found
    assert dimensions(evaluation, "many") == {"customer": TOO_MANY}
    regions = {"r0": 10_001, "r1": 10_000, "r2": 10_000, "r3": 10_000, "r4": 10_000}
    for name in ("few", "both", "median", "unique"):
        assert rows_by_group(dimensions(evaluation, name)["region"]) == regions
    for name in ("both", "median", "unique"):
        assert dimensions(evaluation, name)["customer"] == TOO_MANY
    assert failed_groups(dimensions(evaluation, "few")["region"]) == {"r2": 1}
    assert {o.rule.name: str(o.status) for o in evaluation} == {
        "few": "Error", "many": "Ok", "both": "Error", "median": "Ok", "unique": "Ok"
    }  # fmt: skip
    assert evaluation["few"].failed_rows == evaluation["both"].failed_rows == 1
    assert evaluation["many"].observed == MOST_PARTS + 1
    # Three ways to look at the rows, each once for all cuts and once more for each cut.
    assert jobs <= 30


def test_too_many_groups_of_partitions_leave_those_of_other_dimensions(
    customers: DataFrame,
) -> None:
    rules = [
        dq.ColumnNotEmpty(
            name="empty", columns="number", dimensions=["region", "customer"], scope="both"
        ),
        dq.ColumnMedianInRange(
            name="median", columns="amount", max=4, dimensions=["region", "customer"], scope="both"
        ),
    ]
    evaluation = dq.evaluate(customers, rules, partition_by="day")
    for rule in ("empty", "median"):
        for partition, rows in (("d0", 25_001), ("d1", 25_000), (None, MOST_PARTS + 1)):
            shown = dimensions(evaluation, rule, partition)
            assert sum(rows_by_group(shown["region"]).values()) == rows
            assert shown["customer"] == TOO_MANY
    assert failed_groups(dimensions(evaluation, "empty", "d0")["region"]) == {}
    assert failed_groups(dimensions(evaluation, "empty", "d1")["region"]) == {"r2": 1}
    medians = {o.partition: o.observed for o in evaluation if o.rule.name == "median"}
    assert medians == {"d0": 4.0, "d1": 5.0, None: 4.0}


def test_too_many_partitions_are_an_error_of_each_rule(customers: DataFrame) -> None:
    rules = [
        dq.ColumnNotEmpty(columns="number", dimensions="region", scope="both"),
        dq.ColumnMedianInRange(columns="amount", max=4, dimensions="region", scope="both"),
    ]
    evaluation = dq.evaluate(customers, rules, partition_by="customer", partitions=["1"])
    assert {str(outcome.status) for outcome in evaluation} == {"Error"}
    assert all("too many groups by the partition key" in o.message for o in evaluation)


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (dq.ColumnUnique(columns="id", dimensions="region"), "too many groups by 'region'"),
        (
            dq.MetricInRange(
                metric=dq.MetricSource(query="SELECT 1 FROM {table}"), min=0, dimensions="region"
            ),
            "cannot be broken down by group",
        ),
    ],
)
def test_what_was_not_measured_by_group_says_why(rule: dq.Rule, reason: str) -> None:
    cut = Cut(dimension="region")
    found = {metric: Measured(metric, {}, (UNDIVIDED,)) for metric in requested(rule).needs}
    rows = RecordCount()
    found[rows] = Measured(rows, {Slice(None, "region", "a"): Tally(1)}, (cut,), Tally(0))
    measured = Measurements(found, UTC, datetime(2024, 3, 1, tzinfo=UTC))
    shown = breakdown(requested(rule), measured, WHOLE, NO_BASELINE).dimensions
    assert reason in str(shown["region"])


class Watched(State):
    """Ten rows, and a note of each time that somebody looks at them."""

    looks = 0

    def merge(self, other: Self) -> NoReturn:
        raise AssertionError("Nothing is put together here.")

    @property
    def count(self) -> int:
        Watched.looks += 1
        return 10


def test_each_partition_looks_at_its_own_groups_only() -> None:
    rule = dq.ColumnNotEmpty(columns=["id"], dimensions=["region"])
    partitions = [Slice(f"day {n}") for n in range(40)]
    groups = [Slice(day.partition, "region", f"r{n}") for day in partitions for n in range(5)]
    states = {part: Watched() for part in reversed(groups)}
    cut = Cut(partitioned=True, dimension="region")
    found = {metric: Measured(metric, states, (cut,)) for metric in requested(rule).needs}
    measured = Measurements(found, UTC, datetime(2024, 3, 1, tzinfo=UTC))
    named = {day: list(groups_in(requested(rule), measured, day)) for day in partitions}
    assert [group for some in named.values() for group in some] == groups
    for day in partitions:
        ranked = breakdown(requested(rule), measured, day, NO_BASELINE).dimensions["region"]
        assert isinstance(ranked, Ranked)
        assert list(ranked.groups) == named[day]
    # Once for the rows of each group, and once for each metric of it.
    assert Watched.looks == len(groups) * (1 + len(requested(rule).needs))


GROUPS = ["north", "o'neill", "$", None, "ü", "west"]


def sales(days: int) -> list[tuple[int, str, str | None, str, float]]:
    """Each day another group has most rows, and others have values that repeat."""
    return [
        (n % (7 + day), f"d{day:02}", GROUPS[(n * n + day) % 6], f"k{n % 4}", float(n * day % 11))
        for day in range(days)
        for n in range(40 + day)
    ]


NOT_MERGING: list[dq.Rule] = [
    dq.ColumnMedianInRange(
        name="median", columns="x", max=4, dimensions=["g", "k"], top_dimensions=1, scope="both"
    ),
    dq.ColumnUnique(
        name="unique", columns="id", dimensions=["g", "k"], top_dimensions=2, scope="both"
    ),
    dq.AggregateExpectation(
        name="sql", expectation="max(x) - min(x) < 10", dimensions="g", top_dimensions=1,
        scope="both", where="id > 0",
    ),
]  # fmt: skip


def frame_of(spark: SparkSession, days: int) -> DataFrame:
    schema = "id int, day string, g string, k string, x double"
    return spark.createDataFrame(sales(days), schema).coalesce(1)


def test_others_cost_no_more_jobs_for_more_partitions(
    spark: SparkSession, count_jobs: Count
) -> None:
    jobs = []
    for days in (9, 9, 20):
        judge = partial(dq.evaluate, frame_of(spark, days), NOT_MERGING, partition_by="day")
        jobs.append(count_jobs(judge))
    # The first evaluation of a session also tries what its workers can.
    assert jobs[1] == jobs[2]


def test_others_that_do_not_merge_are_those_of_their_partition(spark: SparkSession) -> None:
    evaluation = dq.evaluate(frame_of(spark, 5), NOT_MERGING, partition_by="day")
    assert len(evaluation) == 3 * 6
    for outcome in evaluation:
        rows = [row for row in sales(5) if outcome.partition in {None, row[1]}]
        if outcome.rule.name == "sql":
            rows = [row for row in rows if row[0] > 0]
        shown = outcome.details["dimensions"]
        check_others(outcome.rule, shown["g"], [(g, number, x) for number, _, g, _, x in rows])
        if "k" in shown:
            check_others(outcome.rule, shown["k"], [(k, number, x) for number, _, _, k, x in rows])


def check_others(
    rule: dq.Rule, table: list[Shown], rows: Iterable[tuple[str | None, int, float]]
) -> None:
    *listed, others = table
    assert (others["group"], len(listed)) == (OTHERS, rule.top_dimensions)
    named = {record["group"] for record in listed}
    rest = [row for row in rows if row[0] not in named]
    assert others["rows"] == len(rest)
    assert others["groups"] == len({group for group, _, _ in rest})
    if rule.name == "median":
        assert others["observed"] == median(x for _, _, x in rest)
    if rule.name == "unique":
        ids = [number for _, number, _ in rest]
        assert others["failed_rows"] == sum(ids.count(number) > 1 for number in ids)
    if rule.name == "sql":
        values = [x for _, _, x in rest]
        holds = max(values) - min(values) < 10
        assert str(others["status"]) == ("Ok" if holds else "Error")
