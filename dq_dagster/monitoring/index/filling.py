"""The index filled from the event log: built once, then kept in step by what changed.

Rows of evaluations are planned first and changed later, some of them twice, so that their numbers
say nothing about what is new. The events of evaluations do: they are followed from the last one
that was read, a few are read twice (databases may show an earlier event later), and if the log has
lost that one, from the last one that it still has. What no event tells (wiped assets, deleted rows)
is found by asking for the newest row of each check, and by going over some rows of the past each
time.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile
from time import monotonic

import dagster as dg

from dq_dagster.integration import log_storage as log
from dq_dagster.integration.event_log.logged import (
    build_in,
    key_in,
    logged_after,
    logged_numbered,
    name_of_key,
    read,
)
from dq_dagster.monitoring.index.database import IndexDatabase
from dq_dagster.monitoring.index.writing import (
    Names,
    asset_number,
    put,
    settle_days,
    settle_slices,
    take_out,
)

# How many rows a transaction brings: some megabytes of text.
PAGE = 2_000
# How many evaluations are read twice.
_OVERLAP = 500
# How many rows of the past are compared with the log each time.
_AUDITED = 5_000
# The newest events are all kept to find the place again, older ones now and then.
_ANCHORS, _ANCHOR_EVERY = 100, 1_000
_BUILT, _ROW, _AUDIT = "built", "row", "audit"
# Goes up whenever anything changes.
GENERATION = "generation"


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What came of bringing the index up to date; ``seconds`` is how long it took."""

    added: int
    removed: int
    seconds: float


class Filling:
    """Brings an index up to date; several may try at once, and share the work."""

    def __init__(self, instance: dg.DagsterInstance, database: IndexDatabase) -> None:
        self._instance = instance
        self._database = database
        self._added = self._removed = 0
        self._names: Names | None = None

    def refresh(self) -> Refreshed:
        """Everything that the log has now is in the index afterwards."""
        start = monotonic()
        self._added = self._removed = 0
        self._find_the_place()
        while self._read_rows():
            pass
        while self._follow_events():
            pass
        self._find_what_is_gone()
        self._audit()
        self._note_builds()
        self._settle()
        return Refreshed(self._added, self._removed, monotonic() - start)

    def compare_all(self) -> None:
        """Compares every row with the log; takes as long as reading the log without its texts."""
        last = log.last_row(self._instance)
        with self._database.writing() as connection:
            known = connection.execute("SELECT max(number) FROM evaluation").fetchone()[0] or 0
        for first in range(0, max(last, known) + 1, _AUDITED):
            with self._database.writing() as connection:
                self._compare(connection, first, first + _AUDITED - 1)
        self._settle()

    def _find_the_place(self) -> None:
        """Where events are followed from: at first, from what is there before rows are read."""
        with self._database.writing() as connection:
            if _note(connection, _BUILT) is None:
                _anchor(connection, log.last_events(self._instance, _ANCHORS))
                _set_note(connection, _BUILT, 1)
                return
            anchors = connection.execute(
                "SELECT storage, run, moment FROM anchor ORDER BY storage DESC"
            ).fetchall()
            # Nearly always the first one is there.
            lost = self._lost(anchors[:1]) and self._lost(anchors)
            connection.executemany("DELETE FROM anchor WHERE storage = ?", lost)

    def _lost(self, anchors: list[tuple[int, str, str]]) -> list[tuple[int]]:
        """Those before the first that the log still has as it was."""
        events = log.events_numbered(self._instance, [storage for storage, _, _ in anchors])
        there = {(one.storage_id, one.run_id, one.moment) for one in events}
        gone = takewhile(lambda anchor: anchor not in there, anchors)
        return [(storage,) for storage, _, _ in gone]

    def _read_rows(self) -> bool:
        """One page of rows that are new by their numbers; whether there may be more."""
        with self._database.writing() as connection:
            number = _note(connection, _ROW) or 0
            # Before the page: rows that are planned meanwhile are not passed over.
            last = log.last_row(self._instance)
            page = logged_after(self._instance, number, PAGE)
            if self._names is None or self._names.connection is not connection:
                self._names = Names(connection)
            put(connection, page, self._names)
            self._added += len(page)
            full = len(page) == PAGE
            # Also if that is less than before: where rows were deleted, numbers are given again.
            _set_note(connection, _ROW, page[-1].number if full else last)
            return full

    def _follow_events(self) -> bool:
        """One page of events; whether there may be more."""
        with self._database.writing() as connection:
            found = connection.execute("SELECT max(storage) FROM anchor").fetchone()
            cursor = found[0] or 0
            events = log.events_after(self._instance, cursor, PAGE)
            again = log.last_events(self._instance, _OVERLAP, until=cursor) if cursor else []
            self._take_up(connection, [*again, *events])
            _anchor(connection, events)
            return len(events) == PAGE

    def _take_up(
        self, connection: sqlite3.Connection, events: Iterable[log.EvaluationEvent]
    ) -> None:
        """Reads the rows that the events have changed, unless the index has them so."""
        numbers = [one.storage_id for one in events]
        known = {
            number
            for number in numbers
            if connection.execute(
                "SELECT 1 FROM evaluation WHERE storage = ?", (number,)
            ).fetchone()
        }
        news = [one for one in events if one.storage_id not in known]
        wanted: dict[tuple[str, str], set[str]] = defaultdict(set)
        texts = log.texts_of_events(self._instance, [one.storage_id for one in news])
        for run_id, text in texts:
            key = key_in(text)
            if key is not None:
                wanted[run_id, key[0]].add(key[1])
        for (run_id, asset_key), checks in wanted.items():
            rows = log.rows_of_run(self._instance, run_id, asset_key, sorted(checks))
            fresh = [read(row) for row in rows if not _has(connection, row.number, row.storage_id)]
            put(connection, fresh)
            self._added += len(fresh)

    def _find_what_is_gone(self) -> None:
        """Asks for the newest row of each check, and compares those checks that have lost it."""
        with self._database.writing() as connection:
            newest = {
                number: (asset_key, name, storage)
                for number, asset_key, name, storage in connection.execute(
                    "SELECT number, asset_key, checks.name, storage FROM "
                    "(SELECT check_id, number, storage, max(at) FROM slice GROUP BY check_id) "
                    "JOIN checks ON checks.id = check_id JOIN asset ON asset.id = checks.asset"
                )
            }
            there = log.owners_of(self._instance, newest)
            for number, (asset_key, name, storage) in newest.items():
                if there.get(number) != (asset_key, name, storage):
                    self._compare_check(connection, asset_key, name)

    def _audit(self) -> None:
        """Compares a few rows of the past with the log, others each time."""
        with self._database.writing() as connection:
            first = _note(connection, _AUDIT) or 0
            last = connection.execute("SELECT max(number) FROM evaluation").fetchone()[0] or 0
            if first > last:
                first = 0
            self._compare(connection, first, first + _AUDITED - 1)
            _set_note(connection, _AUDIT, first + _AUDITED)

    def _compare_check(self, connection: sqlite3.Connection, asset_key: str, check: str) -> None:
        known = dict(
            connection.execute(
                "SELECT number, storage FROM evaluation WHERE check_id IN (SELECT checks.id FROM "
                "checks JOIN asset ON asset.id = checks.asset "
                "WHERE asset_key = ? AND checks.name = ?)",
                (asset_key, check),
            ).fetchall()
        )
        self._level(connection, known, log.versions_of_check(self._instance, asset_key, check))

    def _compare(self, connection: sqlite3.Connection, first: int, last: int) -> None:
        known = dict(
            connection.execute(
                "SELECT number, storage FROM evaluation WHERE number BETWEEN ? AND ?",
                (first, last),
            ).fetchall()
        )
        self._level(connection, known, log.versions_between(self._instance, first, last))

    def _level(
        self, connection: sqlite3.Connection, known: dict[int, int], there: dict[int, int]
    ) -> None:
        """Makes the index agree with the log on some rows."""
        gone = known.keys() - there.keys()
        changed = [number for number, storage in there.items() if known.get(number) != storage]
        take_out(connection, gone)
        self._removed += len(gone)
        for start in range(0, len(changed), PAGE):
            found = logged_numbered(self._instance, changed[start : start + PAGE])
            put(connection, list(found.values()))
            self._added += len(found)

    def _note_builds(self) -> None:
        """When each asset was last built, and by which run."""
        with self._database.writing() as connection:
            known = dict(
                connection.execute(
                    "SELECT asset_key, built_moment FROM asset WHERE built_moment IS NOT NULL"
                ).fetchall()
            )
            builds = log.latest_builds(self._instance, known)
            for one in builds:
                if known.get(one.asset_key) == one.moment:
                    continue
                _change(connection)
                name = dg.AssetKey.from_db_string(one.asset_key)
                number, run_id, at = build_in(one) or (None, None, None)
                if name is not None:
                    connection.execute(
                        "UPDATE asset SET built_moment = ?, built_id = ?, built_run = ?, "
                        "built_at = ? WHERE id = ?",
                        (
                            one.moment,
                            number,
                            run_id,
                            at,
                            asset_number(connection, name_of_key(name)),
                        ),
                    )
            gone = known.keys() - {one.asset_key for one in builds}
            if gone:
                _change(connection)
            connection.executemany(
                "UPDATE asset SET built_moment = NULL, built_id = NULL, built_run = NULL, "
                "built_at = NULL WHERE asset_key = ?",
                [(key,) for key in gone],
            )

    def _settle(self) -> None:
        """Works out slices and days of what has changed."""
        more = True
        while more:
            with self._database.writing() as connection:
                more = settle_slices(connection, PAGE)
        more = True
        while more:
            with self._database.writing() as connection:
                more = settle_days(connection)
                if more:
                    _change(connection)


