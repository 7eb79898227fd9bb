"""Rules about a statistic of a column: that it is within a range."""

from __future__ import annotations

from abc import abstractmethod
from typing import Literal

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.ranges import Range
from dq_dagster.judging.wording import listing
from dq_dagster.metrics.metric import ColumnAvg, ColumnMax, ColumnMin, ColumnStddev, ColumnSum
from dq_dagster.rules.base.change_detection import ChangeDetection
from dq_dagster.rules.base.column_rules import ColumnStatisticRule, MedianRule
from dq_dagster.rules.fields.ranges import NumberRange, ValueRange


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


class ColumnMedianInRange(MedianRule, NumberRange, _StatisticInRange):
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


class _StatisticTypical(ChangeDetection, ColumnStatisticRule):
    """The statistic is judged by its past."""

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        metric = self.measure(column)
        return self.judge_by_past(
            evidence[metric],
            metric,
            evidence,
            what=self.what(column),
            rows=evidence[self.values_in(column)],
        )

    def demand(self) -> str:
        return f"The {self.statistic} of {listing(self.columns)} is {self.typical.words()}."


class ColumnMinTypical(_StatisticTypical):
    """The smallest value of each column is typical of its past.

    Of numbers only: times move on, so that none is typical.

    Observed: that value.

    Example::

        - type: column_min_typical
          columns: [amount]
          learning_period: 5
    """

    type: Literal["column_min_typical"] = "column_min_typical"
    metric = ColumnMin
    statistic = "minimum"


class ColumnMaxTypical(_StatisticTypical):
    """The largest value of each column is typical of its past.

    Of numbers only: times move on, so that none is typical.

    Observed: that value.

    Example::

        - type: column_max_typical
          columns: [weight]
          soft_iqr_factor: 1
          iqr_factor: 3
    """

    type: Literal["column_max_typical"] = "column_max_typical"
    metric = ColumnMax
    statistic = "maximum"


class ColumnAvgTypical(_StatisticTypical):
    """The average of each column is typical of its past.

    Observed: the average.

    Example::

        - type: column_avg_typical
          columns: [amount]
          period_unit: days
          learning_period: 7
          lookback_window: 30
    """

    type: Literal["column_avg_typical"] = "column_avg_typical"
    metric = ColumnAvg
    statistic = "average"


class ColumnSumTypical(_StatisticTypical):
    """The sum of each column is typical of its past.

    Observed: the sum. One too large to be held exactly is an Error, never a wrong number.

    Example::

        - type: column_sum_typical
          columns: [amount, items]
          exclude_errors: true
    """

    type: Literal["column_sum_typical"] = "column_sum_typical"
    metric = ColumnSum
    statistic = "sum"


class ColumnMedianTypical(MedianRule, _StatisticTypical):
    """The exact median of each column is typical of its past.

    Observed: the median.

    Example::

        - type: column_median_typical
          columns: [amount]
          min_iqr: 10
    """

    type: Literal["column_median_typical"] = "column_median_typical"


class ColumnStddevTypical(_StatisticTypical):
    """The sample standard deviation of each column is typical of its past.

    Fewer than two values have none, and the outcome is Empty.

    Observed: the standard deviation.

    Example::

        - type: column_stddev_typical
          columns: [weight]
    """

    type: Literal["column_stddev_typical"] = "column_stddev_typical"
    metric = ColumnStddev
    statistic = "standard deviation"
