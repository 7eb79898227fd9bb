"""Rules about values in, or not in, a given set."""

from __future__ import annotations

from typing import Literal

from dq_dagster.judging.wording import are, listing, plural
from dq_dagster.metrics.conditions import SetMembership
from dq_dagster.metrics.constant import Constant
from dq_dagster.rules.column_value_rule import ColumnValueRule
from dq_dagster.rules.fields import SetValues


class _SetRule(ColumnValueRule):
    values: SetValues
    """The values to compare with, in the column's own type."""
    ignore_case: bool = False
    """Whether upper and lower case are the same."""

    def _membership(self, column: str, *, member: bool) -> SetMembership:
        constants = tuple(dict.fromkeys(Constant.of(value) for value in self.values))
        return SetMembership(
            column, self.blank_is_empty, constants, member=member, ignore_case=self.ignore_case
        )


class ColumnValuesInSet(_SetRule):
    """Every value of each column is one of ``values``.

    Observed: the number of other values.

    Example::

        - type: column_values_in_set
          columns: [country]
          values: [DE, FR, NO]  # NO is a text here, as YAML 1.2 says
    """

    type: Literal["column_values_in_set"] = "column_values_in_set"

    def bad_value(self, column: str) -> SetMembership:
        return self._membership(column, member=False)

    def fault(self, bad: int) -> str:
        return f"{are(bad)} not in the set of {plural(len(self.values), 'value')}"

    def demand(self) -> str:
        allowed = listing(self.values, most=8)
        return f"Every value of {listing(self.columns)} is one of {allowed}{self.leniency()}."


class ColumnValuesNotInSet(_SetRule):
    """No value of any of the columns is one of ``values``.

    Observed: the number of values that are.

    Example::

        - type: column_values_not_in_set
          columns: [customer]
          values: [test, demo]
          ignore_case: true
    """

    type: Literal["column_values_not_in_set"] = "column_values_not_in_set"

    def bad_value(self, column: str) -> SetMembership:
        return self._membership(column, member=True)

    def fault(self, bad: int) -> str:
        return f"{are(bad)} in the set of {plural(len(self.values), 'forbidden value')}"

    def demand(self) -> str:
        forbidden = listing(self.values, most=8)
        return f"No value of {listing(self.columns)} is one of {forbidden}{self.leniency()}."
