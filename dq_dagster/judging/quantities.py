"""Ranges of seconds and of bytes, told in the units that people use."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from dq_dagster.judging.ranges import Range
from dq_dagster.judging.wording import plural
from dq_dagster.metrics.constant import Scalar

_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))
# From so many seconds on, fractions of one are noise.
_BRIEF = 10
_DECIMAL_SIZES = ("kB", "MB", "GB", "TB", "PB", "EB")
_BINARY_SIZES = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


@dataclass(frozen=True, slots=True)
class AgeRange(Range):
    """Bounds of an age in seconds."""

    def told(self, value: Any, broken: Scalar | None) -> str:
        """Such as "3 days 4 hours old"; an age below zero is a time to come."""
        age = abs(value)
        exact, brief = duration(age), duration(int(age) if age >= _BRIEF else age, units=2)
        # Never "1 day old, above the maximum of 1 day".
        like_bound = broken is not None and self.shown(broken) == brief
        shown = exact if like_bound else brief
        return f"{shown} in the future" if value < 0 else f"{shown} old"

    def shown(self, bound: Scalar) -> str:
        return duration(_number(bound))


@dataclass(frozen=True, slots=True)
class SizeRange(Range):
    """Bounds of a size in bytes."""

    def told(self, value: Any, broken: Scalar | None) -> str:
        return size(value)

    def shown(self, bound: Scalar) -> str:
        return _round_size(int(_number(bound)))


def duration(seconds: Decimal | int, *, units: int = 4) -> str:
    """Seconds in words, such as "1 day 12 hours", cut off after so many units."""
    rest = abs(Decimal(seconds))
    words: list[str] = []
    for noun, length in _UNITS:
        count, rest = divmod(rest, length)
        if words or count:
            units -= 1
        if count and units >= 0:
            words.append(plural(int(count), noun))
    if (units > 0 and rest) or not words:
        shown = f"{rest.normalize():f}"
        words.append(f"{shown} second" if shown == "1" else f"{shown} seconds")
    return ("-" if seconds < 0 else "") + " ".join(words)


def size(count: int) -> str:
    """Bytes in words, such as "1,234,567 bytes (1.23 MB)"."""
    exact = plural(count, "byte")
    power = (len(str(count)) - 1) // 3
    if not power:
        return exact
    unit = min(power, len(_DECIMAL_SIZES))
    brief = f"{count / 1000**unit:,.2f}".rstrip("0").rstrip(".")
    return f"{exact} ({brief} {_DECIMAL_SIZES[unit - 1]})"


def _round_size(count: int) -> str:
    """A bound as its author will have written it: whole units where it has some."""
    for base, names in ((1000, _DECIMAL_SIZES), (1024, _BINARY_SIZES)):
        for power in range(len(names), 0, -1):
            # One and a half gigabytes are written with a point.
            whole, rest = divmod(count * 10, base**power)
            if count >= base**power and not rest:
                return f"{Decimal(whole) / 10:,f} {names[power - 1]}"
    return plural(count, "byte")


def _number(bound: Scalar) -> Decimal:
    if isinstance(bound, int | float | Decimal):
        return Decimal(repr(bound)) if isinstance(bound, float) else Decimal(bound)
    raise TypeError(f"{bound!r} is not a number.")
