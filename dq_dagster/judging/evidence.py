"""What a rule is given to judge: measured values, and nothing it could measure more with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from typing import Any

from dq_dagster.errors import RuleFailure
from dq_dagster.judging.judgement import Status
from dq_dagster.metrics.metric import Metric


@dataclass(frozen=True, slots=True)
class PastValue:
    """A number that an earlier evaluation observed, and the moment it counts for.

    That is the time of the evaluation, or the time of the partition it was about where partitions
    are compared with those before them.
    """

    value: float
    at: datetime
    status: Status = Status.OK
    partition: str | None = None


def number_of(value: Any) -> int | float | None:
    """A number as change detection reckons with it; None for what is none.

    Decimals become floats, so that a value compares with its like whatever recorded it.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return value if isinstance(value, int) else float(value)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The values of the metrics a rule needs, on one slice of the data.

    ``pasts`` holds what was observed before by metric key, or why that could not be read;
    ``moment`` is when the slice counts for, if that is not ``now``; ``earlier`` that of the period
    that the rule compares with, where periods are windows of time.
    """

    values: Mapping[Metric, Any]
    zone: tzinfo = field(default=UTC)
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    pasts: Mapping[str, Sequence[PastValue]] | RuleFailure = field(default_factory=dict)
    moment: datetime | None = None
    earlier: datetime | None = None

    def __getitem__(self, metric: Metric) -> Any:
        """The measured value; raises the metric's failure if it could not be measured."""
        value = self.values[metric]
        if isinstance(value, RuleFailure):
            raise value
        return value

    def each(self, metrics: Iterable[Metric]) -> list[Any]:
        """The measured values of several metrics, in their order."""
        return [self[metric] for metric in metrics]

    def past(self, metric: Metric) -> Sequence[PastValue]:
        """What was observed of the metric before, the oldest first; raises why that is unknown."""
        if isinstance(self.pasts, RuleFailure):
            raise self.pasts
        return self.pasts.get(metric.key, ())

    @property
    def at(self) -> datetime:
        """The moment that the slice counts for: that of its partition, or now."""
        return self.now if self.moment is None else self.moment
