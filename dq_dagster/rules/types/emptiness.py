"""Rules about empty values."""

from __future__ import annotations

from typing import Literal

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.wording import are, have, listing
from dq_dagster.metrics.conditions import Fault, HasValue, IsEmpty
from dq_dagster.metrics.metric import ConditionCount, Metric
from dq_dagster.rules.base.column_rules import ColumnRule
from dq_dagster.rules.fields.constraints import QualityDimension
from dq_dagster.rules.fields.threshold import (
    ALL,
    AtMost,
    EitherThreshold,
    RequirementThreshold,
    leniency,
    on_bad_rows,
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
    threshold: EitherThreshold = ALL
    """How many values may be empty: a share such as ``0.01``, a number such as ``3``, or bounds;
    ``all``: every value must be there."""

    def column_faults(self, column: str) -> tuple[Fault, ...]:
        return (Fault(IsEmpty(column, self.blank_is_empty), self.where),)

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        rows, empty = evidence[self.rows], evidence[self._empties(column)]
        if not rows:
            return Judgement.of_no_rows()
        verdict = on_bad_rows(self.threshold, empty, rows)
        return Judgement(
            verdict.status,
            f"{verdict.counted('row')} {have(empty)} no '{column}' ({verdict.words}).",
            observed=empty,
            bounds=verdict.bounds,
            expected=verdict.words,
            rows=rows,
            failed_rows=empty,
        )

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
        return (Fault(HasValue(column, self.blank_is_empty), self.where),)

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        rows, empty = evidence[self.rows], evidence[self._empties(column)]
        if not rows:
            return Judgement.of_no_rows()
        verdict = on_bad_rows(self.threshold, rows - empty, rows, required=True)
        if isinstance(self.threshold, AtMost):
            found = f"{verdict.counted('row')} {have(rows - empty)} a '{column}'"
        else:
            found = f"{verdict.counted_good('row')} {have(empty)} no '{column}'"
        return Judgement(
            verdict.status,
            f"{found} ({verdict.words}).",
            observed=empty,
            bounds=verdict.bounds,
            expected=verdict.words,
            rows=rows,
            failed_rows=rows - empty,
        )

    def demand(self) -> str:
        if self.threshold == ALL:
            return f"{listing(self.columns)} {are(len(self.columns))} always empty."
        lenient = leniency(self.threshold)
        return f"{listing(self.columns)} {are(len(self.columns))} mostly empty{lenient}."
