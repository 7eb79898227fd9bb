"""What reading an expression brings to light."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from dq_dagster.sql.functions import BULKY, Role
from dq_dagster.sql.keywords import QUERY_STARTS
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.tokens import Cursor, Refused

if TYPE_CHECKING:
    from dq_dagster.sql.window_calls import WindowCall


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument as it was written, and what it is."""

    text: str
    role: Role

    def sql(self, condition: str | None) -> str:
        if condition is None or self.role is not Role.VALUE:
            return self.text
        return f"if({condition}, {self.text}, NULL)"


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """A call: where it stands in the expression, and what it is made of.

    Rows are left out by making the aggregated values NULL, which every aggregate leaves out. The
    words ``FILTER (WHERE ...)`` would not do: Spark computes what several aggregates share before
    their filters, so that a filter does not keep a division by zero from raising.
    """

    text: str
    start: int
    function: str
    arguments: tuple[Argument, ...]
    distinct: bool = False
    condition: str | None = None
    # What the values are put in order by, where an order is written, and its direction.
    order: Argument | None = None
    direction: str = ""

    @property
    def stop(self) -> int:
        return self.start + len(self.text)

    def sql(self, where: str | None) -> str:
        """The call over the rows that pass ``where``, and its own filter if it has one."""
        condition = _both(where, self.condition)
        listed = ", ".join(argument.sql(condition) for argument in self.arguments)
        called = f"{self.function}({'DISTINCT ' if self.distinct else ''}{listed})"
        if self.order is None:
            return called
        return f"{called} WITHIN GROUP (ORDER BY {self.order.sql(condition)}{self.direction})"

    def distinct_values(self, where: str | None) -> str | None:
        """What is made distinct before it is aggregated, if anything is."""
        condition = _both(where, self.condition)
        values = ", ".join(argument.sql(condition) for argument in self.arguments)
        return values if self.distinct else None

    @property
    def is_bulky(self) -> bool:
        return self.function in BULKY


def _both(where: str | None, condition: str | None) -> str | None:
    """Rows that do not pass the first do not even come to the second."""
    if where is None or condition is None:
        only = where if condition is None else condition
        return None if only is None else f"({only})"
    return f"if(({where}), ({condition}), false)"


MAX_LENGTH = 10_000
#: Brackets, calls, CASEs and lambdas within each other; reading them is recursive.
MAX_NESTING = 40
#: Operators on top of each other. Spark walks its tree by recursion and gives up, or crashes,
#: somewhere above a thousand.
MAX_HEIGHT = 200
#: Digits of an argument that sets the size of a result.
MAX_DIGITS = 4
#: Each aggregate takes memory for every row that is read, and a place in the message.
MAX_AGGREGATES = 50
#: A text with more faults than this is not a rule with a few mistakes; the rest would add nothing.
MAX_REFUSALS = 10


def bounded(height: int) -> int:
    """The height itself, unless Spark could not stand it."""
    if height > MAX_HEIGHT:
        raise Refused(Refusal.too_deep(MAX_HEIGHT))
    return height


class Place(Enum):
    """What the names at some place of an expression stand for."""

    ROW = "the values of one row, in a condition on rows"
    DATASET = "nothing: all rows together have no values but aggregates"
    AGGREGATE = "the values of one row, within an aggregate"
    QUERY = "nothing: values come from subqueries alone"
    ACROSS_ROWS = "the values of one row, beside those of windows and subqueries"


@dataclass(frozen=True, slots=True)
class Subquery:
    """A query between brackets, and whether it stands for a value: not after IN or EXISTS."""

    text: str
    start: int
    is_value: bool

    @property
    def stop(self) -> int:
        return self.start + len(self.text)


class Findings:
    """The columns and aggregates an expression uses, and what is wrong with it."""

    def __init__(self, place: Place = Place.ROW) -> None:
        self.place = place
        self.columns: dict[str, None] = {}
        #: The columns that stand outside every aggregate of an expression about the dataset, or
        #: outside every subquery.
        self.loose: dict[str, None] = {}
        self.calls: list[AggregateCall] = []
        self.subqueries: list[Subquery] = []
        self.windows: list[WindowCall] = []
        self.functions: set[str] = set()
        self.refusals: dict[Refusal, None] = {}
        self._variables: list[str] = []

    def refuse(self, refusal: Refusal) -> None:
        """Notes a fault that does not keep the rest from being read."""
        self.refusals[refusal] = None
        if len(self.refusals) >= MAX_REFUSALS:
            raise Refused(refusal)

    def use(self, column: str) -> None:
        """Notes a column that the expression names."""
        self.columns[column] = None
        if self.place in {Place.DATASET, Place.QUERY}:
            self.loose[column] = None

    def call(self, call: AggregateCall) -> None:
        """Notes an aggregate of the dataset."""
        self.calls.append(call)
        if len(self.calls) > MAX_AGGREGATES:
            raise Refused(Refusal.too_many_aggregates(MAX_AGGREGATES))

    @property
    def in_lambda(self) -> bool:
        return bool(self._variables)

    def is_variable(self, name: str) -> bool:
        """Whether the name belongs to a lambda around this place."""
        return name.lower() in self._variables

    @contextmanager
    def variables(self, names: Sequence[str]) -> Iterator[None]:
        """Within it, these names are variables of a lambda, not columns."""
        # Lower case, because Spark finds them regardless of case.
        self._variables.extend(name.lower() for name in names)
        yield
        del self._variables[len(self._variables) - len(names) :]

    @contextmanager
    def aggregate(self) -> Iterator[None]:
        """Within it, names are those of an aggregate's rows."""
        around, self.place = self.place, Place.AGGREGATE
        yield
        self.place = around


def take_subquery(cursor: Cursor, findings: Findings, *, is_value: bool) -> bool:
    """Moves over the bracket at the cursor if it holds a query, which most places refuse."""
    opening = cursor.peek()
    if opening.key != "(" or cursor.peek(1).key not in QUERY_STARTS:
        return False
    follows_in = cursor.peek(-1).key == "in"
    cursor.skip_bracket()
    text = cursor.since(opening)
    if findings.place in {Place.QUERY, Place.ACROSS_ROWS}:
        findings.subqueries.append(Subquery(text, opening.start, is_value and not follows_in))
    else:
        findings.refuse(Refusal.subquery(text))
    return True
