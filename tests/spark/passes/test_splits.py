"""The state of a whole table is the merge of the states of its parts, measured by Spark."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import reduce
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from dq_dagster.metrics.conditions import HasValue, IsEmpty, RowBreaks
from dq_dagster.metrics.measured import UNDIVIDED, WHOLE, Cut, Measured
from dq_dagster.metrics.metric import (
    ColumnAvg,
    ColumnMax,
    ColumnMin,
    ColumnStddev,
    ColumnSum,
    ConditionCount,
    RecordCount,
    RowMetric,
)
from dq_dagster.metrics.states import Moments, State, Total

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = (
    "part int, i int, l bigint, f float, d double, e decimal(10,2), w decimal(38,18), s string,"
    " b boolean, day date, t timestamp, n timestamp_ntz"
)
NUMBERS = ["i", "l", "f", "d", "e", "w"]
ORDERED = [*NUMBERS, "s", "b", "day", "t", "n"]
PARTS = 4
METRICS: list[RowMetric] = [
    RecordCount(),
    RecordCount(where="i > 0"),
    ConditionCount(IsEmpty("s", blank_is_empty=True)),
    ConditionCount(RowBreaks("d > l", null_breaks=True), where="b"),
    *[ConditionCount(HasValue(column, blank_is_empty=False)) for column in ORDERED],
    *[metric(column) for column in ORDERED for metric in (ColumnMin, ColumnMax)],
    *[metric(column) for column in NUMBERS for metric in (ColumnSum, ColumnAvg, ColumnStddev)],
    *[metric(column, where="i > 0") for column in NUMBERS for metric in (ColumnSum, ColumnMin)],
]


def _row(random: Random) -> tuple[Any, ...]:
    moment = datetime(2024, 11, 3, 4, tzinfo=UTC) + timedelta(minutes=random.randint(0, 300))
    values: tuple[Any, ...] = (
        random.randint(-9, 9),
        random.choice((2**63 - 1, -(2**63), 5)),
        random.choice((0.5, -2.25, 1e10)),
        random.choice((0.1, 1e9 + 0.1, -3.5, 1e-9)),
        Decimal(random.randint(-500, 500)) / 100,
        random.choice((Decimal("99999999999999999999.999999999999999999"), Decimal("0.1"))),
        random.choice(("", " ", "a", "\U0001f600", "é")),
        random.random() < 0.5,
        date(1, 1, 1) + timedelta(days=random.randint(0, 9)),
        moment,
        moment.replace(tzinfo=None),
    )
    return (random.randrange(PARTS), *(v if random.random() > 0.2 else None for v in values))


def _measure(frame: DataFrame, cut: Cut = UNDIVIDED) -> dict[RowMetric, Measured]:
    from dq_dagster.spark.frames.columns import JudgedTable
    from dq_dagster.spark.frames.slicing import Division, Parts
    from dq_dagster.spark.passes.aggregate import measure_with_rows

    table = JudgedTable(frame.schema)
    division = Division.of(table, partition_by="part", dimensions=["b"])
    return measure_with_rows(METRICS, Parts.of(frame, (cut,), division), table)


@pytest.mark.parametrize("seed", [1, 2])
def test_parts_add_up_to_the_whole(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    # With few rows some parts hold no value of a column, or no row at all.
    rows = [_row(random) for _ in range(6 if seed == 1 else 60)]
    frame = spark.createDataFrame(rows, SCHEMA)
    whole = _measure(frame)
    groups = _measure(frame, Cut(partitioned=True, dimension="b"))
    parts = [_measure(frame.where(f"part = {n}")) for n in range(PARTS)]
    random.shuffle(parts)
    for metric in METRICS:
        states = [_state(part[metric]) for part in parts]
        merged = reduce(lambda one, other: one.merge(other), states)
        _assert_same(merged, _state(whole[metric]), metric)
        for cut in (UNDIVIDED, Cut(partitioned=True), Cut(dimension="b")):
            grouped = reduce(
                lambda one, other: one.merge(other),
                _put_together(groups[metric], cut),
                groups[metric].nothing,
            )
            _assert_same(grouped, _state(whole[metric]), metric)


def _state(measured: Measured) -> State:
    return measured.states[WHOLE]


def _put_together(measured: Measured, cut: Cut) -> list[State]:
    return list(measured.by_part(cut).values())


def _assert_same(merged: State, whole: State, metric: RowMetric) -> None:
    if isinstance(whole, Moments):
        assert isinstance(merged, Moments)
        assert merged.count == whole.count, metric
        assert merged.mean == pytest.approx(whole.mean, rel=1e-12, abs=1e-6), metric
        if whole.count > 1:
            close = pytest.approx(whole.variance, rel=1e-9, abs=1e-9)
            assert merged.variance == close, metric
    elif isinstance(whole, Total) and isinstance(whole.total, float):
        assert isinstance(merged, Total)
        assert (merged.count, merged.odd) == (whole.count, whole.odd), metric
        assert merged.result == pytest.approx(whole.result, rel=1e-9, abs=1e-3), metric
    else:
        assert merged == whole, metric
