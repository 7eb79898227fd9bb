"""The data of an asset on an object store or another file system that only Spark can reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from dq_dagster.errors import Unassignable, UnreadableData
from dq_dagster.spark.divided import Divided
from dq_dagster.spark.folder_names import PARTITION_COLUMN, WHOLE_FOLDER, folder_name
from dq_dagster.spark.partition_files import FILE_FORMATS, load_divided, load_whole, schema_text
from dq_dagster.spark.partition_folders import StoredPartition
from dq_dagster.spark.partition_split import survey, with_folder_names
from dq_dagster.spark.remote_schemas import schemas_at, write_schema, write_schemas

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

    def write_whole(self, frame: DataFrame) -> str:
        """All data of an asset without partitions; says where it is."""
        return self._write(frame, f"{self.root}/{WHOLE_FOLDER}")

    def write(self, frames: Mapping[str, DataFrame]) -> list[str]:
        return [self._write(frame, self._place_of(key)) for key, frame in frames.items()]

    def write_split(self, frame: DataFrame, key: str, partitions: Sequence[str]) -> list[str]:
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
            names = [folder_name(key) for key in found]
            write_schemas(frame.sparkSession, self.root, names, schema_text(frame))
        self.write({key: frame.limit(0) for key in partitions if key not in found})
        return [self._place_of(key) for key in partitions]

    def load_whole(self, session: SparkSession) -> DataFrame:
        """All data of an asset without partitions."""
        try:
            stored = self._stored(session, {"": f"{self.root}/{WHOLE_FOLDER}"})
            if stored:
                return load_whole(session, self.kind, stored[""])
        except AnalysisException as error:
            _missing(error)
        raise UnreadableData.not_materialized(self.asset, self.root)

    def load(self, session: SparkSession, keys: Sequence[str]) -> Divided:
        """These partitions, all of which were written."""
        if not keys:
            raise UnreadableData.no_partition(self.asset, [], self.root)
        try:
            stored = self._stored(session, {key: self._place_of(key) for key in keys})
            lost = [key for key in keys if key not in stored]
            if not lost:
                return load_divided(session, self.kind, self.root, stored)
        except AnalysisException as error:
            missing = _missing(error)
            lost = [key for key in keys if f"={folder_name(key)}/" in f"{missing}/"]
        raise UnreadableData.no_partition(self.asset, lost or keys, self.root)

    def _stored(
        self, session: SparkSession, places: Mapping[str, str]
    ) -> dict[str, StoredPartition]:
        """Those that are complete, as far as that can be told."""
        if self.kind not in FILE_FORMATS:
            return {key: StoredPartition(key, place, "") for key, place in places.items()}
        schemas = schemas_at(session, list(places.values()))
        return {
            key: StoredPartition(key, place, schemas[place])
            for key, place in places.items()
            if place in schemas
        }

    def _place_of(self, key: str) -> str:
        return f"{self.root}/{PARTITION_COLUMN}={folder_name(key)}"

    def _write(self, frame: DataFrame, place: str) -> str:
        frame.write.format(self.kind).mode("overwrite").save(place)
        if self.kind in FILE_FORMATS:
            write_schema(frame.sparkSession, place, schema_text(frame))
        return place


def _missing(error: AnalysisException) -> str:
    """The path that Spark did not find; any other error is raised again."""
    if error.getCondition() != "PATH_NOT_FOUND":
        raise error
    return str((error.getMessageParameters() or {}).get("path"))
