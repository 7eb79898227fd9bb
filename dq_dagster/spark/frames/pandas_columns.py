"""The columns of a pandas DataFrame as Arrow arrays of types that Spark has, each by itself."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import PySparkTypeError
from pyspark.sql.pandas.types import from_arrow_type

from dq_dagster.errors import Misfit

if TYPE_CHECKING:
    from pyspark.sql import types as T

Array: TypeAlias = "pa.Array[Any] | pa.ChunkedArray[Any]"

# The first that fits counts: a bool is an int to Python, and a datetime a date.
_FAMILIES: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("boolean", (bool, np.bool_)),
    ("int", (int, np.integer)),
    ("float", (float, np.floating)),
    ("decimal", (Decimal,)),
    ("text", (str,)),
    ("bytes", (bytes, bytearray, memoryview)),
    ("datetime", (dt.datetime, np.datetime64)),
    ("date", (dt.date,)),
    ("timedelta", (dt.timedelta, np.timedelta64)),
)
# Arrow finds a type for these together in which no value changes, or refuses.
_FIT_TOGETHER = ({"int", "float"}, {"int", "decimal"})
_MOST_DIGITS = 38
# Types of Arrow that hold all values of others that Spark does not have.
_SAME = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.string_view(): pa.string(),
    pa.binary_view(): pa.binary(),
}
_REMEDIES = {
    "uint64": "to int64 if all values fit, else to decimal.Decimal",
    "float16": "to float32",
    "period": "to timestamps by dt.to_timestamp(), or to text",
    "sparse": "by sparse.to_dense()",
    "complex": "to its real and its imaginary part",
    "interval": "to its left and its right bounds",
    "(time)": "to text, or to timedeltas since midnight",
    "time64": "to text, or to timedeltas since midnight",
    "time32": "to text, or to timedeltas since midnight",
}
_OFFSET = re.compile(r"(?:GMT|UTC|UT)?(?P<sign>[+-])(?P<hours>\d{1,2})(?::(?P<minutes>\d\d))?")


@dataclass(frozen=True, slots=True)
class Column:
    """Values that Spark can take. Times without a zone are still without one.

    ``off_the_clock``: some of these times do not exist in the session's zone, whose clocks go
    forward over them, so that no instant stands for them.
    """

    name: str
    kind: str
    values: Array
    off_the_clock: bool = False

    @classmethod
    def of(cls, name: str, series: pd.Series[Any], zone: str) -> Column:
        """Raises a Misfit that names the column and its type if Spark has none for it."""
        kind = str(series.dtype)
        if isinstance(series.dtype, pd.SparseDtype):
            raise Misfit.no_spark_type(name, kind, _remedy(kind))
        if series.dtype == object:
            kind = _kind_of_objects(name, series)
            if "Decimal and" in kind:
                # Arrow would find room for the digits of the decimals only.
                series = series.map(_decimal, na_action="ignore")
        try:
            values = pa.array(series, from_pandas=True)
        except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
            raise _misfit(name, kind, error) from None
        values = _fitted(name, kind, values)
        return cls(name, kind, values, _is_off_the_clock(values, zone))

    @property
    def is_naive(self) -> bool:
        return any(True for _ in _naive_types(self.values.type))

    def instants(self, zone: str) -> Array:
        """Times without a zone as instants; of an hour that is there twice, the first is meant.

        Nested ones are left to Spark, which means them likewise.
        """
        if not pa.types.is_timestamp(self.values.type) or not self.is_naive:
            return self.values
        return pc.assume_timezone(self.values, zone, ambiguous="earliest")


def arrow_zone(name: str) -> str:
    """Arrow's name of a zone that Spark also knows as "Z", "GMT+2" or "+2"."""
    found = _OFFSET.fullmatch(name)
    if found:
        return f"{found['sign']}{int(found['hours']):02}:{found['minutes'] or '00'}"
    return "UTC" if name == "Z" else name


def spark_type(values: Array, *, wall_clock: bool) -> T.DataType:
    kind: T.DataType = from_arrow_type(values.type, prefer_timestamp_ntz=wall_clock)
    return kind


