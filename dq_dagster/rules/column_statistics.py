"""Rules that expect a statistic of a column within a range."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.ranges import Range
from dq_dagster.judging.wording import listing
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

    @property
    @abstractmethod
    def expected(self) -> Range:
        """The bounds to judge by."""

    def column_metrics(self, column: str) -> tuple[Metric, ...]:
        return (self._measure(column), self.values_in(column))

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        value = evidence[self._measure(column)]
        what = f"The {self.statistic} of '{column}'"
        return self.expected.judge(
            value, what=what, zone=evidence.zone, rows=evidence[self.values_in(column)]
        )

    def demand(self) -> str:
        return f"The {self.statistic} of {listing(self.columns)} is {self.expected.words()}."

    def _measure(self, column: str) -> ColumnMetric | ColumnMedian:
        return self.metric(column, self.blank_is_empty, where=self.where)


class ColumnMinInRange(ValueRange, ColumnStatisticRule):
    """The smallest value of each column is within the range."""

    type: Literal["column_min_in_range"] = "column_min_in_range"
    metric = ColumnMin
    statistic = "minimum"


class ColumnMaxInRange(ValueRange, ColumnStatisticRule):
    """The largest value of each column is within the range."""

    type: Literal["column_max_in_range"] = "column_max_in_range"
    metric = ColumnMax
    statistic = "maximum"


class ColumnAvgInRange(NumberRange, ColumnStatisticRule):
    """The mean of each column is within the range."""

    type: Literal["column_avg_in_range"] = "column_avg_in_range"
    metric = ColumnAvg
    statistic = "average"


class ColumnSumInRange(NumberRange, ColumnStatisticRule):
    """The sum of each column is within the range."""

    type: Literal["column_sum_in_range"] = "column_sum_in_range"
    metric = ColumnSum
    statistic = "sum"


class ColumnMedianInRange(NumberRange, ColumnStatisticRule):
    """The exact median of each column is within the range."""

    type: Literal["column_median_in_range"] = "column_median_in_range"
    metric = ColumnMedian
    statistic = "median"


class ColumnStddevInRange(NumberRange, ColumnStatisticRule):
    """The sample standard deviation of each column is within the range."""

    type: Literal["column_stddev_in_range"] = "column_stddev_in_range"
    metric = ColumnStddev
    statistic = "standard deviation"
