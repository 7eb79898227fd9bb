"""Whatever people hand over as data, as one Spark DataFrame.

Of pandas DataFrames, times without a zone are meant in the session's zone, as Spark itself means
them. If that zone does not have one of them (the clocks go forward over it), no instant stands for
it, and the column is a TIMESTAMP_NTZ: so no value is lost, and none is taken for another.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.errors import Misfit, NothingStored, UnreadableData
from dq_dagster.spark.frames.failures import UNREADABLE, UNREADABLE_TYPE, raised_text, reason_of
from dq_dagster.spark.frames.pandas_columns import Column, arrow_zone, spark_type
from dq_dagster.spark.session.session import current_session, is_case_sensitive
from dq_dagster.spark.session.sizes import note_size

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

_NEVER_LOCAL = "never_local"


def from_pandas(frames: Mapping[Any, pd.DataFrame]) -> dict[Any, DataFrame]:
    """Frames that belong together: a column is of one type in all of them, if it can be.

    Missing values of pandas (None, NaN, NaT, NA) become NULL, as pandas means them.
    """
    session = current_session()
    name = session.conf.get("spark.sql.session.timeZone") or "UTC"
    every_naive = session.conf.get("spark.sql.timestampType") == "TIMESTAMP_NTZ"
    zone = arrow_zone(name)
    read = {key: _Table.of(data, zone) for key, data in frames.items()}
    naive = {
        column.name
        for table in read.values()
        for column in table.readable
        if column.is_naive and (every_naive or column.off_the_clock)
    }
    return {key: table.frame(session, zone, wall_clock=naive) for key, table in read.items()}


@dataclass(frozen=True, slots=True)
class _Table:
    """All columns in their order; those that cannot be read as the reason for that."""

    rows: int
    columns: Sequence[Column | _Unreadable]

    @classmethod
    def of(cls, data: pd.DataFrame, zone: str) -> _Table:
        # By position: names may occur twice.
        columns = [
            _column(str(name), data.iloc[:, number], zone)
            for number, name in enumerate(data.columns)
        ]
        return cls(len(data), columns)

    @property
    def readable(self) -> list[Column]:
        return [column for column in self.columns if isinstance(column, Column)]

    def frame(self, session: SparkSession, zone: str, *, wall_clock: Collection[str]) -> DataFrame:
        frame = self._readable_frame(session, zone, wall_clock)
        if len(self.readable) < len(self.columns):
            # Columns over nothing but local data Spark would compute at once, needed or not.
            frame = frame.crossJoin(session.range(1).withColumnRenamed("id", _NEVER_LOCAL))
        found = iter(frame.columns)
        selected = [
            F.col(next(found)).alias(column.name)
            if isinstance(column, Column)
            else column.raising(F.col(_NEVER_LOCAL))
            for column in self.columns
        ]
        # What one row takes is little if there is no column at all.
        size = sum(column.values.nbytes for column in self.readable)
        return note_size(frame.select(*selected), max(size, self.rows))

    def _readable_frame(
        self, session: SparkSession, zone: str, wall_clock: Collection[str]
    ) -> DataFrame:
        """The columns under names of our own: those of people may occur twice."""
        arrays, fields = [], []
        for number, column in enumerate(self.readable):
            naive = column.name in wall_clock
            values = column.values if naive else column.instants(zone)
            arrays.append(values)
            fields.append(T.StructField(f"c{number}", spark_type(values, wall_clock=naive)))
        if not arrays:
            # An Arrow table without columns has no rows either.
            return session.range(self.rows)
        table = pa.table(arrays, names=[field.name for field in fields])
        return session.createDataFrame(table, T.StructType(fields))


@dataclass(frozen=True, slots=True)
class _Unreadable:
    name: str
    kind: str
    reason: str

    def raising(self, anything: SparkColumn) -> SparkColumn:
        """A column that raises the reason if it is read. Its type is void."""
        text = F.when(anything.isNotNull(), F.lit(raised_text(self.reason)))
        metadata = {UNREADABLE: self.reason, UNREADABLE_TYPE: self.kind}
        return F.raise_error(text).alias(self.name, metadata=metadata)


def _column(name: str, series: pd.Series[Any], zone: str) -> Column | _Unreadable:
    try:
        return Column.of(name, series, zone)
    except Misfit as misfit:
        return _Unreadable(name, str(series.dtype), str(misfit))


# A column that says which partition a row came from. Rules, functions and queries never see it,
# and no data has a column of that name: it is another one in each process.
HIDDEN_KEY = f"__dq_partition_key_{uuid.uuid4().hex}__"
# A column of the same kind that says where a row goes in flight: without any fault, with faults
# that let it pass, or kept out. After a dash it has a one or a zero for each fault that cannot be
# found again in the stored row.
TARGET = f"__dq_target_{uuid.uuid4().hex}__"
GOOD, KEPT, OUT = "good", "kept", "out"
# One that is true for rows that are in the table already, and stay there whatever they break.
STORED = f"__dq_stored_{uuid.uuid4().hex}__"
# And one that says which row of a pandas DataFrame it was.
ROW = f"__dq_row_{uuid.uuid4().hex}__"


def as_spark(data: Any) -> DataFrame:
    """Spark DataFrames as they are, pandas ones converted, dicts by partition put together."""
    if isinstance(data, Mapping):
        for part in data.values():
            if not isinstance(part, DataFrame | Mapping) and not _is_pandas(part):
                raise UnreadableData.no_table(f"a dict with a value of type {_type_of(part)}")
        return union(list(all_as_spark(data).values()))
    return all_as_spark({None: data})[None]


def is_frame(data: Any) -> bool:
    """Whether it is a DataFrame, of Spark or of pandas."""
    return isinstance(data, DataFrame) or _is_pandas(data)


def all_as_spark(parts: Mapping[Any, Any]) -> dict[Any, DataFrame]:
    """Frames that belong together, by their keys."""
    tables = {key: part for key, part in parts.items() if _is_pandas(part)}
    converted = _from_pandas(tables) if tables else {}
    return {key: converted[key] if key in converted else _one(part) for key, part in parts.items()}


def _one(data: Any) -> DataFrame:
    if isinstance(data, Mapping):
        return as_spark(data)
    # Classic and Connect DataFrames are different classes with one parent.
    if isinstance(data, DataFrame):
        return data
    raise UnreadableData.no_table(_type_of(data))


def _type_of(data: Any) -> str:
    return f"{type(data).__module__}.{type(data).__qualname__}"


def require_readable(frame: DataFrame) -> DataFrame:
    """The frame itself, for those who need all of it; raises if a column cannot be read."""
    reasons = [reason for field in frame.schema.fields if (reason := reason_of(field))]
    if reasons:
        raise UnreadableData(" ".join(reasons))
    return frame


def storable(data: Any, asset: str) -> DataFrame:
    """A frame of which nothing is lost if it is written; raises if there is none."""
    return all_storable({None: data}, asset, alike=False)[None]


def all_storable(
    parts: Mapping[Any, Any], asset: str, *, alike: bool = True
) -> dict[Any, DataFrame]:
    """The same for partitions, which have to be like those that are written in other runs."""
    frames = all_as_spark(parts)
    try:
        for key, frame in frames.items():
            require_readable(frame)
            _require_names(frame)
            require_distinct(frame.sparkSession, frame.schema)
            if alike and _is_pandas(parts[key]):
                _require_instants(parts[key], frame)
    except UnreadableData as error:
        raise UnreadableData.not_stored(asset, str(error)) from None
    return frames


def _require_names(frame: DataFrame) -> None:
    if not frame.columns:
        raise UnreadableData.no_columns()
    twice = [name for name, count in Counter(frame.columns).items() if count > 1]
    if twice:
        raise UnreadableData.column_twice(twice[0])


def require_distinct(session: SparkSession, schema: StructType) -> None:
    """Refuses columns that the session does not tell apart, and could neither write nor read."""
    names: dict[str, str] = {}
    for name in schema.names:
        other = names.setdefault(name.lower(), name)
        if other != name and not is_case_sensitive(session):
            raise UnreadableData.differ_in_case(other, name)


def _require_instants(data: pd.DataFrame, frame: DataFrame) -> None:
    """Times without a zone only stay without one if the session's zone does not have them."""
    session = frame.sparkSession
    if session.conf.get("spark.sql.timestampType") == "TIMESTAMP_NTZ":
        return
    for number, field in enumerate(frame.schema.fields):
        if "timestamp_ntz" in field.dataType.simpleString():
            zone = session.conf.get("spark.sql.session.timeZone") or "UTC"
            raise UnreadableData.off_the_clock(field.name, str(data.dtypes.iloc[number]), zone)


def _is_pandas(data: Any) -> bool:
    import pandas as pd

    return isinstance(data, pd.DataFrame)


def _from_pandas(tables: Mapping[Any, pd.DataFrame]) -> dict[Any, DataFrame]:
    # Here, since it takes a while to import what it needs.

    return from_pandas(tables)


def has_rows(frame: DataFrame) -> bool:
    """Whether there is any row."""
    return not frame.isEmpty()


def counted(frame: DataFrame) -> int:
    """How many rows there are."""
    return frame.count()


def to_pandas(frame: DataFrame) -> pd.DataFrame:
    """All rows, brought to this process: for those who keep them there anyway."""
    return frame.toPandas()


def union(frames: Sequence[DataFrame]) -> DataFrame:
    """All rows, with the columns of all frames; what one of them has not is NULL there."""
    if not frames:
        raise NothingStored.no_partition_at_all()
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)
