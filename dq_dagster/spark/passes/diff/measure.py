"""The pass that compares the data with another dataset, as a whole and partition by partition.

By partition, rows of both sides belong together that have the same key in the same partition. Where
there are several, hashes of their rows come first: what is the same is not joined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

from dq_dagster.errors import Misfit, RuleFailure
from dq_dagster.metrics.diffs import DiffCounts, TableDiffMetric
from dq_dagster.metrics.measured import UNDIVIDED, WHOLE, Measured, Slice
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.row_hash import HashSum, RowHash
from dq_dagster.spark.frames.ansi import home_of, is_ansi, under_ansi
from dq_dagster.spark.frames.columns import JudgedTable, identifier, text_literal
from dq_dagster.spark.frames.failures import failure_of
from dq_dagster.spark.frames.frames import HIDDEN_KEY
from dq_dagster.spark.frames.slicing import Parts, States, partition_key
from dq_dagster.spark.passes.diff.columns import Alignment, align
from dq_dagster.spark.passes.diff.hashes import (
    MOST_NAMED,
    hashes_by_partition,
    types_of,
    unchanged,
)
from dq_dagster.spark.passes.diff.join import DiffJoin, Side
from dq_dagster.spark.passes.isolation import attempted
from dq_dagster.spark.passes.user_code import filtered
from dq_dagster.sql.expressions import columns_used

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Hashes = Mapping[str | None, HashSum]


def measure_diffs(metrics: Sequence[Metric], parts: Parts, table: JudgedTable) -> States:
    """What differs in each part, with a RuleFailure for each metric that could not be measured."""
    found: States = {}
    for metric in cast("Sequence[TableDiffMetric]", metrics):
        counts = attempted(partial(_of_all_cuts, metric, parts, table), failure_of)
        if isinstance(counts, RuleFailure):
            found[metric] = Measured.failed(metric, counts)
        else:
            found[metric] = Measured(metric, counts, parts.cuts, DiffCounts())
    return found


def _of_all_cuts(
    metric: TableDiffMetric, parts: Parts, table: JudgedTable
) -> dict[Slice, DiffCounts]:
    found: dict[Slice, DiffCounts] = {}
    for cut in parts.cuts:
        if cut == UNDIVIDED:
            found[WHOLE] = _whole(metric, parts, table)
        else:
            both = _ComparedSides.by_partition(metric, parts, table)
            found |= {Slice(key): counts for key, counts in both.counts().items()}
    return found


def _whole(metric: TableDiffMetric, parts: Parts, table: JudgedTable) -> DiffCounts:
    """What differs in all rows; partitions that are the same are not joined, if there are any.

    Rows of different partitions belong together that have the same key.
    """
    left = _own_partition(parts, table)
    right = None if left is None else _divided(metric, replace(parts, partitions=()), table)
    if left is None or right is None:
        return _ComparedSides.of(metric, parts, table).join().counts()[None]
    both = _ComparedSides.aligned(metric, Side(parts.frame, left), right, table)
    rest, same = both.without_same()
    if rest is None:
        return both.join().no_counts().and_same(sum(same.values()))
    undivided = (replace(side, partition=None) for side in (rest.left, rest.right))
    return DiffJoin(both.alignment, *undivided).counts()[None].and_same(sum(same.values()))


def _own_partition(parts: Parts, table: JudgedTable) -> str | None:
    """The SQL of a row's partition, where it has one."""
    if None in parts.keys:
        return identifier(parts.keys[None])
    given = parts.partition_by
    return partition_key(table, given) if given and _is_made_of(given, table) else None


