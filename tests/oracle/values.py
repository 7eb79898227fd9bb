"""Values and constants of rules as Python objects that compare exactly.

Numbers become fractions (infinities stay floats), instants become microseconds, and whatever can
not be compared with a column's type raises ``Misfit``.
"""

from __future__ import annotations

import math
import struct
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from tests.oracle import kinds

# The zone of the session that the tests run in: the meaning of times without a zone.
ZONE = ZoneInfo("America/New_York")
BLANKS = " \t\n\x0b\x0c\r"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Misfit(Exception):
    """The constant has no meaning in the column's type."""


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def is_empty(value: Any, *, blank: bool) -> bool:
    return value is None or (blank and isinstance(value, str) and not value.strip(BLANKS))


def exactly(value: Any) -> Any:
    """A value of a column as something that compares exactly with others of its column."""
    if isinstance(value, bool) or is_nan(value):
        return value
    if isinstance(value, float):
        return value if math.isinf(value) else Fraction(value)
    if isinstance(value, int | Decimal):
        return Fraction(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return instant(value)
    return value


def instant(moment: datetime) -> int:
    """Microseconds since 1970; unlike a conversion to UTC this works from year 1 to 9999."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def constant(written: Any, kind: str) -> Any:
    """What a bound or a set's member, as its author wrote it, means in a column of that type."""
    if kind in kinds.NUMERIC:
        return _number(written, kind)
    if kind == kinds.DATE:
        return _day(written)
    if kind in {kinds.TIMESTAMP, kinds.WALL_CLOCK}:
        return _moment(written, aware=kind == kinds.TIMESTAMP)
    wanted = {kinds.TEXT: str, kinds.BOOLEAN: bool}.get(kind)
    if wanted is None or not isinstance(written, wanted):
        raise Misfit
    return written


def single(number: float) -> float:
    """The nearest number that a float column can hold."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def _number(written: Any, kind: str) -> Any:
    if isinstance(written, bool) or not isinstance(written, int | float | Decimal):
        raise Misfit
    if isinstance(written, float) and not math.isfinite(written):
        return written
    # 0.1 means one tenth; in a floating-point column, the number there that is written so.
    tenth = Fraction(repr(written)) if isinstance(written, float) else Fraction(written)
    if kind not in kinds.FLOATING:
        return tenth
    try:
        nearest = single(float(tenth)) if kind == "float" else float(tenth)
    except OverflowError:
        return tenth
    return tenth if math.isinf(nearest) else Fraction(nearest)


def _day(written: Any) -> date:
    if isinstance(written, str):
        try:
            return date.fromisoformat(written)
        except ValueError:
            raise Misfit from None
    if not isinstance(written, date) or isinstance(written, datetime):
        raise Misfit
    return written


def _moment(written: Any, *, aware: bool) -> datetime | int:
    if isinstance(written, str):
        try:
            written = datetime.fromisoformat(written)
        except ValueError:
            raise Misfit from None
    if isinstance(written, date) and not isinstance(written, datetime):
        written = datetime.combine(written, time())
    if not isinstance(written, datetime) or (written.tzinfo is not None and not aware):
        raise Misfit
    if not aware:
        return written
    return instant(written if written.tzinfo is not None else written.replace(tzinfo=ZONE))
