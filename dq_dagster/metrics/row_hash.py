"""What tells whether two sets of rows are the same, without comparing them row by row.

Each row has two hashes of 64 bits, and those of all rows are added up. A sum does not depend on
the order of rows, and counts each of them as often as it occurs (which a XOR would not: two equal
rows would vanish in it). Sums of the same 128 bits, of as many rows, are sums of the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from dq_dagster.metrics.conditions import in_key
from dq_dagster.metrics.metric import RowMetric
from dq_dagster.metrics.states import State

_RANGE = 1 << 64


@dataclass(frozen=True, slots=True)
class HashSum(State):
    """How many rows there were, and the sums of their two hashes."""

    count: int
    first: int
    second: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", self.first % _RANGE)
        object.__setattr__(self, "second", self.second % _RANGE)

    def merge(self, other: Self) -> Self:
        return type(self)(
            self.count + other.count, self.first + other.first, self.second + other.second
        )

    @property
    def text(self) -> str:
        """The 128 bits in 32 digits."""
        return f"{self.first:016x}{self.second:016x}"


@dataclass(frozen=True, slots=True)
class RowHash(RowMetric):
    """The hash of all rows together, of some columns in that order."""

    of: tuple[str, ...]
    kept_as = HashSum
    slots = 8

    @property
    def name(self) -> str:
        return f"row_hash:{','.join(in_key(column) for column in self.of)}"

    @property
    def columns(self) -> tuple[str, ...]:
        return self._with_filter(*self.of)

    def value(self, state: HashSum) -> str:
        return state.text
