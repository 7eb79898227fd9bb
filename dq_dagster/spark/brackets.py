"""Two values with a median between them, and the SQL that finds the middle from there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any

from pyspark.sql import types as T

from dq_dagster.errors import RuleFailure, Unmeasurable
from dq_dagster.metrics.constant import Constant
from dq_dagster.metrics.median import ColumnMedian, midpoint
from dq_dagster.metrics.states import EXACT
from dq_dagster.spark import literals
from dq_dagster.spark.columns import ColumnRef

_LONGEST = 2**63

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

    @classmethod
    def around(cls, low: Number, high: Number, count: int, kind: T.DataType) -> Bracket:
        """Quantiles are found with doubles: numbers that those can not hold get some room."""
        if isinstance(kind, T.DecimalType):
            unit = Decimal(1).scaleb(-kind.scale)
            return cls(
                _moved(_rounded(low, unit), -unit), _moved(_rounded(high, unit), unit), count
            )
        if isinstance(kind, T.LongType):
            return cls(_moved(low, Decimal(-1)), _moved(high, Decimal(1)), count)
        return cls(low, high, count)

    def typed(self, kind: T.DataType) -> Bracket:
        """The same with ends of the column's own type, never nearer to the median."""
        if isinstance(kind, T.LongType):
            low, high = math.floor(self.low), math.ceil(self.high)
            return Bracket(max(low, -_LONGEST), min(high, _LONGEST - 1), self.count)
        if isinstance(kind, T.DecimalType):
            most = EXACT.scaleb(Decimal(10**kind.precision - 1), -kind.scale)
            unit = Decimal(1).scaleb(-kind.scale)
            return Bracket(
                max(Decimal(self.low), most.copy_negate()).quantize(unit, ROUND_FLOOR, EXACT),
                min(Decimal(self.high), most).quantize(unit, ROUND_CEILING, EXACT),
                self.count,
            )
        return self

    def middle(self, n: int, one: MedianSql, row: Mapping[str, Any]) -> Number | RuleFailure:
        """The median, from the counts and values that ``Ends.columns`` asked for."""
        lower = self._at((self.count - 1) // 2, n, row)
        upper = self._at(self.count // 2, n, row)
        if lower is None or upper is None:
            return Unmeasurable.not_bracketed(one.column.name)
        return midpoint(lower, upper)

    def _at(self, rank: int, n: int, row: Mapping[str, Any]) -> Any:
        """The value of that rank, or None if it is not in the bracket after all."""
        if row[f"under{n}"] <= rank < row[f"low{n}"]:
            return self.low
        if row[f"low{n}"] <= rank < row[f"inside{n}"]:
            first = max((self.count - 1) // 2, row[f"low{n}"])
            return row[f"middle{n}"][rank - first]
        if row[f"inside{n}"] <= rank < row[f"high{n}"]:
            return self.high
        return None


@dataclass(frozen=True, slots=True)
class Ends:
    """How a value lies to its bracket, as SQL predicates, and the number of values."""

    under: str
    over_low: str
    under_high: str
    over: str
    count: str

    @classmethod
    def of(cls, one: MedianSql, bracket: Bracket) -> Ends:
        """A bracket written into the query."""
        low, high = Constant.of(bracket.low), Constant.of(bracket.high)
        column = ColumnRef(one.column.name, one.column.sql, _wide(one.column.kind))
        return cls(
            under=literals.below(column, one.value, low),
            over_low=literals.above(column, one.value, low),
            under_high=literals.below(column, one.value, high),
            over=literals.above(column, one.value, high),
            count=f"{bracket.count}L",
        )

    @classmethod
    def in_columns(cls, value: str, low: str, high: str, count: str) -> Ends:
        """A bracket that comes with each row, in the type of the value."""
        return cls(
            under=f"{value} < {low}",
            over_low=f"{value} > {low}",
            under_high=f"{value} < {high}",
            over=f"{value} > {high}",
            count=f"max({count})",
        )

    def columns(self, n: int, value: str) -> list[str]:
        """How many values lie below, at and above the ends, and the middle ones inside."""
        between = f"if({self.over_low} AND {self.under_high}, {value}, NULL)"
        inside = f"array_sort(collect_list({between}))"
        given = f"{value} IS NOT NULL"
        at_most_low = f"count(if({given} AND NOT ({self.over_low}), 1, NULL))"
        first = f"greatest(({self.count} - 1) DIV 2 - {at_most_low}, 0)"
        return [
            f"count(if({self.under}, 1, NULL)) AS under{n}",
            f"{at_most_low} AS low{n}",
            f"count(if({self.under_high}, 1, NULL)) AS inside{n}",
            f"count(if({given} AND NOT ({self.over}), 1, NULL)) AS high{n}",
            # Named once: Spark would collect the same list twice.
            f"slice({inside}, CAST({first} AS INT) + 1, 2) AS middle{n}",
        ]


def _rounded(end: Number, unit: Decimal) -> Decimal:
    """The decimal that a double stands for."""
    return Decimal(end).quantize(unit, ROUND_HALF_EVEN, EXACT)


def _moved(end: Number, step: Decimal) -> Number:
    size = abs(Decimal(end))
    if size < abs(step) * 2**53:
        return end
    away = EXACT.multiply(size, Decimal(2) ** -50)
    return EXACT.add(Decimal(end), away if step > 0 else -away)


def _wide(kind: T.DataType) -> T.DataType:
    # The bracket of a 32-bit column is exact as a double, and compared as such.
    return T.DoubleType() if isinstance(kind, T.FloatType) else kind
