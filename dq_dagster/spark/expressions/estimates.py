"""Estimates as aggregates over sketches."""

from __future__ import annotations

from typing import Any

from pyspark.sql import types as T

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.frequency import (
    DISTINCT_SIZE,
    MEDIAN_SIZE,
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
    Sketch,
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
        sketches={
            "distinct": Sketch(
                f"hll_sketch_agg({hashed}, {DISTINCT_SIZE})",
                "hll_union_agg",
                "hll_sketch_estimate({})".format,
            )
        },
        fallible=metric.where is not None,
    )


def median_estimate(metric: MedianEstimate, table: JudgedTable) -> Aggregates:
    column = numeric_column(table, metric.column, "The median")
    value = value_or_null(column.sql, metric.where)
    nan = f"isnan({value})" if isinstance(column.kind, FLOATS) else "false"
    return Aggregates(
        lambda results: Opaque("number", float("nan") if results["nan"] else results["median"]),
        counts={"nan": nan},
        sketches={"median": _quantiles(column, value)},
        fallible=metric.where is not None,
    )


def _quantiles(column: ColumnRef, value: str) -> Sketch:
    # Decimals are sketched as doubles, which is close enough to be close to the middle.
    kind = "bigint" if isinstance(column.kind, T.IntegralType) else "double"

    def middle(sketch: str) -> str:
        # A sketch of no values has no quantile, and says so by an error.
        some = f"kll_sketch_get_n_{kind}({sketch}) > 0"
        return f"if({some}, kll_sketch_get_quantile_{kind}({sketch}, 0.5D), NULL)"

    cast = f"CAST({value} AS {kind.upper()})"
    return Sketch(f"kll_sketch_agg_{kind}({cast}, {MEDIAN_SIZE})", f"kll_merge_agg_{kind}", middle)


def top_estimate(metric: TopEstimate, table: JudgedTable) -> Aggregates:
    task = counting(metric.grouping, table, alias="item.item")
    if isinstance(task.key.kind, T.NullType):
        return Aggregates(lambda _: Opaque("levels", ()))
    inside = task.inside(metric.against)
    plain, _ = transport(task.key)
    places = metric.places + _SPARE

    def items(sketch: str) -> str:
        return (
            f"transform(approx_top_k_estimate({sketch}, {places}), item -> named_struct('n', "
            f"item.count, 'inside', ({inside}), 'value', {plain.format('item.item')}))"
        )

    return Aggregates(
        lambda results: _levels(results["top"], metric, task),
        sketches={
            "top": Sketch(
                f"approx_top_k_accumulate({task.sql}, {TRACKED_VALUES})",
                "approx_top_k_combine",
                items,
            )
        },
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