def _kind_of_objects(name: str, series: pd.Series[Any]) -> str:
    """What an object column holds; raises a Misfit if that is not of one type.

    Arrow itself would take a datetime among dates for its day, and True among numbers for 1.
    """
    present = series[series.notna()]
    types = sorted(set(map(type, present)), key=lambda one: one.__name__)
    names = " and ".join(dict.fromkeys(one.__name__ for one in types)) or "nothing"
    kind = f"object ({names})"
    families = {_family(one) for one in types}
    if len(families) > 1 and families not in _FIT_TOGETHER:
        raise Misfit.mixed_types(name, kind)
    if families == {"datetime"}:
        if len({getattr(value, "tzinfo", None) is None for value in present}) > 1:
            raise Misfit.mixed_types(name, f"{kind}, with and without a zone")
        if any(getattr(value, "nanosecond", 0) for value in present):
            raise Misfit.too_fine(name, kind)
    if families == {"timedelta"} and any(getattr(value, "nanoseconds", 0) for value in present):
        raise Misfit.too_fine(name, kind)
    return kind


def _decimal(value: Any) -> Any:
    return Decimal(int(value)) if isinstance(value, int | np.integer) else value


def _family(kind: type) -> str:
    found = next((name for name, kinds in _FAMILIES if issubclass(kind, kinds)), None)
    return found or ("list" if issubclass(kind, list | tuple | np.ndarray) else kind.__name__)


def _misfit(name: str, kind: str, error: Exception) -> Misfit:
    """What keeps Arrow from taking the values. Its own text would quote one of them."""
    if isinstance(error, OverflowError) or "decimal" in kind.lower():
        return Misfit.too_large(name, kind)
    if isinstance(error, UnicodeError):
        return Misfit.no_unicode(name, kind)
    if kind.startswith("object") and " and " in kind:
        return Misfit.mixed_types(name, kind)
    return Misfit.no_spark_type(name, kind, _remedy(kind))


def _remedy(kind: str) -> str:
    return next(
        (how for word, how in _REMEDIES.items() if word in kind.lower()),
        "first, for example to text by astype(str)",
    )


def _fitted(name: str, kind: str, values: Array) -> Array:
    """The same values in the types that Spark has, or a Misfit."""
    try:
        target = _fitting(values.type)
        from_arrow_type(target)
    except (PySparkTypeError, OverflowError, TypeError, ValueError) as error:
        raise _misfit(name, kind, error) from None
    if target == values.type:
        return values
    try:
        return values.cast(target)
    except (pa.ArrowException, ValueError):
        fine = "ns" in str(values.type)
        raise (Misfit.too_fine if fine else Misfit.too_large)(name, kind) from None


def _fitting(kind: pa.DataType) -> pa.DataType:
    """The type that Spark has for values of an Arrow type; others as they are."""
    if pa.types.is_dictionary(kind):
        return _fitting(kind.value_type)
    if pa.types.is_decimal(kind):
        if kind.precision > _MOST_DIGITS:
            raise OverflowError
        return pa.decimal128(kind.precision, kind.scale)
    if pa.types.is_map(kind):
        return pa.map_(_fitting(kind.key_type), _fitting(kind.item_type))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return pa.list_(_fitting(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([inner.with_type(_fitting(inner.type)) for inner in kind])
    return _fitting_time(kind) or _SAME.get(kind, kind)


def _fitting_time(kind: pa.DataType) -> pa.DataType | None:
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz=kind.tz)
    if pa.types.is_duration(kind):
        return pa.duration("us")
    if pa.types.is_time(kind):
        # Spark knows the type, and refuses most of what can be asked of it.
        raise TypeError
    return None


def _naive_types(kind: pa.DataType) -> Iterator[pa.DataType]:
    if pa.types.is_timestamp(kind) and kind.tz is None:
        yield kind
    for number in range(kind.num_fields):
        yield from _naive_types(kind.field(number).type)


def _is_off_the_clock(values: Array, zone: str) -> bool:
    if not any(True for _ in _naive_types(values.type)):
        return False
    flat = pa.types.is_timestamp(values.type)
    try:
        for leaf in _leaves(values):
            # Of nested times Spark makes instants, and it refuses hours that are there twice.
            pc.assume_timezone(leaf, zone, ambiguous="earliest" if flat else "raise")
    except (pa.ArrowException, ValueError):
        return True
    return False


def _leaves(values: Array) -> Iterator[Array]:
    """The times without a zone within values of any type."""
    kind = values.type
    if pa.types.is_timestamp(kind) and kind.tz is None:
        yield values
    elif pa.types.is_struct(kind):
        for number in range(kind.num_fields):
            yield from _leaves(pc.struct_field(values, [number]))
    elif pa.types.is_map(kind):
        for chunk in _chunks(values):
            yield from _leaves(chunk.keys)
            yield from _leaves(chunk.items)
    elif pa.types.is_list(kind):
        yield from _leaves(pc.list_flatten(values))


def _chunks(values: Array) -> Iterable[Any]:
    return values.chunks if isinstance(values, pa.ChunkedArray) else [values]
