"""Each metric as SQL aggregates, and their results as its state. None of these can raise.

A sum of doubles is rounded at each step, by more the more rows there are. Means that are off by
different amounts look like parts that differ, where values lie close together and far from zero.
So for standard deviations doubles are added up in two halves, whose sums are exact or as good as
exact, and parts merge into what one scan gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from pyspark.sql import types as T

from dq_dagster.errors import Misfit, Unmeasurable
from dq_dagster.metrics.conditions import Fault
from dq_dagster.metrics.frequency import DistinctEstimate, MedianEstimate, TopEstimate
from dq_dagster.metrics.metric import (
    ColumnAvg,
    ColumnMax,
    ColumnMetric,
    ColumnMin,
    ColumnNewest,
    ColumnStddev,
    ColumnSum,
    ConditionCount,
    RecordCount,
    RowMetric,
)
from dq_dagster.metrics.row_hash import HashSum, RowHash
from dq_dagster.metrics.schema import ITEMS, KEYS, VALUES, LongestText
from dq_dagster.metrics.sources import SqlAggregate, SqlCondition
from dq_dagster.metrics.states import EXACT, Extreme, Moments, Odd, State, Tally, Total
from dq_dagster.spark.expressions.canonical import hashed_form, row_hashes
from dq_dagster.spark.expressions.estimates import (
    distinct_estimate,
    median_estimate,
    top_estimate,
)
from dq_dagster.spark.expressions.predicates import TIMES, fault_sql, value_or_empty
from dq_dagster.spark.expressions.values import (
    Aggregates,
    Results,
    answer_over_nothing_sql,
    answer_sql,
    answered,
    calls_sql,
    numeric_column,
    transport,
    value_or_null,
    without_void,
)
from dq_dagster.spark.frames.columns import (
    COMPARABLE,
    FLOATS,
    ColumnRef,
    JudgedTable,
    find_field,
    identifier,
)

# Beyond this, a double has no single-precision number near it.
_LARGEST_SINGLE = "3e38D"


def sums(double: str, kind: T.DataType) -> dict[str, str]:
    """The aggregates over a column's values, given as doubles, by name."""
    spread = {"variance": f"var_pop({double})", "largest": f"max({double})"}
    if isinstance(kind, T.FloatType):
        # Half as long as a double: their sums are exact for very many rows.
        return {"total": f"sum({double})", **spread}
    single = f"CAST(CAST({double} AS FLOAT) AS DOUBLE)"
    is_split = f"abs({double}) < {_LARGEST_SINGLE}"
    return {
        "total": f"sum(if({is_split}, {single}, {double}))",
        "rest": f"sum(if({is_split}, {double} - {single}, 0D))",
        **spread,
    }


def moments(results: Mapping[str, Any], step: float) -> Moments:
    """The state from the results of those aggregates, and of the count of values."""
    count = results["count"]
    if not count:
        return Moments.of(0, 0.0, 0.0, step)
    variance, largest = results["variance"], results["largest"]
    if variance == 0 and math.isfinite(largest):
        # All values are equal, and their mean is each of them: no sum would tell that for sure.
        return Moments.of(count, largest, 0.0, step)
    total, rest, squares = results["total"], results.get("rest", 0.0), variance * count
    if not all(map(math.isfinite, (total, rest, squares))):
        return Moments.of(count, total / count, squares, step)
    return Moments.of_sum(count, Fraction(total) + Fraction(rest), squares, step)


def step_of(kind: T.DataType) -> float:
    """How far apart two different values are at least; 0 for types that doubles hold exactly."""
    if isinstance(kind, T.DecimalType):
        return float(10.0**-kind.scale)
    return 1.0 if isinstance(kind, T.LongType) else 0.0


# Sums of decimals with more digits are taken in two halves, so that no sum can overflow.
_SAFE_DIGITS = 24
# Decimals of no more digits are whole numbers that doubles hold, of their smallest unit.
DOUBLE_DIGITS = 15
_HALF = 19
_LOW_BITS = 0xFFFFFFFF


