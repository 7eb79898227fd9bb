"""Statements about one row, as values.

A condition is true or false for a row, never unknown. The Spark layer turns each into one SQL
predicate; counting rows and splitting rows use the same one.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import ClassVar, Literal, TypeAlias

from dq_dagster.metrics.constant import Constant
from dq_dagster.metrics.meanings.meaning import Validity
from dq_dagster.sql.across_rows import across_rows_columns
from dq_dagster.sql.expressions import columns_used
from dq_dagster.sql.functions import reads_the_clock

# What follows a column's name in a key begins like this.
_AFTER_A_NAME = (" (", " where ")


def in_key(column: str, *, alone: bool = True) -> str:
    """The column's name, between backquotes where a key would be ambiguous without them.

    ``alone``: only options follow the name, which begin in a few known ways.
    """
    doubtful = any(start in column for start in _AFTER_A_NAME) if alone else " " in column
    return quoted(column) if doubtful or "`" in column else column


def quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


class PassKind(Enum):
    """The ways in which Spark answers metrics, in the order in which passes are made."""

    AGGREGATE = "one aggregation over the rows"
    LOOKUPS = "one join with reference values, then one aggregation"
    DIFFS = "one full outer join with another table by keys, then one aggregation"
    COUNT_VALUES = "one count of values, and of their counts"
    MEDIANS = "one count of values in bins, and of those in the middle ones"
    ACROSS_ROWS = "windows over the rows, then one aggregation"
    FILES = "one listing of the files with their sizes"
    QUERIES = "queries of users, one job each"
    OTHER_ASSETS = "passes over the data of other assets"
    PYTHON = "functions of Python, one call each"


@dataclass(frozen=True, slots=True)
class Condition(ABC):
    """A statement that is true or false for each row."""

    # The pass that counts the rows for which it is true.
    kind: ClassVar[PassKind] = PassKind.AGGREGATE
    compares_rows: ClassVar[bool] = False

    @property
    @abstractmethod
    def key(self) -> str:
        """A stable text that tells this condition from all others."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns it speaks of."""

    @property
    def unit(self) -> Hashable:
        """What is looked up only once for all conditions that share it."""
        return self

    @property
    def from_user(self) -> bool:
        """Whether it holds SQL or a pattern from users, which may raise on dirty data."""
        return False

    @property
    def lasting(self) -> bool:
        """Whether its answer depends on nothing but the row: neither on time nor on other data."""
        return True

    @property
    def spans_partitions(self) -> bool:
        """Whether a row is compared with those of all partitions, not of its own alone."""
        return False


@dataclass(frozen=True, slots=True)
class ValueCondition(Condition):
    """A statement about the value of one column; false where that value is empty."""

    column: str
    blank_is_empty: bool

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def _key(self, name: str, *details: object) -> str:
        column = in_key(self.column, alone=not details)
        words = [f"{name}:{column}", *(str(detail) for detail in details)]
        if self.blank_is_empty:
            words.append("(blank is empty)")
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class IsEmpty(ValueCondition):
    """The column has no value: NULL, or a blank string where those count as empty."""

    @property
    def key(self) -> str:
        return self._key("empty")


@dataclass(frozen=True, slots=True)
class HasValue(ValueCondition):
    """The column has a value."""

    @property
    def key(self) -> str:
        return self._key("value")


@dataclass(frozen=True, slots=True)
class SetMembership(ValueCondition):
    """The column's value is (or is not) one of the given ones."""

    values: tuple[Constant, ...]
    member: bool
    ignore_case: bool = False

    @property
    def key(self) -> str:
        listed = ", ".join(value.key for value in self.values)
        name = "in_set" if self.member else "not_in_set"
        case = ("(ignoring case)",) if self.ignore_case else ()
        return self._key(name, f"[{listed}]", *case)


@dataclass(frozen=True, slots=True)
class Outside(ValueCondition):
    """The column's value lies below ``low``, above ``high``, or is not a number at all (NaN).

    So does a value at a bound that is exclusive.
    """

    low: Constant | None
    high: Constant | None
    of: Literal["value", "length"] = "value"
    low_is_outside: bool = False
    high_is_outside: bool = False

    @property
    def key(self) -> str:
        low = "" if self.low is None else self.low.key
        high = "" if self.high is None else self.high.key
        name = "outside" if self.of == "value" else "length_outside"
        start, end = "(" if self.low_is_outside else "[", ")" if self.high_is_outside else "]"
        return self._key(name, f"{start}{low}..{high}{end}")


