"""What one pass over some rows leaves behind: small, exact, and mergeable.

``a.merge(b)`` is the state of the rows of ``a`` and ``b`` together. Merging is exact: it gives the
same state in any order and for any grouping, so that states of today and of last year add up to
what one pass over all rows gives. Doubles are fractions of powers of two, and are added as such;
what is rounded is rounded once, when a value is read.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Context, Decimal
from enum import IntFlag
from fractions import Fraction
from typing import Any, Literal, NoReturn, Self, TypeAlias

# Spark's decimals have at most 38 digits; sums of very many of them stay exact with this.
EXACT = Context(prec=120)

Scalar: TypeAlias = bool | int | float | Decimal | str | bytes | date | datetime
Number: TypeAlias = int | Decimal | Fraction | float


@dataclass(frozen=True, slots=True)
class State(ABC):
    """A summary of rows that can be merged with another of its kind."""

    @abstractmethod
    def merge(self, other: Self) -> Self:
        """The summary of both sets of rows together."""


@dataclass(frozen=True, slots=True)
class Tally(State):
    """How many rows there were."""

    count: int

    def merge(self, other: Self) -> Self:
        return type(self)(self.count + other.count)


@dataclass(frozen=True, slots=True)
class Extreme(State):
    """The smallest or the largest value; NaN if any value was NaN, None if there was none."""

    side: Literal["min", "max"]
    value: Scalar | None

    def __post_init__(self) -> None:
        if isinstance(self.value, float):
            object.__setattr__(self, "value", _one_of_its_kind(self.value))

    def merge(self, other: Self) -> Self:
        if self.value is None or _is_nan(other.value):
            return other
        if other.value is None or _is_nan(self.value):
            return self
        mine: Any = self.value
        theirs: Any = other.value
        if mine == theirs:
            # 1 and 1.00 are equal, and yet one of them must win whatever the order.
            return max(self, other, key=lambda state: _form(state.value))
        keeps_mine = mine < theirs if self.side == "min" else mine > theirs
        return self if keeps_mine else other


class Odd(IntFlag):
    """Values that a sum of floating-point numbers cannot go on from."""

    NONE = 0
    PLUS_INFINITY = 1
    MINUS_INFINITY = 2
    NAN = 4


@dataclass(frozen=True, slots=True)
class Total(State):
    """How many values there were and what they add up to.

    ``total`` is an int or Decimal for exact types, a float for floating-point ones (a Fraction
    once merged) and None if Spark could not hold it. Infinite values and NaN are not added but
    noted in ``odd``: what they lead to then depends neither on the order of rows nor on sums in
    between.
    """

    count: int
    total: Number | None
    odd: int = Odd.NONE

    def __post_init__(self) -> None:
        if isinstance(self.total, float):
            # Plus zero: there is one zero, whatever sign a sum got.
            finite = self.total + 0.0 if math.isfinite(self.total) else None
            object.__setattr__(self, "total", finite)

    def merge(self, other: Self) -> Self:
        return type(self)(
            self.count + other.count, _add(self.total, other.total), self.odd | other.odd
        )

    @property
    def result(self) -> int | Decimal | float | None:
        """The sum of all values; None if it is too large to be held."""
        if self.odd:
            return odd_result(self.odd)
        if isinstance(self.total, float | Fraction):
            return as_double(self.total)
        return self.total


@dataclass(frozen=True, slots=True)
class Moments(State):
    """Count, sum and sum of squares, from which mean and deviation follow exactly.

    ``step`` is how far apart different values of the column's type are at least (0: unknown);
    where doubles are coarser than that, small deviations are lost. Where a sum is not finite,
    ``odd`` says how, and the sums mean nothing.
    """

    count: int
    total: Fraction
    power: Fraction
    step: float = 0.0
    odd: int = Odd.NONE

    @classmethod
    def of(cls, count: int, mean: float, squares: float, step: float = 0.0) -> Self:
        """From the mean, and the sum of squared differences from it."""
        odd = _oddness(mean) | (_oddness(squares) if math.isfinite(mean) else Odd.NONE)
        if odd:
            return cls(count, Fraction(0), Fraction(0), step, odd)
        centre = Fraction(mean)
        total = centre * count
        return cls(count, total, Fraction(squares) + total * centre, step)

    @classmethod
    def of_sum(cls, count: int, total: Fraction, squares: float, step: float = 0.0) -> Self:
        """From the exact sum of some values, and the sum of squared differences from the mean."""
        # Squares are moved to a centre that is a double: exact means would make fractions that
        # grow with each merge. What that adds is tiny, and rounded up, so that no sum of squares
        # falls below what is possible.
        centre = Fraction(float(total / count))
        moved = (total - centre * count) ** 2 / count
        added = Fraction(math.nextafter(float(moved), math.inf)) if moved else Fraction(0)
        power = Fraction(squares) + added + centre * (2 * total - centre * count)
        return cls(count, total, power, step)

    def merge(self, other: Self) -> Self:
        odd = self.odd | other.odd
        return type(self)(
            self.count + other.count,
            Fraction(0) if odd else self.total + other.total,
            Fraction(0) if odd else self.power + other.power,
            # Of one column all are alike; else, what holds for all of them.
            min(self.step, other.step),
            odd,
        )

    @property
    def mean(self) -> float | None:
        """The mean of all values; None if it is too large to be held, or if there is no value."""
        if self.odd:
            return odd_result(self.odd)
        return as_double(self.total / self.count) if self.count else None

    @property
    def variance(self) -> float | None:
        """The sample variance; None if it is too large to be held, or of fewer than two values."""
        if self.odd:
            return odd_result(self.odd)
        if self.count < 2:
            return None
        squares = self.power - self.total * self.total / self.count
        return as_double(squares / (self.count - 1))


@dataclass(frozen=True, slots=True)
class Opaque(State):
    """A finished answer of Spark, such as that of an SQL aggregate, and its type's name.

    The answers for two sets of rows do not tell the answer for both together: metrics with such
    states are not ``mergeable``, and have to be measured on each set of rows that is judged.
    """

    kind: str
    value: Any

    def merge(self, other: Self) -> NoReturn:
        raise TypeError("An answer in SQL cannot be merged: measure it on all rows together.")


def as_double(exact: float | Fraction) -> float | None:
    """The nearest double; None if the number is beyond all of them."""
    try:
        return float(exact)
    except OverflowError:
        return None


def odd_result(odd: int) -> float:
    """What a sum comes to that values such as these are part of."""
    if odd & Odd.NAN or odd == Odd.PLUS_INFINITY | Odd.MINUS_INFINITY:
        return math.nan
    return math.inf if odd == Odd.PLUS_INFINITY else -math.inf


def _oddness(value: float) -> Odd:
    if math.isfinite(value):
        return Odd.NONE
    if math.isnan(value):
        return Odd.NAN
    return Odd.PLUS_INFINITY if value > 0 else Odd.MINUS_INFINITY


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _one_of_its_kind(value: float) -> float:
    """One zero and one NaN: which of their forms Spark finds depends on the order of rows."""
    if math.isnan(value):
        return math.nan
    return value or type(value)(0.0)


def _form(value: object) -> tuple[str, str]:
    return type(value).__name__, str(value)


def _add(left: Number | None, right: Number | None) -> Number | None:
    if left is None or right is None:
        return None
    if isinstance(left, float | Fraction) or isinstance(right, float | Fraction):
        return Fraction(left) + Fraction(right)
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        return EXACT.add(Decimal(left), Decimal(right))
    return left + right