def aggregates(metric: RowMetric, table: JudgedTable) -> Aggregates:
    """The SQL aggregates that make up the metric's state; raises Misfit if it does not fit."""
    for kind in type(metric).__mro__:
        if kind in _BUILDERS:
            return _BUILDERS[kind](metric, table)
    raise TypeError(f"No aggregates for {type(metric).__name__}.")


def _record_count(metric: RecordCount, table: JudgedTable) -> Aggregates:
    if metric.where is None:
        return Aggregates(_tally, others={"count": "count(1)"})
    return Aggregates(_tally, counts={"count": f"({metric.where})"}, fallible=True)


def _condition_count(metric: ConditionCount, table: JudgedTable) -> Aggregates:
    found = fault_sql(Fault(metric.condition, metric.where), table)
    fallible = metric.condition.from_user or metric.where is not None
    return Aggregates(_tally, counts={"count": found}, fallible=fallible)


def _column_min(metric: ColumnMin, table: JudgedTable) -> Aggregates:
    return _extreme(metric, table, "min")


def _column_max(metric: ColumnMax, table: JudgedTable) -> Aggregates:
    return _extreme(metric, table, "max")


def _column_newest(metric: ColumnNewest, table: JudgedTable) -> Aggregates:
    table.column(metric.column).require(TIMES, what="An age", wanted="a date or a timestamp")
    return _extreme(metric, table, "max")


def _total(metric: ColumnSum | ColumnAvg, table: JudgedTable) -> Aggregates:
    what = "The sum" if isinstance(metric, ColumnSum) else "The average"
    column = numeric_column(table, metric.column, what)
    value = _value(metric, column)
    count = {"count": f"{value} IS NOT NULL"}
    fallible = metric.where is not None
    if isinstance(column.kind, FLOATS):
        double = f"CAST({value} AS DOUBLE)"
        closer = Aggregates(_odd_total, count, _finite_sum(double), fallible)
        total = {"total": f"sum({double})"}
        return Aggregates(_float_total, count, total, fallible, closer=closer)
    if isinstance(column.kind, T.DecimalType) and column.kind.precision <= DOUBLE_DIGITS:
        scale = column.kind.scale
        total = _long_halves(_unscaled(value, scale))
        return Aggregates(lambda results: _scaled_total(results, scale), count, total, fallible)
    if isinstance(column.kind, T.DecimalType) and column.kind.precision > _SAFE_DIGITS:
        return Aggregates(_halves_total, count, _halves(value, column.kind), fallible)
    if isinstance(column.kind, T.DecimalType):
        wide = f"CAST({value} AS DECIMAL(38, {column.kind.scale}))"
        return Aggregates(_exact_total, count, {"total": f"try_sum({wide})"}, fallible)
    if isinstance(column.kind, T.LongType):
        return Aggregates(_long_total, count, _long_halves(value), fallible)
    return Aggregates(_exact_total, count, {"total": f"try_sum({value})"}, fallible)


def _column_stddev(metric: ColumnStddev, table: JudgedTable) -> Aggregates:
    column = numeric_column(table, metric.column, "The standard deviation")
    value = _value(metric, column)
    double = f"CAST({value} AS DOUBLE)"
    step = step_of(column.kind)
    return Aggregates(
        lambda results: moments(results, step),
        counts={"count": f"{value} IS NOT NULL"},
        others=sums(double, column.kind),
        fallible=metric.where is not None,
    )


def _sql_aggregate(metric: SqlAggregate, table: JudgedTable) -> Aggregates:
    calls = calls_sql(metric)
    texts = answer_sql(metric, table), answer_over_nothing_sql(metric, table)
    usual, over_nothing = (
        Aggregates(answered, others={"answer": text}, fallible=True, calls=calls) for text in texts
    )
    return replace(usual, over_nothing=over_nothing)


def _value(metric: ColumnMetric, column: ColumnRef) -> str:
    """The column's value, NULL where it is empty or filtered out."""
    value = value_or_empty(column, blank_is_empty=metric.blank_is_empty)
    return value_or_null(value, metric.where)


