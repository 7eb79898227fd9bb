"""Where data is stored: on a local file system, or where only Spark can reach.

Rows are written as an attempt, and count once that is published. Whoever stores rows of an asset
does it through a store, and learns from one typed result what there is then.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dq_dagster.spark.frames.reading import is_remote
from dq_dagster.storage.folders import KEEP_REPLACED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import types as T

    from dq_dagster.spark.frames.divided import AlikePartitions, Divided
    from dq_dagster.storage.judged import JudgedFiles


@dataclass(frozen=True, slots=True)
class Stored:
    """What was published: the folder of each partition, and the columns of the rows.

    Data without partitions lies in one folder, under the key None. Where partitions have different
    columns, those of the first are named.
    """

    places: Mapping[str | None, str]
    schema: T.StructType

    @property
    def place(self) -> str:
        """The only folder."""
        [place] = self.places.values()
        return place


class Attempt(ABC):
    """Rows on their way into the store. Until they are published, readers see what was before."""

    @abstractmethod
    def write_whole(self, frame: DataFrame) -> None:
        """All data of an asset without partitions."""

    @abstractmethod
    def write(self, frames: Mapping[str, DataFrame]) -> None:
        """Whole partitions by their keys."""

    @abstractmethod
    def write_split(self, frame: DataFrame, key: str, partitions: Sequence[str]) -> None:
        """Partitions that the SQL of a row's key tells apart.

        Raises Unassignable if a row belongs to none of them.
        """

    def write_alike(self, rows: AlikePartitions) -> None:
        """All data, or partitions by the column that says where each row belongs."""
        # Here, so that declaring resources needs no Spark.
        from dq_dagster.spark.frames.frames import HIDDEN_KEY

        frame = rows.frame
        if HIDDEN_KEY not in frame.columns:
            self.write_whole(frame)
            return
        of = {key: frame.where(frame[HIDDEN_KEY] == key) for key in sorted(rows.partitions)}
        self.write({key: some.drop(HIDDEN_KEY) for key, some in of.items()})

    @abstractmethod
    def publish(self) -> Stored:
        """Puts what was written in the place of what was there before."""


class Store(ABC):
    """The data of one asset, by partition or as a whole."""

    @abstractmethod
    def attempt(self) -> AbstractContextManager[Attempt]:
        """A new attempt; what is not published when it ends is gone."""

    @abstractmethod
    def judged(self) -> AbstractContextManager[JudgedFiles]:
        """A place for rows that are judged while they are written; gone afterwards, if it can."""

    def publish_judged(self, files: JudgedFiles, session: SparkSession) -> Stored:
        """Puts the rows that are to be published in the place of what was there before."""
        # Here, so that declaring resources needs no Spark.
        from dq_dagster.spark.frames.frames import GOOD, KEPT, TARGET

        kinds = files.rows(session, GOOD, KEPT)
        return self.write_alike([replace(one, frame=one.frame.drop(TARGET)) for one in kinds])

    def publish_beside(
        self,
        files: JudgedFiles,
        session: SparkSession,
        quarantine: Store,
        kinds: Sequence[AlikePartitions],
    ) -> tuple[Stored, Stored]:
        """Publishes judged rows together with those that go into their quarantine.

        First the quarantine: so no row is published whose like is not to be found there.
        """
        kept = quarantine.write_alike(kinds)
        return self.publish_judged(files, session), kept

    def publishes_together(self, quarantine: Store) -> bool:
        """Whether ``publish_beside`` changes both at once, or neither."""
        return False

    @abstractmethod
    def finish_publishing(self) -> None:
        """Completes what a process that was killed had begun to publish, where that is known."""

    @abstractmethod
    def apart(self, stored: DataFrame) -> DataFrame:
        """Rows that are stored, as they can be read while they are being replaced."""

    @abstractmethod
    def existing(self) -> list[str] | None:
        """The partitions that are stored; None where only those who wrote them know."""

    @abstractmethod
    def stored_among(self, session: SparkSession, keys: Sequence[str]) -> Collection[str]:
        """Those of the keys that can be read."""

    @abstractmethod
    def load_whole(self, session: SparkSession) -> DataFrame:
        """All data of an asset without partitions."""

    @abstractmethod
    def load(self, session: SparkSession, keys: Sequence[str] | None) -> Divided:
        """Those of the partitions that are stored; with None all, where the store knows them."""

    def write_whole(self, frame: DataFrame) -> Stored:
        """Writes and publishes all data of an asset without partitions."""
        with self.attempt() as attempt:
            attempt.write_whole(frame)
            return attempt.publish()

    def write(self, frames: Mapping[str, DataFrame]) -> Stored:
        """Writes and publishes whole partitions."""
        with self.attempt() as attempt:
            attempt.write(frames)
            return attempt.publish()

    def write_alike(self, kinds: Sequence[AlikePartitions]) -> Stored:
        """Writes and publishes rows that say by a column where each belongs, kind by kind."""
        with self.attempt() as attempt:
            for rows in kinds:
                attempt.write_alike(rows)
            return attempt.publish()

    def write_split(self, frame: DataFrame, key: str, partitions: Sequence[str]) -> Stored:
        """Writes and publishes partitions that the SQL of a row's key tells apart."""
        with self.attempt() as attempt:
            attempt.write_split(frame, key, partitions)
            return attempt.publish()


def store_at(target: str, name: str, kind: str, keep: float = KEEP_REPLACED) -> Store:
    """The store of what has that name, at a path or behind a URI."""
    # Here, so that declaring resources needs no Spark.
    from dq_dagster.storage.local import LocalStore
    from dq_dagster.storage.remote import RemoteStore

    if is_remote(target):
        return RemoteStore(name, target, kind)
    return LocalStore(name, Path(target), kind, keep)
