"""What earlier evaluations recorded: the past that rules are given, never read by themselves."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.judging.status import Status
from dq_dagster.metrics.slices import Slice
from dq_dagster.rules.rule import Rule

Values: TypeAlias = Mapping[str, Any]
# A dimension and one of its groups, as ``group_key`` has it; None for a slice as a whole.
Group: TypeAlias = tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class Recorded:
    """What one earlier evaluation of a rule recorded.

    ``metrics`` holds values by metric key, None where there was nothing to measure; ``groups`` the
    same by dimension and group (which ``group_key`` makes a text of). ``statuses`` and
    ``group_statuses`` hold what single numbers were judged, where that is known; the others have
    the ``status`` of the evaluation. ``data`` says which state of the data was looked at: two
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

        What looked at the data does so, be there a number or none. What broke on the way does not,
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
        """What was recorded for the rule, the newest first; read on only as far as asked.

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


def group_of(part: Slice) -> Group:
    """What of a slice's record speaks of it, or of the group in it."""
    return None if part.dimension is None else (part.dimension, group_key(part.group))


def group_key(group: str | None) -> str:
    """A group as a key of ``Recorded.groups``: in JSON, where no text is the same as NULL."""
    return json.dumps(group, ensure_ascii=False)
