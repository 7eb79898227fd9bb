"""Where the rows of a guarded asset go: into a store of ours, or to the IO manager of others.

Through ``dq.SparkIOManager`` nothing is seen of a build before it was judged, and then all of it
is. Any other IO manager is handed the good rows, which are staged beside until then: whether they
appear at once, and together with the quarantine, is up to it.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import dagster as dg

from dq_dagster.errors import NothingStored
from dq_dagster.integration.guarded.incoming import is_pandas, numbered, without
from dq_dagster.integration.guarded.quarantine import STATE, TIME, WITHHELD, moment_sql
from dq_dagster.integration.io_manager import Published, SparkIOManager
from dq_dagster.spark.frames.ansi import compiled
from dq_dagster.spark.frames.columns import identifier, text_literal
from dq_dagster.spark.frames.divided import AlikePartitions, without_clashes
from dq_dagster.spark.frames.frames import (
    GOOD,
    HIDDEN_KEY,
    KEPT,
    OUT,
    ROW,
    TARGET,
    to_pandas,
    union,
)
from dq_dagster.spark.frames.reading import absolute
from dq_dagster.spark.passes.faults import counted_by
from dq_dagster.storage.judged import JudgedFiles, places_of
from dq_dagster.storage.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Kinds: TypeAlias = Sequence[AlikePartitions]


class Destination(Protocol):
    """Where good rows go, and where bad ones are kept."""

    @property
    def quarantine(self) -> Store | None:
        """Where bad rows are kept, unless an IO manager of others does that."""

    def prepared(self, value: Any) -> Any:
        """What the asset returned, as it is to be judged."""

    def judged(self) -> AbstractContextManager[JudgedFiles]:
        """A place for the rows while they are judged."""

    def keep(self, kinds: Kinds, returned: Any, since: datetime | None) -> Any:
        """Keeps the bad rows where nothing is published; the value of the quarantine.

        Rows of what is published stay beside them, unless they were found before ``since``.
        """

    def publish(
        self, files: JudgedFiles, session: SparkSession, kinds: Kinds | None, returned: Any
    ) -> tuple[Any, Any]:
        """Publishes the good rows and keeps the bad ones; the values of asset and quarantine."""

    def released(
        self, files: JudgedFiles, session: SparkSession, kinds: Kinds | None, returned: Any
    ) -> tuple[Any, Any]:
        """The same for a replay, whose good rows lie in the quarantine until the table has them."""

    @property
    def is_atomic(self) -> bool:
        """Whether table and quarantine change together, whatever happens."""


@dataclass(frozen=True, slots=True)
class Later:
    """The quarantine of a replay, to be written once Dagster knows that the table is."""

    write: Callable[[], Published]


@dataclass(frozen=True, slots=True)
class OwnStore:
    """A store that publishes what was written by moving it."""

    store: Store
    quarantine: Store | None

    def prepared(self, value: Any) -> Any:
        return value

    def judged(self) -> AbstractContextManager[JudgedFiles]:
        if self.quarantine is not None:
            self.quarantine.finish_publishing()
        return self.store.judged()

    def keep(self, kinds: Kinds, returned: Any, since: datetime | None) -> Published | None:
        return None if self.quarantine is None else kept_beside(self.quarantine, kinds, since)

    def publish(
        self, files: JudgedFiles, session: SparkSession, kinds: Kinds | None, returned: Any
    ) -> tuple[Any, Any]:
        if self.quarantine is None or kinds is None:
            return Published(self.store.publish_judged(files, session)), None
        published, kept = self.store.publish_beside(
            files, session, self.quarantine, _compiled(kinds)
        )
        return Published(published), Published(kept)

    def released(
        self, files: JudgedFiles, session: SparkSession, kinds: Kinds | None, returned: Any
    ) -> tuple[Any, Any]:
        if self.is_atomic or self.quarantine is None or kinds is None:
            return self.publish(files, session, kinds, returned)
        # Not by moving: the bad ones among what is published are read once more.
        published = Published(Store.publish_judged(self.store, files, session))
        return published, Later(partial(_written, self.quarantine, kinds))

    @property
    def is_atomic(self) -> bool:
        return self.quarantine is not None and self.store.publishes_together(self.quarantine)


@dataclass(frozen=True, slots=True)
class HandedOver:
    """Rows are staged in a folder, and others store them as they store any value."""

    asset: str
    root: str
    quarantine: Store | None

    def prepared(self, value: Any) -> Any:
        return numbered(value)

    @contextmanager
    def judged(self) -> Iterator[JudgedFiles]:
        # Not removed here: what is handed over is read later, as Spark reads.
        yield JudgedFiles(self.asset, f"{self.root}/{uuid.uuid4().hex}")

    def keep(self, kinds: Kinds, returned: Any, since: datetime | None) -> Any:
        if self.quarantine is not None:
            return kept_beside(self.quarantine, _bare(kinds), since)
        return self._handed_over(kinds, returned)

    def publish(
        self, files: JudgedFiles, session: SparkSession, kinds: Kinds | None, returned: Any
    ) -> tuple[Any, Any]:
        kept: Any = None
        if kinds is not None and self.quarantine is not None:
            kept = _written(self.quarantine, _bare(kinds))
        elif kinds is not None:
            kept = self._handed_over(kinds, returned)
        return self._good(files, session, returned), kept

    def released(
        self, files: JudgedFiles, session: SparkSession, kinds: Kinds | None, returned: Any
    ) -> tuple[Any, Any]:
        if self.quarantine is None or kinds is None:
            return self.publish(files, session, kinds, returned)
        later = Later(partial(_written, self.quarantine, _bare(kinds)))
        return self._good(files, session, returned), later

    @property
    def is_atomic(self) -> bool:
        return False

    def _handed_over(self, kinds: Kinds, returned: Any) -> Any:
        rows = union([one.frame.drop(HIDDEN_KEY) for one in _bare(kinds)])
        # Whoever stores pandas DataFrames may not know how to store others.
        return to_pandas(rows) if is_pandas(returned) else rows

    def _good(self, files: JudgedFiles, session: SparkSession, returned: Any) -> Any:
        if is_pandas(returned):
            return without(returned, places_of(files, session, ROW, OUT))
        kinds = files.rows(session, GOOD, KEPT)
        if not isinstance(returned, Mapping):
            return union([one.frame.drop(HIDDEN_KEY, TARGET) for one in kinds])
        column = identifier(HIDDEN_KEY)
        return {
            key: one.frame.where(f"{column} = {text_literal(key)}").drop(HIDDEN_KEY, TARGET)
            for one in kinds
            for key in sorted(one.partitions)
        }


def _compiled(kinds: Kinds) -> list[AlikePartitions]:
    """For rows that are written next: what each of them breaks takes as much as there are rules."""
    return [replace(one, frame=compiled(one.frame)) for one in kinds]


def _written(quarantine: Store, kinds: Kinds) -> Published:
    return Published(quarantine.write_alike(_compiled(kinds)))


def _bare(kinds: Kinds) -> list[AlikePartitions]:
    return [replace(one, frame=one.frame.drop(ROW)) for one in kinds]


def kept_beside(quarantine: Store, kinds: Kinds, since: datetime | None) -> Published:
    """Keeps rows of a build that is withheld beside those of what is published already."""
    found: list[AlikePartitions] = []
    counts: dict[str | None, int] = {}
    for one in kinds:
        session, frame = one.frame.sparkSession, one.frame
        with suppress(NothingStored):
            if HIDDEN_KEY in frame.columns:
                earlier = quarantine.load(session, sorted(one.partitions)).frame
            else:
                earlier = quarantine.load_whole(session)
            earlier = earlier.where(f"{STATE} <> '{WITHHELD}'")
            if since is not None:
                earlier = earlier.where(f"{TIME} >= {moment_sql(since)}")
            earlier = quarantine.apart(earlier)
            # Of the frame that is written: whatever others publish meanwhile, it is the same rows.
            counts |= _rows_by_partition(earlier)
            frame = union(without_clashes([frame, earlier]))
        found.append(replace(one, frame=frame))
    return Published(quarantine.write_alike(_compiled(found)), counts)


def _rows_by_partition(frame: DataFrame) -> dict[str | None, int]:
    if HIDDEN_KEY in frame.columns:
        return counted_by(frame, HIDDEN_KEY)
    return {None: sum(counted_by(frame, STATE).values())}


def destination_of(
    manager: Any,
    key: dg.AssetKey,
    quarantine: Store | None,
    staging: str | None,
    session: SparkSession,
) -> Destination:
    if isinstance(manager, SparkIOManager):
        return OwnStore(manager.store(key), quarantine)
    name = key.to_user_string()
    if staging is not None:
        return HandedOver(
            name, f"{absolute(staging).rstrip('/')}/{key.to_python_identifier()}", quarantine
        )
    master = session.conf.get("spark.master", "local")
    if not str(master).startswith("local"):
        raise dg.Failure(
            f"'{name}' is guarded, and its IO manager is not a dq.SparkIOManager: give the asset a "
            "folder that all of Spark reaches, by staging=..., for its rows on their way.",
            allow_retries=False,
        )
    folder = tempfile.mkdtemp(prefix="dq_staged_")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return HandedOver(name, folder, quarantine)
