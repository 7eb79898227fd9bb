"""Evaluations into the index and out of it, and what follows from them for slices and days."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from dq_dagster.integration.event_log.logged import LoggedEvaluation, key_of_name
from dq_dagster.monitoring.index.numbers import numbers_of
from dq_dagster.monitoring.model.days import (
    RANKS,
    CheckDay,
    Said,
    Standing,
    check_days,
    day_of,
    start_of,
)
from dq_dagster.monitoring.model.many_days import DayInShort, SaidOfDay

# The number that stands for the whole dataset among those of partitions.
WHOLE = 0
_AT_ONCE = 900
_INSERT = f"INSERT OR REPLACE INTO evaluation VALUES ({', '.join('?' * 17)})"  # noqa: S608 (marks)
_INSERT_DAY = f"INSERT INTO day VALUES ({', '.join('?' * 12)})"  # noqa: S608 (marks)
_INSERT_ASSET_DAY = f"INSERT INTO asset_day VALUES ({', '.join('?' * 9)})"  # noqa: S608 (marks)


class Names:
    """The numbers of names; what is new gets the next number, and none is ever given again.

    Those of a transaction that fails must not be used any more.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._known: dict[tuple[str, str], int] = {}
        self._checks: dict[tuple[str, str], tuple[int, int]] = {}

    def part(self, partition: str | None) -> int:
        return WHOLE if partition is None else self._number("part", partition)

    def run(self, run_id: str) -> int:
        return self._number("run", run_id)

    def check(self, evaluation: LoggedEvaluation) -> tuple[int, int]:
        """The numbers of the check and of its asset."""
        key = (evaluation.asset, evaluation.check)
        if key not in self._checks:
            self._checks[key] = self._new_check(evaluation)
        return self._checks[key]

    def _new_check(self, evaluation: LoggedEvaluation) -> tuple[int, int]:
        asset = asset_number(self.connection, evaluation.asset)
        kind = None if evaluation.record is None else evaluation.record.rule_type
        self.connection.execute(
            "INSERT INTO checks (asset, name, type) VALUES (?, ?, ?) "
            "ON CONFLICT (asset, name) DO UPDATE SET type = coalesce(excluded.type, type)",
            (asset, evaluation.check, kind),
        )
        found = self.connection.execute(
            "SELECT id FROM checks WHERE asset = ? AND name = ?", (asset, evaluation.check)
        )
        return int(found.fetchone()[0]), asset

    def _number(self, table: str, name: str) -> int:
        key = (table, name)
        if key not in self._known:
            self.connection.execute(
                f"INSERT OR IGNORE INTO {table} (name) VALUES (?)",  # noqa: S608 (two tables)
                (name,),
            )
            found = self.connection.execute(f"SELECT id FROM {table} WHERE name = ?", (name,))  # noqa: S608 (two tables)
            self._known[key] = int(found.fetchone()[0])
        return self._known[key]


def asset_number(connection: sqlite3.Connection, name: str) -> int:
    """The number of an asset, which is given one if it is new."""
    key = key_of_name(name).to_string()
    connection.execute("INSERT OR IGNORE INTO asset (name, asset_key) VALUES (?, ?)", (name, key))
    found = connection.execute("SELECT id FROM asset WHERE name = ?", (name,))
    return int(found.fetchone()[0])


def put(
    connection: sqlite3.Connection, page: Sequence[LoggedEvaluation], names: Names | None = None
) -> None:
    """Adds evaluations; those that the index has under the same numbers are replaced."""
    names = names or Names(connection)
    # A row that is now of another check or slice was replaced: both have changed.
    _note_changes(connection, [one.number for one in page])
    rows: list[tuple[object, ...]] = []
    slices: set[tuple[int, int]] = set()
    assets: dict[int, int] = {}
    for one in page:
        check, asset = names.check(one)
        part, day = names.part(one.partition), day_of(one.at)
        rows.append(_row(one, check, part, names.run(one.run_id)))
        slices.add((check, part))
        assets[asset] = min(day, assets.get(asset, day))
    connection.executemany(_INSERT, rows)
    _note_slices(connection, slices)
    _note_assets(connection, assets.items())


