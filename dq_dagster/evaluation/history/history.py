"""History: what earlier evaluations recorded, from an event log or handed over by the caller."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeAlias

from dq_dagster.errors import DeclarationError
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.judging.evidence import PastValue, number_of
from dq_dagster.judging.judgement import Status, worst
from dq_dagster.judging.ranges import parse_moment
from dq_dagster.metrics.measured import NO_KEY, Slice
from dq_dagster.rules.base.rule import Rule

Values: TypeAlias = Mapping[str, Any]
# A dimension and one of its groups, as ``group_key`` has it; None for a slice as a whole.
Group: TypeAlias = tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class Recorded:
    """What one earlier evaluation of a rule recorded.

    ``metrics`` holds values by metric key, None where there was nothing to measure; ``groups`` the
    same by dimension and group (which ``group_key`` makes a text of). ``statuses`` and
    ``group_statuses`` hold what single numbers were judged, where that is known; the others have
    the ``status`` of the evaluation. ``data`` says which state of the data was judged: two
    evaluations of the same partition and the same state are one point, and the later one counts.
    None: nobody knows, so each is a point. ``observed`` are the keys of what was judged, rather
    than measured beside, where that is known.
    """

    at: datetime
    metrics: Values
    status: Status = Status.OK
    partition: str | None = None
    data: str | None = None
    groups: Mapping[str, Mapping[str, Values]] = field(default_factory=dict)
    statuses: Mapping[str, Status] = field(default_factory=dict)
    group_statuses: Mapping[str, Mapping[str, Mapping[str, Status]]] = field(default_factory=dict)
    observed: tuple[str, ...] = ()

    @classmethod
    def of(cls, outcome: Outcome, *, at: datetime, data: str | None = None) -> Recorded:
        """What is kept of an outcome for evaluations to come."""
        return cls(
            at,
            {**outcome.metrics, **outcome.observed_metrics},
            outcome.judged,
            outcome.partition,
            data,
            outcome.group_metrics,
            outcome.statuses,
            outcome.group_statuses,
            tuple(outcome.observed_metrics),
        )

    def measured(self, keys: Collection[str]) -> bool:
        """Whether it takes the place of what was known of these metrics before.

        What measured the data does so, be there a number or none. What broke on the way does not,
        nor does what another rule of the same name recorded.
        """
        if not self.metrics:
            return self.status is Status.EMPTY or bool(self.groups)
        return not self.metrics.keys().isdisjoint(keys)

    def values(self, group: Group) -> Values:
        """What was recorded of the slice, or of one of its groups; nothing if it had no rows."""
        if group is None:
            return self.metrics
        dimension, name = group
        return self.groups.get(dimension, {}).get(name, {})

    def status_of(self, metric: str, group: Group) -> Status:
        """What one of these numbers was judged."""
        if group is None:
            return self.statuses.get(metric, self.status)
        dimension, name = group
        return self.group_statuses.get(dimension, {}).get(name, {}).get(metric, self.status)


class History(Protocol):
    """Where the past of rules comes from."""

    def of(self, rule: Rule, *, by_partition: bool) -> Iterable[Recorded]:
        """What was recorded for the rule, the newest first; read on only as far as needed.

        ``by_partition``: evaluations of single partitions; else those of the whole dataset.
        """

    def time_of(self, partition: str) -> datetime | None:
        """The time that a partition stands for; None if partitions are no windows of time."""

    def series_of(self, partition: str) -> str:
        """Which series a partition belongs to: only those of one series are compared.

        Partitions of two dimensions, a day and a country, are one series of days a country.
        """

    def data_of(self, partition: str | None) -> str | None:
        """Which state the data under test is in, as ``Recorded.data`` would say it.

        What was recorded of the same state is superseded by the evaluation under way. None stands
        for the whole dataset, and, as an answer, for a state that nobody knows.
        """


def earlier(history: History, partition: str, periods: int) -> datetime | None:
    """The time of the partition so many windows before; None if nobody knows the windows.

    A History may say so by a method ``earlier(partition, periods)``.
    """
    known = getattr(history, "earlier", None)
    found: datetime | None = None if known is None else known(partition, periods)
    return found


def group_of(part: Slice) -> Group:
    """What of a slice's record speaks of it, or of the group in it."""
    return None if part.dimension is None else (part.dimension, group_key(part.group))


