"""Batches: one lazy frame, how its rows are divided, and the passes over it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import RuleFailure, Unmeasurable
from dq_dagster.evaluation.judge import Measurements
from dq_dagster.metrics.measured import BY_PARTITION, Measured, Slice
from dq_dagster.metrics.metric import Metric, RecordCount
from dq_dagster.plan.plan import Plan, make_plan
from dq_dagster.plan.request import CheckRequest
from dq_dagster.spark.frames.ansi import is_ansi, under_ansi
from dq_dagster.spark.frames.columns import JudgedTable, text_literal
from dq_dagster.spark.frames.divided import Divided
from dq_dagster.spark.frames.frames import HIDDEN_KEY, as_spark
from dq_dagster.spark.frames.other_datasets import OtherDatasets
from dq_dagster.spark.frames.reading import require_expression
from dq_dagster.spark.frames.schemas import outside_rows
from dq_dagster.spark.frames.slicing import Division
from dq_dagster.spark.frames.written_keys import require_possible
from dq_dagster.spark.passes.run import in_turn, run_group
from dq_dagster.spark.session.session import session_zone
from dq_dagster.spark.session.sizes import is_small

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class Batch:
    """A lazy frame, and how its rows are divided into partitions and groups."""

    frame: DataFrame
    table: JudgedTable
    division: Division
    # The rows in the session they came from; in the frame, what is computed is so under ANSI.
    home: DataFrame
    # Partitions that have other columns than the frame; those that have the same, together.
    others: Mapping[frozenset[str], Batch] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        data: Any,
        dimensions: Sequence[str],
        *,
        partition_by: str | None,
        now: datetime,
        around: OtherDatasets,
    ) -> Batch:
        if isinstance(data, Divided):
            opened = partial(
                cls.of, dimensions=dimensions, partition_by=partition_by, now=now, around=around
            )
            others = {kind.partitions: opened(kind.frame) for kind in data.others}
            whole = opened(data.frame)
            clashes = {name: Unmeasurable(str(clash)) for name, clash in data.clashes.items()}
            return replace(whole, table=replace(whole.table, clashes=clashes), others=others)
        home = as_spark(data)
        small = is_small(home)
        # In one task there is nothing to shuffle, and so one job a query.
        frame = under_ansi(home).coalesce(1) if small else under_ansi(home)
        visible = home.drop(HIDDEN_KEY) if partition_by == HIDDEN_KEY else home
        table = JudgedTable.of(visible, now, around, is_ansi=is_ansi(frame))
        division = Division.of(table, partition_by=partition_by, dimensions=dimensions)
        if partition_by not in {None, HIDDEN_KEY, *visible.columns}:
            require_expression(frame, str(division.partition), f"partition_by, '{partition_by}'")
        return cls(frame, table, replace(division, is_small=small), home)

    def measure(self, plan: Plan, partitions: Sequence[str] | None = None) -> Measurements:
        """Runs the plan's passes; without a list, the partitions are those that have rows."""
        found: dict[Metric, Measured] = {}
        if plan.without_pass:
            found |= outside_rows(self.division.visible(self.frame), self.table.clashes)
            known = self.table.other_datasets.known(plan.without_pass)
            found |= {metric: Measured.of_all(metric, value) for metric, value in known.items()}
        keys = None if partitions is None else tuple(dict.fromkeys(partitions))
        alike = tuple(key for key in keys or () if not any(key in some for some in self.others))
        division = replace(self.division, partitions=alike)
        for steps in in_turn(plan.passes):
            found |= run_group(steps, self.frame, self.table, division, self.home)
            if plan.request.partitioned and keys is None and RecordCount() in found:
                keys = _partitions_with_rows(found[RecordCount()])
                division = replace(division, partitions=keys)
        zone = session_zone(self.frame.sparkSession)
        return Measurements(found, zone, self.table.now, keys or (), division.problems)

    def apart(self, plan: Plan, partitions: Sequence[str]) -> dict[str | None, Measurements]:
        """Those of the partitions that have other columns, measured with these and no others.

        In a frame of all partitions a column that one of them lost is there, and a number may be
        of a wider type.
        """
        if not self.others or not plan.request.on_partitions:
            return {}
        alone = make_plan(plan.request.of_partitions())
        found: dict[str | None, Measurements] = {}
        for names, kind in self.others.items():
            mine = [name for name in partitions if name in names]
            if mine:
                found |= dict.fromkeys(mine, kind.only(mine).measure(alone, mine))
        return found

    def only(self, partitions: Sequence[str]) -> Batch:
        """The rows of these partitions."""
        keys = ", ".join(map(text_literal, partitions)) or "NULL"
        return self._where(f"{self.division.partition} IN ({keys})")

    def except_for(self, partitions: Sequence[str]) -> Batch:
        """The rows outside these partitions."""
        keys = ", ".join(map(text_literal, partitions))
        if not keys:
            return self
        return self._where(f"{self.division.partition} NOT IN ({keys})")

    def without(self, groups: Sequence[Slice]) -> Batch:
        """The rows outside these groups, which are of one dimension.

        Groups of partitions leave what their partitions have beside them, groups of the whole
        dataset what there is beside them anywhere.
        """
        partitions = dict.fromkeys(part.partition for part in groups if part.partition is not None)
        kept = self.only(list(partitions)) if partitions else self
        partition = self.division.partition if partitions else text_literal("")
        key = self.division.dimensions[str(groups[0].dimension)]
        # NULL is a group as well: by a flag, it is compared like the others.
        row = f"({partition}, {key} IS NULL, coalesce({key}, ''))"
        listed = ", ".join(
            f"({text_literal(part.partition or '')}, {part.group is None}, "
            f"{text_literal(part.group or '')})"
            for part in groups
        )
        return kept._where(f"{row} NOT IN ({listed})")  # noqa: SLF001 (its like)

    def _where(self, condition: str) -> Batch:
        frame = self.frame.where(condition)
        home = frame if self.home is self.frame else self.home.where(condition)
        return replace(self, frame=frame, home=home)


