"""What earlier evaluations recorded: the past that rules are given, never read by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from dq_dagster.judging.status import Status
from dq_dagster.rules.rule import Rule

Numbers = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Recorded:
    """What one earlier evaluation of a rule recorded.

    ``metrics`` holds numbers by metric key, ``groups`` the same by dimension and group. ``data``
    says which state of the data was looked at: two evaluations of the same partition and the same
    state are one point, and the later one counts. None: nobody knows, so each is a point.
    """

    at: datetime
    metrics: Numbers
    status: Status = Status.OK
    partition: str | None = None
    data: str | None = None
    groups: Mapping[str, Mapping[str, Numbers]] = field(default_factory=dict)


class History(Protocol):
    """Where the past of rules comes from."""

    def of(self, rule: Rule, *, by_partition: bool) -> Iterable[Recorded]:
        """What was recorded for the rule, the newest first; read on only as far as asked.

        ``by_partition``: evaluations of single partitions; else those of the whole dataset.
        """

    def time_of(self, partition: str) -> datetime | None:
        """The time that a partition stands for; None if partitions are no windows of time."""