@dataclass(frozen=True, slots=True)
class PatternMatch(ValueCondition):
    """The column's text matches (or does not match) a regular expression."""

    pattern: str
    whole: bool
    matches: bool

    @property
    def key(self) -> str:
        name = "match" if self.matches else "not_match"
        return self._key(name, "whole" if self.whole else "part", repr(self.pattern))

    @property
    def from_user(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class NotValid(ValueCondition):
    """The column's value is invalid for a meaning; so is an empty one unless ``empty_is_valid``."""

    meaning: Validity
    empty_is_valid: bool

    @property
    def key(self) -> str:
        empty = ("(empty is valid)",) if self.empty_is_valid else ()
        return self._key("not_valid", self.meaning.key, *empty)

    @property
    def from_user(self) -> bool:
        return self.meaning.from_user


@dataclass(frozen=True, slots=True)
class ValueSql(ValueCondition):
    """An SQL predicate about the column's value, which it calls ``{value}``.

    Made for rules in plugins: ``ValueSql(column, blank, "weekday({value}) > 4", types=("date",))``
    is true for the days of a weekend. Where the predicate is unknown (NULL) it is false. With
    ``types``, a column of any other type is an Error that says so.
    """

    sql: str
    types: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        types = (f"(of {', '.join(self.types)})",) if self.types else ()
        return self._key("sql", self.sql, *types)

    @property
    def lasting(self) -> bool:
        return not reads_the_clock(self.sql)


@dataclass(frozen=True, slots=True)
class InLastWhile(ValueCondition):
    """The column's time lies after now less ``seconds``, and not after now."""

    seconds: Decimal

    @property
    def key(self) -> str:
        return self._key("in_last_seconds", self.seconds)

    @property
    def lasting(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class RowBreaks(Condition):
    """A row predicate in SQL does not hold; ``null_breaks`` says what an unknown answer means."""

    sql: str
    null_breaks: bool

    @property
    def key(self) -> str:
        return f"breaks:{self.sql}" + ("" if self.null_breaks else " (null passes)")

    @property
    def columns(self) -> tuple[str, ...]:
        return columns_used(self.sql)

    @property
    def from_user(self) -> bool:
        return True

    @property
    def lasting(self) -> bool:
        return not reads_the_clock(self.sql)


@dataclass(frozen=True, slots=True)
class BreaksAcrossRows(RowBreaks):
    """The same for a predicate that looks at other rows, by windows, or at tables, by subqueries.

    The other rows are those that pass ``where``; with ``whole``, those of all partitions.
    """

    where: str | None
    whole: bool = False
    kind: ClassVar[PassKind] = PassKind.ACROSS_ROWS
    compares_rows: ClassVar[bool] = True

    @property
    def key(self) -> str:
        passes = "" if self.null_breaks else " (null passes)"
        return f"breaks_across_rows:{self.sql}{passes}"

    @property
    def columns(self) -> tuple[str, ...]:
        return across_rows_columns(self.sql)

    @property
    def lasting(self) -> bool:
        return False

    @property
    def spans_partitions(self) -> bool:
        return self.whole

    @property
    def flag(self) -> str:
        """The column that says whether a row is one of them; no table has it by chance."""
        return f"dq_breaks_{hashlib.sha256(repr(self).encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class Marked(Condition):
    """The row was found at fault when it was written: its target says so at that place."""

    place: int

    @property
    def key(self) -> str:
        return f"marked:{self.place}"

    @property
    def columns(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class KeptOut(Condition):
    """The row does not reach the table."""

    @property
    def key(self) -> str:
        return "kept_out"

    @property
    def columns(self) -> tuple[str, ...]:
        return ()


Severity: TypeAlias = Literal["error", "warning"]
Action: TypeAlias = Literal["ignore", "drop", "fail"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What makes a row bad in the eyes of a rule: a condition, among the rows that pass ``where``.

    ``severity`` says whether it is beyond a hard or only a soft bound, ``action`` what becomes of
    the row in flight; what is only beyond a soft bound is kept. Counting such rows and keeping them
    apart use the one SQL text that a fault has.
    """

    condition: Condition
    where: str | None = None
    severity: Severity = "error"
    action: Action = "ignore"

    @property
    def keeps_out(self) -> bool:
        """Whether a row with this fault is not a good one."""
        return self.action != "ignore"

    @property
    def drops(self) -> bool:
        """Whether a row with this fault is left out of what is published.

        If a rule with ``fail`` lets anything be published, then it tolerates the row.
        """
        return self.action == "drop"

    @property
    def lasting(self) -> bool:
        """Whether it can be found again in the stored row: it depends on nothing else."""
        return self.condition.lasting and not reads_the_clock(self.where)


@dataclass(frozen=True, slots=True)
class Sample:
    """What some rows with a fault have in its columns, as text, and how many rows those are.

    None stands for NULL. ``quoted`` says of which columns it is a text that is shown.
    """

    columns: tuple[str, ...]
    values: tuple[str | None, ...]
    rows: int
    quoted: tuple[bool, ...] = ()

    def words(self, *, named: bool) -> str:
        """Such as ``'XX' (12)``; with the names of columns, ``country='XX' (12)``."""
        shown = [
            f"{column}={text}" if named else text
            for column, text in zip(self.columns, self.texts(), strict=True)
        ]
        values = shown[0] if len(shown) == 1 else f"({', '.join(shown)})"
        return f"{values} ({self.rows:,})"

    def texts(self) -> list[str]:
        """The values as people see them: what a terminal would take for a command is escaped."""
        quoted = self.quoted or (True,) * len(self.values)
        return [
            "NULL" if text is None else repr(text) if quote else repr(text)[1:-1]
            for text, quote in zip(self.values, quoted, strict=True)
        ]


def sample_words(samples: Sequence[Sample]) -> str:
    """The samples of one rule in a line; columns are named where there are several."""
    named = len({sample.columns for sample in samples}) > 1 or any(
        len(sample.columns) > 1 for sample in samples
    )
    return ", ".join(sample.words(named=named) for sample in samples)
