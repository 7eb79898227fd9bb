"""The data of an asset on an object store or another file system that only Spark can reach.

What is stored is noted in a folder inside the data that Spark passes over. The note is written
after the data, and an overwrite of the data takes it away: where it is, the data was complete, with
these columns and so many files.
"""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from dq_dagster.errors import NothingStored, Unassignable
from dq_dagster.spark.frames.columns import text_literal
from dq_dagster.spark.frames.divided import Divided
from dq_dagster.storage.files import (
    FILE_FORMATS,
    is_missing,
    load_divided,
    load_whole,
    schema_text,
    survey,
    with_folder_names,
)
from dq_dagster.storage.folders import PARTITION_COLUMN, WHOLE_FOLDER, StoredPartition, folder_name
from dq_dagster.storage.judged import JudgedFiles
from dq_dagster.storage.store import Attempt, Store, Stored

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import types as T

_COLUMN = ".dq_schema"
_FOLDER = f"{_COLUMN}=1"
_STAGED = ".dq_staged"


@dataclass(frozen=True, slots=True)
class RemoteRecord:
    """The schema as JSON, and the number of files, which older records do not have."""

    schema: str
    files: int | None = None

    def text(self) -> str:
        return json.dumps({"files": self.files, "schema": json.loads(self.schema)})

    @classmethod
    def parse(cls, text: str) -> RemoteRecord:
        found = json.loads(text)
        if "schema" not in found:
            return cls(text)
        return cls(json.dumps(found["schema"]), found["files"])


def write_record(session: SparkSession, place: str, record: RemoteRecord) -> None:
    """Of the data at one place."""
    table = _table(session, {"value": [record.text()]})
    table.write.mode("overwrite").text(f"{place}/{_FOLDER}")


def write_records(session: SparkSession, root: str, records: Mapping[str, RemoteRecord]) -> None:
    """Of partitions, by the names of their folders, by one write."""
    table = _table(
        session,
        {
            "value": [record.text() for record in records.values()],
            PARTITION_COLUMN: [name.removeprefix(f"{PARTITION_COLUMN}=") for name in records],
            _COLUMN: ["1"] * len(records),
        },
    )
    writer = table.write.partitionBy(PARTITION_COLUMN, _COLUMN)
    # Other writers may be at work at the same place: this mode keeps to the folders it writes.
    writer.option("partitionOverwriteMode", "dynamic").mode("overwrite").text(root)


def records_at(session: SparkSession, places: Sequence[str]) -> dict[str, RemoteRecord]:
    """By place, of those that have one, by one small job."""
    names = {place: place.rpartition("/")[2] for place in places}
    try:
        by_name = _read(session, [f"{place}/{_FOLDER}" for place in places])
    except AnalysisException as error:
        if not is_missing(error):
            raise
        # Spark takes the paths together or not at all, but of a pattern it takes what is there.
        # No folder's name holds a sign that means something in a pattern.
        try:
            root = places[0].rpartition("/")[0]
            by_name = _read(session, [f"{root}/{{{','.join(names.values())}}}/{_FOLDER}"])
        except AnalysisException as still:
            if not is_missing(still):
                raise
            return {}
    found = {place: by_name[name] for place, name in names.items() if name in by_name}
    return {place: RemoteRecord.parse(text) for place, text in found.items()}


def files_by_folder(frame: DataFrame) -> Counter[str]:
    """How many files Spark reads, by the name of the folder they lie in."""
    return Counter(path.rsplit("/", 2)[-2] for path in frame.inputFiles())


def _read(session: SparkSession, paths: Sequence[str]) -> dict[str, str]:
    found = session.read.schema("value string").text(list(paths))
    folder = "regexp_extract(_metadata.file_path, '.*/([^/]+)/[^/]+/[^/]+$', 1)"
    # Connect finds out here whether there is anything to read.
    return {row[0]: row[1] for row in found.selectExpr(folder, "value").collect()}


def _table(session: SparkSession, columns: dict[str, list[str]]) -> DataFrame:
    import pyarrow as pa

    return session.createDataFrame(pa.table(columns)).coalesce(1)


