"""Judging one value by hard and soft bounds, without ever rounding either silently."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, tzinfo
from decimal import Decimal
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from dq_dagster.errors import Misfit
from dq_dagster.judging.judgement import Judgement, Status
from dq_dagster.judging.wording import plural, show_apart, show_bound
from dq_dagster.metrics.constant import Scalar, Single, nearest_float, rounded

# The hard bounds that are not within the range themselves.
Exclusive: TypeAlias = Literal["min", "max", "both"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Bounds(Generic[T]):
    """Beyond a hard bound is an Error, beyond a soft one a Warning."""

    min: T | None = None
    soft_min: T | None = None
    soft_max: T | None = None
    max: T | None = None

    def given(self) -> dict[str, T]:
        """The bounds that were set, by name."""
        bounds = {
            "min": self.min,
            "soft_min": self.soft_min,
            "soft_max": self.soft_max,
            "max": self.max,
        }
        return {name: bound for name, bound in bounds.items() if bound is not None}

    def pairs(self) -> tuple[tuple[Status, str, T | None, T | None], ...]:
        """The hard bounds and then the soft ones: the status beyond them, and what to call them."""
        return (
            (Status.ERROR, "", self.min, self.max),
            (Status.WARNING, "soft ", self.soft_min, self.soft_max),
        )


@dataclass(frozen=True, slots=True)
class Range(Bounds[Scalar]):
    """The bounds of one value.

    A value at a bound is within the range, unless that is a hard one that is ``exclusive``.
    """

    exclusive: Exclusive | None = field(default=None, kw_only=True)

    # How a value reads in a sentence, beside the bound that it breaks, if any; and a bound.
    value_words = staticmethod(show_apart)
    bound_words = staticmethod(show_bound)

    def judge(
        self, value: Any, *, what: str, rows: int | None = None, zone: tzinfo = UTC
    ) -> Judgement:
        """The verdict on ``value``, the observed ``what``, such as "The maximum of 'amount'"."""
        given, observed = self.given(), in_zone(value, zone)
        if value is None:
            reason = f"{what} needs {'more' if rows else 'some'} values"
            return Judgement.of_nothing(reason, bounds=given, expected=self.words(), rows=rows)
        if is_nan(value):
            status, expected = Status.ERROR, self.words()
            verdict = "NaN (not a number), which fits no range"
        else:
            status, broken, place = self._place(value, zone, what)
            expected = self.words()
            beyond = place or f"as expected ({expected})"
            verdict = f"{self.value_words(observed, broken)}, {beyond}"
        return Judgement(
            status,
            f"{what} is {verdict}.",
            observed=observed,
            bounds=given,
            expected=expected,
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
        for status, softness, low, high in self.pairs():
            if low is not None:
                lowest = aligned(low, value, zone=zone, what=what)
                if value < lowest:
                    shown = self.bound_words(low)
                    return status, low, f"below the {softness}minimum of {shown}"
                if value == lowest and self.above_min and not softness:
                    return status, low, f"which is not more than {self.bound_words(low)}"
            if high is not None:
                highest = aligned(high, value, zone=zone, what=what)
                if value > highest:
                    shown = self.bound_words(high)
                    return status, high, f"above the {softness}maximum of {shown}"
                if value == highest and self.below_max and not softness:
                    return status, high, f"which is not less than {self.bound_words(high)}"
        return Status.OK, None, ""

    def words(self) -> str:
        """What the range demands, such as "more than 0 and at most 10, ideally at most 8"."""
        hard = self._limits(self.min, self.max, above=self.above_min, below=self.below_max)
        if self.soft_min is None and self.soft_max is None:
            return hard
        soft = self._limits(self.soft_min, self.soft_max)
        return f"{hard}, ideally {soft}" if hard else f"ideally {soft}"

    def _limits(
        self,
        low: Scalar | None,
        high: Scalar | None,
        *,
        above: bool = False,
        below: bool = False,
    ) -> str:
        if low is not None and low == high:
            return f"exactly {self.bound_words(low)}"
        words = []
        if low is not None:
            words.append(f"{'more than' if above else 'at least'} {self.bound_words(low)}")
        if high is not None:
            words.append(f"{'less than' if below else 'at most'} {self.bound_words(high)}")
        return " and ".join(words)


# Whole numbers up to here are floats, too.
_EXACT = 2**53
_FIRST = datetime(1, 1, 1, tzinfo=UTC)
_LAST = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)


def is_nan(value: object) -> bool:
    return isinstance(value, float | Decimal) and math.isnan(value)


def aligned(bound: Scalar, observed: object, *, zone: tzinfo = UTC, what: str = "") -> Any:
    """The bound in the observed value's own type, or Misfit if it has none there.

    A naive time bound on a column of instants is meant in the session's zone.
    """
    match observed:
        case bool():
            fitted: object = bound if isinstance(bound, bool) else None
        case int() | Decimal():
            fitted = _exact_number(bound)
        case Single():
            number = _float_number(bound)
            fitted = rounded(number) if isinstance(number, float) else number
        case float():
            fitted = _float_number(bound)
        case datetime():
            fitted = _moment(bound, aware=observed.tzinfo is not None, zone=zone)
        case date():
            fitted = _day(bound)
        case str():
            fitted = bound if isinstance(bound, str) else None
        case _:
            fitted = None
    if fitted is None:
        raise Misfit.wrong_bound(show_bound(bound), kind_of(observed), what)
    return fitted


def kind_of(value: object) -> str:
    match value:
        case bool():
            return "boolean"
        case int() | float() | Decimal():
            return "number"
        case datetime():
            return "timestamp"
        case date():
            return "date"
        case str():
            return "text"
        case _:
            return type(value).__name__


def parse_moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def parse_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None


def _exact_number(bound: Scalar) -> int | Decimal | None:
    if isinstance(bound, bool):
        return None
    if isinstance(bound, float):
        # 0.1 means the decimal 0.1 to the person who wrote it.
        return Decimal(repr(bound))
    return bound if isinstance(bound, int | Decimal) else None


def _float_number(bound: Scalar) -> int | float | Decimal | None:
    if isinstance(bound, bool) or not isinstance(bound, int | float | Decimal):
        return None
    if isinstance(bound, float) or (isinstance(bound, int) and abs(bound) <= _EXACT):
        return float(bound)
    nearest = nearest_float(bound)
    # Beyond all floats; Python compares such a number with a float exactly.
    return bound if nearest is None else nearest


def _moment(bound: Scalar, *, aware: bool, zone: tzinfo) -> datetime | None:
    if isinstance(bound, str):
        moment = parse_moment(bound)
    elif isinstance(bound, datetime):
        moment = bound
    else:
        moment = datetime.combine(bound, time()) if isinstance(bound, date) else None
    if moment is None or (moment.tzinfo is not None) == aware:
        return moment
    # A zoned bound means nothing on wall-clock times; a naive one is in the session's zone.
    # In UTC, since Python compares two times of one zone by their wall clocks, which jump.
    return _instant(moment, zone) if aware else None


def _instant(moment: datetime, zone: tzinfo) -> datetime:
    try:
        return moment.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError:
        # 9999-12-31 is a common "for ever"; west of UTC it ends beyond the calendar.
        return _LAST if moment.year > 1 else _FIRST


def in_zone(value: Any, zone: tzinfo) -> Any:
    """An instant as people of that zone read it; everything else as it is."""
    if not isinstance(value, datetime) or value.tzinfo is None:
        return value
    try:
        return value.astimezone(zone)
    except OverflowError:
        return value


def _day(bound: Scalar) -> date | None:
    if isinstance(bound, str):
        return parse_day(bound)
    if isinstance(bound, datetime):
        return None
    return bound if isinstance(bound, date) else None


_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))
# From so many seconds on, fractions of one are noise.
_BRIEF = 10
_DECIMAL_SIZES = ("kB", "MB", "GB", "TB", "PB", "EB")
_BINARY_SIZES = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def age(value: Any, other: object = None) -> str:
    """Seconds such as "3 days 4 hours old"; an age below zero is a time to come."""
    length = abs(value)
    exact, brief = duration(length), duration(int(length) if length >= _BRIEF else length, units=2)
    # Never "1 day old, above the maximum of 1 day".
    like_bound = other is not None and _length(other) == brief
    shown = exact if like_bound else brief
    return f"{shown} in the future" if value < 0 else f"{shown} old"


def _length(value: object) -> str:
    return duration(_number(value))


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


def size(value: Any, other: object = None) -> str:
    """Bytes in words, such as "1,234,567 bytes (1.23 MB)", which are exact beside any bound."""
    count: int = value
    exact = plural(count, "byte")
    power = (len(str(count)) - 1) // 3
    if not power:
        return exact
    unit = min(power, len(_DECIMAL_SIZES))
    brief = f"{count / 1000**unit:,.2f}".rstrip("0").rstrip(".")
    return f"{exact} ({brief} {_DECIMAL_SIZES[unit - 1]})"


def _round_size(value: object) -> str:
    """A bound as its author will have written it: whole units where it has some."""
    count = int(_number(value))
    for base, names in ((1000, _DECIMAL_SIZES), (1024, _BINARY_SIZES)):
        for power in range(len(names), 0, -1):
            # One and a half gigabytes are written with a point.
            whole, rest = divmod(count * 10, base**power)
            if count >= base**power and not rest:
                return f"{Decimal(whole) / 10:,f} {names[power - 1]}"
    return plural(count, "byte")


def _number(bound: object) -> Decimal:
    if isinstance(bound, int | float | Decimal):
        return Decimal(repr(bound)) if isinstance(bound, float) else Decimal(bound)
    raise TypeError(f"{bound!r} is not a number.")


@dataclass(frozen=True, slots=True)
class AgeRange(Range):
    """Bounds of an age in seconds."""

    value_words = staticmethod(age)
    bound_words = staticmethod(_length)


@dataclass(frozen=True, slots=True)
class SizeRange(Range):
    """Bounds of a size in bytes."""

    value_words = staticmethod(size)
    bound_words = staticmethod(_round_size)
