"""What rule types of other packages are written with; nothing else is needed.

A rule names metrics and judges their values. Most need only a ``ColumnValueRule`` with a
``ValueSql`` that is true for bad values. Others name metrics of their own choice, such as a
``SqlAggregate``, and judge the ``Evidence``: bad rows by a threshold (``on_bad_rows``), a value by
bounds (``NumberRange``) or by its past (``ChangeDetection``), both with ``judge_value``. See the
example in ``examples/plugin``.
"""

# ruff: noqa: I001 (by what they are for)
from __future__ import annotations

# What a rule is, and what is given to it.
from dq_dagster.rules.base.rule import Rule as Rule
from dq_dagster.rules.base.rule import RuleFamily as RuleFamily
from dq_dagster.rules.base.column_rules import ColumnRule as ColumnRule
from dq_dagster.rules.base.column_rules import ColumnStatisticRule as ColumnStatisticRule
from dq_dagster.rules.base.column_rules import ColumnThresholdRule as ColumnThresholdRule
from dq_dagster.rules.base.column_rules import ColumnValueRule as ColumnValueRule
from dq_dagster.rules.base.column_rules import RuleWithColumns as RuleWithColumns
from dq_dagster.judging.evidence import Evidence as Evidence
from dq_dagster.judging.evidence import PastValue as PastValue

# What it says.
from dq_dagster.judging.judgement import Judgement as Judgement
from dq_dagster.judging.judgement import Status as Status
from dq_dagster.judging.thresholds import RowVerdict as RowVerdict
from dq_dagster.judging.wording import are as are
from dq_dagster.judging.wording import do as do
from dq_dagster.judging.wording import have as have
from dq_dagster.judging.wording import listing as listing
from dq_dagster.judging.wording import plural as plural
from dq_dagster.judging.wording import shortened as shortened
from dq_dagster.judging.wording import show as show
from dq_dagster.errors import DeclarationError as DeclarationError
from dq_dagster.errors import Misfit as Misfit
from dq_dagster.errors import RuleFailure as RuleFailure
from dq_dagster.errors import Unmeasurable as Unmeasurable

# What can be measured.
from dq_dagster.metrics.conditions import Condition as Condition
from dq_dagster.metrics.conditions import Fault as Fault
from dq_dagster.metrics.conditions import HasValue as HasValue
from dq_dagster.metrics.conditions import IsEmpty as IsEmpty
from dq_dagster.metrics.conditions import RowBreaks as RowBreaks
from dq_dagster.metrics.conditions import ValueSql as ValueSql
from dq_dagster.metrics.frequency import DistinctCount as DistinctCount
from dq_dagster.metrics.frequency import GroupedRows as GroupedRows
from dq_dagster.metrics.frequency import Grouping as Grouping
from dq_dagster.metrics.frequency import UniqueCount as UniqueCount
from dq_dagster.metrics.metric import ColumnAvg as ColumnAvg
from dq_dagster.metrics.metric import ColumnCount as ColumnCount
from dq_dagster.metrics.metric import ColumnMax as ColumnMax
from dq_dagster.metrics.metric import ColumnMedian as ColumnMedian
from dq_dagster.metrics.metric import ColumnMin as ColumnMin
from dq_dagster.metrics.metric import ColumnStddev as ColumnStddev
from dq_dagster.metrics.metric import ColumnSum as ColumnSum
from dq_dagster.metrics.metric import ConditionCount as ConditionCount
from dq_dagster.metrics.metric import Metric as Metric
from dq_dagster.metrics.metric import RecordCount as RecordCount
from dq_dagster.metrics.sources import SqlAggregate as SqlAggregate

# Fields, and how they judge.
from dq_dagster.rules.base.change_detection import ChangeDetection as ChangeDetection
from dq_dagster.rules.fields.constraints import AggregateSql as AggregateSql
from dq_dagster.rules.fields.constraints import ColumnName as ColumnName
from dq_dagster.rules.fields.constraints import ColumnNames as ColumnNames
from dq_dagster.rules.fields.constraints import Count as Count
from dq_dagster.rules.fields.constraints import Number as Number
from dq_dagster.rules.fields.constraints import QualityDimension as QualityDimension
from dq_dagster.rules.fields.constraints import RowSql as RowSql
from dq_dagster.rules.fields.constraints import SetValues as SetValues
from dq_dagster.rules.fields.constraints import Share as Share
from dq_dagster.rules.fields.ranges import ByteRange as ByteRange
from dq_dagster.rules.fields.ranges import DurationRange as DurationRange
from dq_dagster.rules.fields.ranges import NumberRange as NumberRange
from dq_dagster.rules.fields.ranges import ValueRange as ValueRange
from dq_dagster.rules.fields.threshold import ALL as ALL
from dq_dagster.rules.fields.threshold import AtLeast as AtLeast
from dq_dagster.rules.fields.threshold import AtMost as AtMost
from dq_dagster.rules.fields.threshold import EitherThreshold as EitherThreshold
from dq_dagster.rules.fields.threshold import RequirementThreshold as RequirementThreshold
from dq_dagster.rules.fields.threshold import leniency as leniency
from dq_dagster.rules.fields.threshold import on_bad_rows as on_bad_rows


def identifier(name: str) -> str:
    """The name of a column as SQL."""
    # Here, so that declaring rules needs no Spark.
    from dq_dagster.spark.frames.columns import identifier as quoted

    return quoted(name)
