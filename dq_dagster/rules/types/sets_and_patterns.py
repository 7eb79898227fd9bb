"""Rules about sets of values, and about regular expressions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from dq_dagster.judging.wording import are, do, listing, plural
from dq_dagster.metrics.conditions import PatternMatch, SetMembership
from dq_dagster.metrics.constant import Constant
from dq_dagster.rules.base.column_rules import ColumnValueRule
from dq_dagster.rules.base.rule import RuleFamily
from dq_dagster.rules.fields.constraints import SetValues
from dq_dagster.rules.fields.regex import require_java_syntax


class _SetRule(ColumnValueRule):
    values: SetValues
    """The values to compare with, in the column's own type."""
    ignore_case: bool = False
    """Whether upper and lower case are the same."""

    family = RuleFamily.VALUES

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


class _PatternRule(ColumnValueRule):
    pattern: Annotated[str, Field(min_length=1), AfterValidator(require_java_syntax)]
    """A regular expression in Java's syntax, the one Spark uses."""
    match: Literal["full", "search"] = "full"
    """Whether the whole value has to match, or a part of it."""

    family = RuleFamily.VALUES

    def _condition(self, column: str, *, matches: bool) -> PatternMatch:
        return PatternMatch(
            column,
            self.blank_is_empty,
            self.pattern,
            whole=self.match == "full",
            matches=matches,
        )

    @property
    def _verb(self) -> str:
        return "match" if self.match == "full" else "contain"

    def _ending(self, count: int) -> str:
        if count != 1:
            return ""
        return "es" if self.match == "full" else "s"


class ColumnValuesMatch(_PatternRule):
    r"""Every value of each column matches the regular expression ``pattern``.

    Observed: the number of values that do not.

    Example::

        - type: column_values_match
          columns: [email]
          pattern: '[^@\s]+@[^@\s]+'
          threshold: {type: count, soft_max: 0, max: 3}
    """

    type: Literal["column_values_match"] = "column_values_match"

    def bad_value(self, column: str) -> PatternMatch:
        return self._condition(column, matches=False)

    def fault(self, bad: int) -> str:
        return f"{do(bad)} not {self._verb} '{self.pattern}'"

    def demand(self) -> str:
        return (
            f"The values of {listing(self.columns)} {self._verb} '{self.pattern}'{self.leniency()}."
        )


class ColumnValuesNotMatch(_PatternRule):
    r"""No value of any of the columns matches the regular expression ``pattern``.

    Observed: the number of values that do.

    Example::

        - type: column_values_not_match
          columns: [customer]
          pattern: '\d'
          match: search
    """

    type: Literal["column_values_not_match"] = "column_values_not_match"

    def bad_value(self, column: str) -> PatternMatch:
        return self._condition(column, matches=True)

    def fault(self, bad: int) -> str:
        return f"{self._verb}{self._ending(bad)} '{self.pattern}'"

    def demand(self) -> str:
        return (
            f"The values of {listing(self.columns)} do not {self._verb} "
            f"'{self.pattern}'{self.leniency()}."
        )
