"""Two stores that change together: both, or neither, also if the process is killed in between.

Everything is put into its place first. Then a note says which small files are to be renamed, which
is what makes the new data count. Whoever finds the note later renames what was left. One does so at
a time, and what others left comes first: of two writers, one has both stores.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dq_dagster.storage.folders import (
    FreshPartition,
    PartitionFolders,
    ReadyPartition,
    locked,
)
from dq_dagster.storage.store import Stored

if TYPE_CHECKING:
    from pyspark.sql import types as T

_NOTES, _LOCK = ".publishing", ".lock"


@dataclass(frozen=True, slots=True)
class Ready:
    """Partitions of one store that are in their place, and do not count yet."""

    folders: PartitionFolders
    partitions: tuple[ReadyPartition, ...]
    schema: T.StructType

    @classmethod
    def of(
        cls, folders: PartitionFolders, fresh: Sequence[FreshPartition], schema: T.StructType
    ) -> Ready:
        return cls(folders, tuple(folders.prepare(one) for one in fresh), schema)

    @property
    def stored(self) -> Stored:
        return Stored({one.stored.key: one.stored.place for one in self.partitions}, self.schema)


def publish_together(first: Ready, second: Ready) -> None:
    """Lets both count; the first is the one where the note lies."""
    folder = first.folders.root / _NOTES
    folder.mkdir(parents=True, exist_ok=True)
    note = folder / f"{uuid.uuid4().hex}.json"
    renames = [(one.waiting, one.current) for one in (*first.partitions, *second.partitions)]
    waiting = note.with_suffix(".tmp")
    waiting.write_text(json.dumps([[str(a), str(b)] for a, b in renames]), encoding="utf-8")
    with locked(folder / _LOCK):
        _finish_all(folder)
        waiting.replace(note)
        _finish(note)
    first.folders.tidy(first.partitions)
    second.folders.tidy(second.partitions)


def finish_publishing(root: Path) -> None:
    """Renames what a process left that was killed between two renames, or is at it right now."""
    folder = root / _NOTES
    if folder.is_dir():
        with locked(folder / _LOCK):
            _finish_all(folder)


def _finish_all(folder: Path) -> None:
    for note in sorted(folder.glob("*.json")):
        _finish(note)


def _finish(note: Path) -> None:
    # Where there are no locks, another process may be doing the same: what is gone is done.
    with suppress(FileNotFoundError):
        for waiting, current in json.loads(note.read_text(encoding="utf-8")):
            with suppress(FileNotFoundError):
                Path(waiting).replace(current)
        note.unlink()
