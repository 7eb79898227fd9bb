"""Where medians lie: two values around each, from a sample of the rows.

What a sample says may be wrong, if hardly ever. Who looks for a median between the two counts the
values below them, and so knows whether it is there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any

from pyspark.sql import types as T

from dq_dagster.metrics.constant import Constant
from dq_dagster.metrics.measured import Slice
from dq_dagster.metrics.metric import ColumnMedian, Metric, midpoint
from dq_dagster.metrics.states import EXACT
from dq_dagster.spark.expressions import literals
from dq_dagster.spark.expressions.values import numeric_column, value_or_null
from dq_dagster.spark.frames.columns import FLOATS, ColumnRef, JudgedTable
from dq_dagster.spark.frames.slicing import Parts

_LONGEST = 2**63
_SHARE = 0.02
_ACCURACY = 1_000
# How far from the middle the ends may lie, by rank, and how many values a sample must have so that
# the median is between them but for one time in a billion: six standard deviations, and the error
# of the quantiles.
_WIDTHS = {
    width: math.ceil((3 / (width - 2 / _ACCURACY)) ** 2)
    for width in (0.004, 0.0125, 0.025, 0.05, 0.1, 0.2, 0.35)
}
_RANKS = ", ".join(f"{0.5 - width!r}D, {0.5 + width!r}D" for width in _WIDTHS)

Number = int | float | Decimal


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


@dataclass(frozen=True, slots=True)
class Bracket:
    """Two values with the median between them; None where there is no end."""

    low: Number | None = None
    high: Number | None = None

    @classmethod
    def around(cls, low: Number, high: Number, kind: T.DataType) -> Bracket:
        """Ends of the column's own type. Quantiles are found with doubles: others get some room."""
        if isinstance(kind, T.DecimalType):
            unit = Decimal(1).scaleb(-kind.scale)
            largest = EXACT.scaleb(Decimal(10**kind.precision - 1), -kind.scale)
            down = Decimal(_moved(_rounded(low, unit), -unit))
            up = Decimal(_moved(_rounded(high, unit), unit))
            return cls(
                max(down, largest.copy_negate()).quantize(unit, ROUND_FLOOR, EXACT),
                min(up, largest).quantize(unit, ROUND_CEILING, EXACT),
            )
        if isinstance(kind, T.LongType):
            least = math.floor(_moved(low, Decimal(-1)))
            most = math.ceil(_moved(high, Decimal(1)))
            return cls(max(least, -_LONGEST), min(most, _LONGEST - 1))
        if isinstance(kind, FLOATS):
            # Beyond a NaN there is nothing.
            return cls(*(None if math.isnan(end) else end for end in (low, high)))
        return cls(low, high)


NO_ENDS = Bracket()
Brackets = dict[Slice, dict[Metric, Bracket]]
Middles = dict[Metric, dict[Slice, Number | None]]


def _rounded(end: Number, unit: Decimal) -> Decimal:
    """The decimal that a double stands for."""
    return Decimal(end).quantize(unit, ROUND_HALF_EVEN, EXACT)


def _moved(end: Number, step: Decimal) -> Number:
    size = abs(Decimal(end))
    if size < abs(step) * 2**53:
        return end
    away = EXACT.multiply(size, Decimal(2) ** -50)
    return EXACT.add(Decimal(end), away if step > 0 else -away)


def sampled_brackets(parts: Parts, wanted: Sequence[MedianSql], seed: int) -> Brackets:
    """Ends for the medians of each part that the sample says enough about: one small query."""
    sample = replace(parts, frame=parts.frame.where(f"rand({seed}) < {_SHARE!r}D"))
    columns = [sql for n, one in enumerate(wanted) for sql in _quantiles(n, one)]
    found: Brackets = {}
    for part, row in sample.aggregate(columns).items():
        found[part] = {
            one.metric: _bracket(row, n, one.column.kind) for n, one in enumerate(wanted)
        }
    return found


def _quantiles(n: int, one: MedianSql) -> list[str]:
    value = one.value
    if isinstance(one.column.kind, T.DecimalType):
        # Spark counts with doubles here; its way back to a decimal fails for the largest.
        value = f"CAST({value} AS DOUBLE)"
    return [
        f"percentile_approx({value}, array({_RANKS}), {_ACCURACY}) AS q{n}",
        f"count({one.value}) AS c{n}",
    ]


