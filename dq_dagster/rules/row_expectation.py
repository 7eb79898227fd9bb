"""The rule whose condition is a row predicate in SQL."""

from __future__ import annotations

from typing import ClassVar, Literal

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.wording import do, shortened
from dq_dagster.metrics.conditions import RowBreaks
from dq_dagster.metrics.metric import ConditionCount, Metric, RecordCount
from dq_dagster.rules.fields import RowSql
from dq_dagster.rules.rule import Rule
from dq_dagster.rules.threshold import ALL, EitherThreshold, leniency, on_bad_rows


class RowExpectation(Rule):
    """Every row meets a condition in SQL, up to ``threshold``.

    Observed: the number of rows that do not.

    Example::

        - type: row_dq
          name: shipped_after_ordered
          expectation: shipped_on >= to_date(ordered_at)
          where: status = 'shipped'
          threshold: 0.01
    """

    type: Literal["row_dq"] = "row_dq"
    expectation: RowSql
    """The predicate: no aggregates, no subqueries, no window functions."""
    null_is: Literal["fail", "pass"] = "fail"
    """What an unknown answer (NULL) means for a row."""
    threshold: EitherThreshold = ALL
    """The failing rows tolerated: a share such as 0.01, a number such as 3, or bounds."""

    named_after: ClassVar[tuple[str, ...]] = ("expectation",)
    observes_first_metric = True

    def metrics(self) -> tuple[Metric, ...]:
        return (self._breaking, self._rows)

    def judge(self, evidence: Evidence) -> Judgement:
        rows, bad = evidence[self._rows], evidence[self._breaking]
        if not rows:
            return Judgement.of_no_rows()
        verdict = on_bad_rows(self.threshold, bad, rows)
        return Judgement(
            verdict.status,
            f"{verdict.counted('row')} {do(bad)} not meet '{shortened(self.expectation)}' "
            f"({verdict.words}).",
            observed=bad,
            bounds=verdict.bounds,
            expected=verdict.words,
            rows=rows,
            failed_rows=bad,
        )

    def demand(self) -> str:
        return f"Every row meets: {self.expectation}{leniency(self.threshold)}."

    @property
    def _breaking(self) -> ConditionCount:
        condition = RowBreaks(self.expectation, null_breaks=self.null_is == "fail")
        return ConditionCount(condition, where=self.where)

    @property
    def _rows(self) -> RecordCount:
        return RecordCount(where=self.where)
