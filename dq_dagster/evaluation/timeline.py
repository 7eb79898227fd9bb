"""Partitions in the order of the times they stand for, as a past for those after them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

from dq_dagster.evaluation.baseline import Pasts, points_of
from dq_dagster.evaluation.history import Group, Recorded, group_of
from dq_dagster.judging.past import PastValue
from dq_dagster.judging.typical import Typical
from dq_dagster.metrics.slices import Slice

Dated: TypeAlias = tuple[datetime, Recorded]

# The series that a partition belongs to, and what of it.
_Part: TypeAlias = tuple[str, Group]
SeriesOf: TypeAlias = Callable[[str], str]


@dataclass(slots=True)
class Timeline:
    """What was recorded of partitions, filled up in the order of their times."""

    typical: Typical
    keys: frozenset[str]
    series_of: SeriesOf
    # What is not yet in the past of the partition that is judged next, the latest first.
    ahead: list[Dated] = field(default_factory=list)
    _series: dict[_Part, dict[str, list[PastValue]]] = field(default_factory=dict)

    def before(self, part: Slice, at: datetime) -> Pasts:
        """The past of a partition of that time, or of a group in it; asked in order of time."""
        while self.ahead and self.ahead[-1][0] < at:
            moment, record = self.ahead.pop()
            self.add(record, moment)
        found = self._series.get(_part(part, self.series_of), {})
        return {key: self.typical.relevant(points, at) for key, points in found.items()}

    def add(self, record: Recorded, at: datetime) -> None:
        """Appends a partition of that time; none that is there is later."""
        series = self.series_of(str(record.partition))
        self._append((series, None), record, at)
        for dimension, groups in record.groups.items():
            for group in groups:
                self._append((series, (dimension, group)), record, at)

    def reaches_back(self, part: _Part, at: datetime) -> bool:
        """Whether nothing earlier can change what is typical of a part at that time."""
        series = self._series.get(part, {})
        return all(
            key in series and self.typical.suffices(len(series[key]), series[key][0].at, at)
            for key in self.keys
        )

    def _append(self, part: _Part, record: Recorded, at: datetime) -> None:
        for key, point in points_of(record, part[1], self.keys, at):
            if self.typical.counts(point):
                self._series.setdefault(part, {}).setdefault(key, []).append(point)


def previous_partitions(
    records: Iterable[Recorded],
    judged: Mapping[str | None, datetime],
    parts: Collection[Slice],
    keys: Collection[str],
    *,
    typical: Typical,
    time_of: Callable[[str], datetime | None],
    series_of: SeriesOf,
) -> Timeline:
    """The latest evaluation of each partition, but for those that are judged now.

    ``judged`` holds their times, ``parts`` them and their groups.
    """
    wanted_parts = {_part(part, series_of) for part in parts}
    reading = _Reading(min(judged.values()), frozenset(keys), wanted_parts, typical, series_of)
    last = max(judged.values())
    for record in records:
        moment = None if record.partition is None else time_of(record.partition)
        if moment is not None:
            wanted = moment < last and record.partition not in judged
            reading.take(record, moment, wanted=wanted)
        if reading.is_enough(record.at):
            break
    ahead = sorted(reading.latest.values(), key=lambda dated: dated[0], reverse=True)
    return Timeline(typical, frozenset(keys), series_of, ahead)


@dataclass(slots=True)
class _Reading:
    """The latest evaluation of each partition so far, and whether older ones can matter.

    A partition is not evaluated before its time. So, reading backwards, all partitions that are
    yet to come stand for times before the evaluation that was just read; if some were evaluated
    ahead of their time, by as much before that.
    """

    first: datetime
    keys: frozenset[str]
    parts: Collection[_Part]
    typical: Typical
    series_of: SeriesOf
    latest: dict[str, Dated] = field(default_factory=dict)
    lead: timedelta = field(default_factory=timedelta)
    count: int = 0
    next_look: int = 0

    def take(self, record: Recorded, moment: datetime, *, wanted: bool) -> None:
        self.lead = max(self.lead, moment - record.at)
        if wanted and record.measured(self.keys):
            self.latest.setdefault(str(record.partition), (moment, record))

    def is_enough(self, read_back_to: datetime) -> bool:
        """Looks at all that was read, but ever more seldom: the effort stays linear."""
        self.count += 1
        if self.count < max(self.next_look, self.typical.reach):
            return False
        self.next_look = self.count + max(2, self.count // 2)
        horizon = read_back_to + self.lead
        known = [dated for dated in self.latest.values() if horizon < dated[0] < self.first]
        timeline = Timeline(self.typical, self.keys, self.series_of)
        for moment, record in sorted(known, key=lambda dated: dated[0]):
            timeline.add(record, moment)
        return all(timeline.reaches_back(part, self.first) for part in self.parts)


def _part(part: Slice, series_of: SeriesOf) -> _Part:
    return series_of(str(part.partition)), group_of(part)
