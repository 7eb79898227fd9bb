"""Counts of values and exact medians: many columns in shared passes, against plain Python."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

from pyspark.sql import SparkSession

from dq_dagster.errors import Misfit, SparkFailure
from dq_dagster.metrics.conditions import PassKind
from dq_dagster.metrics.constant import Constant
from dq_dagster.metrics.frequency import (
    DistinctCount,
    GroupedRows,
    Grouping,
    Members,
    TopLevels,
    UniqueCount,
)
from dq_dagster.metrics.metric import ColumnMedian, midpoint
from dq_dagster.plan.plan import Pass
from dq_dagster.spark.frames.columns import JudgedTable
from dq_dagster.spark.passes.run import in_turn, run

SCHEMA = "n int, big bigint, amount decimal(38,0), x double, s string, k int"
BIG = 10**38 - 1
ROWS: list[tuple[Any, ...]] = [
    (1, 2**62, Decimal(BIG), 1.5, "a", 1),
    (1, 2**62 + 1, None, -0.0, "b", 1),
    (2, 2**62 + 3, Decimal(5), 0.0, "a", 2),
    (3, None, None, None, None, 3),
    (None, 7, Decimal(-BIG), 2.5, "c", 0),
]


def measured(spark: SparkSession, kind: PassKind, *metrics: Any) -> list[Any]:
    frame = spark.createDataFrame(ROWS, SCHEMA)
    values = run(Pass(kind, metrics), frame, JudgedTable(frame.schema))
    return [values[metric].value() for metric in metrics]


def column(name: str) -> list[Any]:
    position = [field.split()[0] for field in SCHEMA.split(", ")].index(name)
    return [row[position] for row in ROWS if row[position] is not None]


def test_unique_and_distinct_values_of_many_columns(spark: SparkSession) -> None:
    for name in ("n", "big", "amount", "x", "s"):
        grouping = Grouping((name,), blank_is_empty=False, where=None)
        counts = Counter(column(name))
        found = measured(
            spark, PassKind.COUNT_VALUES, UniqueCount(grouping), DistinctCount(grouping),
            GroupedRows(grouping),
        )  # fmt: skip
        once = sum(count == 1 for count in counts.values())
        assert found == [once, len(counts), sum(counts.values())], name


def test_keys_of_several_columns_and_filters(spark: SparkSession) -> None:
    key = Grouping(("n", "s"), blank_is_empty=False, where=None)
    some = Grouping(("n",), blank_is_empty=False, where="k > 1")
    broken = Grouping(("n",), blank_is_empty=False, where="1 / k > 0")
    missing = Grouping(("nope",), blank_is_empty=False, where=None)
    found = measured(
        spark, PassKind.COUNT_VALUES, UniqueCount(key), UniqueCount(some, where="k > 1"),
        UniqueCount(broken, where="1 / k > 0"), UniqueCount(missing),
    )  # fmt: skip
    assert found[:2] == [5, 2]
    assert isinstance(found[2], SparkFailure)
    assert isinstance(found[3], Misfit)


def test_frequent_values_with_their_ties(spark: SparkSession) -> None:
    grouping = Grouping(("s",), blank_is_empty=False, where=None)
    members = Members((Constant.of("a"), Constant.of("b")))
    wrong = Members((Constant.of(1),))
    top, ill, unique = measured(
        spark,
        PassKind.COUNT_VALUES,
        TopLevels(grouping, 2, members),
        TopLevels(grouping, 1, wrong),
        UniqueCount(grouping),
    )
    assert [(level.frequency, level.values, level.inside[members]) for level in top] == [
        (2, 1, 1),
        (1, 2, 1),
    ]
    assert top[0].examples == ("a",)
    assert top[1].examples == ("b", "c")
    # A set that does not fit the column spoils no other metric of it.
    assert isinstance(ill, Misfit)
    assert unique == 2


def test_exact_medians_of_many_columns(spark: SparkSession) -> None:
    names = ("n", "big", "amount", "x", "k")
    found = measured(spark, PassKind.MEDIANS, *(ColumnMedian(name) for name in names))
    for name, value in zip(names, found, strict=True):
        ordered = sorted(column(name))
        middle = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
        assert value == midpoint(*middle), name


def test_medians_keep_their_faults_apart(spark: SparkSession) -> None:
    fine, broken, text, nothing = measured(
        spark,
        PassKind.MEDIANS,
        ColumnMedian("k", where="k > 0"),
        ColumnMedian("k", where="1 / k > 0"),
        ColumnMedian("s"),
        ColumnMedian("k", where="k > 9"),
    )
    assert fine == 1.5
    assert isinstance(broken, SparkFailure)
    assert isinstance(text, Misfit)
    assert nothing is None


def test_aggregations_counts_and_medians_are_run_side_by_side() -> None:
    kinds = [
        PassKind.AGGREGATE, PassKind.AGGREGATE, PassKind.LOOKUPS, PassKind.COUNT_VALUES,
        PassKind.COUNT_VALUES, PassKind.MEDIANS, PassKind.ACROSS_ROWS, PassKind.QUERIES,
    ]  # fmt: skip
    groups = in_turn([Pass(kind, ()) for kind in kinds])
    assert [[step.kind for step in group] for group in groups] == [
        kinds[:6],
        [PassKind.ACROSS_ROWS],
        [PassKind.QUERIES],
    ]
