"""What one pass over some rows leaves behind: small, exact, and mergeable.

``a.merge(b)`` is the state of the rows of ``a`` and ``b`` together, in any order and for any
split. Partitions, the whole dataset and groups are all merges of the same states.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Context, Decimal
from enum import IntFlag
from typing import Any, Literal, NoReturn, Self

# Spark's decimals have at most 38 digits; sums of very many of them stay exact with this.
EXACT = Context(prec=120)


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
    value: bool | int | float | Decimal | str | bytes | date | datetime | None

    def merge(self, other: Self) -> Self:
        if self.value is None or _is_nan(other.value):
            return other
        if other.value is None or _is_nan(self.value):
            return self
        mine: Any = self.value
        theirs: Any = other.value
        keeps_mine = mine <= theirs if self.side == "min" else mine >= theirs
        return self if keeps_mine else other


class Odd(IntFlag):
    """Values that a sum of floating-point numbers can not go on from."""

    NONE = 0
    PLUS_INFINITY = 1
    MINUS_INFINITY = 2
    NAN = 4


@dataclass(frozen=True, slots=True)
class Total(State):
    """How many values there were and what they add up to.

    ``total`` is an int or Decimal for exact types, a float for floating-point ones and None if
    Spark could not hold it. Infinite values and NaN are not added but noted in ``odd``: what they
    lead to then depends neither on the order of rows nor on sums in between.
    """

    count: int
    total: int | Decimal | float | None
    odd: int = Odd.NONE

    def merge(self, other: Self) -> Self:
        return type(self)(
            self.count + other.count, _add(self.total, other.total), self.odd | other.odd
        )

    @property
    def result(self) -> int | Decimal | float | None:
        """The sum of all values; None if it is too large to be held."""
        if self.odd & Odd.NAN or self.odd == Odd.PLUS_INFINITY | Odd.MINUS_INFINITY:
            return math.nan
        if self.odd:
            return math.inf if self.odd == Odd.PLUS_INFINITY else -math.inf
        too_large = isinstance(self.total, float) and not math.isfinite(self.total)
        return None if too_large else self.total


@dataclass(frozen=True, slots=True)
class Moments(State):
    """Count, mean and sum of squared differences from the mean (merged after Chan et al.).

    ``step`` is how far apart different values of the column's type are at least (0: unknown);
    where doubles are coarser than that, small deviations are lost.
    """

    count: int
    mean: float
    squares: float
    step: float = 0.0

    def merge(self, other: Self) -> Self:
        if not self.count:
            return other
        if not other.count:
            return self
        count = self.count + other.count
        apart = other.mean - self.mean
        share = other.count / count
        return type(self)(
            count,
            self.mean + apart * share,
            self.squares + other.squares + apart * apart * self.count * share,
            self.step,
        )


@dataclass(frozen=True, slots=True)
class Opaque(State):
    """A finished answer of Spark, such as that of an SQL aggregate, and its type's name.

    The answers for two sets of rows do not tell the answer for both together: metrics with such
    states are not ``mergeable``, and have to be measured on each set of rows that is judged.
    """

    kind: str
    value: Any

    def merge(self, other: Self) -> NoReturn:
        raise TypeError("An answer in SQL can not be merged: measure it on all rows together.")


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _add(
    left: int | Decimal | float | None, right: int | Decimal | float | None
) -> int | Decimal | float | None:
    if left is None or right is None:
        return None
    if isinstance(left, float) or isinstance(right, float):
        return float(left) + float(right)
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        return EXACT.add(Decimal(left), Decimal(right))
    return left + right
