"""Rules about the most frequent values of a column."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Literal

from pydantic import Field

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement, Status
from dq_dagster.judging.wording import are, listing, plural
from dq_dagster.metrics.constant import Constant
from dq_dagster.metrics.frequency import (
    FREQUENCY_ERROR,
    GroupedRows,
    Grouping,
    Level,
    Members,
    TopEstimate,
    TopLevels,
)
from dq_dagster.metrics.metric import Metric
from dq_dagster.rules.base.column_rules import ColumnRule
from dq_dagster.rules.base.rule import RuleFamily
from dq_dagster.rules.fields.constraints import SetValues


class _FrequentValuesRule(ColumnRule):
    """The values that fill the first places, all tied ones included, are in a set."""

    values: SetValues
    """The values to compare with, in the column's own type."""
    ignore_case: bool = False
    """Whether upper and lower case are the same."""
    ties: Literal["all", "any"] = "all"
    """Which of equally frequent values that compete for the last place must be among ``values``:
    ``all`` of them, or so many as there are places (``any``)."""
    approximate: bool = False
    """Whether a sketch may answer: in the shared pass, hence cheaper, but it tells values apart
    only where their frequencies differ by more than 0.02 % of the rows."""

    family = RuleFamily.FREQUENCIES

    @property
    @abstractmethod
    def places(self) -> int:
        """How many of the most frequent values are judged."""

    @abstractmethod
    def subject(self) -> str:
        """What is judged, as the beginning of a sentence."""

    def column_metrics(self, column: str) -> tuple[Metric, ...]:
        return self._metrics_of(column)

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        levels, rows = evidence.each(self._metrics_of(column))
        if not rows:
            return Judgement.of_no_values(column)
        outside = sum(level.values - level.inside[self._members] for level in levels)
        candidates = sum(level.values for level in levels)
        return Judgement(
            Status.ERROR if outside and not self._some_choice_fits(levels) else Status.OK,
            f"{self._sentence(column, candidates, outside)}{self._tie(levels)}{self._error()}",
            observed=_examples(levels),
            rows=rows,
            details={"approximate": FREQUENCY_ERROR} if self.approximate else {},
        )

    def demand(self) -> str:
        allowed = listing(self.values, most=8)
        tied = "" if self.ties == "all" else " (of values that tie, as many as there are places)"
        return f"{self.subject()} of {listing(self.columns)} {are(self.places)} in {allowed}{tied}."

    def _sentence(self, column: str, candidates: int, outside: int) -> str:
        members = f"in the set of {plural(len(self.values), 'value')}"
        frequent = plural(candidates, "most frequent value").removeprefix("1 ")
        if outside in {0, candidates}:
            return (
                f"The {frequent} of '{column}' {are(candidates)} {'not ' * bool(outside)}{members}."
            )
        return f"{outside:,} of the {frequent} of '{column}' {are(outside)} not {members}."

    def _some_choice_fits(self, levels: tuple[Level, ...]) -> bool:
        """Whether the tied values leave a choice in which all places are taken by members."""
        *full, last = levels
        places = self.places - sum(level.values for level in full)
        surely_outside = any(level.values > level.inside[self._members] for level in full)
        fitting = last.inside[self._members] >= min(places, last.values)
        return self.ties == "any" and not surely_outside and fitting

    def _tie(self, levels: tuple[Level, ...]) -> str:
        """Says so if equally frequent values compete for the last place."""
        before = sum(level.values for level in levels[:-1])
        last = levels[-1].values
        if before + last <= self.places:
            return ""
        tie = f"{last:,} of them tie for {plural(self.places - before, 'place')}"
        if self.ties == "all":
            return f" {tie}."
        inside = levels[-1].inside[self._members]
        return f" {tie}, and {inside:,} of those {are(inside)} in the set."

    def _error(self) -> str:
        within = f"{FREQUENCY_ERROR:.2%} of the rows"
        return f" Approximate: frequencies are right within {within}." if self.approximate else ""

    def _metrics_of(self, column: str) -> tuple[Metric, Metric]:
        grouping = Grouping((column,), self.blank_is_empty, self.where)
        if self.approximate:
            top = TopEstimate(grouping, self.places, self._members, where=self.where)
            return top, self.values_in(column)
        return (
            TopLevels(grouping, self.places, self._members, where=self.where),
            GroupedRows(grouping, where=self.where),
        )

    @property
    def _members(self) -> Members:
        constants = dict.fromkeys(Constant.of(value) for value in self.values)
        return Members(tuple(constants), self.ignore_case)


class ColumnTopValuesInSet(_FrequentValuesRule):
    """The ``top`` most frequent values of each column are all among ``values``.

    Values that are equally frequent are all considered, so the answer never depends on the order
    of rows; with ``ties: any`` it is enough if some choice among them fits.

    Observed: the most frequent values.

    Example::

        - type: column_top_values_in_set
          columns: [country]
          top: 2
          values: [DE, FR, NO]
    """

    type: Literal["column_top_values_in_set"] = "column_top_values_in_set"
    top: Annotated[int, Field(ge=1, le=99)]
    """How many of the most frequent values are judged: 1 to 99."""

    @property
    def places(self) -> int:
        return self.top

    def subject(self) -> str:
        return f"The {plural(self.top, 'most frequent value')}"


class ColumnMostFrequentInSet(_FrequentValuesRule):
    """The most frequent value of each column is among ``values``.

    Of several values that tie, all must be; with ``ties: any`` one of them.

    Observed: the most frequent values.

    Example::

        - type: column_most_frequent_in_set
          columns: [status]
          values: [shipped]
    """

    type: Literal["column_most_frequent_in_set"] = "column_most_frequent_in_set"

    @property
    def places(self) -> int:
        return 1

    def subject(self) -> str:
        return "The most frequent value"


def _examples(levels: tuple[Level, ...]) -> list[object]:
    """The values themselves, where they are few enough to be known."""
    return [value for level in levels if level.values <= 2 for value in level.examples]
