"""The data of an asset on a local file system: written beside the old ones, then published."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from dq_dagster.errors import NothingStored, Unassignable
from dq_dagster.spark.frames.divided import Divided
from dq_dagster.storage.files import (
    FILE_FORMATS,
    load_divided,
    load_whole,
    schema_text,
    write_no_rows,
)
from dq_dagster.storage.folders import (
    KEEP_REPLACED,
    PARTITION_COLUMN,
    FreshPartition,
    PartitionFolders,
    folder_name,
)
from dq_dagster.storage.split import OUTSIDE, outsiders, unused_column, with_folder_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class LocalPartitions:
    """Stores and loads one asset, by partition or as a whole."""

    asset: str
    root: Path
    kind: str

    # How many seconds what was replaced stays for those who read it.
    keep: float = KEEP_REPLACED

    @property
    def _folders(self) -> PartitionFolders:
        return PartitionFolders(self.root, self.keep)

    def existing(self) -> list[str]:
        return sorted(self._folders.stored())

    def stored_among(self, session: SparkSession, keys: Sequence[str]) -> Collection[str]:
        """Those of the keys that can be read."""
        return self._folders.stored(keys).keys()

    def write_whole(self, frame: DataFrame) -> str:
        """All data of an asset without partitions; says where it is."""
        with self._folders.staging() as staging:
            frame.write.format(self.kind).save(str(staging / "all"))
            fresh = self._fresh_at(None, staging / "all", frame)
            [stored] = self._folders.publish([fresh])
        return stored.place

    def write(self, frames: Mapping[str, DataFrame]) -> dict[str, str]:
        """Partitions with the same columns are written together; says where each of them is."""
        groups: dict[str, dict[str, DataFrame]] = {}
        for key, frame in frames.items():
            groups.setdefault(schema_text(frame), {})[key] = frame
        with self._folders.staging() as staging:
            fresh: list[FreshPartition] = []
            for number, group in enumerate(groups.values()):
                fresh += self._write_group(group, staging / str(number))
            return self._published(fresh)

    def write_split(self, frame: DataFrame, key: str, partitions: Sequence[str]) -> dict[str, str]:
        """All partitions by one write; nothing is published if a row belongs to none of them."""
        if self.kind not in FILE_FORMATS:
            raise Unassignable.can_not_split(self.asset, self.kind, FILE_FORMATS)
        column = unused_column(frame, PARTITION_COLUMN)
        named = with_folder_names(frame, key, partitions, column)
        with self._folders.staging() as staging:
            self._save(named, staging, column)
            outside = staging / "all" / f"{column}={OUTSIDE}"
            if outside.exists():
                reader = frame.sparkSession.read.format(self.kind).schema(frame.schema)
                found = outsiders(reader.load(str(outside)), key)
                raise Unassignable.outside(self.asset, found.rows, partitions, found.examples)
            return self._published(self._fresh(frame, staging, column, partitions))

    def _published(self, fresh: Sequence[FreshPartition]) -> dict[str, str]:
        return {str(stored.key): stored.place for stored in self._folders.publish(fresh)}

    def load_whole(self, session: SparkSession) -> DataFrame:
        """All data of an asset without partitions."""
        stored = self._folders.whole()
        if stored is None:
            raise NothingStored.whole(self.asset, str(self.root))
        return load_whole(session, self.kind, stored)

    def load(self, session: SparkSession, keys: Sequence[str] | None) -> Divided:
        """Those of the keys that exist, or all; no other partition's files are looked at."""
        stored = self._folders.stored(keys)
        if not stored:
            raise NothingStored.of_partitions(self.asset, keys or [], str(self.root))
        return load_divided(session, self.kind, str(self.root), stored)

    def _write_group(self, group: Mapping[str, DataFrame], staging: Path) -> list[FreshPartition]:
        staging.mkdir()
        [(key, frame), *more] = group.items()
        if not more:
            frame.write.format(self.kind).save(str(staging / "one"))
            return [self._fresh_at(key, staging / "one", frame)]
        if self.kind not in FILE_FORMATS:
            single = [{key: frame} for key, frame in group.items()]
            return [
                self._write_group(one, staging / str(number))[0]
                for number, one in enumerate(single)
            ]
        column = unused_column(frame, PARTITION_COLUMN)
        named = [each.withColumn(column, F.lit(folder_name(name))) for name, each in group.items()]
        self._save(reduce(lambda one, other: one.union(other), named), staging, column)
        return self._fresh(frame, staging, column, list(group))

    def _save(self, named: DataFrame, staging: Path, column: str) -> None:
        named.write.format(self.kind).partitionBy(column).save(str(staging / "all"))

    def _fresh(
        self, frame: DataFrame, staging: Path, column: str, keys: Sequence[str]
    ) -> list[FreshPartition]:
        """What was written, and a folder for each partition without rows."""
        folders = {key: staging / "all" / f"{column}={folder_name(key)}" for key in keys}
        for folder in folders.values():
            if not folder.exists():
                folder.mkdir()
                if self.kind == "parquet":
                    write_no_rows(frame.schema, folder)
        return [self._fresh_at(key, folder, frame) for key, folder in folders.items()]

    def _fresh_at(self, key: str | None, folder: Path, frame: DataFrame) -> FreshPartition:
        return FreshPartition(key, folder, schema_text(frame), counted=self.kind in FILE_FORMATS)
