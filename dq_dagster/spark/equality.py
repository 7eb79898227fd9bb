"""Whether values of two columns are equal, without casts that lose anything."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import types as T

from dq_dagster.errors import Misfit
from dq_dagster.spark.columns import FLOATS, ColumnRef

_INCOMPARABLE = (T.MapType, T.VariantType)
_WHOLE_DIGITS: dict[type[T.DataType], int] = {
    T.ByteType: 3,
    T.ShortType: 5,
    T.IntegerType: 10,
    T.LongType: 19,
}
_MOST_DIGITS = 38

Pairs = list[tuple[str, str]]


def comparable(
    here: ColumnRef, there: ColumnRef, place: str, value: Callable[[ColumnRef], str]
) -> Pairs:
    """Pairs of SQL whose members are all equal if and only if the two values are equal.

    ``value`` is the SQL of a column's value. Raises Misfit if values of the two types are never
    equal, or only after a cast that would lose something.
    """
    if isinstance(here.kind, T.NullType) or isinstance(there.kind, T.NullType):
        # A column of NULLs only equals nothing but NULL, and Spark can not join by its type.
        return [(f"{value(here)} IS NULL", f"{value(there)} IS NULL")]
    numbers = _digits(here.kind), _digits(there.kind)
    if numbers[0] and numbers[1]:
        return _exact(value(here), numbers[0], value(there), numbers[1])
    if isinstance(here.kind, FLOATS) and isinstance(there.kind, FLOATS):
        return [(f"CAST({value(here)} AS DOUBLE)", f"CAST({value(there)} AS DOUBLE)")]
    if here.type_name != there.type_name or _holds(here.kind, _INCOMPARABLE):
        raise Misfit.incomparable(here.name, here.type_name, there.name, there.type_name, place)
    return [(value(here), value(there))]


def _digits(kind: T.DataType) -> tuple[int, int] | None:
    """How many digits an exact number has before and after the point."""
    if isinstance(kind, T.DecimalType):
        return kind.precision - kind.scale, kind.scale
    digits = _WHOLE_DIGITS.get(type(kind))
    return None if digits is None else (digits, 0)


def _exact(here: str, size: tuple[int, int], there: str, other: tuple[int, int]) -> Pairs:
    before, after = max(size[0], other[0]), max(size[1], other[1])
    if before + after <= _MOST_DIGITS:
        kind = f"DECIMAL({before + after}, {after})"
        return [(f"CAST({here} AS {kind})", f"CAST({there} AS {kind})")]
    # No decimal holds both: whole part and fraction are compared on their own.
    parts = ("CAST(floor({}) AS DECIMAL(38, 0))", "CAST({} % 1BD AS DECIMAL(38, 38))")
    return [(part.format(here), part.format(there)) for part in parts]


def _holds(kind: T.DataType, kinds: tuple[type[T.DataType], ...]) -> bool:
    """Whether the type is one of those, or holds one of them at any depth."""
    if isinstance(kind, kinds):
        return True
    if isinstance(kind, T.StructType):
        return any(_holds(field.dataType, kinds) for field in kind.fields)
    return isinstance(kind, T.ArrayType) and _holds(kind.elementType, kinds)
