"""The data of an asset on a local file system: written beside the old ones, then published."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from dq_dagster.errors import NothingStored, Unassignable
from dq_dagster.spark.frames.columns import identifier
from dq_dagster.spark.frames.divided import AlikePartitions, Divided
from dq_dagster.spark.frames.frames import GOOD, HIDDEN_KEY, KEPT, TARGET
from dq_dagster.storage.files import (
    FILE_FORMATS,
    OUTSIDE,
    load_divided,
    load_whole,
    outsiders,
    schema_text,
    unused_column,
    with_folder_names,
    write_no_rows,
)
from dq_dagster.storage.folders import (
    KEEP_REPLACED,
    PARTITION_COLUMN,
    FreshPartition,
    PartitionFolders,
    folder_name,
)
from dq_dagster.storage.judged import LOSSLESS, JudgedFiles, fresh_partitions
from dq_dagster.storage.pairs import Ready, finish_publishing, publish_together
from dq_dagster.storage.store import Attempt, Store, Stored

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import types as T


@dataclass(frozen=True, slots=True)
class LocalStore(Store):
    """An attempt is a folder that no reader sees, and that is renamed to become a partition."""

    asset: str
    root: Path
    kind: str

    # How many seconds what was replaced stays for those who read it.
    keep: float = KEEP_REPLACED

    @property
    def _folders(self) -> PartitionFolders:
        return PartitionFolders(self.root, self.keep)

    @contextmanager
    def attempt(self) -> Iterator[LocalAttempt]:
        folders = self._folders
        with folders.staging() as staging:
            yield LocalAttempt(self.asset, self.kind, folders, staging)

    @contextmanager
    def judged(self) -> Iterator[JudgedFiles]:
        with self._folders.staging() as staging:
            kind = self.kind if self.kind in LOSSLESS else "parquet"
            yield JudgedFiles(self.asset, str(staging), kind)

    def publish_judged(self, files: JudgedFiles, session: SparkSession) -> Stored:
        """By moving the files, if they are of the format that is stored."""
        if not self._moves(files):
            return Store.publish_judged(self, files, session)
        stored = self._folders.publish(fresh_partitions(files))
        return Stored({one.key: one.place for one in stored}, files.writes[0].schema)

    def _moves(self, files: JudgedFiles) -> bool:
        return files.kind == self.kind and files.holds_rows_alone

    def publish_beside(
        self,
        files: JudgedFiles,
        session: SparkSession,
        quarantine: Store,
        kinds: Sequence[AlikePartitions],
    ) -> tuple[Stored, Stored]:
        """Both at once, if both lie here."""
        if not isinstance(quarantine, LocalStore):
            return Store.publish_beside(self, files, session, quarantine, kinds)
        kept = quarantine.prepare_alike(kinds)
        ready = self.prepare_judged(files, session)
        publish_together(kept, ready)
        return ready.stored, kept.stored

    def publishes_together(self, quarantine: Store) -> bool:
        return isinstance(quarantine, LocalStore)

    def finish_publishing(self) -> None:
        """Completes what a process that was killed had begun to publish."""
        finish_publishing(self.root)

    def apart(self, stored: DataFrame) -> DataFrame:
        # Nothing is written to where it lies.
        return stored

    def prepare_judged(self, files: JudgedFiles, session: SparkSession) -> Ready:
        """The rows that are to be published, in their place but not yet counting."""
        if self._moves(files):
            fresh = list(fresh_partitions(files))
            return Ready.of(self._folders, fresh, files.writes[0].schema)
        kinds = files.rows(session, GOOD, KEPT)
        return self.prepare_alike([replace(one, frame=one.frame.drop(TARGET)) for one in kinds])

    def prepare_alike(self, kinds: Sequence[AlikePartitions]) -> Ready:
        """Rows that say by a column where each belongs, in their place but not yet counting."""
        with self.attempt() as attempt:
            for rows in kinds:
                attempt.write_alike(rows)
            return attempt.ready()

    def existing(self) -> list[str]:
        return sorted(self._folders.stored())

    def stored_among(self, session: SparkSession, keys: Sequence[str]) -> Collection[str]:
        return self._folders.stored(keys).keys()

    def load_whole(self, session: SparkSession) -> DataFrame:
        stored = self._folders.whole()
        if stored is None:
            raise NothingStored.whole(self.asset, str(self.root))
        return load_whole(session, self.kind, stored)

    def load(self, session: SparkSession, keys: Sequence[str] | None) -> Divided:
        """Files of other partitions are not opened."""
        stored = self._folders.stored(keys)
        if not stored:
            raise NothingStored.of_partitions(self.asset, keys or [], str(self.root))
        return load_divided(session, self.kind, str(self.root), stored)


@dataclass(frozen=True, slots=True)
class LocalAttempt(Attempt):
    """Folders of one staging area, each of which is to become a partition."""

    asset: str
    kind: str
    folders: PartitionFolders
    staging: Path
    _fresh: list[FreshPartition] = field(default_factory=list)
    _schemas: list[T.StructType] = field(default_factory=list)

    def write_whole(self, frame: DataFrame) -> None:
        folder = self._next()
        frame.write.format(self.kind).save(str(folder))
        self._add(None, folder, frame)

    def write(self, frames: Mapping[str, DataFrame]) -> None:
        """Partitions with the same columns are written together."""
        groups: dict[str, dict[str, DataFrame]] = {}
        for key, frame in frames.items():
            groups.setdefault(schema_text(frame), {})[key] = frame
        for group in groups.values():
            if len(group) > 1 and self.kind in FILE_FORMATS:
                self._write_together(group)
            else:
                self._write_apart(group)

    def write_split(self, frame: DataFrame, key: str, partitions: Sequence[str]) -> None:
        """All partitions by one write."""
        if self.kind not in FILE_FORMATS:
            raise Unassignable.cannot_split(self.asset, self.kind, FILE_FORMATS)
        column = unused_column(frame, PARTITION_COLUMN)
        named = with_folder_names(frame, key, partitions, column).drop(HIDDEN_KEY)
        folder = self._save(named, column)
        stored = frame.drop(HIDDEN_KEY)
        outside = folder / f"{column}={OUTSIDE}"
        if outside.exists():
            reader = frame.sparkSession.read.format(self.kind).schema(stored.schema)
            found = outsiders(reader.load(str(outside)), key)
            raise Unassignable.outside(self.asset, found.rows, partitions, found.examples)
        self._add_all(stored, folder, column, partitions)

    def write_alike(self, rows: AlikePartitions) -> None:
        """By one write, if there can be one."""
        if HIDDEN_KEY not in rows.frame.columns or self.kind not in FILE_FORMATS:
            Attempt.write_alike(self, rows)
            return
        self.write_split(rows.frame, identifier(HIDDEN_KEY), sorted(rows.partitions))

    def ready(self) -> Ready:
        """What was written, in its place but not yet counting."""
        return Ready.of(self.folders, self._fresh, self._schemas[0])

    def publish(self) -> Stored:
        stored = self.folders.publish(self._fresh)
        return Stored({one.key: one.place for one in stored}, self._schemas[0])

    def _write_apart(self, group: Mapping[str, DataFrame]) -> None:
        for key, frame in group.items():
            folder = self._next()
            frame.write.format(self.kind).save(str(folder))
            self._add(key, folder, frame)

    def _write_together(self, group: Mapping[str, DataFrame]) -> None:
        first = next(iter(group.values()))
        column = unused_column(first, PARTITION_COLUMN)
        named = [each.withColumn(column, F.lit(folder_name(name))) for name, each in group.items()]
        folder = self._save(reduce(lambda one, other: one.union(other), named), column)
        self._add_all(first, folder, column, list(group))

    def _save(self, named: DataFrame, column: str) -> Path:
        folder = self._next()
        named.write.format(self.kind).partitionBy(column).save(str(folder))
        return folder

    def _next(self) -> Path:
        """A folder of the staging area that is not there yet."""
        return self.staging / f"write{len(self._fresh)}"

    def _add_all(self, frame: DataFrame, folder: Path, column: str, keys: Sequence[str]) -> None:
        """What was written, and a folder for each partition without rows."""
        for key in keys:
            mine = folder / f"{column}={folder_name(key)}"
            if not mine.exists():
                mine.mkdir()
                if self.kind == "parquet":
                    write_no_rows(frame.schema, mine)
            self._add(key, mine, frame)

    def _add(self, key: str | None, folder: Path, frame: DataFrame) -> None:
        counted = self.kind in FILE_FORMATS
        self._fresh.append(FreshPartition(key, folder, schema_text(frame), counted=counted))
        self._schemas.append(frame.schema)
