"""Estimates as aggregates over sketches."""

from __future__ import annotations

from typing import Any

from pyspark.sql import types as T

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.frequency import (
    DISTINCT_SIZE,
    MEDIAN_ACCURACY,
    TRACKED_VALUES,
    DistinctEstimate,
    DistinctShare,
    Frequencies,
    Level,
    MedianEstimate,
    TopEstimate,
)
from dq_dagster.metrics.states import Opaque, State
from dq_dagster.spark.expressions.values import (
    Aggregates,
    Counting,
    Results,
    counting,
    numeric_column,
    transport,
    value_or_null,
)
from dq_dagster.spark.frames.columns import FLOATS, ColumnRef, JudgedTable

# More than needed, so that ties for the last place show.
_SPARE = 20


def distinct_estimate(metric: DistinctEstimate, table: JudgedTable) -> Aggregates:
    key = counting(metric.grouping, table, alias="key").sql
    # The sketch takes few types; a hash of 64 bits stands for a value of any.
    hashed = f"if({key} IS NULL, NULL, xxhash64({key}))"
    return Aggregates(
        _distinct,
        counts={"rows": f"{key} IS NOT NULL"},
        others={"distinct": f"hll_sketch_estimate(hll_sketch_agg({hashed}, {DISTINCT_SIZE}))"},
        fallible=metric.where is not None,
    )


def median_estimate(metric: MedianEstimate, table: JudgedTable) -> Aggregates:
    column = numeric_column(table, metric.column, "The median")
    value = value_or_null(column.sql, metric.where)
    if isinstance(column.kind, T.DecimalType):
        # Spark counts with doubles here; its way back to a decimal fails for the largest.
        value = f"CAST({value} AS DOUBLE)"
    nan = f"isnan({value})" if isinstance(column.kind, FLOATS) else "false"
    median = f"percentile_approx({value}, 0.5D, {MEDIAN_ACCURACY})"
    return Aggregates(
        lambda results: Opaque("number", float("nan") if results["nan"] else results["median"]),
        counts={"nan": nan},
        others={"median": median},
        fallible=metric.where is not None,
    )


def top_estimate(metric: TopEstimate, table: JudgedTable) -> Aggregates:
    task = counting(metric.grouping, table, alias="item.item")
    if isinstance(task.key.kind, T.NullType):
        return Aggregates(lambda _: Opaque("levels", ()))
    inside = task.inside(metric.against)
    plain, _ = transport(task.key)
    top = f"approx_top_k({task.sql}, {metric.places + _SPARE}, {TRACKED_VALUES})"
    items = (
        f"transform({top}, item -> named_struct('n', item.count, 'inside', ({inside}), "
        f"'value', {plain.format('item.item')}))"
    )
    return Aggregates(
        lambda results: _levels(results["top"], metric, task),
        others={"top": items},
        fallible=metric.where is not None,
    )


def _distinct(results: Results) -> State:
    rows = results["rows"]
    return Opaque("distinct", DistinctShare(min(results["distinct"] or 0, rows), rows))


def _levels(items: Any, metric: TopEstimate, task: Counting) -> State:
    by_count: dict[int, list[Any]] = {}
    for item in items or ():
        if item["value"] is not None:
            by_count.setdefault(item["n"], []).append(item)
    levels = tuple(
        Level(
            count,
            len(same),
            count * len(same),
            {metric.against: sum(bool(item["inside"]) for item in same)},
            _examples(same, task.key),
        )
        for count, same in sorted(by_count.items(), reverse=True)
    )
    return Opaque("levels", tuple(Frequencies(levels).leading(metric.places)))


def _examples(items: list[Any], key: ColumnRef) -> tuple[Any, ...]:
    _, from_plain = transport(key)
    try:
        return tuple(from_plain(item["value"]) for item in items[:2])
    except RuleFailure:
        return ()
