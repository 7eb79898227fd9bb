"""Change detection: judging a number by what was observed before."""

from __future__ import annotations

import math
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from operator import attrgetter
from typing import Any, Literal, TypeAlias

from dq_dagster.errors import Misfit
from dq_dagster.judging.evidence import PastValue, number_of
from dq_dagster.judging.judgement import Judgement, Status
from dq_dagster.judging.ranges import Bounds, duration, is_nan, kind_of
from dq_dagster.judging.wording import plural, show, show_apart

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


Number: TypeAlias = int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class TypicalBounds(Bounds[Number]):
    """The middle half of some points, and how far from it is too far.

    ``iqr`` is the one that was used: that of the points, or the least that a rule sets.
    """

    q1: Number
    q3: Number
    iqr: Number
    points: tuple[PastValue, ...]

    @classmethod
    def of(
        cls,
        points: Sequence[PastValue],
        *,
        factor: float,
        soft_factor: float | None = None,
        min_iqr: Number | None = None,
    ) -> TypicalBounds:
        """The bounds by at least one point."""
        ordered = sorted(point.value for point in points)
        whole = all(isinstance(value, int) for value in ordered)
        q1, q3 = quartiles(ordered)
        iqr = q3 - q1 if min_iqr is None else max(q3 - q1, exact(min_iqr))

        def low(width: float) -> Number:
            return nearest(q1 - exact(width) * iqr, whole=whole, up=True)

        def high(width: float) -> Number:
            return nearest(q3 + exact(width) * iqr, whole=whole)

        return cls(
            q1=nearest(q1, whole=whole),
            q3=nearest(q3, whole=whole),
            iqr=nearest(iqr, whole=whole),
            min=low(factor),
            max=high(factor),
            soft_min=None if soft_factor is None else low(soft_factor),
            soft_max=None if soft_factor is None else high(soft_factor),
            points=tuple(points),
        )

    def place(self, value: Number) -> tuple[Status, str]:
        """Where a value lies, such as "120, below the typical minimum of 940.5 (...)"."""
        for status, softness, low, high in self.pairs():
            if low is not None and value < low:
                return status, self._beyond(value, low, f"below the typical {softness}minimum")
            if high is not None and value > high:
                return status, self._beyond(value, high, f"above the typical {softness}maximum")
        return Status.OK, f"{show(value)}, as is typical ({self.words()}; {self.origin()})"

    def words(self) -> str:
        """Such as "940.5 to 1,099.5"."""
        return f"{show(self.min)} to {show(self.max)}"

    def origin(self) -> str:
        """Such as "30 earlier values: half of them between 1,000 and 1,040"."""
        values = plural(len(self.points), "earlier value")
        if len({point.value for point in self.points}) == 1:
            return f"{values}: {'' if len(self.points) == 1 else 'all '}{show(self.q1)}"
        return f"{values}: half of them between {show(self.q1)} and {show(self.q3)}"

    def _beyond(self, value: Number, bound: Number, words: str) -> str:
        shown, limit = show_apart(value, bound), show_apart(bound, value)
        return f"{shown}, {words} of {limit} ({self.origin()})"


PeriodUnit: TypeAlias = Literal["runs", "days"]

# Of fewer points in a window of days nobody can say what is typical.
_FEWEST = 3
# Details stay small, however long the window is: this many of its latest points are listed.
_MOST_LISTED = 100
_DAY = timedelta(days=1)
_AT = attrgetter("at")


@dataclass(frozen=True, slots=True)
class Unknown:
    """Why there are no bounds, and what that counts as."""

    status: Status
    reason: str