def _bracket(row: Mapping[str, Any], n: int, kind: T.DataType) -> Bracket:
    for place, enough in enumerate(_WIDTHS.values()):
        if row[f"c{n}"] >= enough:
            low, high = row[f"q{n}"][2 * place : 2 * place + 2]
            return Bracket.around(low, high, kind)
    return NO_ENDS


@dataclass(frozen=True, slots=True)
class Ends:
    """How a value lies to its bracket, as SQL predicates."""

    under: str
    over_low: str
    under_high: str
    over: str

    @classmethod
    def of(cls, one: MedianSql, bracket: Bracket) -> Ends:
        """A bracket written into the query."""
        column = ColumnRef(one.column.name, one.column.sql, _wide(one.column.kind))
        under, over_low, under_high, over = "false", "true", "true", "false"
        if bracket.low is not None:
            low = Constant.of(bracket.low)
            under = literals.below(column, one.value, low)
            over_low = literals.above(column, one.value, low)
        if bracket.high is not None:
            high = Constant.of(bracket.high)
            under_high = literals.below(column, one.value, high)
            over = literals.above(column, one.value, high)
        return cls(under, over_low, under_high, over)

    @classmethod
    def in_columns(cls, value: str, low: str, high: str) -> Ends:
        """A bracket that comes with each row, in the type of the value; NULL is no end."""
        return cls(
            under=f"coalesce({value} < {low}, false)",
            over_low=f"coalesce({value} > {low}, true)",
            under_high=f"coalesce({value} < {high}, true)",
            over=f"coalesce({value} > {high}, false)",
        )

    def columns(self, n: int, one: MedianSql, value: str) -> list[str]:
        """How many values lie below, at and above the ends, and the middle ones inside."""
        given = f"{value} IS NOT NULL"
        between = f"if({given} AND {self.over_low} AND {self.under_high}, {value}, NULL)"
        inside = f"array_sort(collect_list({between}))"
        at_most_low = f"count(if({given} AND NOT ({self.over_low}), 1, NULL))"
        first = f"greatest((count({value}) - 1) DIV 2 - {at_most_low}, 0)"
        nan = f"isnan({value})" if isinstance(one.column.kind, FLOATS) else "false"
        return [
            f"count({value}) AS c{n}",
            f"count(if({nan}, 1, NULL)) AS nan{n}",
            f"count(if({given} AND {self.under}, 1, NULL)) AS under{n}",
            f"{at_most_low} AS low{n}",
            f"count(if({given} AND {self.under_high}, 1, NULL)) AS inside{n}",
            f"count(if({given} AND NOT ({self.over}), 1, NULL)) AS high{n}",
            # Named once: Spark would collect the same list twice.
            f"slice({inside}, CAST({first} AS INT) + 1, 2) AS middle{n}",
        ]


def _wide(kind: T.DataType) -> T.DataType:
    # The bracket of a 32-bit column is exact as a double, and compared as such.
    return T.DoubleType() if isinstance(kind, T.FloatType) else kind


class Missed(Exception):
    """The median is not between its ends after all."""


def middle(bracket: Bracket, n: int, row: Mapping[str, Any]) -> Number | None:
    """The median, from the counts and values that ``Ends.columns`` selects; None without values."""
    count = row[f"c{n}"]
    if not count:
        return None
    if row[f"nan{n}"]:
        return math.nan
    return midpoint(*(_at(rank, bracket, n, row) for rank in ((count - 1) // 2, count // 2)))


def _at(rank: int, bracket: Bracket, n: int, row: Mapping[str, Any]) -> Any:
    """The value of that rank."""
    if row[f"under{n}"] <= rank < row[f"low{n}"]:
        return bracket.low
    if row[f"low{n}"] <= rank < row[f"inside{n}"]:
        first = max((row[f"c{n}"] - 1) // 2, row[f"low{n}"])
        return row[f"middle{n}"][rank - first]
    if row[f"inside{n}"] <= rank < row[f"high{n}"]:
        return bracket.high
    raise Missed
