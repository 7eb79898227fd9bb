"""Rules that every non-empty value of a column must meet, up to a threshold."""

from __future__ import annotations

from abc import abstractmethod

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.metrics.conditions import Condition
from dq_dagster.metrics.metric import Metric
from dq_dagster.rules.column_rule import ColumnRule
from dq_dagster.rules.threshold import (
    ALL,
    EitherThreshold,
    RowVerdict,
    leniency,
    on_bad_rows,
)


class ColumnThresholdRule(ColumnRule):
    """Bad values are counted and judged by a threshold."""

    threshold: EitherThreshold = ALL
    """How many values may break the rule (``soft_max``, ``max``) or must keep it (``soft_min``,
    ``min``): whole numbers count them, shares have a decimal point, and ``0.01`` alone is a
    ``max``. ``all``: every value must keep it."""

    observes_first_metric = True

    @abstractmethod
    def bad_value(self, column: str) -> Condition:
        """True for a row whose value breaks the rule."""

    def verdict_on(self, bad: int, values: int) -> RowVerdict:
        """What so many bad values mean."""
        return on_bad_rows(self.threshold, bad, values)

    def leniency(self) -> str:
        """How the threshold reads at the end of a demand."""
        return leniency(self.threshold)


class ColumnValueRule(ColumnThresholdRule):
    """Bad values are counted among the non-empty ones."""

    @abstractmethod
    def fault(self, bad: int) -> str:
        """What is wrong with the bad values, as the end of "3 of 10 values of 'a' ..."."""

    def column_metrics(self, column: str) -> tuple[Metric, ...]:
        return (self.count(self.bad_value(column)), self.values_in(column))

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        values = evidence[self.values_in(column)]
        bad = evidence[self.count(self.bad_value(column))]
        if not values:
            return Judgement.of_no_values(column)
        verdict = self.verdict_on(bad, values)
        return Judgement(
            verdict.status,
            f"{verdict.counted('value')} of '{column}' {self.fault(bad)} ({verdict.words}).",
            observed=bad,
            bounds=verdict.bounds,
            expected=verdict.words,
            rows=values,
            failed_rows=bad,
        )
