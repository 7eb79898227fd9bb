"""Rules about a statistic of a column: that it is within a range."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar, Literal

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.ranges import Range
from dq_dagster.judging.wording import listing
from dq_dagster.metrics.estimates import MEDIAN_ERROR, MedianEstimate
from dq_dagster.metrics.median import ColumnMedian
from dq_dagster.metrics.metric import (
    ColumnAvg,
    ColumnMax,
    ColumnMetric,
    ColumnMin,
    ColumnStddev,
    ColumnSum,
    Metric,
)
from dq_dagster.rules.column_rule import ColumnRule
from dq_dagster.rules.expected_range import NumberRange, ValueRange
from dq_dagster.rules.fields import QualityDimension


class ColumnStatisticRule(ColumnRule):
    """A statistic of each column's non-empty values is judged."""

    quality_dimension: QualityDimension = "accuracy"
    """Which quality the rule speaks of."""

    metric: ClassVar[type[ColumnMetric | ColumnMedian]]
    statistic: ClassVar[str]

    def column_metrics(self, column: str) -> tuple[Metric, ...]:
        return (self.measure(column), self.values_in(column))

    def measure(self, column: str) -> Metric:
        """What has to be measured for the statistic."""
        return self.metric(column, self.blank_is_empty, where=self.where)

    def what(self, column: str) -> str:
        """What messages call the statistic."""
        return f"The {self.statistic} of '{column}'"


class _StatisticInRange(ColumnStatisticRule):
    """The statistic is judged by fixed bounds."""

    @property
    @abstractmethod
    def expected(self) -> Range:
        """The bounds to judge by."""

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        return self.expected.judge(
            evidence[self.measure(column)],
            what=self.what(column),
            zone=evidence.zone,
            rows=evidence[self.values_in(column)],
        )

    def demand(self) -> str:
        return f"The {self.statistic} of {listing(self.columns)} is {self.expected.words()}."


class ColumnMinInRange(ValueRange, _StatisticInRange):
    """The smallest value of each column is within the bounds.

    Observed: that value.

    Example::

        - type: column_min_in_range
          columns: [amount]
          min: 0.01
    """

    type: Literal["column_min_in_range"] = "column_min_in_range"
    metric = ColumnMin
    statistic = "minimum"


class ColumnMaxInRange(ValueRange, _StatisticInRange):
    """The largest value of each column is within the bounds.

    Observed: that value.

    Example::

        - type: column_max_in_range
          columns: [ordered_at]
          max: 2024-12-31 23:59:59
    """

    type: Literal["column_max_in_range"] = "column_max_in_range"
    metric = ColumnMax
    statistic = "maximum"


class ColumnAvgInRange(NumberRange, _StatisticInRange):
    """The average of each column is within the bounds.

    Observed: the average, which is exact for decimals.

    Example::

        - type: column_avg_in_range
          columns: [amount]
          where: status = 'shipped'
          soft_max: 50
          max: 1000
    """

    type: Literal["column_avg_in_range"] = "column_avg_in_range"
    metric = ColumnAvg
    statistic = "average"


class ColumnSumInRange(NumberRange, _StatisticInRange):
    """The sum of each column is within the bounds.

    Observed: the sum. One too large to be held exactly is an Error, never a wrong number.

    Example::

        - type: column_sum_in_range
          columns: [amount, items]
          min: 1
    """

    type: Literal["column_sum_in_range"] = "column_sum_in_range"
    metric = ColumnSum
    statistic = "sum"


class ColumnMedianInRange(NumberRange, _StatisticInRange):
    """The exact median of each column is within the bounds.

    The median is the middle value, or the mean of the two middle ones.

    Observed: the median.

    Example::

        - type: column_median_in_range
          columns: [amount]
          soft_min: 20
          soft_max: 100
    """

    type: Literal["column_median_in_range"] = "column_median_in_range"
    approximate: bool = False
    """Whether a sketch may answer: in the shared pass, hence cheaper, with a value whose rank is
    within 0.01 % of the middle one's."""

    metric = ColumnMedian
    statistic = "median"

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        judgement = super().judge_column(column, evidence)
        return with_median_error(judgement) if self.approximate else judgement

    def measure(self, column: str) -> Metric:
        if self.approximate:
            return MedianEstimate(column, where=self.where)
        return super().measure(column)


class ColumnStddevInRange(NumberRange, _StatisticInRange):
    """The sample standard deviation of each column is within the bounds.

    Fewer than two values have none, and the outcome is Empty.

    Observed: the standard deviation.

    Example::

        - type: column_stddev_in_range
          columns: [weight]
          soft_max: 10
    """

    type: Literal["column_stddev_in_range"] = "column_stddev_in_range"
    metric = ColumnStddev
    statistic = "standard deviation"


def with_median_error(judgement: Judgement) -> Judgement:
    """The same verdict, saying that a sketch answered and how far off it may be."""
    message = f"{judgement.message} Approximate: its rank is right within {MEDIAN_ERROR:.2%}."
    details = {**judgement.details, "approximate": MEDIAN_ERROR}
    return replace(judgement, message=message, details=details)
