"""Days as a calendar shows them: month by month, the weeks starting on Monday."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby

from dq_dagster.judging.judgement import BADNESS, Status
from dq_dagster.monitoring.views.shapes import StatusDay

# So many months stand side by side, and a day more than they can have says whether more is known.
_MONTHS = 4
DAYS = 124
WEEKDAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")


@dataclass(frozen=True, slots=True)
class CalendarDay:
    """A day and its column; ``said`` is None outside of the days that are known."""

    day: date
    said: StatusDay | None = None

    @property
    def column(self) -> int:
        return self.day.isoweekday()

    @property
    def recovered(self) -> bool:
        """Whether it was worse during the day than at its end."""
        if self.said is None or self.said.worst is None:
            return False
        return BADNESS[self.said.worst] > BADNESS[self.said.last]

    @property
    def known(self) -> bool:
        return self.said is not None and self.said.last is not Status.NOT_COMPUTED


@dataclass(frozen=True, slots=True)
class CalendarMonth:
    """A month with all its days, whether anything is known of them or not."""

    name: str
    days: tuple[CalendarDay, ...]


@dataclass(frozen=True, slots=True)
class CalendarPage:
    """Some whole months of a timeline; where those before and after them end, if there are any."""

    days: tuple[StatusDay, ...]
    earlier: date | None = None
    later: date | None = None

    @classmethod
    def of(cls, days: Sequence[StatusDay], *, last: date) -> CalendarPage:
        """Of ``DAYS`` days, the oldest first; ``last`` is the newest one there can be."""
        if not days:
            return cls(())
        end = days[-1].day
        start = _month(end, 1 - _MONTHS)
        shown = tuple(one for one in days if one.day >= start)
        before = days[: len(days) - len(shown)]
        known = bool(before) and before[-1].last is not Status.NOT_COMPUTED
        return cls(
            shown,
            start - timedelta(days=1) if known else None,
            min(_month(end, 1 + _MONTHS) - timedelta(days=1), last) if end < last else None,
        )


def _month(day: date, ahead: int) -> date:
    """The first day of a month that lies so many months ahead of the day's."""
    years, month = divmod(day.month - 1 + ahead, 12)
    return date(day.year + years, month + 1, 1)


def months_of(days: Sequence[StatusDay]) -> list[CalendarMonth]:
    """The months of these days, the newest first, without those before anything is known."""
    if not days:
        return []
    last = max(one.day for one in days)
    known = [one.day for one in days if one.last is not Status.NOT_COMPUTED]
    start = min(known, default=last)
    said = {one.day: one for one in days if one.day >= start}
    first = start.replace(day=1)
    end = (last.replace(day=1) + timedelta(days=32)).replace(day=1)
    every = [first + timedelta(days=n) for n in range((end - first).days)]
    months = [
        CalendarMonth(f"{some[0]:%B %Y}", tuple(CalendarDay(day, said.get(day)) for day in some))
        for _, group in groupby(every, key=lambda day: (day.year, day.month))
        for some in [list(group)]
    ]
    return months[::-1]
