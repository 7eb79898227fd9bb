"""The rule about values that must exist in another dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import model_validator

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.wording import are, listing
from dq_dagster.metrics.conditions import Fault
from dq_dagster.metrics.metric import ConditionCount, Metric
from dq_dagster.metrics.sources import Lookup, ReferenceMembership
from dq_dagster.rules.base.column_rules import RuleWithColumns
from dq_dagster.rules.base.rule import RowRule, RuleFamily
from dq_dagster.rules.fields.constraints import ColumnNames, QualityDimension
from dq_dagster.rules.fields.reference import Reference, names_files
from dq_dagster.rules.fields.threshold import ALL, EitherThreshold, leniency, on_bad_rows


class ColumnValuesInReference(RowRule, RuleWithColumns):
    """Every non-empty value of the columns exists in another asset, table or file.

    Several columns form a combination, which must exist there as a whole. Combinations with some
    empties are compared as they are (empty equals empty); those with nothing but empties are left
    out. Numbers of different exact types compare by value; other types must be the same.

    Observed: the number of values or combinations that are not in the reference.

    Example::

        - type: column_values_in_reference
          columns: [customer]
          reference: {asset: customers}
          reference_columns: [name]
    """

    type: Literal["column_values_in_reference"] = "column_values_in_reference"
    quality_dimension: QualityDimension = "consistency"
    """Which quality the rule speaks of."""
    reference: Reference
    """The dataset to look in."""
    reference_columns: ColumnNames | None = None
    """The columns there, in the order of ``columns``; the same names where omitted."""
    threshold: EitherThreshold = ALL
    """How many values may be missing there (``soft_max``, ``max``) or must exist there
    (``soft_min``, ``min``); ``all``: every value must exist."""

    family = RuleFamily.REFERENCES
    observes_first_metric = True

    @classmethod
    def code_in(cls, fields: Mapping[str, Any]) -> str | None:
        # No code, but it opens whatever path its author names.
        return names_files(fields.get("reference")) or super().code_in(fields)

    @model_validator(mode="after")
    def _columns_pair_up(self) -> Self:
        here, there = len(self.columns), len(self._there)
        if here != there:
            raise ValueError(f"there are {here} columns, but {there} reference_columns")
        return self

    def metrics(self) -> tuple[Metric, ...]:
        return (
            *map(ConditionCount.of, self.faults()),
            ConditionCount(self._membership(member=True), where=self.where),
        )

    def faults(self) -> tuple[Fault, ...]:
        return (self.blame(self._membership(member=False)),)

    def judge(self, evidence: Evidence) -> Judgement:
        missing, found = evidence.each(self.metrics())
        says = f"{are(missing)} not in {self._place}"
        verdict = on_bad_rows(self.threshold, missing, missing + found)
        return verdict.judgement(says, of=self.columns)

    def demand(self) -> str:
        noun = "value" if len(self.columns) == 1 else "combination"
        every = f"Every {noun} of {listing(self.columns)}"
        return f"{every} is in {self._place}{leniency(self.threshold)}."

    @property
    def other_assets(self) -> tuple[str, ...]:
        return () if self.reference.asset is None else (self.reference.asset,)

    @property
    def _place(self) -> str:
        return f"{listing(self._there)} of {self.reference.dataset.label}"

    @property
    def _there(self) -> tuple[str, ...]:
        return tuple(self.reference_columns or self.columns)

    def _membership(self, *, member: bool) -> ReferenceMembership:
        lookup = Lookup(
            tuple(self.columns), self.blank_is_empty, self.reference.dataset, self._there
        )
        return ReferenceMembership(lookup, member)
