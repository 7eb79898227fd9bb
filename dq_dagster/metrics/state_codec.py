"""States as strict JSON, and back: exact, short, and without a value of any text column.

A count is a number, any other state a short list that begins with a letter. Within it, numbers
that JSON's readers might round, and all other values, are texts that begin with their kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from dq_dagster.metrics.constant import Single
from dq_dagster.metrics.row_hash import HashSum
from dq_dagster.metrics.states import Extreme, Moments, Odd, Tally, Total
from dq_dagster.metrics.value_codec import READERS, SAFE
from dq_dagster.metrics.value_codec import encode as encode_value

Json: TypeAlias = int | list[Any]

_MIN, _MAX, _TOTAL, _MOMENTS, _HASH = "n", "x", "t", "m", "h"
# Squares of doubles and sums of very many of them need no more; damaged text might ask for more.
_MOST_PLACES = 8_000
_MOST_DIGITS = 2_000
_FRACTION = re.compile(r"(-?[0-9a-f]{1,2000})(?:p-([0-9]{1,4})|/([0-9a-f]{1,2000}))")
_HASH_TEXT = re.compile(r"[0-9a-f]{32}")
_ALL_ODD = Odd.PLUS_INFINITY | Odd.MINUS_INFINITY | Odd.NAN


class _Unfit(ValueError):
    """What cannot, or must not, be written down."""


def encode(state: object) -> Json | None:
    """The state for the record; None if it is none that may be kept.

    Extremes of texts and bytes are values of rows, and stay out of records. Finished answers of
    Spark do not merge, so there is no use in keeping them.
    """
    try:
        match state:
            case Tally(count):
                return _count(count)
            case Extreme(side, value):
                return [_MIN if side == "min" else _MAX, _scalar(value)]
            case Total(count, total, odd):
                return [_TOTAL, _count(count), _scalar(total), *_unless_none(odd)]
            case Moments(count, total, power, step, odd):
                sums = [_scalar(total), _scalar(power)]
                return [_MOMENTS, _count(count), *sums, _scalar(step), *_unless_none(odd)]
            case HashSum(count):
                return [_HASH, _count(count), state.text]
    except _Unfit:
        pass
    return None


def decode(written: object) -> Tally | Extreme | Total | Moments | HashSum | None:
    """The state that was written down; None if this is none, or one of another version."""
    try:
        match written:
            case int() if not isinstance(written, bool):
                return Tally(_read_count(written))
            case [("n" | "x") as letter, value]:
                side: Literal["min", "max"] = "min" if letter == _MIN else "max"
                return Extreme(side, _read_extreme(value))
            case ["t", count, total, *odd]:
                return Total(_read_count(count), _read_total(total), _read_odd(odd))
            case ["m", count, total, power, step, *odd]:
                sums = _read_exact(total), _read_exact(power)
                return Moments(_read_count(count), *sums, _read_step(step), _read_odd(odd))
            case ["h", count, str() as digits] if _HASH_TEXT.fullmatch(digits):
                return HashSum(_read_count(count), int(digits[:16], 16), int(digits[16:], 16))
    except (ValueError, InvalidOperation, OverflowError, ZeroDivisionError):
        pass
    return None


def _count(count: int) -> int:
    if not 0 <= count <= SAFE:
        raise _Unfit
    return count


def _unless_none(odd: int) -> list[int]:
    return [int(odd)] if odd else []


def _scalar(value: Any) -> Any:
    match value:
        case float() if not isinstance(value, Single):
            return f"f{float(value)!r}"
        case Decimal() if not _is_sound(value):
            raise _Unfit
        case Fraction():
            return _fraction(value)
        case None | bool() | int() | Single() | Decimal() | date():
            return encode_value(value)
    raise _Unfit


def _fraction(value: Fraction) -> str:
    """As a double where it is one; else a whole number in units of a power of two, if it is."""
    if _is_double(value):
        return f"f{float(value)!r}"
    above, below = f"{value.numerator:x}", value.denominator
    places = below.bit_length() - 1
    text = f"q{above}/{below:x}" if below & (below - 1) else f"q{above}p-{places}"
    if len(above) > _MOST_DIGITS or places > _MOST_PLACES:
        raise _Unfit
    return text


def _is_sound(value: Decimal) -> bool:
    """Within what Spark's decimals, and sums of them, can be."""
    return value.is_finite() and abs(value.adjusted()) < 1_000 and len(f"{value}") < _MOST_DIGITS


def _is_double(value: Fraction) -> bool:
    try:
        return Fraction(float(value)) == value
    except OverflowError:
        return False


def _read_count(written: object) -> int:
    if isinstance(written, bool) or not isinstance(written, int) or written < 0:
        raise _Unfit
    return written


def _read_odd(written: list[object]) -> int:
    if not written:
        return Odd.NONE
    match written:
        case [int() as odd] if not isinstance(odd, bool) and 0 < odd <= _ALL_ODD:
            return odd
    raise _Unfit


def _read(written: object) -> Any:
    if written is None or isinstance(written, bool | int):
        return written
    if not isinstance(written, str) or written[:1] not in _READERS:
        raise _Unfit
    return _READERS[written[0]](written[1:])


def _read_extreme(written: object) -> Any:
    value = _read(written)
    if isinstance(value, Fraction):
        raise _Unfit
    return value


def _read_total(written: object) -> int | Decimal | Fraction | float | None:
    value = _read(written)
    if isinstance(value, bool) or not isinstance(value, int | Decimal | Fraction | float | None):
        raise _Unfit
    return value


def _read_exact(written: object) -> Fraction:
    value = _read_total(written)
    if not isinstance(value, Fraction | float):
        raise _Unfit
    return Fraction(value)


def _read_step(written: object) -> float:
    value = _read(written)
    if not isinstance(value, float) or not 0 <= value <= 1:
        raise _Unfit
    return value


def _read_decimal(text: str) -> Decimal:
    value = Decimal(text)
    if not _is_sound(value):
        raise _Unfit
    return value


def _read_fraction(text: str) -> Fraction:
    found = _FRACTION.fullmatch(text)
    if found is None:
        raise _Unfit
    above, places, below = found.groups()
    if below is not None:
        return Fraction(int(above, 16), int(below, 16))
    if int(places) > _MOST_PLACES:
        raise _Unfit
    return Fraction(int(above, 16), 1 << int(places))


# Of the kinds of values, those that states are made of.
_READERS: dict[str, Callable[[str], Any]] = {
    **{letter: READERS[letter] for letter in "isfDT"},
    "d": _read_decimal,
    "q": _read_fraction,
}
