"""Hashes of rows by partition: those of equal hashes hold the same rows, and need not be read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.measured import BY_PARTITION, UNDIVIDED, WHOLE
from dq_dagster.metrics.row_hash import HashSum, RowHash
from dq_dagster.spark.expressions.canonical import hashed_form
from dq_dagster.spark.frames.columns import JudgedTable
from dq_dagster.spark.frames.slicing import Division, Parts
from dq_dagster.spark.passes.aggregate import measure

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


# A longer list of partitions costs more than reading those that are not on it.
MOST_NAMED = 2_000


def types_of(metric: RowHash, table: JudgedTable) -> tuple[str, ...]:
    """The types that a hash is made of: only those of the same ones can be compared.

    Raises Misfit if a column is missing, or has no hash.
    """
    return tuple(hashed_form(table.column(name))[1] for name in metric.of)


def hashes_by_partition(
    metric: RowHash, frame: DataFrame, table: JudgedTable, partition: str | None
) -> dict[str | None, HashSum]:
    """The hash of each partition that has rows, by one narrow pass; without any, that of all."""
    cut = UNDIVIDED if partition is None else BY_PARTITION
    parts = Parts.of(frame, (cut,), Division(partition, {}, {}))
    found = measure([metric], parts, table)[metric]
    if isinstance(found.nothing, RuleFailure):
        raise found.nothing
    states = found.by_part(cut)
    for state in states.values():
        if isinstance(state, RuleFailure):
            raise state
    if partition is None:
        return {None: cast("HashSum", states.get(WHOLE, found.nothing))}
    return {part.partition: state for part, state in states.items()}


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The partitions that hold the same rows on both sides, and how many rows those are.

    ``differing`` are all others, of either side.
    """

    partitions: frozenset[str | None]
    differing: frozenset[str | None]
    rows: int


def unchanged(
    left: Mapping[str | None, HashSum],
    right: Mapping[str | None, HashSum],
    among: Collection[str | None] | None = None,
) -> Unchanged:
    """Compares the hashes of both sides, ``among`` some partitions or all of them."""
    every = frozenset([*left, *right]) if among is None else frozenset(among)
    same = frozenset(
        key for key in every if key in left and key in right and left[key] == right[key]
    )
    return Unchanged(same, every - same, sum(left[key].count for key in same))
