"""Days of a dataset, made of the evaluations of its checks in the order of time.

Of the slices that were computed on a day (partitions, and the whole dataset as one of its own),
each rule has the status of its last evaluation up to the end of that day. This is kept for the
days on which anything ran; on the days between, what the last of them said stands.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import TypeAlias

from dq_dagster.judging.judgement import Status, worth

RANKED = tuple(Status)
RANKS = {status: rank for rank, status in enumerate(RANKED)}
_EPOCH = date(1970, 1, 1)

# Days since 1970, in UTC.
Day: TypeAlias = int
# Check, slice and rank of the status; checks and slices by any numbers that tell them apart.
Said: TypeAlias = tuple[Day, int, int, int]
# Ranks by slice and check.
Standing: TypeAlias = dict[int, dict[int, int]]


def day_of(moment: float) -> Day:
    return int(moment // 86_400)


def date_of(day: Day) -> date:
    return _EPOCH + timedelta(days=day)


def day_number(day: date) -> Day:
    return (day - _EPOCH).days


def start_of(day: Day) -> float:
    return day * 86_400.0


def moment_of(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


@dataclass(frozen=True, slots=True)
class CheckDay:
    """A check at the end of a day on which anything of its dataset was evaluated.

    ``counts`` are the slices computed on that day, by the rank of the check's last status on
    them. ``worst`` is the worst rank among its ``evaluations`` on the day; None if there is none.
    """

    day: Day
    check: int
    counts: tuple[int, int, int, int, int]
    worst: int | None
    evaluations: int

    @property
    def last(self) -> int:
        """The worst rank among the slices."""
        rank = 4
        while rank and not self.counts[rank]:
            rank -= 1
        return rank

    @property
    def worth(self) -> float | None:
        """The value of the rule, for scores."""
        _, ok, _, warning, error = self.counts
        return worth(ok=ok, warning=warning, error=error)

    def by_status(self) -> dict[Status, int]:
        return {RANKED[rank]: count for rank, count in enumerate(self.counts) if count}


def check_days(said: Iterable[Said], standing: Standing | None = None) -> Iterator[CheckDay]:
    """What each day says of each check, from evaluations of one dataset in the order of time.

    ``standing`` is how slices stood before the first of them; it is changed on the way.
    """
    known = {} if standing is None else standing
    for day, some in groupby(said, key=lambda one: one[0]):
        slices: set[int] = set()
        ran: dict[int, list[int]] = {}
        for _, check, part, rank in some:
            known.setdefault(part, {})[check] = rank
            slices.add(part)
            ran.setdefault(check, []).append(rank)
        counted: dict[int, list[int]] = {}
        for part in slices:
            for check, rank in known[part].items():
                counted.setdefault(check, [0, 0, 0, 0, 0])[rank] += 1
        for check, counts in counted.items():
            ranks = ran.get(check, [])
            a, b, c, d, e = counts
            yield CheckDay(day, check, (a, b, c, d, e), max(ranks, default=None), len(ranks))


@dataclass(frozen=True, slots=True)
class DatasetDays:
    """The days of one dataset on which anything ran, and which checks count on which of them.

    ``last_runs`` is the last day of each check; ``counting`` are those that count today. A check
    that was disabled or deleted counts up to the last day on which it ran.
    """

    by_day: Mapping[Day, Sequence[CheckDay]]
    last_runs: Mapping[int, Day]
    counting: Collection[int]
    today: Day
    # What was found out already, as long as all that ran count.
    _known: dict[Day, list[CheckDay]] = field(default_factory=dict)

    def counted(self, day: Day) -> tuple[Day | None, list[CheckDay]]:
        """The last day up to this one that says anything, and what the checks that count say."""
        days = sorted(self.by_day)
        for known in reversed(days[: bisect_right(days, day)]):
            some = self._known.get(known)
            if some is None:
                some = [one for one in self.by_day[known] if self._counts(one.check, day)]
                if not self.last_runs:
                    self._known[known] = some
            if some:
                return known, some
        return None, []

    def worst_of(self, day: Day) -> int | None:
        """Of all that ran on the day."""
        ran = [
            one.worst
            for one in self.by_day.get(day, ())
            if one.worst is not None and self._counts(one.check, day)
        ]
        return max(ran, default=None)

    def _counts(self, check: int, day: Day) -> bool:
        if check in self.counting:
            return True
        return day < self.today and day <= self.last_runs.get(check, -1)


def each_day(
    days: DatasetDays, first: Day, last: Day, score: Callable[[list[CheckDay]], float | None]
) -> Iterator[tuple[Day, int, int | None, float | None]]:
    """Of every day: its number, the last rank, the worst rank (None if nothing ran), the score."""
    before: list[CheckDay] | None = None
    rank, value = 0, None
    for day in range(first, last + 1):
        _, some = days.counted(day)
        if some is not before:
            rank, value = max((one.last for one in some), default=0), score(some)
            before = some
        yield day, rank, days.worst_of(day), value