@dataclass(frozen=True, slots=True)
class Typical:
    """How much past is needed, how far back it counts, and how far from it is too far."""

    period_unit: PeriodUnit = "runs"
    learning_period: int = 7
    lookback_window: int = 30
    iqr_factor: float = 1.5
    soft_iqr_factor: float | None = None
    min_iqr: Number | None = None
    exclude_errors: bool = False

    def judge(
        self,
        value: Any,
        past: Sequence[PastValue],
        at: datetime,
        *,
        what: str,
        rows: int | None = None,
        metric: str = "",
    ) -> Judgement:
        """The verdict on ``value``, the observed ``what``, by its past, the oldest first.

        ``at`` is the moment that the value counts for; ages are counted from there. ``metric`` is
        the key of what was judged, for the details.
        """
        if value is None:
            return Judgement.of_nothing(f"{what} has no value", expected=self.words(), rows=rows)
        number = as_recorded(value, what)
        found = self.bounds(past, at)
        if isinstance(found, Unknown):
            status, verdict = found.status, f"{show(number)}. {found.reason}"
        else:
            status, verdict = found.place(number)
        if is_nan(number):
            status, verdict = Status.ERROR, "NaN (not a number), which is never typical"
        return Judgement(
            status,
            f"{what} is {verdict.removesuffix('.')}.",
            observed=value,
            bounds={} if isinstance(found, Unknown) else found.given(),
            expected=self.words() if isinstance(found, Unknown) else f"typical ({found.words()})",
            rows=rows,
            typical=TypicalFinding(self, metric, at, found),
        )

    def bounds(self, past: Sequence[PastValue], at: datetime) -> TypicalBounds | Unknown:
        """What is typical at that moment by the past, the oldest first, or why that is unknown."""
        points = [point for point in past if self.counts(point)]
        if missing := self._still_to_learn(points, at):
            return Unknown(Status.EMPTY, missing)
        window = self._window(points, at)
        if self.period_unit == "days" and len(window) < _FEWEST:
            return Unknown(Status.WARNING, self._too_few(len(window)))
        return TypicalBounds.of(
            window,
            factor=self.iqr_factor,
            soft_factor=self.soft_iqr_factor,
            min_iqr=self.min_iqr,
        )

    def counts(self, point: PastValue) -> bool:
        """Whether a point takes part at all."""
        excluded = self.exclude_errors and point.status is Status.ERROR
        # Whole numbers beyond all floats are finite, too.
        return (isinstance(point.value, int) or math.isfinite(point.value)) and not excluded

    def suffices(self, count: int, oldest: datetime, at: datetime) -> bool:
        """Whether nothing older can change a verdict, given so many points up to the oldest."""
        if self.period_unit == "runs":
            return count >= self.reach
        return at - oldest >= self.reach * _DAY

    def relevant(self, points: Sequence[PastValue], at: datetime) -> Sequence[PastValue]:
        """Of points in order that count, the latest ones before ``at`` that suffice."""
        end = bisect_left(points, at, key=_AT)
        if self.period_unit == "runs":
            return points[max(0, end - self.reach) : end]
        old = bisect_right(points, -self.reach * _DAY, hi=end, key=lambda point: point.at - at)
        return points[max(0, old - 1) : end]

    @property
    def reach(self) -> int:
        """How many runs, or days, back the past matters."""
        return max(self.learning_period, self.lookback_window)

    def words(self) -> str:
        """What is expected, before it is known in numbers."""
        return f"typical of {self.window_words()}"

    def window_words(self) -> str:
        return f"the last {plural(self.lookback_window, self._unit)}"

    def learning_words(self) -> str:
        return plural(self.learning_period, self._unit)

    @property
    def _unit(self) -> str:
        # One run may well bring several: one for each partition.
        return "value" if self.period_unit == "runs" else "day"

    def _window(self, points: Sequence[PastValue], at: datetime) -> Sequence[PastValue]:
        if self.period_unit == "runs":
            return points[-self.lookback_window :]
        return [point for point in points if at - point.at < self.lookback_window * _DAY]

    def _still_to_learn(self, points: Sequence[PastValue], at: datetime) -> str:
        """What is missing of the learning period; nothing if it is over."""
        if self.period_unit == "runs":
            missing = self.learning_period - len(points)
            needed = plural(self.learning_period, "earlier value")
            there = f"{len(points):,} of {needed} are there"
            return f"Still learning: {there}, {missing:,} to go." if missing > 0 else ""
        period = plural(self.learning_period, "day")
        if not points:
            return f"Still learning: there is no earlier value, and {period} of them are needed."
        age = at - min(point.at for point in points)
        missing_time = self.learning_period * _DAY - age
        if missing_time <= timedelta():
            return ""
        return (
            f"Still learning: the oldest of {plural(len(points), 'earlier value')} is {_old(age)}, "
            f"{_time(missing_time)} of {period} to go."
        )

    def _too_few(self, count: int) -> str:
        return (
            f"Only {plural(count, 'earlier value')} in {self.window_words()}: at least {_FEWEST} "
            "are needed to know what is typical."
        )


@dataclass(frozen=True, slots=True)
class TypicalFinding:
    """What was typical of a metric at the moment that was judged, or why that is unknown."""

    parameters: Typical
    metric: str
    at: datetime
    found: TypicalBounds | Unknown

    @property
    def bounds(self) -> Mapping[str, Number]:
        """The bounds by name; none where they are unknown."""
        return {} if isinstance(self.found, Unknown) else self.found.given()

    @property
    def points(self) -> tuple[PastValue, ...]:
        """The past values that the bounds were made of, the oldest first; the latest of many."""
        return () if isinstance(self.found, Unknown) else self.found.points[-_MOST_LISTED:]

    def record(self) -> dict[str, Any]:
        """The same as plain data, for people who read details."""
        about: dict[str, Any] = {
            "metric": self.metric,
            "at": self.at.isoformat(),
            "unit": self.parameters.period_unit,
            "window": self.parameters.window_words(),
            "learning": self.parameters.learning_words(),
        }
        if isinstance(self.found, Unknown):
            return {**about, "unknown": self.found.reason}
        return {
            **about,
            "q1": self.found.q1,
            "q3": self.found.q3,
            "iqr": self.found.iqr,
            "bounds": self.found.given(),
            "points": len(self.found.points),
            "values": [_point(point) for point in self.points],
        }


def as_recorded(value: Any, what: str) -> Number:
    """A number as history keeps it, so that a value compares with its like."""
    number = number_of(value)
    if number is None:
        raise Misfit.no_number(what, kind_of(value))
    return number


def _point(point: PastValue) -> dict[str, Any]:
    shown = {"at": point.at.isoformat(), "value": point.value}
    return shown if point.partition is None else {**shown, "partition": point.partition}


def _old(age: timedelta) -> str:
    return f"{_time(age)} old" if age >= timedelta() else f"{_time(-age)} in the future"


def _time(span: timedelta) -> str:
    # Rounded up: something that is missing is never "0 seconds".
    return duration(math.ceil(span.total_seconds()), units=2)


Baseline: TypeAlias = Literal["same_slice", "previous_partitions"]


@dataclass(frozen=True, slots=True)
class Lookback:
    """How much of the past counts, and whether it is a slice's own or that of partitions before.

    Without a ``baseline`` partitions that stand for times are compared with those before them,
    and everything else with its own past. ``periods``: what matters is the value of so many periods
    before, and no other.
    """

    typical: Typical
    baseline: Baseline | None = None
    periods: int | None = None
