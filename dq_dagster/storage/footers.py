"""What the files of a write say of themselves: how many rows, and how many without a value.

Parquet notes both in the footer of each file, so that nobody has to read the rows for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dq_dagster.spark.frames.reading import is_remote
from dq_dagster.storage.folders import folder_name
from dq_dagster.storage.judged import JudgedFiles, JudgedWrite

# A footer is opened in about a millisecond: so many take no longer than a query of Spark's.
_MOST_FILES = 500


@dataclass(slots=True)
class Noted:
    """Of the rows of one partition that went to one target."""

    rows: int = 0
    # By column. Only columns whose files all know it.
    nulls: Counter[str] = field(default_factory=Counter)
    unknown: set[str] = field(default_factory=set)

    def add(self, metadata: Any) -> None:
        """Counts the rows of a file, too."""
        self.rows += metadata.num_rows
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            for place in range(group.num_columns):
                column = group.column(place)
                found = column.statistics
                if found is None or not found.has_null_count:
                    self.unknown.add(column.path_in_schema)
                else:
                    self.nulls[column.path_in_schema] += found.null_count

    def without_value(self, column: str) -> int | None:
        """How many rows have no value in the column; None if that is not on record."""
        # With a dot, the path of a field in a struct would look like a name.
        if "." in column or column in self.unknown or column not in self.nulls:
            return None
        return self.nulls[column]


def noted_by(files: JudgedFiles) -> dict[tuple[str | None, str], Noted] | None:
    """By partition and target; None if the files do not say it, or are too many to be asked."""
    from pyarrow import ArrowException, parquet

    if any(write.kind != "parquet" or is_remote(write.folder) for write in files.writes):
        return None
    every = [one for write in files.writes for one in _files(write)]
    if len(every) > _MOST_FILES:
        return None
    found: dict[tuple[str | None, str], Noted] = {}
    try:
        for key, target, path in every:
            found.setdefault((key, target), Noted()).add(parquet.read_metadata(path))
    except (OSError, ArrowException):
        # Written with a key that only Spark has, say.
        return None
    return found


def _files(write: JudgedWrite) -> Iterator[tuple[str | None, str, Path]]:
    """The files of a write, with the partition and the target of their rows."""
    parts: dict[str | None, Path] = {None: Path(write.folder)}
    if write.keys is not None:
        parts = {
            key: Path(write.folder) / f"{write.partition}={folder_name(key)}" for key in write.keys
        }
    for key, folder in parts.items():
        for place in sorted(folder.glob(f"{write.target}=*")):
            target = place.name.removeprefix(f"{write.target}=").partition("-")[0]
            for path in sorted(place.glob("*.parquet")):
                yield key, target, path
