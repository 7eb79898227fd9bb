"""Judging one value by hard and soft bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from dq_dagster.judging.comparison import aligned, in_zone, is_nan
from dq_dagster.judging.judgement import Judgement, Status
from dq_dagster.judging.wording import plural, show_apart, show_bound
from dq_dagster.metrics.constant import Scalar

# The hard bounds that are not within the range themselves.
Exclusive: TypeAlias = Literal["min", "max", "both"]


@dataclass(frozen=True, slots=True)
class Range:
    """Bounds: beyond a hard one is an Error, beyond a soft one a Warning.

    A value at a bound is within the range, unless that is a hard one that is ``exclusive``.
    """

    min: Scalar | None = None
    soft_min: Scalar | None = None
    soft_max: Scalar | None = None
    max: Scalar | None = None
    exclusive: Exclusive | None = field(default=None, kw_only=True)

    def judge(
        self, value: Any, *, what: str, rows: int | None = None, zone: tzinfo = UTC
    ) -> Judgement:
        """The verdict on ``value``, the observed ``what``, such as "The maximum of 'amount'"."""
        if value is None:
            status, message = Status.EMPTY, f"Nothing to judge: {_too_few(what, rows)}."
        elif is_nan(value):
            status, message = Status.ERROR, f"{what} is NaN (not a number), which fits no range."
        else:
            status, broken, verdict = self._place(value, zone, what)
            message = f"{what} is {self.told(in_zone(value, zone), broken)}, {verdict}."
        observed = in_zone(value, zone)
        return Judgement(
            status,
            message,
            observed=observed,
            bounds=self.given(),
            expected=self.words(),
            rows=rows,
        )

    @property
    def above_min(self) -> bool:
        """Whether a value at the minimum is below the range."""
        return self.exclusive in {"min", "both"}

    @property
    def below_max(self) -> bool:
        """Whether a value at the maximum is above the range."""
        return self.exclusive in {"max", "both"}

    def _place(self, value: Any, zone: tzinfo, what: str) -> tuple[Status, Scalar | None, str]:
        """Where the value lies: the status, the bound it breaks, and both in words."""
        for status, softness, low, high in (
            (Status.ERROR, "", self.min, self.max),
            (Status.WARNING, "soft ", self.soft_min, self.soft_max),
        ):
            if low is not None:
                lowest = aligned(low, value, zone=zone, what=what)
                if value < lowest:
                    return status, low, f"below the {softness}minimum of {self.shown(low)}"
                if value == lowest and self.above_min and not softness:
                    return status, low, f"which is not more than {self.shown(low)}"
            if high is not None:
                highest = aligned(high, value, zone=zone, what=what)
                if value > highest:
                    return status, high, f"above the {softness}maximum of {self.shown(high)}"
                if value == highest and self.below_max and not softness:
                    return status, high, f"which is not less than {self.shown(high)}"
        return Status.OK, None, f"as expected ({self.words()})"

    def given(self) -> dict[str, Scalar]:
        """The bounds that were set, by name."""
        bounds = {
            "min": self.min,
            "soft_min": self.soft_min,
            "soft_max": self.soft_max,
            "max": self.max,
        }
        return {name: bound for name, bound in bounds.items() if bound is not None}

    def words(self) -> str:
        """What the range demands, such as "more than 0 and at most 10, ideally at most 8"."""
        hard = self._limits(self.min, self.max, above=self.above_min, below=self.below_max)
        soft = self._limits(self.soft_min, self.soft_max)
        if hard and soft:
            return f"{hard}, ideally {soft}"
        return hard or f"ideally {soft}"

    def told(self, value: Any, broken: Scalar | None) -> str:
        """The observed value in a sentence, beside the bound that it breaks, if any."""
        return show_apart(value, broken)

    def shown(self, bound: Scalar) -> str:
        """A bound in a sentence."""
        return show_bound(bound)

    def _limits(
        self,
        low: Scalar | None,
        high: Scalar | None,
        *,
        above: bool = False,
        below: bool = False,
    ) -> str:
        if low is not None and low == high:
            return f"exactly {self.shown(low)}"
        words = []
        if low is not None:
            words.append(f"{'more than' if above else 'at least'} {self.shown(low)}")
        if high is not None:
            words.append(f"{'less than' if below else 'at most'} {self.shown(high)}")
        return " and ".join(words)


def _too_few(what: str, rows: int | None) -> str:
    return f"{what[:1].lower()}{what[1:]} needs {'more' if rows else 'some'} values"


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
