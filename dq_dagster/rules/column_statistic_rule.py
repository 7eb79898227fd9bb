"""What rules about a statistic of a column have in common, whatever judges it."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.metrics.estimates import MEDIAN_ERROR, MedianEstimate
from dq_dagster.metrics.median import ColumnMedian
from dq_dagster.metrics.metric import ColumnMetric, Metric
from dq_dagster.rules.column_rule import ColumnRule
from dq_dagster.rules.fields import QualityDimension


class ColumnStatisticRule(ColumnRule):
    """A statistic of each column's non-empty values is judged."""

    quality_dimension: QualityDimension = "accuracy"
    """Which quality the rule speaks of."""

    metric: ClassVar[type[ColumnMetric | ColumnMedian]]
    statistic: ClassVar[str]
    observes_first_metric = True

    def column_metrics(self, column: str) -> tuple[Metric, ...]:
        return (self.measure(column), self.values_in(column))

    def measure(self, column: str) -> Metric:
        """What has to be measured for the statistic."""
        return self.metric(column, self.blank_is_empty, where=self.where)

    def what(self, column: str) -> str:
        """What messages call the statistic."""
        return f"The {self.statistic} of '{column}'"


class MedianRule(ColumnStatisticRule):
    """The statistic is the median, exact or by a sketch."""

    approximate: bool = False
    """Whether a sketch may answer: in the shared pass, hence cheaper, with a value whose rank is
    within 0.01 % of the middle one's."""

    metric = ColumnMedian
    statistic = "median"

    def measure(self, column: str) -> Metric:
        if self.approximate:
            return MedianEstimate(column, where=self.where)
        return super().measure(column)

    def _verdict(self, column: str, evidence: Evidence) -> Judgement:
        judgement = super()._verdict(column, evidence)
        if not self.approximate or judgement.observed is None:
            return judgement
        message = f"{judgement.message} Approximate: its rank is right within {MEDIAN_ERROR:.2%}."
        details = {**judgement.details, "approximate": MEDIAN_ERROR}
        return replace(judgement, message=message, details=details)
