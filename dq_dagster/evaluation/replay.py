"""What was recorded, judged once more: each point by those before it, as the live rule would."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from dq_dagster.errors import Misfit
from dq_dagster.evaluation.history import Recorded
from dq_dagster.evaluation.looking_back import LookingBack, look_back
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.evaluation.verdict import judged
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.lookback import Lookback
from dq_dagster.judging.past import number_of
from dq_dagster.metrics.slices import Slice
from dq_dagster.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class Replayed:
    """A point of the past with the outcome that it would have had."""

    record: Recorded
    outcome: Outcome
    # The moment it counts for: that of its partition, or of its evaluation.
    at: datetime
    # What of it is compared: a series of partitions, or a slice with itself.
    line: str = ""


@dataclass(frozen=True, slots=True)
class Calendar:
    """When partitions are, and which of them are compared with each other."""

    times: Mapping[str, datetime] = field(default_factory=dict)
    series: Mapping[str, str] = field(default_factory=dict)


def replay(
    records: Iterable[Recorded], rule: Rule, lookback: Lookback, calendar: Calendar
) -> Iterator[Replayed]:
    """The points that no later one supersedes, in their order, judged by the rule.

    What was an Error is told by this rule, not by the one that recorded it.
    """
    keys = {metric.key for metric in rule.metrics()}
    measured = [record for record in records if record.measured(keys)]
    measured.sort(key=lambda record: record.at)
    timed = {
        str(record.partition): record
        for record in measured
        if _is_timed(record, lookback, calendar)
    }
    own = [record for record in measured if str(record.partition) not in timed]
    yield from _one_after_the_other(timed, rule, lookback, calendar)
    yield from _each_by_its_own(own, rule, lookback)


def _is_timed(record: Recorded, lookback: Lookback, calendar: Calendar) -> bool:
    """Whether a record is of a partition that is compared with those before it."""
    if record.partition is None or lookback.baseline == "same_slice":
        return False
    if record.partition in calendar.times:
        return True
    if lookback.baseline == "previous_partitions":
        raise Misfit.no_time(record.partition)
    return False


def _one_after_the_other(
    latest: Mapping[str, Recorded], rule: Rule, lookback: Lookback, calendar: Calendar
) -> Iterator[Replayed]:
    """Partitions in the order of their times, as if one run had judged them all."""
    if not latest:
        return
    parts = [Slice(key) for key in latest]
    now = max(record.at for record in latest.values())
    past = look_back(rule, lookback, parts, _Past(calendar=calendar), now=now)
    for part in past.in_order(parts):
        record = latest[str(part.partition)]
        outcome = _outcome(record, rule, past, part)
        past.note(outcome)
        series = calendar.series.get(str(part.partition), "")
        yield Replayed(record, outcome, past.times[part.partition], series)


def _each_by_its_own(
    records: Sequence[Recorded], rule: Rule, lookback: Lookback
) -> Iterator[Replayed]:
    """Slices in the order of their evaluations, each with the earlier ones of the same slice."""
    before: dict[str | None, list[Recorded]] = {}
    for record in _standing(records):
        earlier = before.setdefault(record.partition, [])
        part = Slice(record.partition)
        past = look_back(rule, lookback, [part], _Past(earlier, record.data), now=record.at)
        outcome = _outcome(record, rule, past, part)
        earlier.append(replace(record, status=outcome.judged, statuses=outcome.statuses))
        yield Replayed(record, outcome, record.at, record.partition or "")


def _standing(records: Sequence[Recorded]) -> list[Recorded]:
    """Without those that a later evaluation of the same data supersedes."""
    last = {
        (record.partition, record.data): place
        for place, record in enumerate(records)
        if record.data is not None
    }
    return [
        record
        for place, record in enumerate(records)
        if record.data is None or last[record.partition, record.data] == place
    ]


def _outcome(record: Recorded, rule: Rule, past: LookingBack, part: Slice) -> Outcome:
    values = {metric: number_of(record.metrics.get(metric.key)) for metric in rule.metrics()}
    evidence = past.add_to(Evidence(values, now=record.at), part)
    return Outcome.of(
        rule, judged(rule, evidence), partition=record.partition, metrics=record.metrics
    )


@dataclass(frozen=True, slots=True)
class _Past:
    """The past at one moment of the replay; the records are the oldest first."""

    records: Sequence[Recorded] = ()
    data: str | None = None
    calendar: Calendar = field(default_factory=Calendar)

    def of(self, rule: Rule, *, by_partition: bool) -> Iterable[Recorded]:
        return reversed(self.records)

    def time_of(self, partition: str) -> datetime | None:
        return self.calendar.times.get(partition)

    def series_of(self, partition: str) -> str:
        return self.calendar.series.get(partition, "")

    def data_of(self, partition: str | None) -> str | None:
        return self.data
