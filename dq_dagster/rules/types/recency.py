"""Rules about how new the data is."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Literal

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.ranges import duration
from dq_dagster.judging.wording import listing
from dq_dagster.metrics.conditions import InLastWhile, in_key
from dq_dagster.metrics.metric import ColumnNewest, Metric, named_key
from dq_dagster.rules.base.column_rules import ColumnRule
from dq_dagster.rules.base.rule import RuleFamily
from dq_dagster.rules.fields.constraints import QualityDimension
from dq_dagster.rules.fields.ranges import DurationRange, NumberRange, Window, seconds

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Freshness(DurationRange, ColumnRule):
    """The newest time of each column is of an age within the range.

    The age is counted from the time of the evaluation. Bounds are lengths of time: ``2 hours``,
    ``90 min``, ``1d 12h``, ``PT2H``, or a number of seconds. A time to come has a negative age. A
    date means its midnight, a timestamp without zone its wall clock, both in the session's zone.

    Observed: the age of the newest value in seconds; empties are left out.

    Example::

        - type: freshness
          columns: [ordered_at]
          soft_max: 1 day
          max: 3 days
    """

    type: Literal["freshness"] = "freshness"
    quality_dimension: QualityDimension = "timeliness"
    """Which quality the rule speaks of."""

    family = RuleFamily.TIME

    def column_metrics(self, column: str) -> tuple[Metric, ...]:
        return (self._newest(column), self.values_in(column))

    def observed_key(self, label: str = "") -> str:
        return named_key(f"age:{in_key(label)}", self.where)

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        newest = evidence[self._newest(column)]
        if newest is None:
            return Judgement.of_no_values(column)
        age = Decimal(_micros(evidence.now, UTC) - _micros(newest, evidence.zone)) / 1_000_000
        rows = evidence[self.values_in(column)]
        judgement = self.expected.judge(age, what=f"The newest '{column}'", rows=rows)
        return replace(judgement, observed=int(age) if age == int(age) else float(age))

    def demand(self) -> str:
        return f"The age of the newest {listing(self.columns)} is {self.expectation()}."

    def _newest(self, column: str) -> ColumnNewest:
        return ColumnNewest(column, where=self.where)


class RowInsertedCountInRange(NumberRange, ColumnRule):
    """The number of rows whose time lies in the last ``window`` is within the range.

    Counted are the rows with a time after now less the window, up to and including now. A date
    means its midnight, a timestamp without zone its wall clock, both in the session's zone.

    Observed: the number of those rows; there may be none.

    Example::

        - type: row_inserted_count_in_range
          columns: [ordered_at]
          window: 1 day
          soft_min: 1
    """

    type: Literal["row_inserted_count_in_range"] = "row_inserted_count_in_range"
    window: Window
    """How far back from now: ``1 day``, ``90 min``, ``PT2H``, or a number of seconds."""
    quality_dimension: QualityDimension = "timeliness"
    """Which quality the rule speaks of."""

    family = RuleFamily.TIME
    observes_first_metric = True

    def column_metrics(self, column: str) -> tuple[Metric, ...]:
        return (self.count(self._inserted(column)), self.rows)

    def judge_column(self, column: str, evidence: Evidence) -> Judgement:
        found = evidence[self.count(self._inserted(column))]
        what = f"The number of rows with '{column}' in the last {self._shown}"
        return self.expected.judge(found, what=what, rows=evidence[self.rows])

    def demand(self) -> str:
        columns = listing(self.columns)
        words = self.expectation()
        return f"The number of rows with {columns} in the last {self._shown} is {words}."

    def _inserted(self, column: str) -> InLastWhile:
        return InLastWhile(column, blank_is_empty=False, seconds=Decimal(seconds(self.window)))

    @property
    def _shown(self) -> str:
        return duration(seconds(self.window))


def _micros(moment: date, zone: tzinfo) -> int:
    """Microseconds since 1970; unlike a conversion to UTC this holds for the years 1 and 9999."""
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    return (moment - _EPOCH) // _MICROSECOND