def _has(connection: sqlite3.Connection, number: int, storage: int) -> bool:
    found = connection.execute("SELECT storage FROM evaluation WHERE number = ?", (number,))
    return bool(found.fetchone() == (storage,))


def _note(connection: sqlite3.Connection, name: str) -> int | None:
    found = connection.execute("SELECT value FROM note WHERE name = ?", (name,)).fetchone()
    return None if found is None else int(found[0])


def generation(connection: sqlite3.Connection) -> int:
    """A number that is another one whenever the index says something else."""
    return _note(connection, GENERATION) or 0


def _change(connection: sqlite3.Connection) -> None:
    _set_note(connection, GENERATION, (_note(connection, GENERATION) or 0) + 1)


def _set_note(connection: sqlite3.Connection, name: str, value: int) -> None:
    connection.execute("INSERT OR REPLACE INTO note VALUES (?, ?)", (name, str(value)))


def _anchor(connection: sqlite3.Connection, events: Iterable[log.EvaluationEvent]) -> None:
    """Remembers events to find the place again: all of the newest, some of those before."""
    every = list(events)
    if not every:
        return
    kept = every[::_ANCHOR_EVERY] + every[-_ANCHORS:]
    connection.executemany(
        "INSERT OR REPLACE INTO anchor VALUES (?, ?, ?)",
        [(one.storage_id, one.run_id, one.moment) for one in kept],
    )
    connection.execute(
        "DELETE FROM anchor WHERE storage NOT IN "
        "(SELECT storage FROM anchor ORDER BY storage DESC LIMIT ?)",
        (_ANCHORS + 1_000,),
    )