def _extreme(metric: ColumnMetric, table: JudgedTable, side: Literal["min", "max"]) -> Aggregates:
    what = "The minimum" if side == "min" else "The maximum"
    column = table.column(metric.column)
    column.require(COMPARABLE, what=what, wanted="a number, date, timestamp, string or boolean")
    column = without_void(column)
    value = _value(metric, column)
    found = f"{side}({value})"
    if isinstance(column.kind, FLOATS) and side == "min":
        # NaN is the greatest value to Spark; a minimum taken this way does not hide it.
        found = f"-max(-{value})"
    to_plain, from_plain = transport(column)
    return Aggregates(
        lambda results: Extreme(side, from_plain(results["value"])),
        others={"value": to_plain.format(found)},
        fallible=metric.where is not None,
    )


def _halves(value: str, kind: T.DecimalType) -> dict[str, str]:
    """Splits decimals into a high part and a rest below 10^19 units, each safe to add up."""
    unit = Decimal(1).scaleb(_HALF - kind.scale)
    step = f"CAST({unit:f}BD AS DECIMAL(38, {max(kind.scale - _HALF, 0)}))"
    rest = f"({value} % {step})"
    high = f"CAST(({value} - {rest}) / {step} AS DECIMAL(20, 0))"
    return {
        "high": f"try_sum(CAST({high} AS DECIMAL(38, 0)))",
        "rest": f"try_sum(CAST({rest} AS DECIMAL(38, {kind.scale})))",
        "unit": f"max({unit:f}BD)",
    }


def _finite_sum(value: str) -> dict[str, str]:
    """Adds up the finite values, and notes which others there are."""
    finite = f"abs({value}) < double('Infinity')"
    # The usual case first: it is all that most rows pay for.
    odd = (
        f"CASE WHEN {finite} THEN {Odd.NONE:d} WHEN isnan({value}) THEN {Odd.NAN:d} "
        f"WHEN {value} > 0 THEN {Odd.PLUS_INFINITY:d} WHEN {value} < 0 "
        f"THEN {Odd.MINUS_INFINITY:d} ELSE {Odd.NONE:d} END"
    )
    return {"total": f"sum(if({finite}, {value}, 0D))", "odd": f"bit_or({odd})"}


def _unscaled(value: str, scale: int) -> str:
    """A decimal as a whole number of its smallest unit: sums of wide decimals take far longer.

    With so few digits, what rounding to a double and back takes away is less than half a unit.
    """
    return f"CAST(rint(CAST({value} AS DOUBLE) * 1e{scale}D) AS BIGINT)"


def _long_halves(value: str) -> dict[str, str]:
    """Splits longs into 32-bit halves: adding those is fast and safe for billions of rows."""
    return {
        "high": f"try_sum(shiftright({value}, 32))",
        "low": f"try_sum({value} & {_LOW_BITS}L)",
    }


def _tally(results: Results) -> State:
    return Tally(int(results["count"]))


def _exact_total(results: Results) -> State:
    return Total(results["count"], 0 if not results["count"] else results["total"])


def _float_total(results: Results) -> State | None:
    if not results["count"]:
        return Total(0, 0.0)
    # Otherwise there was a NaN or an infinite value, or the finite ones are too large together.
    is_plain = math.isfinite(results["total"])
    return Total(results["count"], results["total"]) if is_plain else None


def _odd_total(results: Results) -> State:
    if not results["count"]:
        return Total(0, 0.0)
    return Total(results["count"], results["total"], results["odd"])


def _halves_total(results: Results) -> State:
    if not results["count"]:
        return Total(0, 0)
    if results["high"] is None or results["rest"] is None:
        return Total(results["count"], None)
    high = EXACT.multiply(results["high"], results["unit"])
    return Total(results["count"], EXACT.add(high, results["rest"]))


def _long_sum(results: Results) -> int | None:
    """None if there are more rows than halves can be added up of."""
    if not results["count"]:
        return 0
    if results["high"] is None or results["low"] is None:
        return None
    return int((results["high"] << 32) + results["low"])


