"""Rules about columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from dq_dagster.errors import RuleFailure
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement, Status, worst
from dq_dagster.judging.wording import listing
from dq_dagster.metrics.conditions import Condition, Fault, HasValue
from dq_dagster.metrics.frequency import MEDIAN_ERROR, MedianEstimate
from dq_dagster.metrics.metric import (
    ColumnMedian,
    ColumnMetric,
    ConditionCount,
    Metric,
    RecordCount,
)
from dq_dagster.rules.base.rule import RowRule, Rule, RuleFamily
from dq_dagster.rules.fields.constraints import ColumnNames, QualityDimension
from dq_dagster.rules.fields.ranges import ValueJudge
from dq_dagster.rules.fields.threshold import ALL, EitherThreshold, leniency, on_bad_rows


class RuleWithColumns(Rule):
    """A rule that names columns of the table."""

    columns: ColumnNames
    """The columns to judge."""
    empty_includes_blank: bool | None = None
    """Whether strings that are blank after trimming count as empty; taken from the rule set
    where omitted."""

    named_after: ClassVar[tuple[str, ...]] = ("columns",)

    @property
    def blank_is_empty(self) -> bool:
        return bool(self.empty_includes_blank)


class ColumnRule(RuleWithColumns):
    """Each column is judged on its own, the rule gets the worst verdict."""

    @abstractmethod
    def column_metrics(self, column: str) -> tuple[Metric, ...]:
        """What has to be measured to judge one column."""

    @abstractmethod
    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        """The verdict on one column."""

    def column_faults(self, column: str) -> tuple[Fault, ...]:
        """What makes a row bad by its value of one column."""
        return ()

    def faults(self) -> tuple[Fault, ...]:
        return tuple(fault for column in self.columns for fault in self.column_faults(column))

    def metrics(self) -> tuple[Metric, ...]:
        found: list[Metric] = []
        for column in self.columns:
            found += self.column_metrics(column)
        return tuple(found)

    def judge(self, evidence: Evidence) -> Judgement:
        verdicts = {name: self._verdict(name, evidence) for name in self.columns}
        return verdicts[self.columns[0]] if len(verdicts) == 1 else Judgement.of_columns(verdicts)

    def metrics_of(self, label: str) -> tuple[Metric, ...]:
        return self.column_metrics(label)

    def observed_values(self, judgement: Judgement) -> Mapping[str, Any]:
        by_column = judgement.observed if len(self.columns) > 1 else None
        if not isinstance(by_column, Mapping):
            by_column = dict.fromkeys(self.columns, judgement.observed)
        return {self.observed_key(column): by_column.get(column) for column in self.columns}

    def statuses(self, judgement: Judgement) -> Mapping[str, Status]:
        found: dict[str, list[Status]] = {}
        for column, verdict in judgement.columns.items():
            for metric in self.column_metrics(column):
                found.setdefault(metric.key, []).append(verdict.status)
        return {key: worst(some) for key, some in found.items()}

    def _verdict(self, column: str, evidence: Evidence) -> Judgement:
        # A column that cannot be judged must not hide the verdict on the others.
        try:
            return self.judge_column(column, evidence)
        except RuleFailure as failure:
            return Judgement.error(failure)

    def count(self, condition: Condition) -> ConditionCount:
        return ConditionCount(condition, where=self.where)

    def values_in(self, column: str) -> ConditionCount:
        """How many values a column has, empties left out."""
        return self.count(HasValue(column, self.blank_is_empty))

    @property
    def rows(self) -> RecordCount:
        return RecordCount(where=self.where)


class ColumnThresholdRule(RowRule, ColumnRule):
    """Bad values are counted and judged by a threshold."""

    threshold: EitherThreshold = ALL
    """How many values may break the rule (``soft_max``, ``max``) or must keep it (``soft_min``,
    ``min``); ``all``: every value must keep it."""

    observes_first_metric = True

    @abstractmethod
    def bad_value(self, column: str) -> Condition:
        """True for a row whose value breaks the rule."""

    def column_faults(self, column: str) -> tuple[Fault, ...]:
        return (self.blame(self.bad_value(column)),)

    def leniency(self) -> str:
        """How the threshold reads at the end of a demand."""
        return leniency(self.threshold)


class ColumnValueRule(ColumnThresholdRule):
    """Bad values are counted among the non-empty ones."""

    @abstractmethod
    def fault(self, bad: int) -> str:
        """What is wrong with the bad values, as the end of "3 of 10 values of 'a' ..."."""

    def column_metrics(self, column: str) -> tuple[Metric, ...]:
        return (*map(ConditionCount.of, self.column_faults(column)), self.values_in(column))

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        bad, values = evidence.each(self.column_metrics(column))
        says = self.fault(bad)
        return on_bad_rows(self.threshold, bad, values).judgement(says, of=[column])


class ColumnStatisticRule(ColumnRule, ValueJudge):
    """A statistic of each column's non-empty values is judged."""

    quality_dimension: QualityDimension = "accuracy"
    """Which quality the rule speaks of."""

    metric: ClassVar[type[ColumnMetric | ColumnMedian]]
    statistic: ClassVar[str]
    family = RuleFamily.STATISTICS
    observes_first_metric = True

    def column_metrics(self, column: str) -> tuple[Metric, ...]:
        return (self.measure(column), self.values_in(column))

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        metric, among = self.column_metrics(column)
        value, count = evidence.each((metric, among))
        what = f"The {self.statistic} of '{column}'"
        return self.judge_value(value, metric, evidence, what=what, rows=count)

    def demand(self) -> str:
        return f"The {self.statistic} of {listing(self.columns)} is {self.expectation()}."

    def measure(self, column: str) -> Metric:
        """What has to be measured for the statistic."""
        return self.metric(column, self.blank_is_empty, where=self.where)


class MedianRule(ColumnStatisticRule):
    """The statistic is the median, exact or by a sketch."""

    approximate: bool = False
    """Whether a sketch may answer: in the shared pass, hence cheaper, with a value whose rank is
    within 0.1 % of the middle one's."""

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
        message = f"{judgement.message} Approximate: its rank is right within {MEDIAN_ERROR:.1%}."
        details = {**judgement.details, "approximate": MEDIAN_ERROR}
        return replace(judgement, message=message, details=details)
