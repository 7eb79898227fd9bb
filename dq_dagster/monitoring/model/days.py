"""Days of a dataset, made of the evaluations of its checks in the order of time.

Of the slices that were computed on a day (partitions, and the whole dataset as one of its own),
each rule has the status of its last evaluation up to the end of that day. This is kept for the
days on which anything ran; on the days between, what the last of them said stands.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import groupby
from typing import NamedTuple, TypeAlias

from dq_dagster.judging.judgement import Status, score, worth

RANKED = tuple(Status)
RANKS = {status: rank for rank, status in enumerate(RANKED)}
_EPOCH = date(1970, 1, 1)

# Days since 1970, in UTC.
Day: TypeAlias = int
# Check, slice and rank of the status; checks and slices by any numbers that tell them apart.
Said: TypeAlias = tuple[Day, int, int, int]
# Day, check, last rank, worth and worst rank: a CheckDay in short. Of plain tuples there may be
# hundreds of thousands, since the garbage collector leaves them alone.
InShort: TypeAlias = tuple[Day, int, int, float | None, int | None]
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


class CheckDay(NamedTuple):
    """A check at the end of a day on which anything of its dataset was evaluated.

    The counts are the slices computed on that day, by the check's last status on them; ``last`` is
    the worst rank among these, and ``worth`` the value of the rule, for scores. ``worst`` is the
    worst rank among its ``evaluations`` on the day; None if there is none. A tuple, since there
    are hundreds of thousands of them.
    """

    day: Day
    check: int
    last: int
    worth: float | None
    worst: int | None
    evaluations: int
    not_computed: int
    ok: int
    empty: int
    warning: int
    error: int

    @classmethod
    def of(cls, day: Day, check: int, counts: Sequence[int], ran: Sequence[int]) -> CheckDay:
        """From how many slices have each rank, and the ranks of the evaluations on the day."""
        last = max((rank for rank, count in enumerate(counts) if count), default=0)
        _, ok, _, warning, error = counts
        value = worth(ok=ok, warning=warning, error=error)
        return cls(day, check, last, value, max(ran, default=None), len(ran), *counts)

    @property
    def counts(self) -> tuple[int, ...]:
        """The slices by rank."""
        return (self.not_computed, self.ok, self.empty, self.warning, self.error)

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
            yield CheckDay.of(day, check, counts, ran.get(check, []))


@dataclass(frozen=True)
class DatasetDays:
    """The days of one dataset on which anything ran, and which checks count on which of them.

    ``last_runs`` is the last day of each check; ``counting`` are those that count today. A check
    that was disabled or deleted counts up to the last day on which it ran.
    """

    by_day: Mapping[Day, Sequence[CheckDay]]
    last_runs: Mapping[int, Day]
    counting: Collection[int]
    today: Day

    @cached_property
    def _days(self) -> list[Day]:
        return sorted(self.by_day)

    def counted(self, day: Day) -> tuple[Day | None, Sequence[CheckDay]]:
        """The last day up to this one that says anything, and what the checks that count say."""
        for place in range(bisect_right(self._days, day) - 1, -1, -1):
            known = self._days[place]
            some = self._counting(self.by_day[known], day)
            if some:
                return known, some
        return None, []

    def worst_of(self, day: Day) -> int | None:
        """Of all that ran on the day."""
        some = self._counting(self.by_day.get(day, ()), day)
        return max([one.worst for one in some if one.worst is not None], default=None)

    def _counting(self, some: Sequence[CheckDay], day: Day) -> Sequence[CheckDay]:
        counting = counting_on(day, self.counting, self.last_runs, self.today)
        return [one for one in some if one.check in counting]


def counting_on(
    day: Day, counting: Collection[int], last_runs: Mapping[int, Day], today: Day
) -> Collection[int]:
    """The checks that count on the day: those of today, and those of the past that still ran."""
    if day >= today or not last_runs:
        return counting
    return {*counting, *(check for check, last in last_runs.items() if day <= last)}


@dataclass(frozen=True)
class DaysInShort:
    """The same of many days: with as little of each as all their statuses and scores need."""

    by_day: Mapping[Day, Sequence[InShort]]
    last_runs: Mapping[int, Day]
    counting: Collection[int]
    today: Day

    @cached_property
    def _days(self) -> list[Day]:
        return sorted(self.by_day)

    def counted(self, day: Day, counting: Collection[int]) -> tuple[Day | None, Sequence[InShort]]:
        """The last day up to this one of which any of these checks says something."""
        for place in range(bisect_right(self._days, day) - 1, -1, -1):
            known = self._days[place]
            some = self.by_day[known]
            if self.last_runs:
                some = [one for one in some if one[1] in counting]
            if some:
                return known, some
        return None, []


class SaidOfDay(NamedTuple):
    """What a day says of a dataset: ranks and score; ``worst`` is None if nothing ran on it."""

    day: Day
    last: int = 0
    worst: int | None = None
    score: float | None = None

    @classmethod
    def plain(cls, day: Day, some: Sequence[CheckDay]) -> SaidOfDay:
        """Of a day on which anything ran, if all checks count, and all alike."""
        ran = [one.worst for one in some if one.worst is not None]
        value = score([(1.0, one.worth) for one in some])
        return cls(day, max([one.last for one in some]), max(ran, default=None), value)


def each_day(
    days: DaysInShort, weights: Mapping[int, float], first: Day, last: Day
) -> Iterator[SaidOfDay]:
    """What every day says; who counts changes after the last day of a check, and today."""
    changes = {first, days.today, *(last + 1 for last in days.last_runs.values())}
    rank, value = 0, None
    for day in range(first, last + 1):
        worst = None
        if day in days.by_day or day in changes:
            counting = counting_on(day, days.counting, days.last_runs, days.today)
            of_day, some = days.counted(day, counting)
            rank = max([one[2] for one in some], default=0)
            value = score([(weights[one[1]], one[3]) for one in some])
            if of_day == day:
                worst = max([one[4] for one in some if one[4] is not None], default=None)
        yield SaidOfDay(day, rank, worst, value)


def each_plain_day(said: Iterable[SaidOfDay], first: Day, last: Day) -> Iterator[SaidOfDay]:
    """The same from days on which anything ran, in their order, if all checks count alike."""
    by_day = {one.day: one for one in said}
    standing = next((one for one in by_day.values() if one.day < first), SaidOfDay(first))
    for day in range(first, last + 1):
        if day in by_day:
            standing = by_day[day]
            yield standing
        else:
            yield SaidOfDay(day, standing.last, None, standing.score)
