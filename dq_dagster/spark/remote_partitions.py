"""The data of an asset on an object store or another file system that only Spark can reach."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from dq_dagster.errors import NothingStored, Unassignable
from dq_dagster.spark.divided import Divided
from dq_dagster.spark.folder_names import PARTITION_COLUMN, WHOLE_FOLDER, folder_name
from dq_dagster.spark.partition_files import (
    FILE_FORMATS,
    is_missing,
    load_divided,
    load_whole,
    schema_text,
)
from dq_dagster.spark.partition_folders import StoredPartition
from dq_dagster.spark.partition_split import survey, with_folder_names
from dq_dagster.spark.quoting import text
from dq_dagster.spark.remote_records import (
    RemoteRecord,
    files_by_folder,
    records_at,
    write_record,
    write_records,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class RemotePartitions:
    """Each partition is a folder that Spark overwrites; its guarantees are those of the store.

    The caller says which partitions to look for: what exists is not listed.
    """

    asset: str
    root: str
    kind: str

    def write_whole(self, frame: DataFrame) -> str:
        """All data of an asset without partitions; says where it is."""
        return self._write(frame, f"{self.root}/{WHOLE_FOLDER}")

    def write(self, frames: Mapping[str, DataFrame]) -> dict[str, str]:
        """Says where each of the partitions is."""
        return {key: self._write(frame, self._place_of(key)) for key, frame in frames.items()}

    def write_split(self, frame: DataFrame, key: str, partitions: Sequence[str]) -> dict[str, str]:
        """One write replaces the partitions that have rows, after one look at all keys.

        Nothing can be staged and renamed here, so the rows are told apart before they are written.
        """
        if self.kind not in FILE_FORMATS:
            raise Unassignable.can_not_split(self.asset, self.kind, FILE_FORMATS)
        found, outside = survey(frame, key, partitions)
        if outside.rows:
            raise Unassignable.outside(self.asset, outside.rows, partitions, outside.examples)
        if PARTITION_COLUMN in [name.lower() for name in frame.columns]:
            # It can not be told from the column that would name the folders: by one write each.
            self.write({name: frame.where(f"({key}) = {text(name)}") for name in found})
        elif found:
            named = with_folder_names(frame, key, partitions, PARTITION_COLUMN)
            writer = named.write.format(self.kind).partitionBy(PARTITION_COLUMN)
            # Only the partitions that occur are replaced.
            writer = writer.option("partitionOverwriteMode", "dynamic")
            writer.mode("overwrite").save(self.root)
            self._note(frame, [self._place_of(key) for key in found])
        self.write({key: frame.limit(0) for key in partitions if key not in found})
        return {key: self._place_of(key) for key in partitions}

    def load_whole(self, session: SparkSession) -> DataFrame:
        """All data of an asset without partitions."""
        stored = self._stored(session, {"": f"{self.root}/{WHOLE_FOLDER}"})
        try:
            if stored:
                frame = load_whole(session, self.kind, stored[""])
                if not _incomplete(frame, stored):
                    return frame
        except AnalysisException as error:
            if not is_missing(error):
                raise
        raise NothingStored.whole(self.asset, self.root)

    def load(self, session: SparkSession, keys: Sequence[str]) -> Divided:
        """Those of these partitions that are stored."""
        stored = self._stored(session, {key: self._place_of(key) for key in keys})
        divided = load_divided(session, self.kind, self.root, stored) if stored else None
        if divided is not None:
            lost = _incomplete(divided.frame, stored)
            stored = {key: one for key, one in stored.items() if key not in lost}
            if lost and stored:
                divided = load_divided(session, self.kind, self.root, stored)
        if divided is None or not stored:
            raise NothingStored.of_partitions(self.asset, keys, self.root)
        return divided

    def stored_among(self, session: SparkSession, keys: Sequence[str]) -> Collection[str]:
        """Those of the keys that can be read."""
        if not keys:
            return ()
        try:
            return self.load(session, keys).partitions or ()
        except NothingStored:
            return ()

    def _stored(
        self, session: SparkSession, places: Mapping[str, str]
    ) -> dict[str, StoredPartition]:
        """Those that were written completely, as far as that can be told."""
        if not places:
            return {}
        if self.kind not in FILE_FORMATS:
            return {key: StoredPartition(key, place, "") for key, place in places.items()}
        records = records_at(session, list(places.values()))
        return {
            key: StoredPartition(key, place, records[place].schema, records[place].files)
            for key, place in places.items()
            if place in records
        }

    def _place_of(self, key: str) -> str:
        return f"{self.root}/{PARTITION_COLUMN}={folder_name(key)}"

    def _write(self, frame: DataFrame, place: str) -> str:
        frame.write.format(self.kind).mode("overwrite").save(place)
        if self.kind in FILE_FORMATS:
            self._note(frame, [place])
        return place

    def _note(self, frame: DataFrame, places: Sequence[str]) -> None:
        """What was written at these places, so that it is noticed if something is gone later."""
        session, schema = frame.sparkSession, schema_text(frame)
        written = session.read.format(self.kind).schema(frame.schema).load(list(places))
        files = files_by_folder(written)
        names = [place.rpartition("/")[2] for place in places]
        records = {name: RemoteRecord(schema, files[name]) for name in names}
        if len(places) == 1:
            write_record(session, places[0], records[names[0]])
        else:
            write_records(session, self.root, records)


def _incomplete(frame: DataFrame, stored: Mapping[str, StoredPartition]) -> list[str]:
    """The partitions some files of which are gone; the frame is of all of them."""
    counted = {key: one for key, one in stored.items() if one.files}
    files = files_by_folder(frame) if counted else {}
    return [
        key
        for key, one in counted.items()
        if files.get(one.place.rpartition("/")[2], 0) < (one.files or 0)
    ]