@dataclass(frozen=True, slots=True)
class RemoteStore(Store):
    """Each partition is a folder that Spark overwrites; its guarantees are those of the store.

    Nothing can be staged and renamed here, so an attempt writes when it is published. The caller
    says which partitions to look for: what exists is not listed.
    """

    asset: str
    root: str
    kind: str

    @contextmanager
    def attempt(self) -> Iterator[RemoteAttempt]:
        yield RemoteAttempt(self.asset, self.root, self.kind)

    @contextmanager
    def judged(self) -> Iterator[JudgedFiles]:
        # Only Spark reaches it, and Spark removes nothing: let the store expire what is in there.
        yield JudgedFiles(self.asset, f"{self.root}/{_STAGED}/{uuid.uuid4().hex}")

    def finish_publishing(self) -> None:
        # What Spark had not yet overwritten is as it was.
        return

    def apart(self, stored: DataFrame) -> DataFrame:
        """Files are copied: Spark would delete them before it reads them."""
        if self.kind not in FILE_FORMATS:
            return stored
        place = f"{self.root}/{_STAGED}/{uuid.uuid4().hex}"
        stored.write.format(self.kind).save(place)
        return stored.sparkSession.read.format(self.kind).schema(stored.schema).load(place)

    def existing(self) -> None:
        return None

    def load_whole(self, session: SparkSession) -> DataFrame:
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

    def load(self, session: SparkSession, keys: Sequence[str] | None) -> Divided:
        keys = keys or ()
        stored = self._stored(session, {key: _place_of(self.root, key) for key in keys})
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
        if not keys:
            return ()
        try:
            return self.load(session, keys).partitions or ()
        except NothingStored:
            return ()

    def _stored(
        self, session: SparkSession, places: Mapping[str, str]
    ) -> dict[str, StoredPartition]:
        """Those that were written completely, as far as that is known."""
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


@dataclass(frozen=True, slots=True)
class RemoteAttempt(Attempt):
    """Writes that are yet to be done."""

    asset: str
    root: str
    kind: str
    _pending: list[Callable[[], dict[str | None, str]]] = field(default_factory=list)
    _schemas: list[T.StructType] = field(default_factory=list)

    def write_whole(self, frame: DataFrame) -> None:
        self._add(frame, lambda: {None: self._write(frame, f"{self.root}/{WHOLE_FOLDER}")})

    def write(self, frames: Mapping[str, DataFrame]) -> None:
        first = next(iter(frames.values()))
        self._add(first, lambda: self._write_each(frames))

    def write_split(self, frame: DataFrame, key: str, partitions: Sequence[str]) -> None:
        """One write replaces the partitions that have rows, after one query for all keys."""
        if self.kind not in FILE_FORMATS:
            raise Unassignable.cannot_split(self.asset, self.kind, FILE_FORMATS)
        found, outside = survey(frame, key, partitions)
        if outside.rows:
            raise Unassignable.outside(self.asset, outside.rows, partitions, outside.examples)
        self._add(frame, lambda: self._write_found(frame, key, partitions, found))

    def publish(self) -> Stored:
        places = [write() for write in self._pending]
        return Stored({key: at for some in places for key, at in some.items()}, self._schemas[0])

    def _add(self, frame: DataFrame, write: Callable[[], dict[str | None, str]]) -> None:
        self._pending.append(write)
        self._schemas.append(frame.schema)

    def _write_each(self, frames: Mapping[str, DataFrame]) -> dict[str | None, str]:
        places = {key: _place_of(self.root, key) for key in frames}
        return {key: self._write(frame, places[key]) for key, frame in frames.items()}

    def _write_found(
        self, frame: DataFrame, key: str, partitions: Sequence[str], found: Collection[str]
    ) -> dict[str | None, str]:
        if PARTITION_COLUMN in [name.lower() for name in frame.columns]:
            # The column that would name the folders has the same name: by one write each.
            self._write_each(
                {name: frame.where(f"({key}) = {text_literal(name)}") for name in found}
            )
        elif found:
            named = with_folder_names(frame, key, partitions, PARTITION_COLUMN)
            writer = named.write.format(self.kind).partitionBy(PARTITION_COLUMN)
            # Only the partitions that occur are replaced.
            writer = writer.option("partitionOverwriteMode", "dynamic")
            writer.mode("overwrite").save(self.root)
            self._note(frame, [_place_of(self.root, name) for name in found])
        self._write_each({name: frame.limit(0) for name in partitions if name not in found})
        return {name: _place_of(self.root, name) for name in partitions}

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


def _place_of(root: str, key: str) -> str:
    return f"{root}/{PARTITION_COLUMN}={folder_name(key)}"


def _incomplete(frame: DataFrame, stored: Mapping[str, StoredPartition]) -> list[str]:
    """The partitions some files of which are gone; the frame is of all of them."""
    counted = {key: one for key, one in stored.items() if one.files}
    files = files_by_folder(frame) if counted else {}
    return [
        key
        for key, one in counted.items()
        if files.get(one.place.rpartition("/")[2], 0) < (one.files or 0)
    ]
