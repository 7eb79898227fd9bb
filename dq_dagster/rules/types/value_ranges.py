"""Rules that expect every value, or the length of every value, within a range."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Literal

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement, Status
from dq_dagster.judging.ranges import Range
from dq_dagster.judging.thresholds import RowVerdict
from dq_dagster.judging.wording import are, have, listing
from dq_dagster.metrics.conditions import Fault, Outside
from dq_dagster.metrics.constant import Constant, Scalar
from dq_dagster.metrics.metric import ConditionCount, Metric
from dq_dagster.rules.base.column_rules import ColumnRule
from dq_dagster.rules.base.rule import RowRule, RuleFamily
from dq_dagster.rules.fields.ranges import NumberRange, ValueRange
from dq_dagster.rules.fields.threshold import ALL, EitherThreshold, leniency, on_bad_rows


class _EveryValueInRange(RowRule, ColumnRule):
    """Any value beyond a hard bound is an Error, else any beyond a soft bound a Warning.

    With a threshold those beyond the hard bounds, and those beyond the soft ones, are judged by
    it, each by themselves; the latter are a Warning at most.
    """

    threshold: EitherThreshold = ALL
    """How many values may be beyond (``soft_max``, ``max``) or must not be (``soft_min``,
    ``min``): whole numbers count them, shares have a decimal point, and ``0.01`` alone is a
    ``max``. Values beyond the hard bounds and those beyond the soft bounds are judged by it, each
    by themselves; too many beyond soft bounds are a Warning. ``all``: no value may be beyond."""

    family = RuleFamily.VALUES
    judged: ClassVar[Literal["value", "length"]]

    @property
    @abstractmethod
    def expected(self) -> Range:
        """The bounds to judge by."""

    def column_metrics(self, column: str) -> tuple[Metric, ...]:
        return (*map(ConditionCount.of, self.column_faults(column)), self.values_in(column))

    def column_faults(self, column: str) -> tuple[Fault, ...]:
        beyond = (self._beyond_hard(column), self._beyond_soft(column))
        return tuple(fault for fault in beyond if fault is not None)

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        values = evidence[self.values_in(column)]
        hard = self._count(evidence, self._beyond_hard(column))
        soft = self._count(evidence, self._beyond_soft(column))
        if not values:
            return Judgement.of_no_values(column)
        status, verdict, bounds = self._verdict_on(hard, soft, values)
        only_soft = bounds == "soft range" or self._beyond_hard(column) is None
        bad = verdict.bad
        expected = f"{self.expected.words()}{self._tolerated(verdict)}"
        return Judgement(
            status,
            f"{verdict.counted('value')} of '{column}' {self._lie(bad)} outside the {bounds} "
            f"({expected}).",
            observed=bad,
            bounds=self.expected.given(),
            expected=expected,
            rows=values,
            failed_rows=bad,
            details={"beyond_hard": hard, "beyond_soft": soft},
            limits=_limits(verdict, soft=only_soft),
        )

    def _verdict_on(self, hard: int, soft: int, values: int) -> tuple[Status, RowVerdict, str]:
        """The status, the values that it is about, and which bounds those are beyond."""
        by_hard = on_bad_rows(self.threshold, hard, values)
        by_soft = on_bad_rows(self.threshold, soft, values)
        if by_hard.status is Status.ERROR:
            return Status.ERROR, by_hard, "range"
        if by_hard.status is Status.WARNING:
            return Status.WARNING, by_hard, "range"
        if by_soft.status is not Status.OK:
            return Status.WARNING, by_soft, "soft range"
        return Status.OK, by_hard if hard or not soft else by_soft, "expected range"

    def _tolerated(self, verdict: RowVerdict) -> str:
        return "" if self.threshold == ALL else f"; {verdict.tolerance.words()}"

    def _lie(self, bad: int) -> str:
        return are(bad) if self.judged == "value" else f"{have(bad)} a length"

    def demand(self) -> str:
        what = "value" if self.judged == "value" else "length"
        words = f"{self.expected.words()}{leniency(self.threshold)}"
        return f"Every {what} of {listing(self.columns)} is {words}."

    def _beyond_hard(self, column: str) -> Fault | None:
        range_ = self.expected
        beyond = self._beyond(
            column, range_.min, range_.max, below=range_.above_min, above=range_.below_max
        )
        return None if beyond is None else self.blame(beyond)

    def _beyond_soft(self, column: str) -> Fault | None:
        beyond = self._beyond(column, self.expected.soft_min, self.expected.soft_max)
        return None if beyond is None else self.blame(beyond, "warning")

    def _beyond(
        self,
        column: str,
        low: Scalar | None,
        high: Scalar | None,
        *,
        below: bool = False,
        above: bool = False,
    ) -> Outside | None:
        """True for the values beyond the bounds; nothing if there are none."""
        if low is None and high is None:
            return None
        return Outside(
            column,
            self.blank_is_empty,
            None if low is None else Constant.of(low),
            None if high is None else Constant.of(high),
            of=self.judged,
            low_is_outside=below,
            high_is_outside=above,
        )

    def _count(self, evidence: Evidence, fault: Fault | None) -> int:
        return 0 if fault is None else int(evidence[ConditionCount.of(fault)])


def _limits(verdict: RowVerdict, *, soft: bool) -> dict[str, Any]:
    """How many values may be beyond; more of those beyond soft bounds are a Warning at most."""
    limits = verdict.limits()
    return {"soft_max": min(limits.values())} if soft and limits else dict(limits)


class ColumnValuesInRange(ValueRange, _EveryValueInRange):
    """Every value of each column is within the bounds.

    Any value beyond a hard bound is an Error, else any value beyond a soft bound a Warning.

    Observed: the number of values beyond.

    Example::

        - type: column_values_in_range
          columns: [items]
          min: 1
          soft_max: 5
    """

    type: Literal["column_values_in_range"] = "column_values_in_range"
    judged = "value"


class ColumnValueLengthsInRange(NumberRange, _EveryValueInRange):
    """The length of every value of each column, in characters, is within the bounds.

    Any length beyond a hard bound is an Error, else any length beyond a soft bound a Warning.

    Observed: the number of values whose length is beyond.

    Example::

        - type: column_value_lengths_in_range
          columns: [customer]
          min: 2
          soft_max: 40
    """

    type: Literal["column_value_lengths_in_range"] = "column_value_lengths_in_range"
    judged = "length"
