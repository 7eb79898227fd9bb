"""Days of a dataset, made of the evaluations of its checks in the order of time.

Of the slices that were computed on a day (partitions, and the whole dataset as one of its own),
each rule has the status of its last evaluation up to the end of that day. This is kept for the
days on which anything ran; on the days between, what the last of them said stands. Rules that do
not count are as if they had never run: neither are their statuses seen, nor the slices on which
nothing else ran.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import groupby
from typing import NamedTuple, TypeAlias

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


# What a day says of these checks alone: for days on which others ran as well.
JudgedAlone: TypeAlias = Callable[[Day, Collection[int]], Sequence[CheckDay]]


@dataclass(frozen=True)
class DatasetDays:
    """The days of one dataset on which anything ran, and which checks count on which of them.

    ``last_runs`` is the last day of each check that counts no more: it counts up to that day.
    ``counting`` are those that count today.
    """

    by_day: Mapping[Day, Sequence[CheckDay]]
    last_runs: Mapping[int, Day]
    counting: Collection[int]
    today: Day
    judged_alone: JudgedAlone

    @cached_property
    def _days(self) -> list[Day]:
        return sorted(self.by_day)

    def counted(self, day: Day) -> tuple[Day | None, Sequence[CheckDay]]:
        """The last day up to this one on which a check that counts ran, and what those say."""
        counting = counting_on(day, self.counting, self.last_runs, self.today)
        for place in range(bisect_right(self._days, day) - 1, -1, -1):
            known = self._days[place]
            ran = {one.check for one in self.by_day[known] if one.worst is not None}
            if ran.isdisjoint(counting):
                continue
            if not ran.issubset(counting):
                return known, self.judged_alone(known, counting)
            return known, [one for one in self.by_day[known] if one.check in counting]
        return None, []

    def worst_of(self, day: Day) -> int | None:
        """Of all that ran on the day."""
        counting = counting_on(day, self.counting, self.last_runs, self.today)
        some = [one.worst for one in self.by_day.get(day, ()) if one.check in counting]
        return max([one for one in some if one is not None], default=None)


def counting_on(
    day: Day, counting: Collection[int], last_runs: Mapping[int, Day], today: Day
) -> Collection[int]:
    """The checks that count on the day: those of today, and those of the past that still ran."""
    if day >= today or not last_runs:
        return counting
    return {*counting, *(check for check, last in last_runs.items() if day <= last)}
