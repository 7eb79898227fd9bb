"""A rule type of its own: a typed declaration, an SQL predicate, and a sentence."""

from __future__ import annotations

from typing import Literal

import dq_dagster as dq


class ColumnDatesOnWeekdays(dq.plugins.ColumnValueRule):
    """Every date of each column is a Monday to Friday, up to ``threshold``."""

    type: Literal["column_dates_on_weekdays"] = "column_dates_on_weekdays"
    saturday_counts: bool = False
    """Whether Saturday is a weekday too."""

    family = dq.plugins.RuleFamily.TIME

    def bad_value(self, column: str) -> dq.plugins.ValueSql:
        # Spark's weekday() is 0 on Monday and 6 on Sunday.
        last = 5 if self.saturday_counts else 4
        types = ("date", "timestamp", "timestamp_ntz")
        return dq.plugins.ValueSql(
            column, self.blank_is_empty, f"weekday({{value}}) > {last}", types
        )

    def fault(self, bad: int) -> str:
        return f"{'falls' if bad == 1 else 'fall'} on a weekend"

    def demand(self) -> str:
        names = dq.plugins.listing(self.columns)
        return f"Every date of {names} is a weekday{self.leniency()}."