def group_key(group: str | None) -> str:
    """A group as a key of ``Recorded.groups``: in JSON, where no text is the same as NULL."""
    return json.dumps(group, ensure_ascii=False)


Given: TypeAlias = (
    History
    | Mapping[str, Sequence[Recorded]]
    | Mapping[str, Sequence[PastValue]]
    | Mapping[str, Sequence[int | float]]
)

_DAY = timedelta(days=1)
_DATED = re.compile(r"\d{4}-\d\d-\d\d")
_FORMS = "sequences of Recorded by rule name, or of numbers or PastValue by metric key"


def history_of(given: Given | None, *, partitions: Collection[str], now: datetime) -> History:
    """The past as a History; keys that are all dates or times make the partitions windows of time.

    Times without a zone are meant in UTC. Numbers alone have no time: they count as one a day, the
    last of them a day ago.
    """
    if given is not None and not isinstance(given, Mapping):
        if not all(hasattr(given, name) for name in ("of", "time_of", "series_of", "data_of")):
            raise DeclarationError.of(f"history is {_FORMS}, or a History; not {given!r}.")
        return given
    by_rule: dict[str, list[Recorded]] = {}
    by_metric: dict[str, list[PastValue]] = {}
    values: Any
    for key, values in (given or {}).items():
        if not isinstance(values, Sequence) or isinstance(values, str):
            raise DeclarationError.of(f"history is {_FORMS}; '{key}' has neither.")
        if all(isinstance(value, Recorded) for value in values):
            by_rule[key] = [replace(record, at=in_utc(record.at)) for record in values]
        else:
            by_metric[key] = [
                _past_value(value, key, now - age * _DAY)
                for age, value in zip(range(len(values), 0, -1), values, strict=True)
            ]
    keys = [key for key in partitions if key != NO_KEY]
    times = {key: moment for key in keys if (moment := moment_of(key)) is not None}
    return GivenHistory(by_rule, by_metric, timed=len(times) == len(keys))


@dataclass(frozen=True, slots=True)
class GivenHistory:
    """Records by rule name, and values by metric key that all rules with that metric share."""

    by_rule: Mapping[str, Sequence[Recorded]] = field(default_factory=dict)
    by_metric: Mapping[str, Sequence[PastValue]] = field(default_factory=dict)
    timed: bool = True

    def of(self, rule: Rule, *, by_partition: bool) -> Iterable[Recorded]:
        keys = dict.fromkeys(metric.key for metric in rule.metrics())
        records = [*self.by_rule.get(rule.name, ()), *_together(self.by_metric, keys)]
        mine = [record for record in records if (record.partition is not None) == by_partition]
        return sorted(mine, key=lambda record: record.at, reverse=True)

    def time_of(self, partition: str) -> datetime | None:
        return moment_of(partition) if self.timed else None

    def series_of(self, partition: str) -> str:
        return ""

    def data_of(self, partition: str | None) -> str | None:
        return None


def moment_of(key: str) -> datetime | None:
    """The time that an ISO date or timestamp means, in UTC unless it says otherwise."""
    moment = parse_moment(key) if _DATED.match(key) else None
    return None if moment is None else in_utc(moment)


def in_utc(moment: datetime) -> datetime:
    """A time without a zone is meant in UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _past_value(value: Any, key: str, at: datetime) -> PastValue:
    if isinstance(value, PastValue):
        return replace(value, at=in_utc(value.at))
    if value is not None and number_of(value) is None:
        raise DeclarationError.of(f"history is {_FORMS}; '{key}' has {value!r} among them.")
    return PastValue(value, at)


def _together(
    by_metric: Mapping[str, Sequence[PastValue]], keys: Collection[str]
) -> Iterable[Recorded]:
    """Values of one moment and one partition are of one evaluation."""
    found: dict[tuple[datetime, str | None], dict[str, PastValue]] = {}
    for key in keys:
        for point in by_metric.get(key, ()):
            found.setdefault((point.at, point.partition), {})[key] = point
    for (at, partition), points in found.items():
        numbers = {key: point.value for key, point in points.items()}
        statuses = {key: point.status for key, point in points.items()}
        yield Recorded(at, numbers, worst(statuses.values()), partition, statuses=statuses)
