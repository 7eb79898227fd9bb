"""Values as strict JSON, and back: equal to what they were, and of the same type.

What JSON holds exactly is itself: nothing, booleans, whole numbers up to 2^53 and finite floats.
Everything else is a text that begins with the letter of its kind. This is the only encoding of
values on record; states are made of the same letters (see ``state_codec``).
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import Any, TypeAlias

from dq_dagster.metrics.constant import Single

Json: TypeAlias = bool | int | float | str | None

# JavaScript's numbers, and so many readers of JSON, are exact up to here.
SAFE = 2**53 - 1
# A record has a place in a page of many; what is longer than this is no number or name.
_LONGEST = 4_000
_ITSELF = frozenset({int, float, bool})
_MICROSECOND = timedelta(microseconds=1)


class NoValue(Enum):
    """Why a metric that was measured has no value on record."""

    # It could not be measured, or its value is not to be compared with: no point of the past.
    ABSENT = "!"
    # It is what a row holds, or too long.
    WITHHELD = "*"


class Undecodable(ValueError):
    """What is no value that was written here."""


def encode(value: Any) -> Json:
    """The value for the record; of what is no scalar, or too long, that it was withheld."""
    written = _written(value)
    if isinstance(written, str) and len(written) > _LONGEST:
        return NoValue.WITHHELD.value
    return written


def decode(written: Any) -> Any:
    """The value that was written down; raises Undecodable if this is none."""
    # By its class first: records are read by the million.
    if type(written) in _ITSELF or written is None or isinstance(written, bool | int | float):
        return written
    if not isinstance(written, str):
        raise Undecodable
    if written in _WORDS:
        return _WORDS[written]
    read = READERS.get(written[:1])
    if read is None:
        raise Undecodable
    try:
        return read(written[1:])
    except (ValueError, InvalidOperation, OverflowError):
        raise Undecodable from None


def encoded(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a mapping for the record, by their keys; so are those of mappings in it."""
    return {
        key: encoded(one) if isinstance(one, Mapping) else encode(one)
        for key, one in values.items()
    }


def decoded(written: Any) -> dict[str, Any]:
    """The values of a mapping by their keys, without any that somebody else wrote."""
    found: dict[str, Any] = {}
    if not written:
        return found
    for key, one in written.items() if isinstance(written, Mapping) else ():
        try:
            found[str(key)] = decode(one)
        except Undecodable:
            continue
    return found


def _written(value: Any) -> Json:
    match value:
        case NoValue():
            return value.value
        case None | bool():
            return value
        case int():
            return int(value) if abs(value) <= SAFE else f"i{value:x}"
        case Single():
            return f"s{float(value)!r}"
        case float():
            # NumPy's floats are Python floats too, but not to Dagster.
            return float(value) if math.isfinite(value) else f"f{float(value)!r}"
        case str():
            return f"t{str.__str__(value)}"
        case bytes() | bytearray():
            return f"b{base64.b64encode(value).decode()}"
        case _:
            return _written_time(value)


def _written_time(value: Any) -> str:
    match value:
        case Decimal():
            return f"d{value}"
        case datetime():
            # Not as pandas writes its own, with nanoseconds.
            return f"T{datetime.isoformat(value)}"
        case date():
            return f"D{value.isoformat()}"
        case time():
            return f"H{value.isoformat()}"
        case timedelta():
            return f"P{value // _MICROSECOND}"
        case _:
            return str(NoValue.WITHHELD.value)


READERS: Mapping[str, Callable[[str], Any]] = {
    "i": lambda text: int(text, 16),
    "s": Single,
    "f": float,
    "d": Decimal,
    "t": str,
    "b": lambda text: base64.b64decode(text, validate=True),
    "D": date.fromisoformat,
    "T": datetime.fromisoformat,
    "H": time.fromisoformat,
    "P": lambda text: int(text) * _MICROSECOND,
}
_WORDS: Mapping[str, Any] = {
    **{one.value: one for one in NoValue},
}
