"""Baselines: from what was recorded to the past values that slices and groups are judged by.

Records come in, the newest first, and are read only as far as they can matter. A slice has its own
earlier values as its past, or those of the partitions before it in time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from dq_dagster.errors import Misfit, RuleFailure
from dq_dagster.evaluation.history.history import Group, History, Recorded, earlier, group_of
from dq_dagster.evaluation.judge import or_failure
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.judging.evidence import Evidence, PastValue, number_of
from dq_dagster.judging.typical import Lookback, Typical
from dq_dagster.metrics.measured import Slice
from dq_dagster.rules.base.rule import Rule

Pasts: TypeAlias = Mapping[str, Sequence[PastValue]]


@dataclass(slots=True)
class _Series:
    """The points of one metric on one slice, the newest first while they are read."""

    points: list[PastValue] = field(default_factory=list)
    states: set[str] = field(default_factory=set)
    complete: bool = False

    def completed_by(
        self, point: PastValue | None, data: str | None, typical: Typical, at: datetime
    ) -> bool:
        """Takes the next older point; says whether no further one is needed from now on.

        None for an evaluation that found no number: it stands for its state of the data as well.
        """
        if self.complete or data in self.states:
            return False
        if data is not None:
            self.states.add(data)
        if point is not None and typical.counts(point):
            self.points.append(point)
            self.complete = typical.suffices(len(self.points), point.at, at)
        return self.complete


def same_slice(
    records: Iterable[Recorded],
    parts: Collection[Slice],
    keys: Collection[str],
    *,
    typical: Typical,
    at: datetime,
    data_of: Callable[[str | None], str | None],
) -> dict[Slice, Pasts]:
    """The past of each slice, and of each group in it, by its own earlier evaluations."""
    series = {(part, key): _Series() for part in parts for key in keys}
    by_partition: dict[str | None, list[Slice]] = {}
    for part in parts:
        by_partition.setdefault(part.partition, []).append(part)
    current = {partition: data_of(partition) for partition in by_partition}
    open_ones = len(series)
    for record in records if series else ():
        if record.data is not None and record.data == current.get(record.partition):
            continue
        measured = [key for key in keys if record.measured((key,))]
        for part in by_partition.get(record.partition, ()):
            points = dict(points_of(record, group_of(part), measured, record.at))
            for key in measured:
                one = series[part, key]
                open_ones -= one.completed_by(points.get(key), record.data, typical, at)
        if not open_ones:
            break
    return {part: {key: series[part, key].points[::-1] for key in keys} for part in parts}


def points_of(
    record: Recorded, group: Group, keys: Collection[str], at: datetime
) -> Iterator[tuple[str, PastValue]]:
    """Its numbers as past values of that moment; what is no number is no point."""
    values = record.values(group)
    for key in keys:
        number = number_of(values.get(key))
        if number is not None:
            yield key, PastValue(number, at, record.status_of(key, group), record.partition)


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
        """The past of a partition of that time, or of a group in it; in order of time."""
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
    next_count: int = 0

    def take(self, record: Recorded, moment: datetime, *, wanted: bool) -> None:
        self.lead = max(self.lead, moment - record.at)
        if wanted and record.measured(self.keys):
            self.latest.setdefault(str(record.partition), (moment, record))

    def is_enough(self, read_back_to: datetime) -> bool:
        """Looks at all that was read, but ever more seldom: the effort stays linear."""
        self.count += 1
        if self.count < max(self.next_count, self.typical.reach):
            return False
        self.next_count = self.count + max(2, self.count // 2)
        horizon = read_back_to + self.lead
        known = [dated for dated in self.latest.values() if horizon < dated[0] < self.first]
        timeline = Timeline(self.typical, self.keys, self.series_of)
        for moment, record in sorted(known, key=lambda dated: dated[0]):
            timeline.add(record, moment)
        return all(timeline.reaches_back(part, self.first) for part in self.parts)


def _part(part: Slice, series_of: SeriesOf) -> _Part:
    return series_of(str(part.partition)), group_of(part)


@dataclass(frozen=True, slots=True)
class Baselines:
    """What the slices of a rule, and the groups in them, are compared with.

    ``own`` holds the past of slices that are compared with themselves, ``timeline`` that of
    partitions that are compared with those before them, at their ``times``. ``failure`` says why
    nothing of it could be read. ``earlier`` are the times of the only partitions that matter, where
    a rule compares with a certain one.
    """

    times: Mapping[str | None, datetime] = field(default_factory=dict)
    own: Mapping[Slice, Pasts | RuleFailure] = field(default_factory=dict)
    timeline: Timeline | None = None
    failure: RuleFailure | None = None
    earlier: Mapping[str | None, datetime] = field(default_factory=dict)

    def in_order(self, parts: Iterable[Slice]) -> list[Slice]:
        """The earliest first, so that each is a past for those after it."""
        every = list(parts)
        timed = [part for part in every if part.partition in self.times]
        others = [part for part in every if part.partition not in self.times]
        return [*sorted(timed, key=lambda part: self.times[part.partition]), *others]

    def add_to(self, evidence: Evidence, part: Slice) -> Evidence:
        """The evidence on a slice, or on a group in it, with its past."""
        if self.failure is not None:
            return replace(evidence, pasts=self.failure)
        moment = self.times.get(part.partition)
        if moment is None or self.timeline is None:
            return replace(evidence, pasts=self.own.get(part, {}))
        pasts = self.timeline.before(part, moment)
        earlier = self.earlier.get(part.partition)
        return replace(evidence, pasts=pasts, moment=moment, earlier=earlier)

    def note(self, outcome: Outcome) -> None:
        """An outcome becomes part of the past of later partitions."""
        moment = self.times.get(outcome.partition)
        if moment is not None and self.timeline is not None:
            self.timeline.add(Recorded.of(outcome, at=moment), moment)


NO_BASELINE = Baselines()


def read_baseline(
    rule: Rule,
    lookback: Lookback,
    parts: Collection[Slice],
    history: History,
    *,
    now: datetime,
) -> Baselines:
    """Reads the past of a rule for these slices and groups, as far as it matters."""
    read = _Reader(rule, lookback, history, now)
    found = or_failure(lambda: read.all_of(parts), f"rule {rule.name}")
    return Baselines(failure=found) if isinstance(found, RuleFailure) else found


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the past of one rule."""

    rule: Rule
    lookback: Lookback
    history: History
    now: datetime

    @property
    def keys(self) -> list[str]:
        return list(dict.fromkeys(metric.key for metric in self.rule.metrics()))

    def all_of(self, parts: Collection[Slice]) -> Baselines:
        times = self._times(parts)
        untimed = [part for part in parts if part.partition not in times]
        whole = [part for part in untimed if part.partition is None]
        single = [part for part in untimed if part.partition is not None]
        own: dict[Slice, Pasts | RuleFailure] = dict(self._own(whole, by_partition=False))
        if self.lookback.baseline == "previous_partitions":
            own |= {part: Misfit.no_time(str(part.partition)) for part in single}
        else:
            own |= self._own(single, by_partition=True)
        timed = [part for part in parts if part.partition in times]
        timeline = self._timeline(timed, times)
        return Baselines(times, own, timeline, earlier=self._earlier(times))

    def _earlier(self, times: Iterable[str | None]) -> dict[str | None, datetime]:
        """The time of the period that each partition is compared with, if it is a certain one."""
        periods = self.lookback.periods
        if periods is None:
            return {}
        found = {key: earlier(self.history, str(key), periods) for key in times}
        return {key: moment for key, moment in found.items() if moment is not None}

    def _times(self, parts: Iterable[Slice]) -> dict[str | None, datetime]:
        if self.lookback.baseline == "same_slice":
            return {}
        keys = dict.fromkeys(part.partition for part in parts if part.partition is not None)
        times = {key: self.history.time_of(key) for key in keys}
        return {key: moment for key, moment in times.items() if moment is not None}

    def _own(self, parts: Collection[Slice], *, by_partition: bool) -> dict[Slice, Pasts]:
        if not parts:
            return {}
        return same_slice(
            self.history.of(self.rule, by_partition=by_partition),
            parts,
            self.keys,
            typical=self.lookback.typical,
            at=self.now,
            data_of=self.history.data_of,
        )

    def _timeline(
        self, parts: Collection[Slice], times: Mapping[str | None, datetime]
    ) -> Timeline | None:
        if not parts:
            return None
        return previous_partitions(
            self.history.of(self.rule, by_partition=True),
            times,
            parts,
            self.keys,
            typical=self.lookback.typical,
            time_of=self.history.time_of,
            series_of=self.history.series_of,
        )
