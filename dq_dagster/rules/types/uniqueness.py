"""Rules about values, or combinations of values, that may occur only once."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.wording import are, listing
from dq_dagster.metrics.conditions import Fault
from dq_dagster.metrics.frequency import (
    DISTINCT_ERROR,
    DistinctEstimate,
    GroupedRows,
    Grouping,
    Repeated,
    UniqueCount,
)
from dq_dagster.metrics.metric import Metric
from dq_dagster.rules.base.column_rules import ColumnRule, RuleWithColumns
from dq_dagster.rules.base.rule import RowRule, RuleFamily
from dq_dagster.rules.fields.constraints import OrderSql, QualityDimension
from dq_dagster.rules.fields.declared import Declared
from dq_dagster.rules.fields.threshold import ALL, RequirementThreshold, leniency, on_bad_rows
from dq_dagster.sql.expressions import OrderTerm, order_terms


class Keep(Declared):
    """Which row of a repeated value is no fault."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    order_by: OrderSql
    """What puts the rows in order, such as ``updated_at DESC``: the first of each value stays.
    Where two are alike in it, all of their columns decide."""

    @property
    def terms(self) -> tuple[OrderTerm, ...]:
        return order_terms(self.order_by)


class _UniquenessRule(RowRule, RuleWithColumns):
    """Counts the values that occur exactly once among the non-empty ones."""

    quality_dimension: QualityDimension = "uniqueness"
    """Which quality the rule speaks of."""
    threshold: RequirementThreshold = ALL
    """How many values must be unique (``soft_min``, ``min``), or may repeat (``soft_max``,
    ``max``): whole numbers count them, shares have a decimal point, and ``0.01`` alone is a
    ``max``. ``all``: there may be no duplicate."""

    family = RuleFamily.FREQUENCIES

    approximate: bool = False
    """Whether a sketch may answer: in the shared pass, hence cheaper, but right only within 2.5 %.
    It counts the values that repeat another one; fewer than 2.5 % of those are not seen."""

    keep: Keep | None = None
    """Which row of a repeated value is no fault in flight, such as ``{order_by: updated_at DESC}``;
    by default all of its rows are faults."""

    @property
    def _counts_empty(self) -> bool:
        return False

    def _grouping(self, columns: tuple[str, ...]) -> Grouping:
        return Grouping(columns, self.blank_is_empty, self.where, self._counts_empty)

    def _fault_of(self, *columns: str) -> Fault:
        grouping = self._grouping(columns)
        kept = self.keep.terms if self.keep else ()
        return self.blame(Repeated(grouping, kept, whole=self.judges_whole))

    def _metrics_of(self, *columns: str) -> tuple[Metric, ...]:
        grouping = self._grouping(columns)
        if self.approximate:
            return (DistinctEstimate(grouping, where=self.where),)
        return UniqueCount(grouping, where=self.where), GroupedRows(grouping, where=self.where)

    def _counts(self, evidence: Evidence, *columns: str) -> tuple[int, int]:
        """How many values are unique, of how many."""
        if not self.approximate:
            unique, rows = evidence.each(self._metrics_of(*columns))
            return unique, rows
        [share_of_distinct] = evidence.each(self._metrics_of(*columns))
        distinct, rows = share_of_distinct
        # Within the sketch's error all values may be different.
        return (rows if rows - distinct <= DISTINCT_ERROR * rows else distinct), rows

    def _judge_together(self, evidence: Evidence, *columns: str) -> Judgement:
        unique, rows = self._counts(evidence, *columns)
        says = f"{are(rows - unique)} not unique"
        verdict = on_bad_rows(self.threshold, rows - unique, rows)
        if not self.approximate:
            return verdict.judgement(says, of=columns)
        return verdict.judgement(
            says,
            of=columns,
            about="About ",
            hedge=f"; approximate, within {DISTINCT_ERROR:.1%}",
            details={"approximate": DISTINCT_ERROR},
        )

    def _leniency(self) -> str:
        return leniency(self.threshold)


class ColumnUnique(_UniquenessRule, ColumnRule):
    """The values of each column occur only once, up to ``threshold``.

    Observed: the number of values that occur more than once; each time they occur counts.

    Example::

        - type: column_unique
          columns: [order_id]
    """

    type: Literal["column_unique"] = "column_unique"

    def column_metrics(self, column: str) -> tuple[Metric, ...]:
        return self._metrics_of(column)

    def column_faults(self, column: str) -> tuple[Fault, ...]:
        return (self._fault_of(column),)

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        return self._judge_together(evidence, column)

    def demand(self) -> str:
        return f"The values of {listing(self.columns)} are unique{self._leniency()}."


class UniqueKey(_UniquenessRule):
    """The columns together are unique, up to ``threshold``.

    A row where all of them are empty is left out, unless ``empty_is_key``; otherwise an empty value
    is compared like any other.

    Observed: the number of combinations that occur more than once; each time they occur counts.

    Example::

        - type: unique_key
          columns: [customer, ordered_at]
    """

    type: Literal["unique_key"] = "unique_key"
    empty_is_key: bool = False
    """Whether rows in which all columns are empty are compared like others, so that there may be
    one of them at most. By default they are left out."""

    @property
    def _counts_empty(self) -> bool:
        return self.empty_is_key

    def metrics(self) -> tuple[Metric, ...]:
        return self._metrics_of(*self.columns)

    def faults(self) -> tuple[Fault, ...]:
        return (self._fault_of(*self.columns),)

    def judge(self, evidence: Evidence) -> Judgement:
        return self._judge_together(evidence, *self.columns)

    def demand(self) -> str:
        return f"{listing(self.columns)} together are unique{self._leniency()}."
