"""Rows that know which partition they are stored in, and what columns each partition has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.errors import UnreadableData
from dq_dagster.spark.frames import HIDDEN_KEY, as_spark, union

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
    ``problem`` says why some of them are no part of the frame, so that nothing can be said of all.
    """

    frame: DataFrame
    others: tuple[Kind, ...] = ()
    problem: UnreadableData | None = None

    @property
    def plain(self) -> DataFrame:
        """The rows of all partitions as people know them."""
        if self.problem is not None:
            raise self.problem
        return self.frame.drop(HIDDEN_KEY)

    @classmethod
    def of_kinds(cls, kinds: Sequence[Kind]) -> Divided:
        """Partitions that were read together because they have the same columns."""
        first, *others = sorted(kinds, key=lambda kind: -len(kind.partitions))
        together, problem = [first], None
        for kind in others:
            clash = next(filter(None, (_clash(one, kind) for one in together)), None)
            problem = problem or clash
            together += [] if clash else [kind]
        frame = union([kind.frame for kind in together])
        every = _columns(frame.schema)
        apart = tuple(kind for kind in kinds if _columns(kind.frame.schema) != every)
        return cls(frame, apart, problem)

    @classmethod
    def of_frames(cls, parts: Mapping[str, Any]) -> Divided:
        """Frames by partition, put together."""
        if not parts:
            raise UnreadableData.no_partition_at_all()
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


def _clash(one: Kind, other: Kind) -> UnreadableData | None:
    """Why two kinds can not be read as one table, if they can not."""
    known = {field.name.lower(): field for field in one.frame.schema.fields}
    for field in other.frame.schema.fields:
        here = known.get(field.name.lower(), field)
        if not _alike(here.dataType, field.dataType):
            return UnreadableData.changed_type(
                field.name,
                (here.dataType.simpleString(), min(one.partitions)),
                (field.dataType.simpleString(), min(other.partitions)),
            )
    return None


def _alike(one: T.DataType, other: T.DataType) -> bool:
    """Numbers may be wider in one partition than in another; texts do not become numbers."""
    match one, other:
        case (T.NumericType(), T.NumericType()) | (T.NullType(), _) | (_, T.NullType()):
            return True
        case T.ArrayType(), T.ArrayType():
            return _alike(one.elementType, other.elementType)
        case T.MapType(), T.MapType():
            return one == other
        case T.StructType(), T.StructType():
            there = {field.name.lower(): field.dataType for field in other.fields}
            return all(
                _alike(field.dataType, there.get(field.name.lower(), field.dataType))
                for field in one.fields
            )
        case _:
            return type(one) is type(other)
