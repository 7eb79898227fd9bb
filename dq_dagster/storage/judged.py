"""Rows that were judged while they were written: good ones, kept ones, and those that stay out.

One write puts each row into a folder by its target, so that the rows are computed once. Nothing of
that is published yet: all rows (the source) and the good ones can be read there, and the bad ones
with what was found out about them when they were written.

Good files hold the rows and nothing else. What a bad row breaks is found again in the stored row;
where that is not possible (whether its value repeats, say), the target says it: after its name
there is a one or a zero for each such fault. Many of those would make many folders: they are in a
column of the files then, which have to be written once more to be published.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.errors import Unassignable
from dq_dagster.spark.frames.ansi import compiled
from dq_dagster.spark.frames.columns import identifier, text_literal
from dq_dagster.spark.frames.divided import AlikePartitions, Divided
from dq_dagster.spark.frames.frames import GOOD, HIDDEN_KEY, KEPT, OUT, ROW, TARGET
from dq_dagster.spark.frames.reading import is_remote
from dq_dagster.storage.files import (
    OUTSIDE,
    outsiders,
    partition_of,
    unused_column,
    with_folder_names,
    write_no_rows,
)
from dq_dagster.storage.folders import PARTITION_COLUMN, FreshPartition, folder_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The formats that give back what was written, to the last bit: faults are found again there.
LOSSLESS = frozenset({"parquet", "orc"})
_TARGET, _MARKS = "dq_target", "dq_marks"
# Each one may double the folders.
_MOST_MARKS = 8


@dataclass(frozen=True, slots=True)
class JudgedWrite:
    """What one write left: rows of one schema, in folders by partition and by target."""

    folder: str
    kind: str
    schema: T.StructType
    # The columns that folders stand for; no column of the rows has these names.
    partition: str
    target: str
    keys: tuple[str, ...] | None
    # The column of the files that holds what the target says beside its name, if it is not there.
    marks: str | None = None

    @property
    def folders(self) -> list[str]:
        """The columns by which the rows lie in folders."""
        return [self.target] if self.keys is None else [self.partition, self.target]

    def rows(self, session: SparkSession, targets: Sequence[str]) -> DataFrame:
        """The rows of these targets, with TARGET and, if they have a partition, HIDDEN_KEY."""
        names = [*([self.marks] if self.marks else []), *self.folders]
        named = [T.StructField(name, T.StringType()) for name in names]
        reader = session.read.format(self.kind).schema(T.StructType([*self.schema.fields, *named]))
        frame = reader.load(self.folder)
        if set(targets) != {GOOD, KEPT, OUT}:
            # Folders, so that no file of other targets is opened.
            word = f"substring_index({identifier(self.target)}, '-', 1)"
            frame = frame.where(f"{word} IN ({', '.join(map(text_literal, targets))})")
        if self.marks is not None:
            whole = F.concat_ws("-", F.col(self.target), F.col(self.marks))
            frame = frame.withColumn(self.target, whole).drop(self.marks)
        frame = frame.withColumnRenamed(self.target, TARGET)
        if self.keys is None:
            return frame
        key = F.expr(partition_of(identifier(self.partition), self.keys))
        return frame.withColumn(HIDDEN_KEY, key).drop(self.partition)


@dataclass(frozen=True, slots=True)
class JudgedFiles:
    """Judged rows below a folder that nobody else looks into."""

    asset: str
    root: str
    kind: str = "parquet"
    writes: list[JudgedWrite] = field(default_factory=list)

    def write(
        self,
        rows: DataFrame,
        keys: Sequence[str] | None,
        key_sql: str | None = None,
        *,
        marks: int = 0,
    ) -> None:
        """Rows with TARGET, which has so many marks, and HIDDEN_KEY where there are partitions.

        ``key_sql`` is what the key was made of, for the words of an error. Raises Unassignable if
        a row belongs to none of the partitions.
        """
        bare = rows.drop(TARGET, HIDDEN_KEY)
        partition, target = (unused_column(bare, name) for name in (PARTITION_COLUMN, _TARGET))
        found = JudgedWrite(
            f"{self.root}/judged-{uuid.uuid4().hex}",
            self.kind,
            bare.schema,
            partition,
            target,
            None if keys is None else tuple(keys),
            unused_column(bare, _MARKS) if marks > _MOST_MARKS else None,
        )
        named = rows
        if keys is not None:
            named = with_folder_names(rows, identifier(HIDDEN_KEY), keys, partition)
        named = named.drop(HIDDEN_KEY).withColumnRenamed(TARGET, target)
        if found.marks is not None:
            word, rest = (F.substring_index(F.col(target), "-", side) for side in (1, -1))
            named = named.withColumn(found.marks, rest).withColumn(target, word)
        compiled(named).write.format(self.kind).partitionBy(*found.folders).save(found.folder)
        self._refuse_outsiders(found, rows.sparkSession, key_sql)
        self.writes.append(found)

    def _refuse_outsiders(
        self, found: JudgedWrite, session: SparkSession, key_sql: str | None
    ) -> None:
        """Only of rows that tell their partition themselves, as those of one frame do."""
        if found.keys is None or key_sql is None:
            return
        place = f"{found.folder}/{found.partition}={OUTSIDE}"
        if not is_remote(place) and not Path(place).exists():
            return
        among = found.rows(session, (GOOD, KEPT, OUT)).where(
            f"{identifier(HIDDEN_KEY)} = {text_literal(OUTSIDE)}"
        )
        some = outsiders(among, key_sql)
        if some.rows:
            raise Unassignable.outside(self.asset, some.rows, found.keys, some.examples)

    def rows(self, session: SparkSession, *targets: str) -> list[AlikePartitions]:
        """The rows of these targets by their columns, with TARGET and HIDDEN_KEY."""
        return [
            AlikePartitions(frozenset(one.keys or ()), one.rows(session, targets))
            for one in self.writes
        ]

    @property
    def holds_rows_alone(self) -> bool:
        """Whether the files can be published as they are."""
        return all(one.marks is None for one in self.writes)

    def targets_of(self, phase: Literal["source", "validated"]) -> tuple[str, ...]:
        return (GOOD, KEPT, OUT) if phase == "source" else (GOOD, KEPT)

    def source(self, session: SparkSession) -> DataFrame | Divided:
        """All rows, as they came."""
        return together(self.rows(session, GOOD, KEPT, OUT))

    def validated(self, session: SparkSession) -> DataFrame | Divided:
        """The rows that are to be published."""
        return together(self.rows(session, GOOD, KEPT))


def together(kinds: Sequence[AlikePartitions]) -> DataFrame | Divided:
    """All rows as others know them."""
    bare = [AlikePartitions(one.partitions, one.frame.drop(TARGET, ROW)) for one in kinds]
    return Divided.of_kinds(bare) if HIDDEN_KEY in bare[0].frame.columns else bare[0].frame


def fresh_partitions(files: JudgedFiles) -> Iterator[FreshPartition]:
    """For each partition a local folder with just its good and its kept rows."""
    for write in files.writes:
        for key in (None,) if write.keys is None else write.keys:
            folder = Path(write.folder)
            if key is not None:
                folder = folder / f"{write.partition}={folder_name(key)}"
            yield FreshPartition(key, _gathered(folder, write), write.schema.json())


def _gathered(folder: Path, write: JudgedWrite) -> Path:
    """The published files of one partition in one folder.

    They are renamed: a task gives its files in different folders the same name.
    """
    into = folder / "published"
    into.mkdir(parents=True)
    number = 0
    for target in (GOOD, KEPT):
        for place in sorted(folder.glob(f"{write.target}={target}*")):
            with os.scandir(place) as entries:
                names = [one.name for one in entries if not one.name.startswith((".", "_"))]
            for name in sorted(names):
                (place / name).rename(into / f"part-{number:05}-{name.removeprefix('part-')}")
                number += 1
    if not number and write.kind == "parquet":
        write_no_rows(write.schema, into)
    return into


def places_of(
    files: JudgedFiles, session: SparkSession, column: str, *targets: str
) -> dict[str | None, set[int]]:
    """By partition, the numbers in a column of the rows of these targets; for few rows only."""
    found: dict[str | None, set[int]] = {}
    for kind in files.rows(session, *targets):
        key = HIDDEN_KEY if HIDDEN_KEY in kind.frame.columns else None
        names = [column] if key is None else [column, key]
        for row in kind.frame.select(*names).collect():
            found.setdefault(None if key is None else row[key], set()).add(row[column])
    return found
