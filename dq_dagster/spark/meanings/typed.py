"""Built-in meanings of columns that are no strings: judged by value, without a detour over text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import types as T

from dq_dagster.metrics.constant import Constant
from dq_dagster.spark import literals
from dq_dagster.spark.columns import FLOATS, ColumnRef


def _every(*kinds: type[T.DataType]) -> Callable[[ColumnRef], str | None]:
    return lambda column: "true" if isinstance(column.kind, kinds) else None


def _decimal(column: ColumnRef) -> str | None:
    if isinstance(column.kind, FLOATS):
        return f"abs({column.sql}) < double('Infinity')"
    return "true" if isinstance(column.kind, T.NumericType) else None


def _integer(column: ColumnRef) -> str | None:
    if isinstance(column.kind, FLOATS):
        # Of NaN and infinities the remainder is NaN.
        return f"{column.sql} % 1D = 0D"
    if isinstance(column.kind, T.DecimalType):
        return _is_whole(column.sql, column.kind)
    return "true" if isinstance(column.kind, T.NumericType) else None


def _is_whole(value: str, kind: T.DecimalType) -> str:
    # Both sides in the column's own type, so that nothing is rounded.
    own = f"DECIMAL({kind.precision}, {kind.scale})"
    if kind.precision == kind.scale:
        # All values lie between -1 and 1, and 1 itself has no place in the type.
        return f"{value} = CAST(0 AS {own})"
    return f"{value} % CAST(1 AS {own}) = CAST(0 AS {own})"


def _within(limit: int) -> Callable[[ColumnRef], str | None]:
    low, high = Constant.of(-limit), Constant.of(limit)

    def valid(column: ColumnRef) -> str | None:
        if not isinstance(column.kind, T.NumericType):
            return None
        below = literals.below(column, column.sql, low)
        above = literals.above(column, column.sql, high)
        # NaN is the greatest value to Spark, and so above.
        return f"NOT ({below} OR {above})"

    return valid


VALID_TYPED: Mapping[str, Callable[[ColumnRef], str | None]] = {
    "decimal": _decimal,
    "integer": _integer,
    "boolean": _every(T.BooleanType),
    "date": _every(T.DateType),
    "datetime_with_zone": _every(T.TimestampType),
    "datetime_without_zone": _every(T.TimestampNTZType),
    "latitude": _within(90),
    "longitude": _within(180),
}
