"""Change detection tried out on the past: which points would have been found, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from dq_dagster.errors import Misfit, NotOnRecord
from dq_dagster.evaluation.backtest.result import Backtest, BacktestPoint
from dq_dagster.evaluation.history.baseline import Baselines, read_baseline
from dq_dagster.evaluation.history.history import Recorded, in_utc, moment_of
from dq_dagster.evaluation.judge import judged
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.judging.evidence import Evidence, number_of
from dq_dagster.judging.typical import Baseline, Lookback, PeriodUnit
from dq_dagster.metrics.measured import Slice
from dq_dagster.rules.base.rule import Rule
from dq_dagster.rules.catalogue import parse_rule
from dq_dagster.rules.recorded_number import as_typical, recorded_number


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

    What was an Error is decided by this rule, not by the one that recorded it.
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
    past = read_baseline(rule, lookback, parts, _Past(calendar=calendar), now=now)
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
        past = read_baseline(rule, lookback, [part], _Past(earlier, record.data), now=record.at)
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


def _outcome(record: Recorded, rule: Rule, past: Baselines, part: Slice) -> Outcome:
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


def backtest(
    records: Iterable[Recorded],
    rule: Rule | Mapping[str, Any] | None = None,
    *,
    metrics: Sequence[str] = (),
    partition: str | None = None,
    times: Mapping[str, datetime] | None = None,
    series: Mapping[str, str] | None = None,
    period_unit: PeriodUnit | None = None,
    learning_period: int | None = None,
    lookback_window: int | None = None,
    iqr_factor: float | None = None,
    soft_iqr_factor: float | None = None,
    min_iqr: float | None = None,
    exclude_errors: bool | None = None,
    baseline: Baseline | None = None,
) -> Backtest:
    """Judges what was recorded once more, each point by those before it. Nothing is saved.

    ``records`` are what evaluations of one rule recorded (``dq.Recorded``), in any order. ``rule``
    is a rule that compares with the past, or another one, such as ``column_avg_in_range``: then
    what it observed is judged. Without one, every number on record is. The parameters of change
    detection are the rule's own, unless they are given here. ``metrics`` are the keys of the
    numbers to judge, if not those that the rule judges.

    ``partition`` shows the points of one partition only, which are judged by all the same. A
    partition stands for the time in ``times``; without it, for that of its key if all keys are ISO
    dates or timestamps. Only partitions of the same ``series`` are compared.
    """
    given = {
        "period_unit": period_unit,
        "learning_period": learning_period,
        "lookback_window": lookback_window,
        "iqr_factor": iqr_factor,
        "soft_iqr_factor": soft_iqr_factor,
        "min_iqr": min_iqr,
        "exclude_errors": exclude_errors,
        "baseline": baseline,
    }
    parameters = {name: value for name, value in given.items() if value is not None}
    known = [replace(record, at=in_utc(record.at)) for record in records]
    calendar = Calendar(_times(known) if times is None else times, series or {})
    rules = _rules(known, None if rule is None else parse_rule(rule), metrics, parameters)
    found = [one for rule in rules for one in replay(known, rule, _lookback(rule), calendar)]
    return _result(found, known, partition, rules[0])


def _rules(
    records: Sequence[Recorded],
    rule: Rule | None,
    metrics: Sequence[str],
    parameters: Mapping[str, Any],
) -> list[Rule]:
    recorded = list(
        dict.fromkeys(
            key
            for record in records
            for key, value in record.metrics.items()
            if number_of(value) is not None
        )
    )
    for key in metrics:
        if key not in recorded:
            raise NotOnRecord.number(key, recorded)
    if rule is not None and not metrics:
        typical = as_typical(rule, parameters)
        if typical is not None:
            return [typical]
        needed = {key for record in records for key in record.observed}
        needed = needed or {metric.key for metric in rule.metrics()}
        recorded = [key for key in recorded if key in needed]
    # Where nothing is on record, the parameters are checked nonetheless.
    return [recorded_number(key, rule, parameters) for key in metrics or recorded or ["nothing"]]


def _lookback(rule: Rule) -> Lookback:
    if rule.lookback is None:
        raise TypeError(f"Rule '{rule.name}' does not compare with the past.")
    return rule.lookback


def _judged(one: Replayed) -> Iterator[BacktestPoint]:
    """One point for each column of the rule; none where there was no number to judge."""
    outcome = one.outcome
    for verdict in outcome.columns.values() or [outcome.judgement]:
        typical = verdict.typical
        value = None if typical is None else number_of(one.record.metrics[typical.metric])
        if typical is not None and value is not None:
            yield BacktestPoint(
                one.at,
                one.record.partition,
                typical.metric,
                value,
                verdict.status,
                verdict.message,
                typical.bounds,
                one.line,
            )


def _result(
    found: Sequence[Replayed], records: Sequence[Recorded], partition: str | None, rule: Rule
) -> Backtest:
    if partition is not None:
        known = list(dict.fromkeys(one.record.partition for one in found if one.record.partition))
        if partition not in known:
            raise NotOnRecord.partition(partition, known)
        found = [one for one in found if one.record.partition == partition]
        records = [record for record in records if record.partition == partition]
    by_metric: dict[str, list[BacktestPoint]] = {}
    silent: set[int] = set()
    for one in found:
        judged = list(_judged(one))
        for point in judged:
            by_metric.setdefault(point.metric, []).append(point)
        silent |= set() if judged else {id(one.record)}
    # What is superseded was not replayed, and is not counted as left out either.
    left_out = sum(
        id(record) in silent or by_metric.keys().isdisjoint(record.metrics) for record in records
    )
    points = tuple(point for some in by_metric.values() for point in some)
    return Backtest(points, _lookback(rule).typical, left_out)


def _times(records: Sequence[Recorded]) -> dict[str, datetime]:
    keys = {record.partition for record in records if record.partition is not None}
    times = {key: moment for key in keys if (moment := moment_of(key)) is not None}
    return times if len(times) == len(keys) else {}