def take_out(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Removes evaluations that the log has no more."""
    every = list(numbers)
    _note_changes(connection, every)
    connection.executemany("DELETE FROM evaluation WHERE number = ?", [(one,) for one in every])


def _row(one: LoggedEvaluation, check: int, part: int, run: int) -> tuple[object, ...]:
    judged, record = numbers_of(one), one.record
    return (
        one.number,
        check,
        part,
        one.at,
        one.storage_id,
        day_of(one.at),
        RANKS[one.status],
        run,
        one.target,
        judged.value,
        *judged.bounds,
        judged.many,
        None if record is None else _small(record.rows),
        None if record is None else _small(record.failed_rows),
    )


def _small(count: int | None) -> int | None:
    """What SQLite has room for."""
    return None if count is None or abs(count) >= 2**63 else count


def _note_changes(connection: sqlite3.Connection, numbers: Sequence[int]) -> None:
    for start in range(0, len(numbers), _AT_ONCE):
        some = numbers[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        found = connection.execute(
            "SELECT check_id, part, asset, day FROM evaluation JOIN checks ON checks.id = check_id "  # noqa: S608 (marks)
            f"WHERE number IN ({marks})",
            some,
        ).fetchall()
        _note_slices(connection, {(check, part) for check, part, _, _ in found})
        _note_assets(connection, [(asset, day) for _, _, asset, day in found])


def _note_slices(connection: sqlite3.Connection, slices: Iterable[tuple[int, int]]) -> None:
    connection.executemany("INSERT OR IGNORE INTO changed_slice VALUES (?, ?)", list(slices))


def _note_assets(connection: sqlite3.Connection, assets: Iterable[tuple[int, int]]) -> None:
    connection.executemany(
        "INSERT INTO changed_asset VALUES (?, ?) "
        "ON CONFLICT (asset) DO UPDATE SET day = min(day, excluded.day)",
        list(assets),
    )


def settle_slices(connection: sqlite3.Connection, most: int) -> bool:
    """Finds the last evaluation of slices that changed; whether there may be more of them."""
    some = connection.execute(
        "SELECT check_id, part FROM changed_slice LIMIT ?", (most,)
    ).fetchall()
    connection.executemany("DELETE FROM slice WHERE check_id = ? AND part = ?", some)
    connection.executemany(
        "INSERT INTO slice SELECT check_id, part, asset, number, at, day, rank, storage, run, "
        "target FROM evaluation JOIN checks ON checks.id = check_id "
        "WHERE check_id = ? AND part = ? ORDER BY at DESC, storage DESC LIMIT 1",
        some,
    )
    connection.executemany("DELETE FROM changed_slice WHERE check_id = ? AND part = ?", some)
    return len(some) == most


def settle_days(connection: sqlite3.Connection) -> bool:
    """Makes the days of one asset anew, from the first that changed; whether there was one."""
    found = connection.execute("SELECT asset, day FROM changed_asset LIMIT 1").fetchone()
    if found is None:
        return False
    asset, first = found
    connection.execute("DELETE FROM day WHERE asset = ? AND day >= ?", (asset, first))
    connection.execute("DELETE FROM asset_day WHERE asset = ? AND day >= ?", (asset, first))
    standing = _standing(connection, asset, first)
    every: list[tuple[object, ...]] = []
    days = check_days(_said(connection, asset, first), standing)
    connection.executemany(_INSERT_DAY, ((asset, *one) for one in _noting(days, every)))
    connection.executemany(_INSERT_ASSET_DAY, ((asset, *one) for one in every))
    connection.execute("DELETE FROM changed_asset WHERE asset = ?", (asset,))
    return True


def _noting(days: Iterable[CheckDay], every: list[tuple[object, ...]]) -> Iterator[CheckDay]:
    """The same, noting on the way what each day says of the dataset, and of all checks in short."""
    for day, group in groupby(days, key=itemgetter(0)):
        # In the order in which all others read them, so that sums are the same to the last digit.
        some = sorted(group, key=itemgetter(1))
        every.append((*SaidOfDay.plain(day, some), *DayInShort.of(day, some)[1:]))
        yield from some


def _said(connection: sqlite3.Connection, asset: int, first: int) -> Iterator[Said]:
    yield from connection.execute(
        "SELECT day, check_id, part, rank FROM evaluation WHERE check_id IN "
        "(SELECT id FROM checks WHERE asset = ?) AND day >= ? ORDER BY at, storage",
        (asset, first),
    )


def _standing(connection: sqlite3.Connection, asset: int, first: int) -> Standing:
    """How the slices that were computed since stood before the first day."""
    checks = [
        number
        for (number,) in connection.execute(
            "SELECT id FROM checks WHERE asset = ? AND EXISTS "
            "(SELECT 1 FROM evaluation WHERE check_id = checks.id AND day < ?)",
            (asset, first),
        )
    ]
    if not checks:
        return {}
    parts = connection.execute(
        "SELECT DISTINCT part FROM evaluation WHERE check_id IN "
        "(SELECT id FROM checks WHERE asset = ?) AND day >= ?",
        (asset, first),
    ).fetchall()
    return _stood(connection, checks, [part for (part,) in parts], first)


def _stood(
    connection: sqlite3.Connection, checks: Iterable[int], parts: Iterable[int], first: int
) -> Standing:
    """What these checks had said of these slices before the first day."""
    every = list(checks)
    standing: Standing = {}
    for part in parts:
        for check in every:
            before = connection.execute(
                "SELECT rank FROM evaluation WHERE check_id = ? AND part = ? AND at < ? "
                "ORDER BY at DESC, storage DESC LIMIT 1",
                (check, part, start_of(first)),
            ).fetchone()
            if before is not None:
                standing.setdefault(part, {})[check] = before[0]
    return standing


def judged_alone(
    connection: sqlite3.Connection, day: int, checks: Collection[int]
) -> list[CheckDay]:
    """What a day says of these checks of a dataset, as if there were no others."""
    said: list[Said] = []
    for check in checks:
        said += connection.execute(
            "SELECT day, check_id, part, rank FROM evaluation WHERE check_id = ? AND day = ? "
            "ORDER BY at, storage",
            (check, day),
        )
    standing = _stood(connection, checks, {part for _, _, part, _ in said}, day)
    return sorted(check_days(said, standing), key=itemgetter(1))
