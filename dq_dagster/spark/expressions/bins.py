"""Values of a column in bins: a few values, which a sample chose, and the gaps between them.

Whatever the sample says, each value is in one bin, and the bins are in the order of their values:
counts of bins are exact, and tell in which of them the median lies. A value that occurs often is
most likely a bin of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from pyspark.sql import types as T

from dq_dagster.metrics.constant import Constant
from dq_dagster.metrics.measured import Slice
from dq_dagster.metrics.metric import ColumnMedian, Metric
from dq_dagster.metrics.states import EXACT
from dq_dagster.spark.expressions import literals
from dq_dagster.spark.expressions.values import numeric_column, value_or_null
from dq_dagster.spark.frames.columns import FLOATS, ColumnRef, JudgedTable

# The share of the rows that are looked at to choose the bins, and how exactly.
SHARE = 0.02
_ACCURACY = 1_000
# How far from the middle values are that hold it between them, as shares of all.
_APART = (0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2, 0.4)
# Half of the rows are expected below the middle of a sample, give or take so many deviations.
_DEVIATIONS = 4
# How many values divide the others: the more, the fewer values have to be put in order.
_MOST = 64
_FEW = 16
# Up to so many values in the sample, few are enough.
_FEW_SAMPLED = 400_000

_SPREAD = tuple(place / _MOST for place in range(1, _MOST))
_NEAR = (0.5, *(0.5 + sign * apart for apart in _APART for sign in (-1, 1)))

Number = int | float | Decimal
Middles = dict[Metric, dict[Slice, Number | None]]


@dataclass(frozen=True, slots=True)
class MedianSql:
    """A median's column, and the value of it that counts, as SQL."""

    metric: ColumnMedian
    column: ColumnRef
    value: str


def median_sql(metric: ColumnMedian, table: JudgedTable) -> MedianSql:
    """Raises Misfit if the column is missing or not a number."""
    column = numeric_column(table, metric.column, "The median")
    if metric.where is not None:
        table.require_columns_of(metric.where)
    return MedianSql(metric, column, value_or_null(column.sql, metric.where))


class Sampled(NamedTuple):
    """What a sample says of a column: where its values lie, and how many there were."""

    quantiles: Sequence[Number] | None
    rows: int

    @classmethod
    def read(cls, row: Any, n: int) -> Sampled:
        """From the results of the n-th aggregates that ``sampled`` names."""
        return cls(row[f"q{n}"], row[f"c{n}"])


def sampled(n: int, one: MedianSql, value: str) -> list[str]:
    """Aggregates over a sample that say where the values of a column lie."""
    number = value
    if isinstance(one.column.kind, T.DecimalType):
        # Spark counts with doubles here; its way back to a decimal fails for the largest.
        number = f"CAST({value} AS DOUBLE)"
    ranks = ", ".join(f"{rank!r}D" for rank in (*_SPREAD, *_NEAR))
    return [
        f"percentile_approx({number}, array({ranks}), {_ACCURACY}) AS q{n}",
        f"count({value}) AS c{n}",
    ]


@dataclass(frozen=True, slots=True)
class SampledBins:
    """Bin 2 n + 1 is the n-th of the values, bin 2 n what lies before it; the last one is NaN."""

    column: ColumnRef
    values: tuple[Number, ...]

    @classmethod
    def of(cls, one: MedianSql, seen: Sampled) -> SampledBins:
        some = list(seen.quantiles or ())[: len(_SPREAD)]
        if seen.rows <= _FEW_SAMPLED:
            every = _MOST // _FEW
            some = some[every - 1 :: every]
        return cls._between(one, some)

    @classmethod
    def of_middle(cls, one: MedianSql, seen: Sampled) -> SampledBins:
        """Few bins, for rows that are not divided: narrow ones beside the middle of the sample."""
        if not seen.quantiles:
            return cls._between(one, ())
        middle, *pairs = list(seen.quantiles)[len(_SPREAD) :]
        needed = _DEVIATIONS * (0.5 / math.sqrt(seen.rows) + 1 / _ACCURACY)
        at = next((n for n, apart in enumerate(_APART) if apart >= needed), len(_APART) - 1)
        return cls._between(one, [middle, *pairs[2 * at : 2 * at + 2]])

    @classmethod
    def _between(cls, one: MedianSql, some: Sequence[Number]) -> SampledBins:
        kind = one.column.kind
        values = dict.fromkeys(_rounded(value, kind) for value in some if math.isfinite(value))
        # What is known of a 32-bit column is exact as a double, and compared as such.
        wide = T.DoubleType() if isinstance(kind, T.FloatType) else kind
        return cls(ColumnRef(one.column.name, one.column.sql, wide), tuple(sorted(values)))

    @property
    def numbers(self) -> range:
        """Of all bins."""
        return range(self.nan + 1 if isinstance(self.column.kind, FLOATS) else self.nan)

    @property
    def nan(self) -> int:
        return 2 * len(self.values) + 1

    def value(self, number: int) -> Number | None:
        """The only value of that bin; None if it may have several."""
        return self.values[number // 2] if number % 2 else None

    def number(self, value: str) -> str:
        """The SQL of the bin that a value is in; NULL for NULL."""
        found = self._among(value, 0, len(self.values))
        if isinstance(self.column.kind, FLOATS):
            found = f"if(isnan({value}), {self.nan}, {found})"
        return f"if({value} IS NULL, NULL, {found})"

    def _among(self, value: str, first: int, last: int) -> str:
        if first == last:
            return str(2 * first)
        middle = (first + last) // 2
        bound = Constant.of(self.values[middle])
        under = literals.below(self.column, value, bound)
        over = literals.above(self.column, value, bound)
        return (
            f"CASE WHEN {under} THEN {self._among(value, first, middle)} "
            f"WHEN {over} THEN {self._among(value, middle + 1, last)} ELSE {2 * middle + 1} END"
        )


def _rounded(value: Number, kind: T.DataType) -> Number:
    """The value of the column's own type that a quantile, found with doubles, stands for."""
    if not isinstance(kind, T.DecimalType):
        return value
    largest = EXACT.scaleb(Decimal(10**kind.precision - 1), -kind.scale)
    bounded = max(min(Decimal(value), largest), largest.copy_negate())
    return bounded.quantize(Decimal(1).scaleb(-kind.scale), context=EXACT)
