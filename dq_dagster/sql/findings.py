"""What reading an expression brings to light."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum

from dq_dagster.sql.aggregate_call import AggregateCall
from dq_dagster.sql.limits import MAX_AGGREGATES, MAX_REFUSALS
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.tokens import Refused


class Place(Enum):
    """What the names at some place of an expression stand for."""

    ROW = "the values of one row, in a condition on rows"
    DATASET = "nothing: all rows together have no values but aggregates"
    AGGREGATE = "the values of one row, within an aggregate"


class Findings:
    """The columns and aggregates an expression uses, and what is wrong with it."""

    def __init__(self, place: Place = Place.ROW) -> None:
        self.place = place
        self.columns: dict[str, None] = {}
        #: The columns that stand outside every aggregate of an expression about the dataset.
        self.loose: dict[str, None] = {}
        self.calls: list[AggregateCall] = []
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
        if self.place is Place.DATASET:
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
