"""Rules that expect every value, or the length of every value, within a range."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.ranges import Range
from dq_dagster.judging.status import Status
from dq_dagster.judging.wording import are, have, listing, share
from dq_dagster.metrics.conditions import Outside
from dq_dagster.metrics.constant import Constant, Scalar
from dq_dagster.metrics.metric import ConditionCount, Metric
from dq_dagster.rules.column_rule import ColumnRule
from dq_dagster.rules.expected_range import NumberRange, ValueRange


class _EveryValueInRange(ColumnRule):
    """Any value beyond a hard bound is an Error, else any beyond a soft bound a Warning."""

    judged: ClassVar[Literal["value", "length"]]

    @property
    @abstractmethod
    def expected(self) -> Range:
        """The bounds to judge by."""

    def column_metrics(self, column: str) -> tuple[Metric, ...]:
        beyond = [self._beyond(column, *pair) for pair in (self._hard, self._soft) if any_set(pair)]
        return (*beyond, self.values_in(column))

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        values = evidence[self.values_in(column)]
        hard = self._count(evidence, column, self._hard)
        soft = self._count(evidence, column, self._soft)
        if not values:
            return Judgement.of_no_values(column)
        status, bad, bounds = Status.OK, hard, "expected range"
        if hard:
            status, bounds = Status.ERROR, "range"
        elif soft:
            status, bad, bounds = Status.WARNING, soft, "soft range"
        return Judgement(
            status,
            f"{share(bad, values, 'value')} of '{column}' {self._lie(bad)} outside the {bounds} "
            f"({self.expected.words()}).",
            observed=bad,
            bounds=self.expected.given(),
            expected=self.expected.words(),
            rows=values,
            failed_rows=bad,
            details={"beyond_hard": hard, "beyond_soft": soft},
        )

    def _lie(self, bad: int) -> str:
        return are(bad) if self.judged == "value" else f"{have(bad)} a length"

    def demand(self) -> str:
        what = "value" if self.judged == "value" else "length"
        return f"Every {what} of {listing(self.columns)} is {self.expected.words()}."

    @property
    def _hard(self) -> tuple[Scalar | None, Scalar | None]:
        return self.expected.min, self.expected.max

    @property
    def _soft(self) -> tuple[Scalar | None, Scalar | None]:
        return self.expected.soft_min, self.expected.soft_max

    def _beyond(self, column: str, low: Scalar | None, high: Scalar | None) -> ConditionCount:
        lowest = None if low is None else Constant.of(low)
        highest = None if high is None else Constant.of(high)
        return self.count(Outside(column, self.blank_is_empty, lowest, highest, of=self.judged))

    def _count(
        self, evidence: Evidence, column: str, pair: tuple[Scalar | None, Scalar | None]
    ) -> int:
        return int(evidence[self._beyond(column, *pair)]) if any_set(pair) else 0


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


def any_set(pair: tuple[Scalar | None, Scalar | None]) -> bool:
    return any(bound is not None for bound in pair)
