"""Rules about regular expressions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from dq_dagster.judging.wording import do, listing
from dq_dagster.metrics.conditions import PatternMatch
from dq_dagster.rules.column_value_rule import ColumnValueRule
from dq_dagster.rules.regex import require_java_syntax


class _PatternRule(ColumnValueRule):
    pattern: Annotated[str, Field(min_length=1), AfterValidator(require_java_syntax)]
    """A regular expression in Java's syntax, the one Spark uses."""
    match: Literal["full", "search"] = "full"
    """Whether the whole value has to match, or a part of it."""

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
