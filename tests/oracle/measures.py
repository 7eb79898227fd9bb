"""Statistics of values, exact, and how far a computation with doubles may be off."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from tests.oracle import kinds
from tests.oracle.values import exactly, is_nan

_LARGEST = Fraction(sys.float_info.max)
_SQUARABLE = Fraction(10) ** 150
# The square of anything smaller is 0.
_SQUARE_ROOT_OF_NOTHING = 1 / _SQUARABLE
_ROUNDING = Fraction(1, 10**12)
_WIDE = Context(prec=80, Emax=10**6, Emin=-(10**6))


@dataclass(frozen=True, slots=True)
class Measured:
    """An exact statistic, and what doubles may make of it.

    They may come within ``slack`` of it, and where they would overflow on the way or can not
    tell the values apart, an Error that says so is right as well (``may_refuse``).
    """

    value: Any
    slack: Fraction = Fraction(0)
    may_refuse: bool = False
    overflows: bool = False
    infinite: bool = False

    def nearby(self) -> tuple[Any, ...]:
        if not self.slack:
            return (self.value,)
        return (self.value - self.slack, self.value, self.value + self.slack)


Measure: TypeAlias = Callable[[Sequence[Any], str], Measured | None]


def minimum(values: Sequence[Any], kind: str) -> Measured | None:
    return _extreme(values, min)


def maximum(values: Sequence[Any], kind: str) -> Measured | None:
    return _extreme(values, max)


def _extreme(values: Sequence[Any], choose: Callable[[list[Any]], Any]) -> Measured | None:
    if not values:
        return None
    if any(map(is_nan, values)):
        return Measured(math.nan)
    return Measured(choose([exactly(value) for value in values]))


def total(values: Sequence[Any], kind: str) -> Measured | None:
    if not values:
        return None
    if kind in kinds.FLOATING:
        return _float_total(values)
    return Measured(sum(map(Fraction, values), Fraction(0)))


def _float_total(values: Sequence[float]) -> Measured:
    infinite = {value for value in values if math.isinf(value)}
    if any(map(is_nan, values)) or len(infinite) == 2:
        return Measured(math.nan)
    finite = [Fraction(value) for value in values if not math.isinf(value)]
    size = sum(map(abs, finite), Fraction(0))
    if infinite:
        return Measured(infinite.pop(), may_refuse=size > _LARGEST)
    result = sum(finite, Fraction(0))
    slack = size * _ROUNDING
    return Measured(
        result, slack, may_refuse=size > _LARGEST, overflows=abs(result) > _LARGEST + slack
    )


def median(values: Sequence[Any], kind: str) -> Measured | None:
    if not values:
        return None
    if any(map(is_nan, values)):
        return Measured(math.nan)
    ordered = sorted(exactly(value) for value in values)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    if low == high:
        return Measured(low)
    if any(isinstance(value, float) for value in (low, high)):
        # One of them is infinite; between the two infinities there is nothing.
        return Measured(math.nan if low == -high else float(low) + float(high))
    # Half of the smallest double is none.
    slack = abs(low + high) * Fraction(1, 10**15) + Fraction(1, 2**1074)
    return Measured((low + high) / 2, slack)


def mean(values: Sequence[Any], kind: str) -> Measured | None:
    found = total(values, kind)
    if found is None or isinstance(found.value, float):
        return found
    result = found.value / len(values)
    # A mean of whole numbers may be given as a double, one of decimals with very many digits.
    rounding = Fraction(1, 10**90) if kind in kinds.DECIMAL else Fraction(1, 10**15)
    slack = found.slack / len(values) + abs(result) * rounding
    return Measured(result, slack, may_refuse=found.may_refuse)


def deviation(values: Sequence[Any], kind: str) -> Measured | None:
    if len(values) < 2:
        return None
    if any(isinstance(value, float) and not math.isfinite(value) for value in values):
        return Measured(math.nan, infinite=not any(map(is_nan, values)))
    exact = [Fraction(value) for value in values]
    middle = sum(exact, Fraction(0)) / len(exact)
    variance = sum(((value - middle) ** 2 for value in exact), Fraction(0)) / (len(exact) - 1)
    square = _WIDE.divide(Decimal(variance.numerator), Decimal(variance.denominator))
    root = Fraction(_WIDE.sqrt(square))
    largest = max(map(abs, exact))
    slack = root / 10**9 + largest * _ROUNDING + _SQUARE_ROOT_OF_NOTHING
    return Measured(
        root, slack, may_refuse=largest > _SQUARABLE or largest * _ROUNDING > root / 10**6
    )
