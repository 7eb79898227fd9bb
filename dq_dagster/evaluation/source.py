"""Where the data comes from: all of it, or only some partitions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from dq_dagster.evaluation.dataset import Dataset
from dq_dagster.rules.rule import Rule
from dq_dagster.spark.divided import Divided
from dq_dagster.spark.frames import HIDDEN_KEY, as_spark
from dq_dagster.spark.slicing import require_possible
from dq_dagster.spark.surroundings import Surroundings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class Source:
    """Data, or a function that reads it for some partitions, or with None for all of them."""

    data: Any
    rules: Sequence[Rule]
    partition_by: str | None
    now: datetime
    around: Surroundings
    _opened: list[Dataset] = field(default_factory=list, repr=False)

    @property
    def whole(self) -> Dataset:
        """Everything; opened once, and only if it is asked for."""
        if not self._opened:
            self._opened.append(self._open(self.data(None) if callable(self.data) else self.data))
        return self._opened[0]

    def require_possible(self, partitions: Sequence[str]) -> None:
        """Refuses keys that no row can have: they would be judged as if they had no rows."""
        if partitions and self.partition_by is not None and not callable(self.data):
            require_possible(self.whole.table, self.partition_by, partitions)

    def only(self, partitions: Sequence[str]) -> Dataset:
        """The rows of these partitions; a function is not asked for any others."""
        if not callable(self.data):
            return self.whole.only(partitions)
        # Whatever a reader brings along: other rows do not belong here.
        return self._open(self.data(tuple(partitions))).only(partitions)

    @property
    def is_divided(self) -> bool:
        """Whether rows that belong to no partition come with the one they are stored in."""
        return callable(self.data)

    def beside(self, partitions: Sequence[str], others: Collection[str]) -> Dataset:
        """The rows of these partitions, and any that belong to none: all but those of others."""
        unread = [name for name in others if name not in set(partitions)]
        read = self._open(self.data(tuple(partitions))) if callable(self.data) else self.whole
        return read.except_for(unread)

    def _open(self, data: Any) -> Dataset:
        # What a rule refers to may lie in any partition, also in its own asset.
        around = replace(self.around, whole=self._all_rows)
        return Dataset.of(
            data, self.rules, partition_by=self.partition_by, now=self.now, around=around
        )

    def _all_rows(self) -> DataFrame:
        """Everything, with the columns that people know."""
        if callable(self.data) and not self._opened:
            data = self.data(None)
            frame = data.frame if isinstance(data, Divided) else as_spark(data)
        else:
            frame = self.whole.home
        return frame.drop(HIDDEN_KEY)
