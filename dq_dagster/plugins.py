"""What rule types of other packages are written with.

A rule names metrics and judges their values. Most need only a ``ColumnValueRule`` with a
``ValueSql`` that is true for bad values; others name metrics of their own choice and judge the
``Evidence``. See the example in ``examples/plugin``.
"""

from __future__ import annotations

from dq_dagster.errors import DeclarationError as DeclarationError
from dq_dagster.errors import RuleFailure as RuleFailure
from dq_dagster.errors import Unmeasurable as Unmeasurable
from dq_dagster.judging.evidence import Evidence as Evidence
from dq_dagster.judging.evidence import PastValue as PastValue
from dq_dagster.judging.judgement import Judgement as Judgement
from dq_dagster.judging.judgement import Status as Status
from dq_dagster.metrics.conditions import Condition as Condition
from dq_dagster.metrics.conditions import HasValue as HasValue
from dq_dagster.metrics.conditions import IsEmpty as IsEmpty
from dq_dagster.metrics.conditions import RowBreaks as RowBreaks
from dq_dagster.metrics.conditions import ValueSql as ValueSql
from dq_dagster.metrics.frequency import DistinctCount as DistinctCount
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
from dq_dagster.rules.base.change_detection import ChangeDetection as ChangeDetection
from dq_dagster.rules.base.column_rules import ColumnRule as ColumnRule
from dq_dagster.rules.base.column_rules import ColumnValueRule as ColumnValueRule
from dq_dagster.rules.base.rule import Rule as Rule
from dq_dagster.rules.fields.ranges import NumberRange as NumberRange
from dq_dagster.rules.fields.ranges import ValueRange as ValueRange
from dq_dagster.rules.fields.threshold import AtLeast as AtLeast
from dq_dagster.rules.fields.threshold import AtMost as AtMost
