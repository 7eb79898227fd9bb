"""Rules about the number of rows and columns."""

from __future__ import annotations

from typing import Literal

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.metrics.metric import ColumnCount, Metric, RecordCount
from dq_dagster.rules.expected_range import NumberRange
from dq_dagster.rules.fields import QualityDimension
from dq_dagster.rules.rule import Rule


class RecordCountInRange(NumberRange, Rule):
    """The number of rows is within the bounds.

    No rows are zero rows, not Empty.

    Observed: the number of rows.

    Example::

        - type: record_count_in_range
          min: 1
          soft_max: 1000000
    """

    type: Literal["record_count_in_range"] = "record_count_in_range"
    quality_dimension: QualityDimension = "completeness"
    """Which quality the rule speaks of."""

    observes_first_metric = True

    def metrics(self) -> tuple[Metric, ...]:
        return (RecordCount(where=self.where),)

    def judge(self, evidence: Evidence) -> Judgement:
        rows = evidence[RecordCount(where=self.where)]
        return self.expected.judge(rows, what="The number of rows", rows=rows)

    def demand(self) -> str:
        return f"The number of rows is {self.expected.words()}."


class ColumnCountInRange(NumberRange, Rule):
    """The number of columns is within the bounds.

    Observed: the number of columns.

    Example::

        - type: column_count_in_range
          min: 10
          max: 10
    """

    type: Literal["column_count_in_range"] = "column_count_in_range"
    quality_dimension: QualityDimension = "consistency"
    """Which quality the rule speaks of."""

    looks_at_rows = False
    observes_first_metric = True

    def metrics(self) -> tuple[Metric, ...]:
        return (ColumnCount(),)

    def judge(self, evidence: Evidence) -> Judgement:
        return self.expected.judge(evidence[ColumnCount()], what="The number of columns")

    def demand(self) -> str:
        return f"The number of columns is {self.expected.words()}."
