"""Where the data comes from: all of it, or only some partitions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from dq_dagster.evaluation.dataset import Dataset
from dq_dagster.rules.rule import Rule
from dq_dagster.spark.surroundings import Surroundings


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
        return Dataset.of(
            data, self.rules, partition_by=self.partition_by, now=self.now, around=self.around
        )
