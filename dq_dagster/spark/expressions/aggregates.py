"""Each metric as SQL aggregates, and their results as its state. None of these can raise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import singledispatch
from typing import Any, Literal

from pyspark.sql import types as T

from dq_dagster.errors import Unmeasurable
from dq_dagster.metrics.constant import Single
from dq_dagster.metrics.metric import (
    ColumnAvg,
    ColumnMax,
    ColumnMetric,
    ColumnMin,
    ColumnStddev,
    ColumnSum,
    ConditionCount,
    RecordCount,
    RowMetric,
)
from dq_dagster.metrics.sql_aggregate import SqlAggregate
from dq_dagster.metrics.states import EXACT, Extreme, Moments, Odd, State, Tally, Total
from dq_dagster.spark.expressions.predicates import is_blank, predicate
from dq_dagster.spark.expressions.sql_aggregates import (
    answer_over_nothing_sql,
    answer_sql,
    answered,
    calls_sql,
)
from dq_dagster.spark.frames.columns import COMPARABLE, FLOATS, NUMBERS, ColumnRef, Table

# Beyond this, a double has no single-precision number near it.
_LARGEST_SINGLE = "3e38D"


def sums(double: str, kind: T.DataType) -> dict[str, str]:
    """The aggregates over a column's values, given as doubles, by name."""
    asked = {"variance": f"var_pop({double})", "largest": f"max({double})"}
    if isinstance(kind, T.FloatType):
        # Half as long as a double: their sums are exact for very many rows.
        return {"total": f"sum({double})", **asked}
    single = f"CAST(CAST({double} AS FLOAT) AS DOUBLE)"
    is_split = f"abs({double}) < {_LARGEST_SINGLE}"
    return {
        "total": f"sum(if({is_split}, {single}, {double}))",
        "rest": f"sum(if({is_split}, {double} - {single}, 0D))",
        **asked,
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


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = date(1970, 1, 1)
# Sums of decimals with more digits are taken in two halves, so that no sum can overflow.
_SAFE_DIGITS = 24
_HALF = 19
_LOW_BITS = 0xFFFFFFFF

Results = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Aggregates:
    """What one metric needs from a pass.

    ``counts`` are predicates whose rows are counted, ``others`` are whole SQL aggregates, both
    by a name that ``state`` finds their results under. ``fallible`` marks text from users (SQL
    and patterns), which may raise on dirty data. ``calls`` are the aggregates within ``others``
    where those are larger expressions. Where the results leave the state open (None), ``closer``
    is asked: it costs more and tells for sure. ``over_nothing`` is asked, about no rows at all,
    for parts without rows, where only Spark knows what the state of those is.
    """

    state: Callable[[Results], State | None]
    counts: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    fallible: bool = False
    calls: tuple[str, ...] = ()
    closer: Aggregates | None = None
    over_nothing: Aggregates | None = None


@singledispatch
def aggregates(metric: RowMetric, table: Table) -> Aggregates:
    """The SQL aggregates that make up the metric's state; raises Misfit if it does not fit."""
    raise TypeError(f"No aggregates for {type(metric).__name__}.")


@aggregates.register
def _(metric: RecordCount, table: Table) -> Aggregates:
    if metric.where is None:
        return Aggregates(_tally, others={"count": "count(1)"})
    return Aggregates(_tally, counts={"count": f"({metric.where})"}, fallible=True)


@aggregates.register
def _(metric: ConditionCount, table: Table) -> Aggregates:
    found = predicate(metric.condition, table)
    if metric.where is not None:
        found = f"if(({metric.where}), {found}, false)"
    fallible = metric.condition.from_user or metric.where is not None
    return Aggregates(_tally, counts={"count": found}, fallible=fallible)


@aggregates.register
def _(metric: ColumnMin, table: Table) -> Aggregates:
    return _extreme(metric, table, "min")


@aggregates.register
def _(metric: ColumnMax, table: Table) -> Aggregates:
    return _extreme(metric, table, "max")


@aggregates.register(ColumnSum)
@aggregates.register(ColumnAvg)
def _(metric: ColumnSum | ColumnAvg, table: Table) -> Aggregates:
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
    if isinstance(column.kind, T.DecimalType) and column.kind.precision > _SAFE_DIGITS:
        return Aggregates(_halves_total, count, _halves(value, column.kind), fallible)
    if isinstance(column.kind, T.DecimalType):
        wide = f"CAST({value} AS DECIMAL(38, {column.kind.scale}))"
        return Aggregates(_exact_total, count, {"total": f"try_sum({wide})"}, fallible)
    if isinstance(column.kind, T.LongType):
        return Aggregates(_long_total, count, _long_halves(value), fallible)
    return Aggregates(_exact_total, count, {"total": f"try_sum({value})"}, fallible)


@aggregates.register
def _(metric: ColumnStddev, table: Table) -> Aggregates:
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


@aggregates.register
def _(metric: SqlAggregate, table: Table) -> Aggregates:
    calls = calls_sql(metric)
    texts = answer_sql(metric, table), answer_over_nothing_sql(metric, table)
    usual, over_nothing = (
        Aggregates(answered, others={"answer": text}, fallible=True, calls=calls) for text in texts
    )
    return replace(usual, over_nothing=over_nothing)


def numeric_column(table: Table, name: str, what: str) -> ColumnRef:
    """The column, or Misfit if ``what`` can not be taken of it."""
    column = table.column(name)
    column.require(NUMBERS, what=what, wanted="a number")
    return _without_void(column)


def _without_void(column: ColumnRef) -> ColumnRef:
    """A column of NULLs only has no type of its own; any will do."""
    if isinstance(column.kind, T.NullType):
        return ColumnRef(column.name, f"CAST({column.sql} AS INT)", T.IntegerType())
    return column


def _value(metric: ColumnMetric, column: ColumnRef) -> str:
    """The column's value, NULL where it is empty or filtered out."""
    value = column.sql
    if metric.blank_is_empty and isinstance(column.kind, T.StringType):
        value = f"if({is_blank(column)}, NULL, {value})"
    return value_or_null(value, metric.where)


def value_or_null(value: str, where: str | None) -> str:
    """The value where the filter holds, else NULL."""
    # Not "FILTER (WHERE ...)": Spark may compute a shared subexpression before that filter.
    return value if where is None else f"if(({where}), {value}, NULL)"


def _extreme(metric: ColumnMetric, table: Table, side: Literal["min", "max"]) -> Aggregates:
    what = "The minimum" if side == "min" else "The maximum"
    column = table.column(metric.column)
    column.require(COMPARABLE, what=what, wanted="a number, date, timestamp, string or boolean")
    column = _without_void(column)
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


def transport(column: ColumnRef) -> tuple[str, Callable[[Any], Any]]:
    """How a value travels so that Python neither shifts, rounds nor rejects it."""
    match column.kind:
        case T.DateType():
            return "unix_date({})", lambda days: _time(
                column, days, lambda n: _EPOCH_DAY + timedelta(days=n)
            )
        case T.TimestampType():
            # In UTC: times of one zone are compared by their wall clocks, which jump.
            return "unix_micros({})", lambda micros: _time(
                column, micros, lambda n: _EPOCH + timedelta(microseconds=n)
            )
        case T.TimestampNTZType():
            return "CAST({} AS STRING)", lambda text: _time(column, text, datetime.fromisoformat)
        case T.FloatType():
            return "{}", lambda value: None if value is None else Single(value)
        case _:
            return "{}", lambda value: value


def _time(column: ColumnRef, raw: Any, convert: Callable[[Any], Any]) -> Any:
    if raw is None:
        return None
    try:
        return convert(raw)
    except (OverflowError, ValueError):
        raise Unmeasurable(
            f"Column '{column.name}' of type {column.type_name} holds a time outside the years "
            "1 to 9999, which can not be judged."
        ) from None


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


def _long_total(results: Results) -> State:
    if not results["count"]:
        return Total(0, 0)
    if results["high"] is None or results["low"] is None:
        return Total(results["count"], None)
    return Total(results["count"], (results["high"] << 32) + results["low"])
