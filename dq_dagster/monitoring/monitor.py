"""The front door: an instance's checks, looked at."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from time import monotonic
from typing import Any, Self, TypeVar

import dagster as dg

from dq_dagster.errors import NotOnRecord
from dq_dagster.integration.log_storage import place_of
from dq_dagster.judging.judgement import Status
from dq_dagster.monitoring.declared import CodeLocation, DeclaredLocations
from dq_dagster.monitoring.index.database import IndexDatabase, place_beside
from dq_dagster.monitoring.index.filling import Filling, Refreshed, generation
from dq_dagster.monitoring.model.days import day_number
from dq_dagster.monitoring.views import dataset as dataset_views
from dq_dagster.monitoring.views import details, flow, histories, lists
from dq_dagster.monitoring.views.flow_shapes import Flow, Lineage
from dq_dagster.monitoring.views.reader import IndexReader, ProjectBy
from dq_dagster.monitoring.views.shapes import (
    DatasetView,
    DayView,
    DimensionsView,
    Overview,
    PartitionGrid,
    QuarantineView,
    RuleHistory,
    StatusTimeline,
)

_T = TypeVar("_T")
_MOST_KNOWN = 50
# How many days lists and timelines have where nothing else is said.
DAYS_OF_LISTS, DAYS_OF_TIMELINES = 30, 90


def _now() -> datetime:
    return datetime.now(UTC)


class Monitor:
    """Statuses, timelines and scores of an instance; safe to share among threads.

    ``locations`` are the code locations that are known, as definitions or ``CodeLocation``; without
    any, everything on record counts. ``by`` says what a project is: an asset group, or a code
    location. ``now`` tells the time. Nothing is read before ``refresh``.
    """

    def __init__(
        self,
        instance: dg.DagsterInstance,
        *,
        locations: Iterable[CodeLocation | dg.Definitions] = (),
        by: ProjectBy = "group",
        now: Callable[[], datetime] = _now,
        index: Path | None = None,
    ) -> None:
        self.instance = instance
        self.declared = DeclaredLocations.of(locations)
        self._assets = self.declared.assets
        self._by: ProjectBy = by
        self._now = now
        self._database = IndexDatabase(index or _place(instance))
        self._refreshing = threading.Lock()
        # Which file was filled, and when.
        self._filled, self._refreshed_at = 0, float("-inf")
        # What was found out already of the index as it is.
        self._known: dict[tuple[object, ...], Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    @property
    def index(self) -> Path | None:
        """The file of the index; None if it is in memory."""
        return self._database.path

    def refresh(self, *, at_most_every: float = 0.0) -> Refreshed:
        """Takes in what the log has by now, unless that was done so many seconds ago."""
        with self._refreshing:
            is_there = self._filled == self._database.check_file()
            if is_there and monotonic() - self._refreshed_at < at_most_every:
                return Refreshed(0, 0, 0.0)
            done = self._refreshed()
            self._filled, self._refreshed_at = self._database.made, monotonic()
            return done

    def _refreshed(self) -> Refreshed:
        try:
            return Filling(self.instance, self._database).refresh()
        except sqlite3.DatabaseError as error:
            # The disk is full, or somebody else writes for too long; but not: a table is missing.
            is_of_file = error.sqlite_errorcode == sqlite3.SQLITE_ERROR
            if isinstance(error, sqlite3.OperationalError) and not is_of_file:
                raise
            self._database.make_anew()
            return Filling(self.instance, self._database).refresh()

    def compare_all(self) -> None:
        """Compares every row of the index with the log, also those that are compared in turn."""
        with self._refreshing:
            Filling(self.instance, self._database).compare_all()

    def overview(self, *, days: int = DAYS_OF_LISTS) -> Overview:
        """Projects and datasets, the worst first."""
        with self._reader() as reader:
            found = self._once(reader, ("overview", days), lambda: lists.overview(reader, days))
            return replace(found, at=reader.now)

    def dataset(
        self, asset: str, *, partition: str | None = None, days: int = DAYS_OF_LISTS
    ) -> DatasetView:
        """What the rules of a dataset say now; raises NotOnRecord if there is no such dataset."""
        with self._reader() as reader:
            return dataset_views.dataset_view(
                self.instance, reader, reader.dataset(asset), days=days, partition=partition
            )

    def timeline(
        self,
        asset: str | None = None,
        *,
        project: str | None = None,
        days: int = DAYS_OF_TIMELINES,
        until: date | None = None,
    ) -> StatusTimeline:
        """The days of a dataset, of a project, or of the instance if neither is given."""
        with self._reader() as reader:
            last = reader.today if until is None else min(day_number(until), reader.today)
            first = last - days + 1
            if asset is not None:
                return lists.timeline(reader, "dataset", asset, first, last)
            if project is not None:
                return lists.timeline(reader, "project", project, first, last)
            question = ("timeline", first, last)
            return self._once(
                reader, question, lambda: lists.timeline(reader, "instance", "", first, last)
            )

    def day(self, asset: str, day: date) -> DayView:
        """The rules behind a day."""
        with self._reader() as reader:
            dataset = reader.dataset(asset)
            number = min(day_number(day), reader.today)
            return dataset_views.day_view(self.instance, reader, dataset, number)

    def history(
        self,
        asset: str,
        rule: str,
        *,
        partition: str | None = None,
        whole: bool = False,
        limit: int = 1_000,
        before: float | None = None,
    ) -> RuleHistory:
        """The evaluations of a rule, by the name of the rule or of its check.

        ``partition``: of that one only; ``whole``: of the whole dataset only.
        """
        with self._reader() as reader:
            dataset = reader.dataset(asset)
            part = dataset_views.WHOLE if whole else None
            if partition is not None:
                part = reader.part_of(dataset, partition)
            return histories.rule_history(
                reader,
                dataset,
                dataset.check(rule),
                part=part,
                partition=partition,
                limit=limit,
                before=before,
            )

    def partitions(
        self, asset: str, *, limit: int = 100, offset: int = 0, status: Status | None = None
    ) -> PartitionGrid:
        """Partitions by rules, those that were evaluated last first; all, or those of a status."""
        with self._reader() as reader:
            dataset = reader.dataset(asset)
            return histories.partition_grid(
                self.instance, reader, dataset, limit=limit, offset=offset, status=status
            )

    def dimensions(self, asset: str) -> DimensionsView:
        """The qualities that the rules speak of, and groups of rows that were judged apart."""
        with self._reader() as reader:
            return details.dimensions_view(self.instance, reader, reader.dataset(asset))

    def quarantine(self, asset: str, *, limit: int = 200) -> QuarantineView:
        """What the last builds of a guarded asset did with their rows."""
        return details.quarantine_view(self.instance, asset, limit=limit)

    def flow(self) -> Flow:
        """The assets of the known code locations; empty if none is known."""
        with self._reader() as reader:
            return self._once(reader, ("flow",), lambda: flow.flow(reader))

    def lineage(self, asset: str) -> Lineage:
        """What is broken upstream of an asset, and what of it may be tainted downstream."""
        with self._reader() as reader:
            known = {*self._assets, *reader.datasets}
            if asset not in known:
                raise NotOnRecord.asset(asset, sorted(known))
            return flow.lineage(self.instance, reader, asset)

    def _once(
        self, reader: IndexReader, question: tuple[object, ...], find: Callable[[], _T]
    ) -> _T:
        """What takes a while is found out once for a state of the index and a day."""
        state = (self._database.made, generation(reader.connection))
        key = (*question, reader.today, *state)
        known: _T | None = self._known.get(key)
        if known is None:
            known = find()
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = known
        return known

    @contextmanager
    def _reader(self) -> Iterator[IndexReader]:
        with self._database.reading() as connection:
            yield IndexReader(
                connection, self._assets, self._now(), self._by, bool(self.declared.locations)
            )


def _place(instance: dg.DagsterInstance) -> Path | None:
    """Beside the instance; in memory for one that is gone after the process."""
    if instance.is_ephemeral:
        return None
    return place_beside(instance.root_directory, place_of(instance))
