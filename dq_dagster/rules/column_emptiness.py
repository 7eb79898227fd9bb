"""Rules about empty values."""

from __future__ import annotations

from typing import Literal

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.status import Status
from dq_dagster.judging.wording import are, have, listing, share
from dq_dagster.metrics.conditions import IsEmpty
from dq_dagster.metrics.metric import ConditionCount, Metric
from dq_dagster.rules.column_rule import ColumnRule
from dq_dagster.rules.fields import QualityDimension
from dq_dagster.rules.threshold import (
    ALL,
    LimitThreshold,
    RequirementThreshold,
    required,
    tolerated,
)


class _EmptinessRule(ColumnRule):
    """A rule that counts the empty values of each column among all rows."""

    quality_dimension: QualityDimension = "completeness"
    """Which quality the rule speaks of."""

    observes_first_metric = True

    def column_metrics(self, column: str) -> tuple[Metric, ...]:
        return (self._empties(column), self.rows)

    def _empties(self, column: str) -> ConditionCount:
        return self.count(IsEmpty(column, self.blank_is_empty))


class ColumnNotEmpty(_EmptinessRule):
    """At most ``threshold`` of the values of each column are empty.

    Observed: the number of empty values, among all rows.

    Example::

        - type: column_not_empty
          columns: [email]
          threshold: {type: proportion, soft_max: 0.1, max: 0.2}
    """

    type: Literal["column_not_empty"] = "column_not_empty"
    threshold: LimitThreshold = ALL
    """How many values may be empty; ``all``: every value must be there."""

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        rows, empty = evidence[self.rows], evidence[self._empties(column)]
        limit = tolerated(self.threshold)
        if not rows:
            return Judgement(
                Status.EMPTY, "Nothing to judge: there are no rows.", rows=0, failed_rows=0
            )
        return Judgement(
            limit.judge(empty, rows),
            f"{share(empty, rows, 'row')} {have(empty)} no '{column}' ({limit.words()}).",
            observed=empty,
            bounds=limit.given(),
            expected=limit.words(),
            rows=rows,
            failed_rows=empty,
        )

    def demand(self) -> str:
        if self.threshold == ALL:
            return f"{listing(self.columns)} {are(len(self.columns))} never empty."
        words = tolerated(self.threshold).words()
        return f"{listing(self.columns)} {are(len(self.columns))} rarely empty ({words})."


class ColumnEmpty(_EmptinessRule):
    """At least ``threshold`` of the values of each column are empty.

    Observed: the number of empty values, among all rows.

    Example::

        - type: column_empty
          columns: [shipped_on]
          where: status = 'new'
    """

    type: Literal["column_empty"] = "column_empty"
    threshold: RequirementThreshold = ALL
    """How many values must be empty; ``all``: no value may be there."""

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        rows, empty = evidence[self.rows], evidence[self._empties(column)]
        requirement = required(self.threshold)
        if not rows:
            return Judgement(
                Status.EMPTY, "Nothing to judge: there are no rows.", rows=0, failed_rows=0
            )
        return Judgement(
            requirement.judge(empty, rows),
            f"{share(empty, rows, 'row')} {have(empty)} no '{column}' ({requirement.words()}).",
            observed=empty,
            bounds=requirement.given(),
            expected=requirement.words(),
            rows=rows,
            failed_rows=rows - empty,
        )

    def demand(self) -> str:
        if self.threshold == ALL:
            return f"{listing(self.columns)} {are(len(self.columns))} always empty."
        words = required(self.threshold).words()
        return f"{listing(self.columns)} {are(len(self.columns))} mostly empty ({words})."