def _partitions_with_rows(rows: Measured) -> tuple[str, ...]:
    """The partitions that occur; raises if nobody can tell, for then there is nothing to judge."""
    if isinstance(rows.nothing, RuleFailure):
        raise rows.nothing
    return tuple(sorted(str(part.partition) for part in rows.slices(BY_PARTITION)))


@dataclass(frozen=True, slots=True)
class BatchSource:
    """Data, or a function that reads it for some partitions, or with None for all of them."""

    data: Any
    request: CheckRequest
    partition_by: str | None
    now: datetime
    around: OtherDatasets
    _opened: list[Batch] = field(default_factory=list, repr=False)

    @property
    def whole(self) -> Batch:
        """Everything; opened once, and only if it is needed."""
        if not self._opened:
            self._opened.append(self._open(self.data(None) if callable(self.data) else self.data))
        return self._opened[0]

    def require_possible(self, partitions: Sequence[str]) -> None:
        """Refuses keys that no row can have: they would be judged as if they had no rows."""
        if partitions and self.partition_by is not None and not callable(self.data):
            require_possible(self.whole.table, self.partition_by, partitions)

    def only(self, partitions: Sequence[str]) -> Batch:
        """The rows of these partitions; a function reads no others."""
        if not callable(self.data):
            return self.whole.only(partitions)
        # Whatever a reader brings along: other rows do not belong here.
        return self._open(self.data(tuple(partitions))).only(partitions)

    @property
    def is_divided(self) -> bool:
        """Whether rows that belong to no partition come with the one they are stored in."""
        return callable(self.data)

    def beside(self, partitions: Sequence[str], others: Collection[str]) -> Batch:
        """The rows of these partitions, and any that belong to none: all but those of others."""
        unread = [name for name in others if name not in set(partitions)]
        read = self._open(self.data(tuple(partitions))) if callable(self.data) else self.whole
        return read.except_for(unread)

    def _open(self, data: Any) -> Batch:
        # What a rule refers to may lie in any partition, also in its own asset.
        around = replace(self.around, whole=self._all_rows)
        dimensions = [name for one in self.request.rules for name in one.dimensions]
        return Batch.of(
            data, dimensions, partition_by=self.partition_by, now=self.now, around=around
        )

    def _all_rows(self) -> DataFrame:
        """Everything, with the columns that people know."""
        if callable(self.data) and not self._opened:
            data = self.data(None)
            frame = data.frame if isinstance(data, Divided) else as_spark(data)
        else:
            frame = self.whole.home
        return frame.drop(HIDDEN_KEY)
