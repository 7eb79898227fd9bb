"""Exact medians of many columns in two queries.

The first finds a narrow bracket around each median (approximate quantiles with a guaranteed
error), the second counts the values below it and picks the middle ones from the few inside.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as T

from dq_dagster.errors import RuleFailure, Unmeasurable
from dq_dagster.metrics.constant import Constant
from dq_dagster.metrics.median import ColumnMedian, midpoint
from dq_dagster.metrics.states import EXACT
from dq_dagster.spark import literals
from dq_dagster.spark.aggregates import numeric_column, value_or_null
from dq_dagster.spark.columns import FLOATS, ColumnRef, Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ACCURACY = 10_000
# Wider than the error of the quantiles, so that the median lies surely inside.
_LOW, _HIGH = 0.5 - 3 / _ACCURACY, 0.5 + 3 / _ACCURACY

_BEYOND = Decimal(10) ** 39

Number = int | float | Decimal


@dataclass(frozen=True, slots=True)
class MedianSql:
    """A median's column, and the value of it that counts, as SQL."""

    metric: ColumnMedian
    column: ColumnRef
    value: str


@dataclass(frozen=True, slots=True)
class Bracket:
    """Two values with the median between them, and how many values there are."""

    low: Number
    high: Number
    count: int


def median_sql(metric: ColumnMedian, table: Table) -> MedianSql:
    """Raises Misfit if the column is missing or not a number."""
    column = numeric_column(table, metric.column, "The median")
    if metric.where is not None:
        table.require_columns_of(metric.where)
    return MedianSql(metric, column, value_or_null(column.sql, metric.where))


def medians(
    frame: DataFrame, wanted: Sequence[MedianSql]
) -> dict[ColumnMedian, Number | RuleFailure | None]:
    """The median of each column; None where there is no value."""
    found: dict[ColumnMedian, Number | RuleFailure | None] = {}
    brackets: dict[int, Bracket] = {}
    row = _one_row(frame, [sql for n, one in enumerate(wanted) for sql in _quantiles(n, one)])
    for n, one in enumerate(wanted):
        if not row[f"c{n}"]:
            found[one.metric] = None
        elif row[f"nan{n}"]:
            found[one.metric] = math.nan
        else:
            low, high = row[f"q{n}"]
            brackets[n] = _widened(low, high, row[f"c{n}"], one.column.kind)
    if brackets:
        columns = [sql for n, b in brackets.items() for sql in _middle(n, wanted[n], b)]
        row = _one_row(frame, columns)
        found |= {wanted[n].metric: _pick(n, wanted[n], b, row) for n, b in brackets.items()}
    return found


def _widened(low: Any, high: Any, count: int, kind: T.DataType) -> Bracket:
    """Quantiles are found with doubles: numbers that those can not hold get some room."""
    if low is None or high is None:
        # Rounded beyond what a decimal can hold.
        return Bracket(-_BEYOND, _BEYOND, count)
    if isinstance(kind, T.LongType | T.DecimalType):
        step = Decimal(1).scaleb(-kind.scale) if isinstance(kind, T.DecimalType) else Decimal(1)
        return Bracket(_moved(low, -step), _moved(high, step), count)
    return Bracket(low, high, count)


def _moved(end: Number, step: Decimal) -> Number:
    size = abs(Decimal(end))
    if size < abs(step) * 2**53:
        return end
    away = EXACT.multiply(size, Decimal(2) ** -50)
    return EXACT.add(Decimal(end), away if step > 0 else -away)


def _one_row(frame: DataFrame, columns: list[str]) -> Mapping[str, Any]:
    return frame.selectExpr(*columns).collect()[0].asDict(recursive=False)


def _quantiles(n: int, one: MedianSql) -> list[str]:
    nan = f"isnan({one.value})" if isinstance(one.column.kind, FLOATS) else "false"
    return [
        f"percentile_approx({one.value}, array({_LOW!r}, {_HIGH!r}), {_ACCURACY}) AS q{n}",
        f"count({one.value}) AS c{n}",
        f"count(if({nan}, 1, NULL)) AS nan{n}",
    ]


def _middle(n: int, one: MedianSql, bracket: Bracket) -> list[str]:
    """How many values lie below, at and above the bracket's ends, and the middle ones inside."""
    low = Constant.of(bracket.low)
    high = Constant.of(bracket.high)
    column = ColumnRef(one.column.name, one.column.sql, _wide(one.column.kind))
    under = literals.below(column, one.value, low)
    over_low = literals.above(column, one.value, low)
    under_high = literals.below(column, one.value, high)
    over = literals.above(column, one.value, high)
    inside = f"array_sort(collect_list(if({over_low} AND {under_high}, {one.value}, NULL)))"
    given = f"{one.value} IS NOT NULL"
    at_most_low = f"count(if({given} AND NOT ({over_low}), 1, NULL))"
    return [
        f"count(if({under}, 1, NULL)) AS under{n}",
        f"{at_most_low} AS low{n}",
        f"count(if({under_high}, 1, NULL)) AS inside{n}",
        f"count(if({given} AND NOT ({over}), 1, NULL)) AS high{n}",
        *(
            f"get({inside}, CAST({rank} - {at_most_low} AS INT)) AS {name}{n}"
            for name, rank in (("lower", (bracket.count - 1) // 2), ("upper", bracket.count // 2))
        ),
    ]


def _wide(kind: T.DataType) -> T.DataType:
    # The bracket of a 32-bit column is exact as a double, and compared as such.
    return T.DoubleType() if isinstance(kind, T.FloatType) else kind


def _pick(n: int, one: MedianSql, bracket: Bracket, row: Mapping[str, Any]) -> Number | RuleFailure:
    middle = [
        _at(rank, row[f"{name}{n}"], n, bracket, row)
        for name, rank in (("lower", (bracket.count - 1) // 2), ("upper", bracket.count // 2))
    ]
    if middle[0] is None or middle[1] is None:
        return Unmeasurable.not_bracketed(one.column.name)
    return midpoint(middle[0], middle[1])


def _at(rank: int, inner: Any, n: int, bracket: Bracket, row: Mapping[str, Any]) -> Any:
    """The value of that rank, or None if it is not in the bracket after all."""
    if row[f"under{n}"] <= rank < row[f"low{n}"]:
        return bracket.low
    if row[f"low{n}"] <= rank < row[f"inside{n}"]:
        return inner
    return bracket.high if row[f"inside{n}"] <= rank < row[f"high{n}"] else None
