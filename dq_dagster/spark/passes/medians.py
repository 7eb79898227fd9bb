"""Exact medians of many columns in two queries.

The first finds a narrow bracket around each median (approximate quantiles with a guaranteed
error), the second counts the values below it and picks the middle ones from the few inside.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.errors import RuleFailure, Unmeasurable
from dq_dagster.metrics.constant import Constant
from dq_dagster.metrics.measured import UNDIVIDED, WHOLE, Slice
from dq_dagster.metrics.metric import ColumnMedian, Metric, midpoint
from dq_dagster.metrics.states import EXACT
from dq_dagster.spark.expressions import literals
from dq_dagster.spark.expressions.values import numeric_column, value_or_null
from dq_dagster.spark.frames.ansi import home_of, under_ansi
from dq_dagster.spark.frames.columns import FLOATS, ColumnRef, JudgedTable, identifier
from dq_dagster.spark.frames.slicing import Parts, States
from dq_dagster.spark.passes.isolation import in_halves, isolated, with_failures

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
        """Quantiles are found with doubles: numbers that those cannot hold get some room."""
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
        """The median, from the counts and values that ``Ends.columns`` selects."""
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


BracketsOfParts = dict[Slice, dict[int, Bracket]]

_KEYS = ("cut", "p", "d")


def middles_by_part(
    parts: Parts, wanted: Sequence[MedianSql], brackets: BracketsOfParts
) -> Mapping[Slice, Mapping[str, Any]]:
    """Each row meets the brackets of the parts it belongs to, one for each cut."""
    same = [F.col(f"r.{key}").eqNullSafe(F.col(f"b.{key}")) for key in _KEYS]
    known = _brackets(parts, wanted, brackets)
    joined = _rows(parts, wanted).alias("r").join(F.broadcast(known).alias("b"), reduce(and_, same))
    columns = [
        sql
        for n in range(len(wanted))
        for sql in Ends.in_columns(f"v{n}", f"low_{n}", f"high_{n}", f"count_{n}").columns(
            n, f"v{n}"
        )
    ]
    found = joined.groupBy("part").agg(*(F.expr(sql) for sql in columns)).collect()
    ordered = list(brackets)
    return {ordered[row["part"]]: row.asDict(recursive=False) for row in found}


def _rows(parts: Parts, wanted: Sequence[MedianSql]) -> DataFrame:
    """The values of each row, once for each cut, with the keys of its part there."""
    keys = [
        f"named_struct('cut', {n}, 'p', {_key(parts, None) if cut.partitioned else _NONE}, "
        f"'d', {_NONE if cut.dimension is None else _key(parts, cut.dimension)})"
        for n, cut in enumerate(parts.cuts)
    ]
    values = [f"{one.value} AS v{n}" for n, one in enumerate(wanted)]
    return parts.frame.selectExpr(f"inline(array({', '.join(keys)}))", *values)


_NONE = "CAST(NULL AS STRING)"


def _key(parts: Parts, name: str | None) -> str:
    return identifier(parts.keys[name])


def _brackets(parts: Parts, wanted: Sequence[MedianSql], brackets: BracketsOfParts) -> DataFrame:
    fields = [
        T.StructField("part", T.IntegerType()),
        T.StructField("cut", T.IntegerType()),
        T.StructField("p", T.StringType()),
        T.StructField("d", T.StringType()),
    ]
    for n, one in enumerate(wanted):
        fields += [
            T.StructField(f"low_{n}", one.column.kind),
            T.StructField(f"high_{n}", one.column.kind),
            T.StructField(f"count_{n}", T.LongType()),
        ]
    rows = [
        _bracket_row(number, part, parts, wanted, mine)
        for number, (part, mine) in enumerate(brackets.items())
    ]
    # Of the home session: making a frame makes its session the active one for everybody.
    home = home_of(parts.frame.sparkSession)
    return under_ansi(home.createDataFrame(rows, T.StructType(fields)))


def _bracket_row(
    number: int,
    part: Slice,
    parts: Parts,
    wanted: Sequence[MedianSql],
    brackets: Mapping[int, Bracket],
) -> tuple[Any, ...]:
    row: list[Any] = [number, parts.cuts.index(part.cut), part.partition, part.group]
    for n in range(len(wanted)):
        bracket = brackets.get(n)
        row += [None] * 3 if bracket is None else [bracket.low, bracket.high, bracket.count]
    return tuple(row)


_ACCURACY = 10_000
# Wider than the error of the quantiles, so that the median lies surely inside.
_LOW, _HIGH = 0.5 - 3 / _ACCURACY, 0.5 + 3 / _ACCURACY

Medians = dict[Metric, dict[Slice, Number | RuleFailure | None]]


def median_sql(metric: ColumnMedian, table: JudgedTable) -> MedianSql:
    """Raises Misfit if the column is missing or not a number."""
    column = numeric_column(table, metric.column, "The median")
    if metric.where is not None:
        table.require_columns_of(metric.where)
    return MedianSql(metric, column, value_or_null(column.sql, metric.where))


def measure_medians(metrics: Sequence[Metric], parts: Parts, table: JudgedTable) -> States:
    """The medians of all columns, from two queries."""
    tasks: dict[Metric, MedianSql] = {}
    found: dict[Metric, dict[Slice, Any] | RuleFailure] = {}
    for metric in cast("Sequence[ColumnMedian]", metrics):
        try:
            tasks[metric] = median_sql(metric, table)
        except RuleFailure as failure:
            found[metric] = failure
    found |= isolated(
        tasks,
        lambda some: medians(parts, list(some.values())),
        narrow=in_halves,
        fail=with_failures,
    )
    return {metric: parts.measured(metric, states) for metric, states in found.items()}


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