def _long_total(results: Results) -> State:
    return Total(results["count"], _long_sum(results))


def _scaled_total(results: Results, scale: int) -> State:
    found = _long_sum(results)
    exact = None if found is None else EXACT.scaleb(Decimal(found), -scale)
    return Total(results["count"], exact)


def _row_hash(metric: RowHash, table: JudgedTable) -> Aggregates:
    values = [hashed_form(table.column(name))[0] for name in metric.of]
    first, second = (value_or_null(sql, metric.where) for sql in row_hashes(values))
    halves = {"first": _long_halves(first), "second": _long_halves(second)}
    return Aggregates(
        _hash_sum,
        counts={"count": "true" if metric.where is None else f"({metric.where})"},
        others={f"{name}_{half}": sql for name, of in halves.items() for half, sql in of.items()},
        fallible=metric.where is not None,
    )


def _hash_sum(results: Results) -> State:
    if not results["count"]:
        return HashSum(0, 0, 0)
    halves = [results[f"{name}_{half}"] for name in ("first", "second") for half in ("high", "low")]
    if any(half is None for half in halves):
        raise Unmeasurable.too_many_rows()
    return HashSum(results["count"], (halves[0] << 32) + halves[1], (halves[2] << 32) + halves[3])


def _longest_text(metric: LongestText, table: JudgedTable) -> Aggregates:
    column = table.column(metric.path[0])
    length = _Lengths(table.case_sensitive).of(column, metric.path[1:], depth=0)
    return Aggregates(
        lambda results: Extreme("max", results["length"]), others={"length": f"max({length})"}
    )


@dataclass(frozen=True, slots=True)
class _Lengths:
    """The SQL of the longest text that a path leads to, within one row."""

    case_sensitive: bool

    def of(self, part: ColumnRef, path: Sequence[str], depth: int) -> str:
        if not path:
            part.require((T.StringType,), what="A length in characters", wanted="a string")
            return f"length({part.sql})"
        name, *rest = path
        below = f"{part.name}.{name}"
        match part.kind:
            case T.StructType():
                field = self._field(part.kind, name, below)
                step = ColumnRef(below, f"{part.sql}.{identifier(field.name)}", field.dataType)
                return self.of(step, rest, depth)
            case T.ArrayType() if name == ITEMS:
                return self._longest(part.sql, part.kind.elementType, below, rest, depth)
            case T.MapType() if name == KEYS:
                keys = f"map_keys({part.sql})"
                return self._longest(keys, part.kind.keyType, below, rest, depth)
            case T.MapType() if name == VALUES:
                values = f"map_values({part.sql})"
                return self._longest(values, part.kind.valueType, below, rest, depth)
        raise Misfit.no_column(below, [])

    def _longest(
        self, array: str, kind: T.DataType, name: str, path: Sequence[str], depth: int
    ) -> str:
        item = f"x{depth}"
        inner = self.of(ColumnRef(name, item, kind), path, depth + 1)
        return f"array_max(transform({array}, {item} -> {inner}))"

    def _field(self, kind: T.StructType, name: str, path: str) -> T.StructField:
        if "${" in name:
            raise Misfit.substituted_name(path)
        found = find_field(kind, name, path, case_sensitive=self.case_sensitive)
        if found is None:
            raise Misfit.no_column(path, kind.names)
        return found


_BUILDERS: Mapping[type[RowMetric], Callable[[Any, JudgedTable], Aggregates]] = {
    RecordCount: _record_count,
    ConditionCount: _condition_count,
    ColumnMin: _column_min,
    ColumnMax: _column_max,
    ColumnNewest: _column_newest,
    ColumnSum: _total,
    ColumnAvg: _total,
    ColumnStddev: _column_stddev,
    LongestText: _longest_text,
    SqlAggregate: _sql_aggregate,
    SqlCondition: _sql_aggregate,
    DistinctEstimate: distinct_estimate,
    MedianEstimate: median_estimate,
    TopEstimate: top_estimate,
    RowHash: _row_hash,
}
