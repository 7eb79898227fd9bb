"""Change detection: judging a number by what was observed before."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Literal, TypeAlias

from dq_dagster.errors import Misfit
from dq_dagster.judging.comparison import is_nan, kind_of
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.past import PastValue, number_of
from dq_dagster.judging.quantities import duration
from dq_dagster.judging.status import Status
from dq_dagster.judging.typical_bounds import Number, TypicalBounds
from dq_dagster.judging.wording import plural, show

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
            message = f"Nothing to judge: {what[:1].lower()}{what[1:]} has no value."
            return Judgement(Status.EMPTY, message, expected=self.words(), rows=rows)
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
            details={
                "typical": {"metric": metric, "at": at.isoformat(), **self._details(found)},
            },
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

    def _details(self, found: TypicalBounds | Unknown) -> dict[str, Any]:
        details: dict[str, Any] = {
            "unit": self.period_unit,
            "window": self.window_words(),
            "learning": self.learning_words(),
        }
        if isinstance(found, Unknown):
            return {**details, "unknown": found.reason}
        listed = found.points[-_MOST_LISTED:]
        return {
            **details,
            "q1": found.q1,
            "q3": found.q3,
            "iqr": found.iqr,
            "bounds": found.given(),
            "points": len(found.points),
            "values": [_point(point) for point in listed],
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
