"""Decimal literals that Spark compares as longs.

Spark holds a literal such as ``0.25BD`` as a BigDecimal, and makes one of every value that it is
compared with, which costs more than reading the value. Values of at most 18 digits are held as
longs otherwise, and so is a literal that is cast from a long or from an interval of seconds. The
cast is done once, when the query is planned.
"""

from __future__ import annotations

from decimal import Decimal

from pyspark.sql import types as T

_MOST_DIGITS = 18
# Intervals count microseconds in a long.
_INTERVAL_SCALE = 6
_INTERVAL_LIMIT = 10**12


def compact(value: Decimal, kind: T.DataType) -> str | None:
    """The value as SQL of exactly that decimal type; None if it has no such form."""
    if not isinstance(kind, T.DecimalType) or kind.precision > _MOST_DIGITS:
        return None
    if value and value.adjusted() >= kind.precision - kind.scale:
        return None
    target = f"DECIMAL({kind.precision}, {kind.scale})"
    if value == value.to_integral_value():
        return f"CAST({int(value)}L AS {target})"
    digits = -int(value.normalize().as_tuple().exponent)
    if digits > min(kind.scale, _INTERVAL_SCALE) or abs(value) >= _INTERVAL_LIMIT:
        return None
    return f"CAST(INTERVAL '{value.normalize():f}' SECOND AS {target})"
