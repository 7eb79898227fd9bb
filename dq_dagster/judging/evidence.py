"""What a rule is given to judge: measured values, and nothing it could look further with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.metric import Metric


@dataclass(frozen=True, slots=True)
class Evidence:
    """The values of the metrics a rule asked for, on one slice of the data."""

    values: Mapping[Metric, Any]
    zone: tzinfo = field(default=UTC)
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __getitem__(self, metric: Metric) -> Any:
        """The measured value; raises the metric's failure if it could not be measured."""
        value = self.values[metric]
        if isinstance(value, RuleFailure):
            raise value
        return value