@dataclass(frozen=True, slots=True)
class _ComparedSides:
    """Both sides, the rule's filter applied, and the columns that are compared."""

    left: Side
    right: Side
    left_table: JudgedTable
    right_table: JudgedTable
    alignment: Alignment
    # The partitions that are judged; nothing where all are.
    partitions: tuple[str, ...] = ()

    @classmethod
    def of(cls, metric: TableDiffMetric, parts: Parts, table: JudgedTable) -> _ComparedSides:
        others = table.other_datasets
        home = others.frame_of(metric.dataset, parts.frame, home_of(parts.frame.sparkSession))
        rows = parts.frame.drop(*parts.keys.values())
        return cls.aligned(metric, Side(rows), Side(under_ansi(home)), table)

    @classmethod
    def by_partition(
        cls, metric: TableDiffMetric, parts: Parts, table: JudgedTable
    ) -> _ComparedSides:
        right = _divided(metric, parts, table)
        if right is None:
            raise Misfit.no_partitions_there(metric.dataset.label)
        left = Side(parts.frame, identifier(parts.keys[None]))
        both = cls.aligned(metric, left, right, table)
        judged = replace(both, partitions=parts.partitions)
        return judged._only(parts.partitions)  # noqa: SLF001 (its like)

    @classmethod
    def aligned(
        cls, metric: TableDiffMetric, left: Side, right: Side, table: JudgedTable
    ) -> _ComparedSides:
        place = metric.dataset.label
        there = JudgedTable.of(
            right.frame.drop(HIDDEN_KEY), table.now, is_ansi=is_ansi(right.frame)
        )
        alignment = align(metric.comparison, table, there, place=place)
        for name in alignment.schema.not_compared:
            types = alignment.schema.types[name]
            raise Misfit.incomparable(
                name, types[0], alignment.comparison.there(name), types[1], place
            )
        if metric.where is not None:
            left = replace(left, frame=filtered(left.frame, metric.where, table))
            right = replace(right, frame=_filtered_there(metric, right.frame, there))
        return cls(left, right, table, there, alignment)

    def join(self) -> DiffJoin:
        return DiffJoin(self.alignment, self.left, self.right)

    def counts(self) -> dict[str | None, DiffCounts]:
        """What differs by partition; those that are the same are not joined."""
        if len(self.partitions) == 1:
            return self.join().counts()
        rest, same = self.without_same()
        none = self.join().no_counts()
        found = {key: none.and_same(rows) for key, rows in same.items()}
        return found if rest is None else {**found, **rest.join().counts()}

    def without_same(self) -> tuple[_ComparedSides | None, dict[str | None, int]]:
        """What is left to be joined, if anything, and how many rows the other partitions have."""
        hashes = self._hashes()
        if hashes is None:
            return self, {}
        left, right = hashes
        known = unchanged(left, right)
        same = {key: left[key].count for key in known.partitions}
        if not same or len(known.differing) > MOST_NAMED:
            return self, {}
        keys = sorted(str(key) for key in known.differing)
        return (self._only(keys) if keys else None), same

    def _hashes(self) -> tuple[Hashes, Hashes] | None:
        """The hashes of both sides; None if those of their types are never equal."""
        compared = (*self.alignment.keys, *self.alignment.columns)
        metrics = [RowHash(tuple(one.left.name for one in compared))]
        metrics.append(RowHash(tuple(one.right.name for one in compared)))
        if types_of(metrics[0], self.left_table) != types_of(metrics[1], self.right_table):
            return None
        left = hashes_by_partition(
            metrics[0], self.left.frame, self.left_table, self.left.partition
        )
        right = hashes_by_partition(
            metrics[1], self.right.frame, self.right_table, self.right.partition
        )
        return left, right

    def _only(self, keys: Sequence[str]) -> _ComparedSides:
        if not keys:
            return self
        listed = ", ".join(map(text_literal, keys))
        left, right = (
            replace(side, frame=side.frame.where(f"{side.partition} IN ({listed})"))
            for side in (self.left, self.right)
        )
        return replace(self, left=left, right=right)


def _divided(metric: TableDiffMetric, parts: Parts, table: JudgedTable) -> Side | None:
    """The other dataset, with what gives a row's partition; None if nobody knows."""
    others, dataset = table.other_datasets, metric.dataset
    home = home_of(parts.frame.sparkSession)
    if metric.partition_by is None:
        divided = others.divided(dataset, parts.partitions)
        if divided is not None:
            return Side(under_ansi(divided.frame), identifier(HIDDEN_KEY))
    frame = under_ansi(others.frame_of(dataset, parts.frame, home))
    there = JudgedTable.of(frame, table.now, is_ansi=is_ansi(frame))
    if metric.partition_by is not None:
        return Side(frame, partition_key(there, metric.partition_by))
    given = others.partition_sql(frame.schema) or parts.partition_by
    if given is None or not _is_made_of(given, there):
        return None
    return Side(frame, partition_key(there, given))


def _is_made_of(partition_by: str, table: JudgedTable) -> bool:
    """Whether the columns that give a partition are there; a constant tells nothing of rows."""
    if partition_by == HIDDEN_KEY:
        return False
    if table.has(partition_by):
        return True
    used = columns_used(partition_by)
    return bool(used) and all(map(table.has, used))


def _filtered_there(metric: TableDiffMetric, frame: DataFrame, there: JudgedTable) -> DataFrame:
    """The filter means the same on both sides: it names columns as they are called here."""
    names = [(name, other) for name, other in metric.comparison.renamed if not there.has(name)]
    added = [f"{there.column(other).sql} AS {identifier(name)}" for name, other in names]
    shown = frame.selectExpr("*", *added)
    rows = filtered(shown, metric.where, replace(there, schema=shown.schema))
    return rows.drop(*(name for name, _ in names))
