"""The data of an asset as folders of a local file system, replaced as a whole or not at all.

A partition's folder, or the one of all data where there are no partitions, holds the folder of an
attempt, and a small file that says which attempt counts. That file is replaced in one step when
everything is written, so that readers see the old data or the new, also when a writer is killed or
two of them meet. Readers are lazy, so the old data stays a while for those that began with it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Below the folder of an asset: its partitions, or all of its data where it has none.
PARTITION_COLUMN = "dq_partition"
WHOLE_FOLDER = "dq_dataset"

# Spark hides names that start with a dot or an underscore, and file systems end names at 255 bytes.
_PLAIN = re.compile(r"[A-Za-z0-9-](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?")
_KEPT = re.compile(r"[A-Za-z0-9_-]")
_LONGEST = 150


def folder_name(key: str) -> str:
    """A name that no other key has, and that no file system, shell or URI reads differently.

    Keys such as ``2024-01-31`` are their own names. Any other character becomes ``!`` and the
    hexadecimal form of its bytes; of very long keys the name keeps the beginning and a digest.
    """
    if _PLAIN.fullmatch(key) and len(key) <= _LONGEST:
        return key
    # The mark in front: no plain key is the name of an odd one, however it is spelled.
    name = "!" + "".join(char if _KEPT.fullmatch(char) else _escaped(char) for char in key)
    if len(name) <= _LONGEST:
        return name
    return f"{name[:80]}!!{hashlib.sha256(key.encode()).hexdigest()}"


def asset_folder(parts: Iterable[str]) -> str:
    """The folder of an asset, which lies in no other asset's data, whatever its key is.

    It may lie in the folder of another asset, beside that one's data: no part of a key has the
    name of a folder with data. Plain names stay as they are.
    """
    return "/".join(_part_name(part) for part in parts)


def _part_name(part: str) -> str:
    name = folder_name(part)
    # Some file systems do not tell upper from lower case.
    return f"!{name}" if name.lower() == WHOLE_FOLDER else name


def _escaped(char: str) -> str:
    return "".join(f"!{byte:02x}" for byte in char.encode())


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Holds a lock that ends with the process; says whether it was got.

    Some systems and some file systems have no such locks, and some files belong to others.
    """
    try:
        import fcntl
    except ImportError:
        yield False
        return
    try:
        file = path.open("a")
    except OSError:
        yield False
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True


_FOLDER = ".journal"
# No folder's name holds it, of a partition or of an attempt.
_BETWEEN = ","
# Nothing else is ever removed, whatever lies among the notes.
_NOTE = re.compile(
    rf"(?P<place>{WHOLE_FOLDER}|{PARTITION_COLUMN}=[^{_BETWEEN}]+){_BETWEEN}(?P<attempt>[0-9a-f]{{32}})"
)


@dataclass(frozen=True, slots=True)
class AttemptJournal:
    """The notes of one asset, below its folder."""

    root: Path

    def note(self, attempt: Path) -> None:
        """From now on, also if it was noted before, it is a matter of time until this one goes."""
        note = self._note_of(attempt)
        note.parent.mkdir(exist_ok=True)
        note.touch()

    def knows(self, attempt: Path) -> bool:
        return self._note_of(attempt).exists()

    def forget(self, attempt: Path) -> None:
        self._note_of(attempt).unlink(missing_ok=True)

    def older_than(self, seconds: float) -> Iterator[Path]:
        """The attempts that were noted so long ago."""
        folder = self.root / _FOLDER
        for note in sorted(folder.iterdir()) if folder.is_dir() else ():
            named = _NOTE.fullmatch(note.name)
            if named and is_older(note, seconds):
                yield self.root / named["place"] / named["attempt"]

    def is_due(self, attempt: Path, seconds: float) -> bool:
        return is_older(self._note_of(attempt), seconds)

    def _note_of(self, attempt: Path) -> Path:
        return self.root / _FOLDER / f"{attempt.parent.name}{_BETWEEN}{attempt.name}"


def is_older(path: Path, seconds: float) -> bool:
    """Whether nothing happened to it for so long; what is gone is not old."""
    try:
        return time.time() - path.stat().st_mtime >= seconds
    except FileNotFoundError:
        return False


# Twelve hours: longer than most jobs read.
KEEP_REPLACED = 12 * 3600.0
_CURRENT = "_current.json"
_STAGING = ".staging"
_ALIVE = ".alive"
# What is younger may belong to a writer that is between two steps, on a system without locks.
_SETTLED = 600.0


@dataclass(frozen=True, slots=True)
class StoredPartition:
    """One partition as it is now: where its files lie, and its schema as JSON.

    Data that is not partitioned has no key. ``files`` is how many were written, where
    that is known.
    """

    key: str | None
    place: str
    schema: str
    files: int | None = None


@dataclass(frozen=True, slots=True)
class FreshPartition:
    """A folder that is written completely, and is to become the partition."""

    key: str | None
    folder: Path
    schema: str
    # Whether each file in it is data, so that none of them may be missing later.
    counted: bool = True


@dataclass(frozen=True, slots=True)
class ReadyPartition:
    """A partition that is in its place, and counts as soon as it is switched to."""

    stored: StoredPartition
    waiting: Path
    current: Path

    def switch(self) -> None:
        self.waiting.replace(self.current)


