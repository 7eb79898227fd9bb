"""Statuses and scores of many days at once, from days that are kept in short.

Timelines of all datasets are made of tens of thousands of days: of each, what its checks say is
packed into a few bytes, so that no check is an object of its own.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import nan
from typing import Any, NamedTuple, TypeVar

from dq_dagster.judging.judgement import score
from dq_dagster.monitoring.model.days import CheckDay, Day, JudgedAlone, counting_on


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


class DayInShort(NamedTuple):
    """What a day says of its checks: each has the same place in all that is packed here.

    ``lasts`` are ranks; so are ``worsts``, one higher, and 0 where the check did not run; of
    ``worths`` those that say nothing are not a number.
    """

    day: Day
    checks: bytes
    lasts: bytes
    worsts: bytes
    worths: bytes

    @classmethod
    def of(cls, day: Day, some: Sequence[CheckDay]) -> DayInShort:
        return cls(
            day,
            array("q", [one.check for one in some]).tobytes(),
            bytes([one.last for one in some]),
            bytes([0 if one.worst is None else one.worst + 1 for one in some]),
            array("d", [nan if one.worth is None else one.worth for one in some]).tobytes(),
        )


_Values = TypeVar("_Values", bound=Sequence[Any])


class _CountedRules(NamedTuple):
    """The places of the checks that count, and of those that do not, in what a day says."""

    places: Sequence[int]
    others: Sequence[int]
    weights: Sequence[float]

    def of(self, values: _Values) -> _Values | list[Any]:
        """Those at the places that count."""
        return [values[n] for n in self.places] if self.others else values


@dataclass(frozen=True)
class DaysInShort:
    """As ``DatasetDays``, in short, with the weight of each check."""

    by_day: Mapping[Day, DayInShort]
    last_runs: Mapping[int, Day]
    counting: Collection[int]
    today: Day
    judged_alone: JudgedAlone
    weights: Mapping[int, float]
    # What was found out already: the checks of one day are mostly those of the day before.
    _known: dict[tuple[bytes, int], _CountedRules] = field(default_factory=dict, init=False)

    @cached_property
    def _days(self) -> list[Day]:
        return sorted(self.by_day)

    @cached_property
    def _ends(self) -> list[Day]:
        return sorted(self.last_runs.values())

    def said_of(self, day: Day) -> SaidOfDay:
        """What the last day up to this one says on which a check that counts ran."""
        for place in range(bisect_right(self._days, day) - 1, -1, -1):
            one = self.by_day[self._days[place]]
            chosen = self._chosen(one.checks, day)
            worsts = chosen.of(one.worsts)
            if not any(worsts):
                continue
            if any(one.worsts[n] for n in chosen.others):
                counting = counting_on(day, self.counting, self.last_runs, self.today)
                one = DayInShort.of(one.day, self.judged_alone(one.day, counting))
                chosen = self._chosen(one.checks, day)
                worsts = chosen.of(one.worsts)
            worths = [None if worth != worth else worth for worth in array("d", one.worths)]  # noqa: PLR0124 (not a number)
            value = score(zip(chosen.weights, chosen.of(worths), strict=True))
            return SaidOfDay(one.day, max(chosen.of(one.lasts)), max(worsts) - 1, value)
        return SaidOfDay(day)

    def _chosen(self, checks: bytes, day: Day) -> _CountedRules:
        """Which of the checks count on the day."""
        # Days between which no check ends have the same answer.
        ended = len(self._ends) if day >= self.today else bisect_left(self._ends, day)
        found = self._known.get((checks, ended))
        if found is None:
            counting = counting_on(day, self.counting, self.last_runs, self.today)
            numbers = array("q", checks)
            places = [n for n, check in enumerate(numbers) if check in counting]
            others = [n for n, check in enumerate(numbers) if check not in counting]
            found = _CountedRules(places, others, [self.weights[numbers[n]] for n in places])
            self._known[checks, ended] = found
        return found


def each_day(days: DaysInShort, first: Day, last: Day) -> Iterator[SaidOfDay]:
    """What every day says; who counts changes after the last day of a check, and today."""
    changes = {first, days.today, *(end + 1 for end in days.last_runs.values())}
    standing = SaidOfDay(first)
    for day in range(first, last + 1):
        if day in days.by_day or day in changes:
            standing = days.said_of(day)
        ran = standing.worst if standing.day == day else None
        yield SaidOfDay(day, standing.last, ran, standing.score)


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
