"""Partitions of an asset on an object store or another file system that only Spark can reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from dq_dagster.errors import Unassignable, UnreadableData
from dq_dagster.spark.folder_names import folder_name
from dq_dagster.spark.partition_files import FILE_FORMATS
from dq_dagster.spark.partition_folders import PARTITION_COLUMN
from dq_dagster.spark.partition_split import survey, with_folder_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class RemotePartitions:
    """Each partition is a folder that Spark overwrites; its guarantees are those of the store.

    What exists is not listed: the caller says which partitions were ever written.
    """

    asset: str
    root: str
    kind: str

    def place_of(self, key: str) -> str:
        return f"{self.root}/{PARTITION_COLUMN}={folder_name(key)}"

    def write(self, frames: Mapping[str, DataFrame]) -> None:
        for key, frame in frames.items():
            frame.write.format(self.kind).mode("overwrite").save(self.place_of(key))

    def write_split(self, frame: DataFrame, key: str, partitions: Sequence[str]) -> None:
        """One write replaces the partitions that have rows, after one look at all keys.

        Nothing can be staged and renamed here, so the rows are told apart before they are written.
        """
        if self.kind not in FILE_FORMATS:
            raise Unassignable.can_not_split(self.asset, self.kind, FILE_FORMATS)
        if PARTITION_COLUMN in [name.lower() for name in frame.columns]:
            raise Unassignable.reserved_column(self.asset, PARTITION_COLUMN)
        found, outside = survey(frame, key, partitions)
        if outside.rows:
            raise Unassignable.outside(self.asset, outside.rows, partitions, outside.examples)
        if found:
            named = with_folder_names(frame, key, partitions, PARTITION_COLUMN)
            writer = named.write.format(self.kind).partitionBy(PARTITION_COLUMN)
            # Only the partitions that occur are replaced.
            writer = writer.option("partitionOverwriteMode", "dynamic")
            writer.mode("overwrite").save(self.root)
        self.write({key: frame.limit(0) for key in partitions if key not in found})

    def load(self, session: SparkSession, keys: Sequence[str]) -> DataFrame:
        """These partitions; for a column that only some of them have, Spark looks into all."""
        if not keys:
            raise UnreadableData.no_partition(self.asset, [], self.root)
        reader = session.read.format(self.kind)
        if self.kind in {"parquet", "orc"} and len(keys) > 1:
            reader = reader.option("mergeSchema", "true")
        try:
            return reader.load([self.place_of(key) for key in keys])
        except AnalysisException as error:
            if error.getCondition() != "PATH_NOT_FOUND":
                raise
            raise UnreadableData.no_partition(self.asset, keys, self.root) from None
