"""Notes of the attempts that are not current, or may turn out not to be.

Without them, finding what partitions have left behind would mean looking into each of them at
every write. A note is an empty file whose name says all, so that it is there or not, and never
half there.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dq_dagster.spark.folder_names import PARTITION_COLUMN, WHOLE_FOLDER

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
