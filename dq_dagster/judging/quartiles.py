"""Quartiles by linear interpolation, as NumPy makes them by default, without its rounding."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction

# From here on doubles are coarser than whole numbers.
_COARSE = 2**53


def quartiles(ordered: Sequence[int | float]) -> tuple[Fraction, Fraction]:
    """The first and the third quartile of finite numbers that are in order; at least one."""
    return _at(ordered, Fraction(1, 4)), _at(ordered, Fraction(3, 4))


def exact(number: int | float) -> Fraction:
    """A number as people read it: the float 0.1 is one tenth."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(float(number)))


def nearest(number: Fraction, *, whole: bool, up: bool = False) -> int | float:
    """The nearest float; for large numbers that are ``whole`` by nature, the whole one beside it.

    That is the one below, or above with ``up``: whole numbers compare with it as with the fraction.
    """
    if whole and abs(number) >= _COARSE:
        return -(-number.numerator // number.denominator) if up else int(number // 1)
    try:
        return float(number)
    except OverflowError:
        # Still a bound, so that an infinite value lies beyond it.
        return sys.float_info.max if number > 0 else -sys.float_info.max


def _at(ordered: Sequence[int | float], share: Fraction) -> Fraction:
    place = (len(ordered) - 1) * share
    low = int(place)
    lower = exact(ordered[low])
    if place == low:
        return lower
    return lower + (exact(ordered[low + 1]) - lower) * (place - low)
