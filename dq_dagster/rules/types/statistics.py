"""Rules about a statistic of a column: that it is within a range, or typical of its past."""

from __future__ import annotations

from typing import Literal

from dq_dagster.metrics.metric import ColumnAvg, ColumnMax, ColumnMin, ColumnStddev, ColumnSum
from dq_dagster.rules.base.change_detection import ChangeDetection
from dq_dagster.rules.base.column_rules import ColumnStatisticRule, MedianRule
from dq_dagster.rules.fields.ranges import NumberRange, ValueRange


class _Minimum(ColumnStatisticRule):
    metric = ColumnMin
    statistic = "minimum"


class _Maximum(ColumnStatisticRule):
    metric = ColumnMax
    statistic = "maximum"


class _Average(ColumnStatisticRule):
    metric = ColumnAvg
    statistic = "average"


class _Sum(ColumnStatisticRule):
    metric = ColumnSum
    statistic = "sum"


class _Deviation(ColumnStatisticRule):
    metric = ColumnStddev
    statistic = "standard deviation"


class ColumnMinInRange(ValueRange, _Minimum):
    """The smallest value of each column is within the bounds.

    Observed: that value.

    Example::

        - type: column_min_in_range
          columns: [amount]
          min: 0.01
    """

    type: Literal["column_min_in_range"] = "column_min_in_range"


class ColumnMaxInRange(ValueRange, _Maximum):
    """The largest value of each column is within the bounds.

    Observed: that value.

    Example::

        - type: column_max_in_range
          columns: [ordered_at]
          max: 2024-12-31 23:59:59
    """

    type: Literal["column_max_in_range"] = "column_max_in_range"


class ColumnAvgInRange(NumberRange, _Average):
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


class ColumnSumInRange(NumberRange, _Sum):
    """The sum of each column is within the bounds.

    Observed: the sum. One too large to be held exactly is an Error, never a wrong number.

    Example::

        - type: column_sum_in_range
          columns: [amount, items]
          min: 1
    """

    type: Literal["column_sum_in_range"] = "column_sum_in_range"


class ColumnMedianInRange(NumberRange, MedianRule):
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


class ColumnStddevInRange(NumberRange, _Deviation):
    """The sample standard deviation of each column is within the bounds.

    Fewer than two values have none, and the outcome is Empty.

    Observed: the standard deviation.

    Example::

        - type: column_stddev_in_range
          columns: [weight]
          soft_max: 10
    """

    type: Literal["column_stddev_in_range"] = "column_stddev_in_range"


class ColumnMinTypical(ChangeDetection, _Minimum):
    """The smallest value of each column is typical of its past.

    Of numbers only: times move on, so that none is typical.

    Observed: that value.

    Example::

        - type: column_min_typical
          columns: [amount]
          learning_period: 5
    """

    type: Literal["column_min_typical"] = "column_min_typical"


class ColumnMaxTypical(ChangeDetection, _Maximum):
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


class ColumnAvgTypical(ChangeDetection, _Average):
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


class ColumnSumTypical(ChangeDetection, _Sum):
    """The sum of each column is typical of its past.

    Observed: the sum. One too large to be held exactly is an Error, never a wrong number.

    Example::

        - type: column_sum_typical
          columns: [amount, items]
          exclude_errors: true
    """

    type: Literal["column_sum_typical"] = "column_sum_typical"


class ColumnMedianTypical(ChangeDetection, MedianRule):
    """The exact median of each column is typical of its past.

    Observed: the median.

    Example::

        - type: column_median_typical
          columns: [amount]
          min_iqr: 10
    """

    type: Literal["column_median_typical"] = "column_median_typical"


class ColumnStddevTypical(ChangeDetection, _Deviation):
    """The sample standard deviation of each column is typical of its past.

    Fewer than two values have none, and the outcome is Empty.

    Observed: the standard deviation.

    Example::

        - type: column_stddev_typical
          columns: [weight]
    """

    type: Literal["column_stddev_typical"] = "column_stddev_typical"