@dataclass(frozen=True, slots=True)
class PartitionFolders:
    """All data of one asset, below its folder."""

    root: Path
    # How many seconds readers may go on with what was replaced.
    keep: float = KEEP_REPLACED

    def folder_of(self, key: str | None) -> Path:
        if key is None:
            return self.root / WHOLE_FOLDER
        return self.root / f"{PARTITION_COLUMN}={folder_name(key)}"

    def stored(self, keys: Iterable[str] | None = None) -> dict[str, StoredPartition]:
        """The partitions that exist with all their files, among the keys or at all."""
        if keys is None:
            folders = sorted(self.root.glob(f"{PARTITION_COLUMN}=*"))
        else:
            folders = [self.folder_of(key) for key in dict.fromkeys(keys)]
        found = [_stored(folder) for folder in folders]
        return {one.key: one for one in found if one is not None and one.key is not None}

    def whole(self) -> StoredPartition | None:
        """The data of an asset without partitions, if it exists."""
        return _stored(self.folder_of(None))

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """A folder to write to that no reader looks into, and that is gone afterwards."""
        folder = self.root / _STAGING / uuid.uuid4().hex
        folder.mkdir(parents=True)
        try:
            with locked(folder / _ALIVE) as known:
                if not known:
                    # Another system that has locks would take the writer for dead.
                    (folder / _ALIVE).unlink(missing_ok=True)
                yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def publish(self, fresh: Iterable[FreshPartition]) -> list[StoredPartition]:
        """Puts new folders in the place of the old ones, one partition after the other.

        That needs no lock. Tidying up does: without one, nothing is removed.
        """
        ready = []
        for partition in fresh:
            ready.append(self.prepare(partition))
            ready[-1].switch()
        self.tidy(ready)
        return [one.stored for one in ready]

    def tidy(self, switched: Iterable[ReadyPartition]) -> None:
        """Forgets what counts now, and removes what was replaced long enough ago."""
        with locked(self.root / ".lock") as alone:
            if alone:
                for partition in switched:
                    self._journal.forget(Path(partition.stored.place))
                self._remove_replaced()
                self._remove_abandoned()

    @property
    def _journal(self) -> AttemptJournal:
        return AttemptJournal(self.root)

    def prepare(self, partition: FreshPartition) -> ReadyPartition:
        """Puts a new folder beside the old one. It counts when a small file is renamed.

        Each step leaves the old data, and a note of what is to be removed then.
        """
        folder = self.folder_of(partition.key)
        folder.mkdir(exist_ok=True)
        attempt = folder / uuid.uuid4().hex
        self._journal.note(attempt)
        partition.folder.rename(attempt)
        self._note_others(attempt)
        record = {
            "key": partition.key,
            "attempt": attempt.name,
            "schema": partition.schema,
            "files": _data_files(attempt) if partition.counted else None,
        }
        waiting = _waiting(attempt)
        waiting.write_text(json.dumps(record), encoding="utf-8")
        stored = StoredPartition(partition.key, str(attempt), partition.schema)
        return ReadyPartition(stored, waiting, folder / _CURRENT)

    def _note_others(self, attempt: Path) -> None:
        """The time of the current one begins now; those before it have theirs already."""
        current = None
        with suppress(ValueError):  # Data whose record is spoiled can still be replaced.
            current = _current_attempt(attempt.parent)
        for other in attempt.parent.iterdir():
            known = other != current and self._journal.knows(other)
            if other != attempt and not known and other.is_dir():
                self._journal.note(other)

    def _remove_replaced(self) -> None:
        kept = max(self.keep, _SETTLED)
        for attempt in self._journal.older_than(kept):
            with suppress(OSError, ValueError):
                if _current_attempt(attempt.parent) == attempt:
                    self._journal.forget(attempt)
                # Asked again: it may have been replaced, and noted before that, just now.
                elif self._journal.is_due(attempt, kept):
                    self._remove(attempt)

    def _remove(self, attempt: Path) -> None:
        shutil.rmtree(attempt, ignore_errors=True)
        _waiting(attempt).unlink(missing_ok=True)
        if not attempt.exists():
            self._journal.forget(attempt)

    def _remove_abandoned(self) -> None:
        """What writers left that were killed: nobody holds the lock of their folders any more."""
        for folder in (self.root / _STAGING).glob("*"):
            # What cannot be removed must not fail a write that is complete.
            with suppress(OSError):
                if is_older(folder, _SETTLED):
                    _remove_if_abandoned(folder)


def _remove_if_abandoned(folder: Path) -> None:
    if not (folder / _ALIVE).exists():
        # Killed at once, or at work without locks: only the first left nothing in it.
        folder.rmdir()
        return
    with locked(folder / _ALIVE, wait=False) as abandoned:
        if abandoned:
            shutil.rmtree(folder, ignore_errors=True)


def _stored(folder: Path) -> StoredPartition | None:
    record = _record(folder)
    if record is None:
        return None
    attempt = folder / str(record["attempt"])
    files = record.get("files")
    if not attempt.is_dir() or (files is not None and _data_files(attempt) < files):
        return None
    return StoredPartition(record["key"], str(attempt), str(record["schema"]), files)


def _data_files(attempt: Path) -> int:
    """How many files Spark would read: those whose names do not hide them."""
    with os.scandir(attempt) as entries:
        return sum(not entry.name.startswith((".", "_")) for entry in entries)


def _record(folder: Path) -> Mapping[str, Any] | None:
    try:
        text = (folder / _CURRENT).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    record: Mapping[str, Any] = json.loads(text)
    return record


def _current_attempt(folder: Path) -> Path | None:
    record = _record(folder)
    return None if record is None else folder / str(record["attempt"])


def _waiting(attempt: Path) -> Path:
    """The file that is to say that this attempt counts."""
    return attempt.with_name(f".{attempt.name}.json")
