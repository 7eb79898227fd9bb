"""How the rows of two tables are compared by their keys, and what came out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, TypeAlias

from dq_dagster.errors import Misfit
from dq_dagster.metrics.conditions import PassKind
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.sources import OtherDataset

Figure: TypeAlias = int | float | Decimal
Difference: TypeAlias = int | float | Decimal | timedelta


@dataclass(frozen=True, slots=True)
class Leeway:
    """By how much two values may differ and still count as equal: either is enough.

    ``absolute`` is in units of the column, of times in seconds; ``relative`` is a share of the
    larger of the two.
    """

    absolute: Figure | None = None
    relative: Figure | None = None

    def __bool__(self) -> bool:
        return self.absolute is not None or self.relative is not None


NO_LEEWAY = Leeway()


@dataclass(frozen=True, slots=True)
class RowComparison:
    """Which columns tell rows apart, which are compared, and what counts as equal.

    Names are those of the left side; ``renamed`` has what some of them are called on the right.
    Without ``columns``, all that both sides have are compared, but for those in ``left_out``.
    ``leeways`` are by column, ``leeway`` is that of all other numbers. Where letters, or white
    space, do not matter, that is true of all texts, or of the columns that are named.
    """

    keys: tuple[str, ...]
    columns: tuple[str, ...] | None = None
    left_out: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    leeway: Leeway = NO_LEEWAY
    leeways: tuple[tuple[str, Leeway], ...] = ()
    ignores_case: bool | tuple[str, ...] = False
    ignores_whitespace: bool | tuple[str, ...] = False

    def there(self, column: str) -> str:
        """What a column of the left side is called on the right."""
        return dict(self.renamed).get(column, column)

    @property
    def named(self) -> tuple[str, ...]:
        """Every column of the left side that is named anywhere: all of them have to be there."""
        texts = [
            names
            for names in (self.ignores_case, self.ignores_whitespace)
            if isinstance(names, tuple)
        ]
        some = (self.columns or (), dict(self.renamed), dict(self.leeways), *texts)
        return tuple(dict.fromkeys([*self.keys, *(name for names in some for name in names)]))


@dataclass(frozen=True, slots=True)
class ColumnChanges:
    """How a column differs between rows of the same key.

    ``emptied`` rows have a value on the left only, ``filled`` ones on the right only. ``largest``
    is the largest difference between two numbers or times; infinite if one of them was.
    """

    name: str
    other: str
    changed: int
    emptied: int = 0
    filled: int = 0
    largest: Difference | None = None

    @property
    def null_changes(self) -> int:
        return self.emptied + self.filled


@dataclass(frozen=True, slots=True)
class SideRows:
    """The rows of one side, and those that its keys do not tell apart.

    ``without_key`` rows have no value in one of the keys; ``repeated`` keys occur more than once.
    """

    rows: int = 0
    without_key: int = 0
    repeated: int = 0

    @property
    def is_doubtful(self) -> bool:
        """Whether the keys fail to tell some rows apart."""
        return bool(self.without_key or self.repeated)

    def require_keys(self, side: str, keys: Iterable[str]) -> None:
        """Raises Misfit unless each row has a key of its own."""
        if self.is_doubtful:
            raise Misfit.no_diff_key(side, list(keys), self.without_key, self.repeated)


@dataclass(frozen=True, slots=True)
class SchemaDifferences:
    """Columns that only one side has, and those whose types differ, with both types.

    What is ``not_compared`` has types whose values are never equal.
    """

    only_left: tuple[str, ...] = ()
    only_right: tuple[str, ...] = ()
    types: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    not_compared: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.only_left or self.only_right or self.types)

    def as_dict(self) -> dict[str, Any]:
        return {
            "only_left": list(self.only_left),
            "only_right": list(self.only_right),
            "types": {name: list(kinds) for name, kinds in self.types.items()},
            "not_compared": list(self.not_compared),
        }


@dataclass(frozen=True, slots=True)
class DiffCounts:
    """How many rows are on one side only, differ, or are the same on both."""

    left: SideRows = SideRows()
    right: SideRows = SideRows()
    only_left: int = 0
    only_right: int = 0
    changed: int = 0
    same: int = 0
    columns: tuple[ColumnChanges, ...] = ()
    schema: SchemaDifferences = field(default_factory=SchemaDifferences)

    @property
    def differing(self) -> int:
        return self.only_left + self.only_right + self.changed

    @property
    def matched(self) -> int:
        """How many keys are on both sides."""
        return self.changed + self.same

    def and_same(self, rows: int) -> DiffCounts:
        """With rows that are known to be the same on both sides."""
        return replace(
            self,
            left=replace(self.left, rows=self.left.rows + rows),
            right=replace(self.right, rows=self.right.rows + rows),
            same=self.same + rows,
        )


@dataclass(frozen=True, slots=True)
class TableDiffMetric(Metric):
    """The rows that differ between the data and another dataset.

    Keys of the whole may repeat that no partition repeats, so counts do not add up.
    ``partition_by`` is what gives the partition of a row of the other dataset; None where that is
    found as for the data itself.
    """

    comparison: RowComparison
    dataset: OtherDataset
    partition_by: str | None = None

    @property
    def name(self) -> str:
        return f"diff:{','.join(self.comparison.keys)} ({self.dataset.label})"

    @property
    def kind(self) -> PassKind:
        return PassKind.DIFFS

    @property
    def lasting(self) -> bool:
        return False
