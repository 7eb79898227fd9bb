"""The rule whose condition is SQL over aggregates of the dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from dq_dagster.errors import RuleFailure
from dq_dagster.judging.comparison import in_zone, is_nan
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.status import Status
from dq_dagster.judging.wording import shortened, show
from dq_dagster.metrics.metric import Metric, RecordCount
from dq_dagster.metrics.sql_aggregate import SqlAggregate, SqlCondition
from dq_dagster.rules.fields import AggregateSql
from dq_dagster.rules.rule import Rule
from dq_dagster.sql.aggregate_expression import aggregate_calls, handles_nan

_MOST_SHOWN = 6


class AggregateExpectation(Rule):
    """A condition in Spark SQL over aggregates of all rows holds.

    Every column stands within an aggregate. ``where`` leaves rows out before anything is
    aggregated. Over no rows the condition is what SQL says: ``count(*) > 0`` is false; only an
    unknown answer (NULL) is Empty there. NaN is never right by chance: Spark holds it for greater
    than every number, so an expectation that holds although an aggregate is NaN is an Error, unless
    it speaks of NaN itself (``isnan``, ``nanvl``).

    Observed: the value of the aggregate, or of each aggregate where there are several.

    Example::

        - type: agg_dq
          expectation: sum(amount) > 100 and count(distinct country) between 2 and 50
    """

    type: Literal["agg_dq"] = "agg_dq"
    expectation: AggregateSql
    """The condition, such as ``avg(price) between 18 and 25``: at least one aggregate, no
    subqueries, no window functions. ``FILTER (WHERE ...)`` may follow an aggregate."""
    null_is: Literal["fail", "pass"] = "fail"
    """What an unknown answer (NULL) means."""

    named_after: ClassVar[tuple[str, ...]] = ("expectation",)

    def metrics(self) -> tuple[Metric, ...]:
        return (self._answer, *self._parts.values(), self._rows)

    def observed_metrics(self, evidence: Evidence) -> tuple[Metric, ...]:
        # The answer is what the verdict says, and a text may be one of a row.
        parts = [m for m in self._parts.values() if not isinstance(evidence.values.get(m), str)]
        return (*parts, self._rows)

    def observed_values(self, judgement: Judgement) -> Mapping[str, Any]:
        return dict.fromkeys(metric.key for metric in self._parts.values())

    def judge(self, evidence: Evidence) -> Judgement:
        answer: bool | None = evidence[self._answer]
        rows = evidence[self._rows]
        if not rows and answer is None:
            return Judgement.of_no_rows()
        values = self._values(evidence)
        status, verdict = self._verdict(values, answer=answer)
        over = "" if rows else " over no rows"
        return Judgement(
            status,
            f"'{shortened(self.expectation)}' {verdict}{over}{_listed(values)}.",
            observed=values if len(self._parts) > 1 else next(iter(values.values()), None),
            expected=shortened(self.expectation),
            rows=rows,
        )

    def demand(self) -> str:
        return f"The rows together meet: {self.expectation}."

    def _verdict(self, values: Mapping[str, Any], *, answer: bool | None) -> tuple[Status, str]:
        if answer is None:
            passes = self.null_is == "pass"
            word = "passes" if passes else "fails"
            return Status.OK if passes else Status.ERROR, f"is unknown (NULL), which {word}"
        if not answer:
            return Status.ERROR, "does not hold"
        if any(map(is_nan, values.values())) and not handles_nan(self.expectation):
            return Status.ERROR, "is not to be trusted, as an aggregate is NaN (not a number)"
        return Status.OK, "holds"

    def _values(self, evidence: Evidence) -> dict[str, Any]:
        """The aggregates' values by their text, without any that could not be measured."""
        found = {text: evidence.values.get(metric) for text, metric in self._parts.items()}
        return {
            text: in_zone(value, evidence.zone)
            for text, value in found.items()
            if not isinstance(value, RuleFailure)
        }

    @property
    def _answer(self) -> SqlCondition:
        return SqlCondition(self.expectation, where=self.where)

    @property
    def _parts(self) -> dict[str, SqlAggregate]:
        calls = aggregate_calls(self.expectation)
        return {call.text: SqlAggregate(call.text, where=self.where) for call in calls}

    @property
    def _rows(self) -> RecordCount:
        return RecordCount(where=self.where)


def _listed(values: Mapping[str, Any]) -> str:
    """The end of the sentence: each aggregate with its value."""
    if not values:
        return ""
    shown = [f"{shortened(text)} = {show(value)}" for text, value in values.items()][:_MOST_SHOWN]
    if len(values) > _MOST_SHOWN:
        shown.append(f"and {len(values) - _MOST_SHOWN:,} more aggregates")
    return f": {', '.join(shown)}"
