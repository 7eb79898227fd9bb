"""Rows that know which partition they are stored in, and what columns each partition has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from dq_dagster.spark.frames import HIDDEN_KEY, as_spark, union

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql import types as T

# What schema rules see of a column: its name, its type and its metadata.
_Columns: TypeAlias = tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """Partitions with the same columns, in a frame that has just those."""

    partitions: frozenset[str]
    frame: DataFrame


@dataclass(frozen=True, slots=True)
class Divided:
    """One frame of all partitions, whose ``HIDDEN_KEY`` says where each row is stored.

    It has the columns of all partitions together. ``others`` are those that have not all of these
    columns, or not the same: to be judged by themselves they are looked at by themselves.
    """

    frame: DataFrame
    others: tuple[Kind, ...] = ()

    @classmethod
    def of_kinds(cls, kinds: Sequence[Kind]) -> Divided:
        """Partitions that were read together because they have the same columns."""
        frame = union([kind.frame for kind in kinds])
        every = _columns(frame.schema)
        return cls(frame, tuple(kind for kind in kinds if _columns(kind.frame.schema) != every))

    @classmethod
    def of_frames(cls, parts: Mapping[str, Any]) -> Divided:
        """Frames by partition, put together."""
        from pyspark.sql import functions as F

        by_columns: dict[_Columns, dict[str, DataFrame]] = {}
        for key, part in parts.items():
            frame = as_spark(part)
            named = frame.withColumn(HIDDEN_KEY, F.lit(key))
            by_columns.setdefault(_columns(frame.schema), {})[str(key)] = named
        return cls.of_kinds(
            [Kind(frozenset(some), union(list(some.values()))) for some in by_columns.values()]
        )


def _columns(schema: T.StructType) -> _Columns:
    """The columns as rules see them: whether a value may be missing is no part of that."""
    return tuple(
        (field.name, field.dataType.simpleString(), str(sorted((field.metadata or {}).items())))
        for field in schema.fields
        if field.name != HIDDEN_KEY
    )
