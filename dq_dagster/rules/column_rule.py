"""Rules about columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from dq_dagster.errors import RuleFailure
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.status import Status, worst
from dq_dagster.metrics.conditions import Condition, HasValue
from dq_dagster.metrics.metric import ConditionCount, Metric, RecordCount
from dq_dagster.rules.fields import ColumnNames
from dq_dagster.rules.rule import Rule


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

    def metrics(self) -> tuple[Metric, ...]:
        return tuple(metric for column in self.columns for metric in self.column_metrics(column))

    def judge(self, evidence: Evidence) -> Judgement:
        return Judgement.of_columns({name: self._verdict(name, evidence) for name in self.columns})

    def metrics_of(self, label: str) -> tuple[Metric, ...]:
        return self.column_metrics(label)

    def observed_values(self, judgement: Judgement) -> Mapping[str, Any]:
        by_column = judgement.observed if len(self.columns) > 1 else None
        if not isinstance(by_column, Mapping):
            by_column = dict.fromkeys(self.columns, judgement.observed)
        return {self.observed_key(column): by_column.get(column) for column in self.columns}

    def statuses(self, judgement: Judgement) -> Mapping[str, Status]:
        found: dict[str, list[Status]] = {}
        for column, verdict in judgement.details.get("columns", {}).items():
            for metric in self.column_metrics(column):
                found.setdefault(metric.key, []).append(verdict["status"])
        return {key: worst(some) for key, some in found.items()}

    def _verdict(self, column: str, evidence: Evidence) -> Judgement:
        # A column that can not be judged must not hide the verdict on the others.
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
