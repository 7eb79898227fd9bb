"""Hashes of rows by partition, to be kept: they tell later which partitions are still the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import DeclarationError
from dq_dagster.metrics.row_hash import HashSum, RowHash
from dq_dagster.metrics.state_codec import decode, encode
from dq_dagster.spark.frames.ansi import is_ansi, under_ansi
from dq_dagster.spark.frames.columns import JudgedTable
from dq_dagster.spark.frames.failures import without_quoting_rows
from dq_dagster.spark.frames.reading import any_data, require_expression
from dq_dagster.spark.frames.slicing import partition_key
from dq_dagster.spark.passes.diff.hashes import hashes_by_partition, types_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_VERSION = 1


@dataclass(frozen=True, slots=True)
class RowHashes:
    """The hash of the rows of each partition; None is the key of a table without partitions.

    Equal hashes, of the same columns and types, are hashes of the same rows.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    partition_by: str | None
    by_partition: Mapping[str | None, HashSum]

    @property
    def rows(self) -> int:
        return sum(state.count for state in self.by_partition.values())

    @property
    def whole(self) -> HashSum:
        """The hash of all rows together."""
        return reduce(HashSum.merge, self.by_partition.values(), HashSum(0, 0, 0))

    def to_dict(self) -> dict[str, Any]:
        """For a JSON file, say; ``RowHashes.from_dict`` reads it back."""
        return {
            "version": _VERSION,
            "columns": list(self.columns),
            "types": list(self.types),
            "partition_by": self.partition_by,
            "partitions": [[key, encode(state)] for key, state in self.by_partition.items()],
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> RowHashes:
        """Raises DeclarationError if that is nothing that ``to_dict`` gives."""
        try:
            states = {key: decode(state) for key, state in kept["partitions"]}
            found = {key: one for key, one in states.items() if isinstance(one, HashSum)}
            named = tuple(map(str, kept["columns"])), tuple(map(str, kept["types"]))
            if kept["version"] == _VERSION and len(found) == len(states):
                return cls(*named, kept["partition_by"], found)
        except (KeyError, TypeError, ValueError):
            pass
        raise DeclarationError.of(
            "These are no hashes of rows: give what to_dict() of dq.row_hashes(...) returned."
        )


def row_hashes(
    data: Any, *, columns: Sequence[str] | None = None, partition_by: str | None = None
) -> RowHashes:
    """The hash of the rows of each partition, in one pass that shuffles nothing but hashes.

    ``data`` is whatever ``dq.diff`` takes. ``partition_by`` is a column or an SQL expression whose
    text form is a row's partition. Hashes of two tables are comparable if they are of the same
    columns, in the same order: all of them by name where omitted, whatever their order in the
    table.
    """
    frame = under_ansi(any_data(data))
    table = JudgedTable.of(frame, is_ansi=is_ansi(frame))
    names = sorted(table.schema.names, key=str.lower) if columns is None else list(columns)
    return hashes_of(RowHash(tuple(names)), frame, table, partition_by)


def hashes_of(
    metric: RowHash, frame: DataFrame, table: JudgedTable, partition_by: str | None
) -> RowHashes:
    """The hashes of the columns that the metric names."""
    types = types_of(metric, table)
    partition = partition_sql(frame, table, partition_by)
    with without_quoting_rows():
        found = hashes_by_partition(metric, frame, table, partition)
    return RowHashes(metric.of, types, partition_by, found)


def partition_sql(frame: DataFrame, table: JudgedTable, partition_by: str | None) -> str | None:
    """The SQL of a row's partition; raises if it is neither a column nor an expression."""
    if partition_by is None:
        return None
    sql = partition_key(table, partition_by)
    if not table.has(partition_by):
        require_expression(frame, sql, f"partition_by, '{partition_by}'")
    return sql
