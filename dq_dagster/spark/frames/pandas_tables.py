"""pandas DataFrames as Spark DataFrames.

Times without a zone are meant in the session's zone, as Spark itself means them. If that zone does
not have one of them (the clocks go forward over it), no instant stands for it, and the column is a
TIMESTAMP_NTZ: so no value is lost, and none is taken for another.

This is imported late: pandas and Arrow take a while, and rules are declared without them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.errors import Misfit
from dq_dagster.spark.frames.failures import UNREADABLE, UNREADABLE_TYPE, raised_text
from dq_dagster.spark.frames.pandas_columns import Column, arrow_zone, spark_type
from dq_dagster.spark.session.session import current_session
from dq_dagster.spark.session.sizes import note_size

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession

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
        # What one row takes is little if there is no column at all.
        size = max(sum(column.values.nbytes for column in self.readable), self.rows)
        frame = self._readable_frame(session, zone, wall_clock)
        if self.readable and len(self.readable) == len(self.columns):
            # Each column of the other way takes many calls of Java.
            return note_size(frame.toDF(*(column.name for column in self.columns)), size)
        if self.columns:
            # Columns over nothing but local data Spark would compute at once, needed or not.
            frame = frame.crossJoin(session.range(1).withColumnRenamed("id", _NEVER_LOCAL))
        found = iter(frame.columns)
        selected = [
            F.col(next(found)).alias(column.name)
            if isinstance(column, Column)
            else column.raising(F.col(_NEVER_LOCAL))
            for column in self.columns
        ]
        return note_size(frame.select(*selected), size)

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
