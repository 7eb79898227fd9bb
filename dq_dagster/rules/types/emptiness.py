"""Rules about empty values."""

from __future__ import annotations

from typing import Literal

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.wording import are, have, listing
from dq_dagster.metrics.conditions import Fault, HasValue, IsEmpty
from dq_dagster.metrics.metric import ConditionCount, Metric, RecordCount
from dq_dagster.rules.base.column_rules import ColumnRule
from dq_dagster.rules.base.rule import RowRule, RuleFamily
from dq_dagster.rules.fields.constraints import QualityDimension
from dq_dagster.rules.fields.threshold import (
    ALL,
    AtMost,
    EitherThreshold,
    RequirementThreshold,
    leniency,
    on_bad_rows,
)


class _EmptinessRule(RowRule, ColumnRule):
    """A rule that counts the empty values of each column among all rows."""

    quality_dimension: QualityDimension = "completeness"
    """Which quality the rule speaks of."""

    family = RuleFamily.EMPTINESS
    observes_first_metric = True

    def column_metrics(self, column: str) -> tuple[Metric, ...]:
        empties = IsEmpty(column, bool(self.empty_includes_blank))
        return ConditionCount(empties, where=self.where), RecordCount(where=self.where)


class ColumnNotEmpty(_EmptinessRule):
    """At most ``threshold`` of the values of each column are empty.

    Observed: the number of empty values, among all rows.

    Example::

        - type: column_not_empty
          columns: [email]
          threshold: {type: proportion, soft_max: 0.1, max: 0.2}
    """

    type: Literal["column_not_empty"] = "column_not_empty"
    threshold: EitherThreshold = ALL
    """How many values may be empty: a share such as ``0.01``, a number such as ``3``, or bounds;
    ``all``: every value must be there."""

    def column_faults(self, column: str) -> tuple[Fault, ...]:
        return (self.blame(IsEmpty(column, self.blank_is_empty)),)

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        empty, rows = evidence.each(self.column_metrics(column))
        says = f"{have(empty)} no '{column}'"
        return on_bad_rows(self.threshold, empty, rows).judgement(says)

    def demand(self) -> str:
        if self.threshold == ALL:
            return f"{listing(self.columns)} {are(len(self.columns))} never empty."
        lenient = leniency(self.threshold)
        return f"{listing(self.columns)} {are(len(self.columns))} rarely empty{lenient}."


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
    """How many values must be empty (``soft_min``, ``min``), or may not be (``soft_max``, ``max``):
    whole numbers count them, shares have a decimal point, and ``0.01`` alone is a ``max``. ``all``:
    no value may be there."""

    def column_faults(self, column: str) -> tuple[Fault, ...]:
        return (self.blame(HasValue(column, self.blank_is_empty)),)

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        empty, rows = evidence.each(self.column_metrics(column))
        about_good = not isinstance(self.threshold, AtMost)
        says = (
            f"{have(empty)} no '{column}'" if about_good else f"{have(rows - empty)} a '{column}'"
        )
        verdict = on_bad_rows(self.threshold, rows - empty, rows, required=True)
        return verdict.judgement(says, about_good=about_good, counts_good=True)

    def demand(self) -> str:
        if self.threshold == ALL:
            return f"{listing(self.columns)} {are(len(self.columns))} always empty."
        lenient = leniency(self.threshold)
        return f"{listing(self.columns)} {are(len(self.columns))} mostly empty{lenient}."
