"""The index as a SQLite database: its tables, where it lies, and who may write.

Readers see what was committed when they began (WAL); one writer at a time holds the lock. A file
that is damaged, deleted while it is open, or cannot be written, is no loss: it is made anew, or is
kept in memory instead.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

# Part of the file's name: another form of the index is another file.
VERSION = 5
_WAIT = 120.0
_FOLDER = ".dq_dagster"

_TABLES = """
CREATE TABLE IF NOT EXISTS note (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS asset (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, asset_key TEXT NOT NULL,
    built_moment TEXT, built_id INTEGER, built_run TEXT, built_at REAL
);
CREATE TABLE IF NOT EXISTS checks (
    id INTEGER PRIMARY KEY, asset INTEGER NOT NULL, name TEXT NOT NULL, type TEXT,
    UNIQUE (asset, name)
);
CREATE TABLE IF NOT EXISTS part (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS evaluation (
    number INTEGER PRIMARY KEY, check_id INTEGER NOT NULL, part INTEGER NOT NULL,
    at REAL NOT NULL, storage INTEGER NOT NULL, day INTEGER NOT NULL, rank INTEGER NOT NULL,
    run INTEGER NOT NULL, target INTEGER, value REAL, low REAL, high REAL, soft_low REAL,
    soft_high REAL, many TEXT, total INTEGER, failed INTEGER
);
CREATE INDEX IF NOT EXISTS evaluation_by_slice ON evaluation (check_id, part, at, storage);
CREATE INDEX IF NOT EXISTS evaluation_by_day ON evaluation (check_id, day, at, storage, part, rank);
CREATE INDEX IF NOT EXISTS evaluation_by_storage ON evaluation (storage);
CREATE TABLE IF NOT EXISTS slice (
    check_id INTEGER NOT NULL, part INTEGER NOT NULL, asset INTEGER NOT NULL,
    number INTEGER NOT NULL, at REAL NOT NULL, day INTEGER NOT NULL, rank INTEGER NOT NULL,
    storage INTEGER NOT NULL, run INTEGER NOT NULL, target INTEGER, PRIMARY KEY (check_id, part)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS slice_by_asset ON slice (asset, at);
CREATE TABLE IF NOT EXISTS day (
    asset INTEGER NOT NULL, day INTEGER NOT NULL, check_id INTEGER NOT NULL,
    last INTEGER NOT NULL, worth REAL, worst INTEGER, evaluations INTEGER NOT NULL,
    not_computed INTEGER NOT NULL, ok INTEGER NOT NULL, empty INTEGER NOT NULL,
    warning INTEGER NOT NULL, error INTEGER NOT NULL,
    PRIMARY KEY (asset, day, check_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS asset_day (
    asset INTEGER NOT NULL, day INTEGER NOT NULL, last INTEGER NOT NULL, worst INTEGER, score REAL,
    checks BLOB NOT NULL, lasts BLOB NOT NULL, worsts BLOB NOT NULL, worths BLOB NOT NULL,
    PRIMARY KEY (asset, day)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS changed_slice (
    check_id INTEGER NOT NULL, part INTEGER NOT NULL, PRIMARY KEY (check_id, part)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS changed_asset (asset INTEGER PRIMARY KEY, day INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS anchor (storage INTEGER PRIMARY KEY, run TEXT, moment TEXT);
"""


def place_beside(root: str | None, log: str) -> Path | None:
    """The file of the index for this log beside the instance; None if that has no folder."""
    if root is None:
        return None
    name = hashlib.sha256(log.encode()).hexdigest()[:16]
    return Path(root) / _FOLDER / f"index-{name}-v{VERSION}.sqlite"


class IndexDatabase:
    """Connections to one index; each thread has its own, but for one in memory."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._own = threading.local()
        self._lock = threading.RLock()
        self._shared: sqlite3.Connection | None = None
        self._every: list[sqlite3.Connection] = []
        # Which file it is, and how many there were: somebody may delete one that is open.
        self._file: tuple[int, int] | None = None
        self.made = 0
        self._open()

    def _open(self) -> None:
        if self.path is not None:
            self._prepare(self.path)
        if self.path is None:
            self._shared = self._connect(":memory:")
            _make_tables(self._shared)
        self.made += 1

    def check_file(self) -> int:
        """Makes another file if the one that was open is gone; how many there were by now."""
        if self._is_gone():
            with self._lock:
                if self._is_gone():
                    self._open()
        return self.made

    def _is_gone(self) -> bool:
        return self._shared is None and _file_at(self.path) != self._file

    def make_anew(self) -> None:
        """Gives up a file that is damaged."""
        with self._lock:
            if self.path is not None:
                delete(self.path)
        self.check_file()

    def _prepare(self, path: Path) -> None:
        for _ in range(2):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                _require_writable(path)
                connection = self._connect(str(path))
                connection.execute("PRAGMA journal_mode = WAL")
                _make_tables(connection)
                self._forget(getattr(self._own, "known", None))
                self._own.known = connection, self.made + 1
                self._file = _file_at(path)
            except (OSError, sqlite3.OperationalError):
                # What cannot be written, or a disk that is full.
                break
            except sqlite3.DatabaseError:
                delete(path)
            else:
                _delete_older(path)
                return
        self.path = None

    def _connect(self, place: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            place, timeout=_WAIT, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA cache_size = -65536")
        with self._lock:
            self._every.append(connection)
        return connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one state of the index, whatever is written meanwhile."""
        connection = self._mine()
        if connection is self._shared:
            with self._lock:
                yield connection
            return
        if connection.in_transaction:
            yield connection
            return
        connection.execute("BEGIN")
        try:
            yield connection
        finally:
            connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection that may write, alone; all of it is written, or nothing."""
        with self._lock:
            connection = self._mine()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def _mine(self) -> sqlite3.Connection:
        """The connection of this thread to the file that is there now."""
        known: tuple[sqlite3.Connection, int] | None = getattr(self._own, "known", None)
        # What has begun is ended with the file that it began with.
        if known is not None and known[0].in_transaction:
            return known[0]
        made = self.check_file()
        if self._shared is not None:
            return self._shared
        known = getattr(self._own, "known", None)
        if known is None or known[1] != made:
            self._forget(known)
            self._own.known = known = self._connect(str(self.path)), made
        return known[0]

    def _forget(self, known: tuple[sqlite3.Connection, int] | None) -> None:
        if known is not None:
            with self._lock:
                self._every.remove(known[0])
            known[0].close()

    def close(self) -> None:
        with self._lock:
            for connection in self._every:
                connection.close()
            self._every.clear()


def _file_at(path: Path | None) -> tuple[int, int] | None:
    """What tells a file from another one under the same name; None if there is none."""
    try:
        found = None if path is None else path.stat()
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)


def _make_tables(connection: sqlite3.Connection) -> None:
    """Makes all tables at once; raises DatabaseError if there are others, or only some of them."""
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(_TABLES)
        wanted = _forms(empty)
    found = _forms(connection)
    if found and found != wanted:
        raise sqlite3.DatabaseError("These are not the tables of an index.")
    if not found:
        connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT")


def _forms(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {form for (form,) in rows if not form.startswith("CREATE TABLE sqlite_")}


def _delete_older(path: Path) -> None:
    """What earlier versions of this library have left there: it may be large."""
    stem, sign, version = path.stem.rpartition("-v")
    if not (sign and version.isdigit()):
        return
    for number in range(int(version)):
        # On some systems, what is open cannot be removed.
        with suppress(OSError):
            delete(path.with_name(f"{stem}-v{number}{path.suffix}"))


def _beside(path: Path) -> list[Path]:
    """A database with what SQLite keeps beside it."""
    return [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm")]


def _require_writable(path: Path) -> None:
    """SQLite opens the index of another user as well, and fails only when it writes."""
    for one in _beside(path):
        if one.exists() and not os.access(one, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(one))


def delete(path: Path) -> None:
    """Removes an index with what SQLite keeps beside it."""
    for one in _beside(path):
        with suppress(FileNotFoundError):
            one.unlink()
