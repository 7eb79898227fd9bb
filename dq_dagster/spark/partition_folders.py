"""Partitions as folders of a local file system, each replaced as a whole or not at all.

A partition's folder holds the folder of an attempt, and a small file that says which attempt
counts. That file is replaced in one step when everything is written, so that readers see the old
data or the new, also when a writer is killed or two of them meet.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dq_dagster.spark.folder_names import folder_name

PARTITION_COLUMN = "dq_partition"
_CURRENT = "_current.json"


@dataclass(frozen=True, slots=True)
class StoredPartition:
    """One partition as it was when asked: where its files lie, and its schema as JSON."""

    key: str
    folder: Path
    schema: str


@dataclass(frozen=True, slots=True)
class FreshPartition:
    """A folder that is written completely, and is to become the partition."""

    key: str
    folder: Path
    schema: str


@dataclass(frozen=True, slots=True)
class PartitionFolders:
    """All partitions of one asset, below its folder."""

    root: Path

    def folder_of(self, key: str) -> Path:
        return self.root / f"{PARTITION_COLUMN}={folder_name(key)}"

    def stored(self, keys: Iterable[str] | None = None) -> dict[str, StoredPartition]:
        """Those that exist, among the keys or at all."""
        if keys is None:
            folders = sorted(self.root.glob(f"{PARTITION_COLUMN}=*"))
        else:
            folders = [self.folder_of(key) for key in dict.fromkeys(keys)]
        found = [_current(folder) for folder in folders]
        return {partition.key: partition for partition in found if partition is not None}

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """A folder to write to that no reader looks into, and that is gone afterwards."""
        self.root.mkdir(parents=True, exist_ok=True)
        folder = self.root / f".staging-{uuid.uuid4().hex}"
        folder.mkdir()
        try:
            with _locked(folder / ".alive"):
                yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def publish(self, fresh: Iterable[FreshPartition]) -> None:
        """Puts new folders in the place of the old ones, one partition after the other."""
        with _locked(self.root / ".lock") as alone:
            for partition in fresh:
                self._replace(partition)
                if alone:
                    _remove_all_but_current(self.folder_of(partition.key))
            if alone:
                self._remove_abandoned()

    def _replace(self, partition: FreshPartition) -> None:
        folder = self.folder_of(partition.key)
        folder.mkdir(exist_ok=True)
        attempt = uuid.uuid4().hex
        partition.folder.rename(folder / attempt)
        record = {"key": partition.key, "attempt": attempt, "schema": partition.schema}
        waiting = folder / f".{attempt}.json"
        waiting.write_text(json.dumps(record), encoding="utf-8")
        waiting.replace(folder / _CURRENT)

    def _remove_abandoned(self) -> None:
        """What writers left that were killed: nobody holds the lock of their folders any more."""
        for folder in self.root.glob(".staging-*"):
            with _locked(folder / ".alive", wait=False) as abandoned:
                if abandoned:
                    shutil.rmtree(folder, ignore_errors=True)


def _current(folder: Path) -> StoredPartition | None:
    try:
        record: Mapping[str, str] = json.loads((folder / _CURRENT).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    attempt = folder / record["attempt"]
    return StoredPartition(record["key"], attempt, record["schema"]) if attempt.is_dir() else None


def _remove_all_but_current(folder: Path) -> None:
    current = _current(folder)
    for entry in folder.iterdir():
        if entry.name == _CURRENT or (current is not None and entry == current.folder):
            continue
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


@contextmanager
def _locked(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Holds a lock that ends with the process; says whether it was got.

    Replacing a partition needs no lock. Tidying up does: without one, nothing is removed.
    """
    try:
        import fcntl
    except ImportError:
        yield False
        return
    try:
        file = path.open("a")
    except FileNotFoundError:
        yield False
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
