"""Exact medians of many columns in two queries.

The first finds a narrow bracket around each median (approximate quantiles with a guaranteed
error), the second counts the values below it and picks the middle ones from the few inside.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as T

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.median import ColumnMedian
from dq_dagster.metrics.slices import UNDIVIDED, WHOLE, Slice
from dq_dagster.spark.aggregates import numeric_column, value_or_null
from dq_dagster.spark.brackets import Bracket, Ends, MedianSql, Number
from dq_dagster.spark.columns import FLOATS, Table
from dq_dagster.spark.medians_by_part import BracketsOfParts, middles_by_part

if TYPE_CHECKING:
    from dq_dagster.spark.slicing import Parts

_ACCURACY = 10_000
# Wider than the error of the quantiles, so that the median lies surely inside.
_LOW, _HIGH = 0.5 - 3 / _ACCURACY, 0.5 + 3 / _ACCURACY

Medians = dict[ColumnMedian, dict[Slice, Number | RuleFailure | None]]


def median_sql(metric: ColumnMedian, table: Table) -> MedianSql:
    """Raises Misfit if the column is missing or not a number."""
    column = numeric_column(table, metric.column, "The median")
    if metric.where is not None:
        table.require_columns_of(metric.where)
    return MedianSql(metric, column, value_or_null(column.sql, metric.where))


def medians(parts: Parts, wanted: Sequence[MedianSql]) -> Medians:
    """The median of each column in each part; None where there is no value."""
    found: Medians = {one.metric: {} for one in wanted}
    brackets: BracketsOfParts = {}
    divided = parts.cuts != (UNDIVIDED,)
    columns = [sql for n, one in enumerate(wanted) for sql in _quantiles(n, one)]
    for part, row in parts.aggregate(columns).items():
        for n, one in enumerate(wanted):
            if not row[f"c{n}"]:
                found[one.metric][part] = None
            elif row[f"nan{n}"]:
                found[one.metric][part] = math.nan
            else:
                low, high = row[f"q{n}"]
                around = Bracket.around(low, high, row[f"c{n}"], one.column.kind)
                bracket = around.typed(one.column.kind) if divided else around
                brackets.setdefault(part, {})[n] = bracket
    for part, row in _middles(parts, wanted, brackets).items():
        for n, bracket in brackets[part].items():
            found[wanted[n].metric][part] = bracket.middle(n, wanted[n], row)
    return found


def _middles(
    parts: Parts, wanted: Sequence[MedianSql], brackets: BracketsOfParts
) -> Mapping[Slice, Mapping[str, Any]]:
    if not brackets:
        return {}
    if parts.cuts != (UNDIVIDED,):
        return middles_by_part(parts, wanted, brackets)
    ends = {n: Ends.of(wanted[n], bracket) for n, bracket in brackets[WHOLE].items()}
    return parts.aggregate([sql for n, e in ends.items() for sql in e.columns(n, wanted[n].value)])


def _quantiles(n: int, one: MedianSql) -> list[str]:
    nan = f"isnan({one.value})" if isinstance(one.column.kind, FLOATS) else "false"
    value = one.value
    if isinstance(one.column.kind, T.DecimalType):
        # Spark counts with doubles here; its way back to a decimal fails for the largest.
        value = f"CAST({value} AS DOUBLE)"
    return [
        f"percentile_approx({value}, array({_LOW!r}, {_HIGH!r}), {_ACCURACY}) AS q{n}",
        f"count({one.value}) AS c{n}",
        f"count(if({nan}, 1, NULL)) AS nan{n}",
    ]
