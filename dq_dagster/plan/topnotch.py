"""What a TopNotch plan says, as plain data: views, diffs and assertions, in their order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

from dq_dagster.rules.types.expectations import RowExpectation
from dq_dagster.sql.expressions import columns_used

# The column that says why a row is invalid.
REASON = "__REASON_INVALID__"
# A number as the file has it.
Figure: TypeAlias = int | float | Decimal


@dataclass(frozen=True, slots=True)
class PlanInput:
    """Rows that a command reads: of an earlier command, or of files.

    ``ref`` is what the plan calls them. ``command`` is the key of the earlier command; files lie at
    ``path``, and are Parquet unless there is a delimiter.
    """

    ref: str
    command: str | None = None
    path: str = ""
    delimiter: str | None = None


@dataclass(frozen=True, slots=True)
class SampleWindow:
    """Which rows belong to an invalid one: those with the same values, and their order."""

    same: tuple[str, ...]
    order: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Assertion:
    """A condition on rows, as a rule, and what its report has beside the counts."""

    rule: RowExpectation
    description: str
    threshold: Figure
    features: Mapping[str, str] = field(default_factory=dict)
    summary: Mapping[str, str] = field(default_factory=dict)
    window: SampleWindow | None = None

    @property
    def query(self) -> str:
        return self.rule.expectation

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that samples of invalid rows show, if the rows have them."""
        window = () if self.window is None else (*self.window.same, *self.window.order)
        return (*window, *columns_used(self.query), *self.features)


@dataclass(frozen=True, slots=True)
class PlanCommand(ABC):
    """What all commands have: a key for later ones, and where their rows are stored.

    ``declared`` is the command as its files have it, ``place`` where it stands.
    """

    key: str
    declared: Mapping[str, Any]
    place: str
    output_path: str | None = None
    cache: bool = False

    @property
    @abstractmethod
    def inputs(self) -> tuple[PlanInput, ...]:
        """The rows that it reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewCommand(PlanCommand):
    """A query over its inputs, each under the name of its alias."""

    sources: tuple[PlanInput, ...]
    aliases: tuple[str, ...]
    query: str

    @property
    def inputs(self) -> tuple[PlanInput, ...]:
        return self.sources


@dataclass(frozen=True, slots=True)
class DiffSide:
    """One side of a diff: its rows, what they are called, and the columns that matter."""

    source: PlanInput
    name: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]

    def named(self, column: str) -> str:
        """What a column of this side is called beside those of the other."""
        return f"{self.name}_{column}".replace(".", "_")


@dataclass(frozen=True, slots=True)
class ColumnPair:
    """Two columns that are compared, as they are called in the rows of a diff."""

    left: str
    right: str
    tolerance: Figure

    @property
    def minus(self) -> str:
        return f"{self.left}__minus__{self.right}"

    @property
    def equals(self) -> str:
        return f"{self.left}__equals__{self.right}"

    @property
    def names(self) -> tuple[str, ...]:
        return (self.left, self.right, self.minus, self.equals)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffCommand(PlanCommand):
    """Two inputs side by side; numbers are equal that differ by at most their tolerance."""

    left: DiffSide
    right: DiffSide
    tolerances: tuple[Figure, ...]
    only_differences: bool = False

    @property
    def inputs(self) -> tuple[PlanInput, ...]:
        return (self.left.source, self.right.source)

    @property
    def pairs(self) -> tuple[ColumnPair, ...]:
        compared = zip(self.left.columns, self.right.columns, self.tolerances, strict=True)
        return tuple(
            ColumnPair(self.left.named(one), self.right.named(other), tolerance)
            for one, other, tolerance in compared
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that its rows may have."""
        keys = [side.named(key) for side in (self.left, self.right) for key in side.keys]
        return (*keys, *(name for pair in self.pairs for name in pair.names))


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionCommand(PlanCommand):
    """Assertions on one input; its rows are those that break any of them, with the reasons."""

    source: PlanInput
    assertions: tuple[Assertion, ...]

    @property
    def inputs(self) -> tuple[PlanInput, ...]:
        return (self.source,)

    @property
    def features(self) -> dict[str, str]:
        """The columns that its assertions add to the rows, by name."""
        return {name: sql for one in self.assertions for name, sql in one.features.items()}


def needed_features(commands: Sequence[AssertionCommand]) -> dict[str, str]:
    """Those that conditions are about: the others only show something of invalid rows."""
    every = {name: sql for one in commands for name, sql in one.features.items()}
    used = {
        name.lower()
        for command in commands
        for one in command.assertions
        for name in columns_used(one.query)
    }
    return {name: sql for name, sql in every.items() if name.lower() in used}


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan that was read, with all of its nested plans.

    ``notes`` say what it asks for that is not done here.
    """

    name: str
    commands: tuple[PlanCommand, ...]
    notes: tuple[str, ...] = ()
