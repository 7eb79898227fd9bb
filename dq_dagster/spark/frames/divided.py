"""Rows that know which partition they are stored in, and what columns each partition has."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.errors import NothingStored, UnreadableData
from dq_dagster.spark.frames.columns import identifier
from dq_dagster.spark.frames.failures import reason_of
from dq_dagster.spark.frames.frames import HIDDEN_KEY, all_as_spark, union
from dq_dagster.spark.session.session import is_case_sensitive

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# What schema rules see of a column: its name, its type and its metadata.
_Columns: TypeAlias = tuple[tuple[str, str, str], ...]
# Makes equal what the session takes for one name.
_Fold: TypeAlias = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class AlikePartitions:
    """Partitions with the same columns, in a frame that has just those."""

    partitions: frozenset[str]
    frame: DataFrame


@dataclass(frozen=True, slots=True)
class Divided:
    """One frame of all partitions, whose ``HIDDEN_KEY`` says where each row is stored.

    It has the columns of all partitions together, but for ``clashes``: those whose types do not
    fit together, by their names (in lower case, unless the session is case-sensitive). ``others``
    are the partitions that have not just these columns: to be judged by themselves they are
    measured by themselves. ``partitions`` are those that were read, with or without rows; None
    where only the rows themselves say it.
    """

    frame: DataFrame
    others: tuple[AlikePartitions, ...] = ()
    clashes: Mapping[str, UnreadableData] = field(default_factory=dict)
    partitions: frozenset[str] | None = None

    @property
    def plain(self) -> DataFrame:
        """All there is, as people know it; raises if a column cannot be part of that."""
        for clash in self.clashes.values():
            raise clash
        return self.frame.drop(HIDDEN_KEY)

    @property
    def undivided(self) -> Divided:
        """The same for those who judge no single partitions."""
        return replace(self, frame=self.frame.drop(HIDDEN_KEY), others=())

    @classmethod
    def of_kinds(cls, kinds: Sequence[AlikePartitions]) -> Divided:
        """Partitions that were read together because they have the same columns."""
        fold = str if is_case_sensitive(kinds[0].frame.sparkSession) else str.lower
        clashes = _clashes(kinds, fold)
        frame = union([_without(kind.frame, clashes, fold) for kind in kinds])
        every = _columns(frame.schema)
        others = tuple(kind for kind in kinds if _columns(kind.frame.schema) != every)
        return cls(frame, others, clashes, frozenset().union(*(kind.partitions for kind in kinds)))

    @classmethod
    def of_frames(cls, parts: Mapping[str, Any]) -> Divided:
        """Frames by partition, put together."""
        if not parts:
            raise NothingStored.no_partition_at_all()
        by_columns: dict[_Columns, dict[str, DataFrame]] = {}
        for key, frame in all_as_spark(parts).items():
            named = frame.withColumn(HIDDEN_KEY, F.lit(key))
            by_columns.setdefault(_columns(frame.schema), {})[str(key)] = named
        return cls.of_kinds(
            [
                AlikePartitions(frozenset(some), union(list(some.values())))
                for some in by_columns.values()
            ]
        )


def without_clashes(frames: Sequence[DataFrame]) -> list[DataFrame]:
    """The frames, with texts in the columns whose types do not fit together: no value is lost."""
    fold = str if is_case_sensitive(frames[0].sparkSession) else str.lower
    kinds = [AlikePartitions(frozenset([str(n)]), one) for n, one in enumerate(frames)]
    clashes = _clashes(kinds, fold)
    return [_with_texts(one, clashes, fold) for one in frames]


def _with_texts(frame: DataFrame, names: Collection[str], fold: _Fold) -> DataFrame:
    return frame.select(
        *(
            _text(one).alias(one.name) if fold(one.name) in names else F.col(identifier(one.name))
            for one in frame.schema.fields
        )
    )


def _text(one: T.StructField) -> Column:
    value = F.col(identifier(one.name))
    if isinstance(one.dataType, T.ArrayType | T.MapType | T.StructType | T.VariantType):
        return F.to_json(value)
    return F.base64(value) if isinstance(one.dataType, T.BinaryType) else value.cast("string")


def _columns(schema: T.StructType) -> _Columns:
    """The columns as rules see them: whether a value may be missing is no part of that."""
    return tuple(
        (one.name, one.dataType.simpleString(), str(sorted((one.metadata or {}).items())))
        for one in schema.fields
        if one.name != HIDDEN_KEY
    )


def _clashes(kinds: Sequence[AlikePartitions], fold: _Fold) -> dict[str, UnreadableData]:
    """The columns whose types do not fit together, with an example of two that do not."""
    known: dict[str, tuple[T.DataType, str]] = {}
    found: dict[str, UnreadableData] = {}
    for kind in kinds:
        example = min(kind.partitions)
        for column in kind.frame.schema.fields:
            name = fold(column.name)
            if reason := reason_of(column):
                found[name] = UnreadableData.in_partition(reason, example)
                continue
            first, partition = known.get(name, (T.NullType(), example))
            if isinstance(first, T.NullType):
                known[name] = (column.dataType, example)
            elif not _alike(first, column.dataType, fold):
                found[name] = UnreadableData.changed_type(
                    column.name,
                    (first.simpleString(), partition),
                    (column.dataType.simpleString(), example),
                )
    return found


def _without(frame: DataFrame, names: Collection[str], fold: _Fold) -> DataFrame:
    left_out = [name for name in frame.columns if fold(name) in names]
    return frame.drop(*left_out)


def _alike(one: T.DataType, other: T.DataType, fold: _Fold) -> bool:
    """Numbers may be wider in one partition than in another; texts do not become numbers."""
    match one, other:
        case (T.NumericType(), T.NumericType()) | (T.NullType(), _) | (_, T.NullType()):
            return True
        case T.ArrayType(), T.ArrayType():
            return _alike(one.elementType, other.elementType, fold)
        case T.MapType(), T.MapType():
            return one == other
        case T.StructType(), T.StructType():
            there = {fold(inner.name): inner.dataType for inner in other.fields}
            return all(
                _alike(inner.dataType, there.get(fold(inner.name), inner.dataType), fold)
                for inner in one.fields
            )
        case _:
            return type(one) is type(other)
