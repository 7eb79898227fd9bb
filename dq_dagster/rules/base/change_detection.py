"""What all rules that compare with the past have in common."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pydantic import ConfigDict, model_validator

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.typical import Baseline, Lookback, PeriodUnit, Typical
from dq_dagster.metrics.metric import Metric
from dq_dagster.rules.base.rule import RuleFamily
from dq_dagster.rules.fields.constraints import Factor, Period, Phase
from dq_dagster.rules.fields.ranges import ValueJudge


class ChangeDetection(ValueJudge):
    """A number is judged by those that were observed before."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    family: ClassVar[RuleFamily] = RuleFamily.CHANGE_DETECTION

    on: Phase = "validated"
    """Which rows are judged in flight: by default those that are published (``validated``), as the
    earlier values are of such rows."""
    period_unit: PeriodUnit = "runs"
    """What the two periods are counted in: ``runs``, that is earlier values, or ``days``."""
    learning_period: Period = 7
    """How much past is needed before anything is judged; until then the outcome is Empty."""
    lookback_window: Period = 30
    """How much of the past counts."""
    iqr_factor: Factor = 1.5
    """How many times the IQR a value may lie outside the middle half; beyond that is an Error."""
    soft_iqr_factor: Factor | None = None
    """The same for a Warning; smaller than ``iqr_factor``."""
    min_iqr: Factor | None = None
    """The least IQR to reckon with: lets values that hardly ever changed change a little."""
    exclude_errors: bool = False
    """Whether values that were Errors are left out of the past."""
    baseline: Baseline | None = None
    """What a partition is compared with: its own earlier values (``same_slice``), or the
    partitions before it (``previous_partitions``), which is meant where omitted if partitions are
    windows of time."""

    @model_validator(mode="after")
    def _soft_is_smaller(self) -> Self:
        soft, hard = self.soft_iqr_factor, self.iqr_factor
        if soft is not None and soft >= hard:
            raise ValueError(
                f"soft_iqr_factor must be smaller than iqr_factor, but it is {soft:g} and "
                f"iqr_factor is {hard:g}"
            )
        return self

    def expectation(self) -> str:
        return self.typical.words()

    @property
    def typical(self) -> Typical:
        return Typical(
            self.period_unit,
            self.learning_period,
            self.lookback_window,
            self.iqr_factor,
            self.soft_iqr_factor,
            self.min_iqr,
            self.exclude_errors,
        )

    @property
    def lookback(self) -> Lookback:
        return Lookback(self.typical, self.baseline)

    def judge_value(
        self, value: Any, metric: Metric, evidence: Evidence, *, what: str, rows: int | None = None
    ) -> Judgement:
        past = evidence.past(metric)
        return self.typical.judge(value, past, evidence.at, what=what, rows=rows, metric=metric.key)
