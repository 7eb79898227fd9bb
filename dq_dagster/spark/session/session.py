"""The Spark session to work with, and its time zone."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from typing import IO, TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dq_dagster.errors import SparkNotStarted
from dq_dagster.spark.session.java import ensure_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
# What a Java and a Spark that start well have to say.
_NOISE = re.compile(
    r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d (?:TRACE|DEBUG|INFO|WARN) |WARNING: |Picked up \w+: |"
    r"OpenJDK .* warning: |Java HotSpot.* warning: |Using Spark's default log4j profile: |"
    r"Setting (?:default|Spark) log level to |To adjust logging level use |\s*$"
)


def current_session(settings: Mapping[str, str] | None = None) -> SparkSession:
    """The session of the process as it is, else a new and quiet one with these settings."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if is_started():
        # Another thread's: settings would change it for those who started it.
        return SparkSession.builder.getOrCreate()
    return _started(settings or {})


def is_started() -> bool:
    """Whether this process has a Spark of its own already."""
    try:
        from pyspark import SparkContext
    except ImportError:
        # A client of Spark Connect alone has none.
        return False
    return SparkContext._active_spark_context is not None  # noqa: SLF001 (there is no other way)


def _started(settings: Mapping[str, str]) -> SparkSession:
    """Connects to Spark, or starts one here: what that says is only shown if it fails."""
    remote = os.environ.get("SPARK_REMOTE")
    if remote is None:
        return _started_quietly({**_QUIET, **settings})
    # With "local", Spark Connect starts a server of its own.
    return (_started_quietly if remote.startswith("local") else _opened)(settings)


def _opened(settings: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for name, value in settings.items():
        builder.config(name, value)
    return builder.getOrCreate()


def _started_quietly(settings: Mapping[str, str]) -> SparkSession:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    ensure_java()
    with tempfile.TemporaryFile() as log:
        try:
            with _stderr_to(log):
                session = _opened(settings)
        except (PySparkException, Py4JError) as error:
            # What Java traces is in its words, too.
            raise SparkNotStarted.because(error, "\n".join(_worth_telling(log))) from None
        for line in _worth_telling(log):
            # Others wrote to the same place while Spark started.
            _tell(line)
        return session


def _worth_telling(log: IO[bytes]) -> list[str]:
    log.seek(0)
    lines = log.read().decode(errors="replace").splitlines()
    return [line for line in lines if not _NOISE.match(line)]


def _tell(line: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"{line}\n")


@contextmanager
def _stderr_to(log: IO[bytes]) -> Iterator[None]:
    """The JVM writes to the file descriptor, which it keeps, and not to Python's ``sys.stderr``."""
    if sys.stderr is not None:
        sys.stderr.flush()
    try:
        before = os.dup(2)
    except OSError:
        # There is none to keep clean.
        yield
        return
    os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def is_connect(session: SparkSession) -> bool:
    """Whether the session is one of Spark Connect, where Spark runs on a server."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def is_case_sensitive(session: SparkSession) -> bool:
    """Whether the session takes ``a`` and ``A`` for two columns."""
    return (session.conf.get("spark.sql.caseSensitive") or "false").lower() == "true"


def session_zone(session: SparkSession) -> tzinfo:
    """The zone in which the session reads and shows instants."""
    name = session.conf.get("spark.sql.session.timeZone") or "UTC"
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return _offset(name)


def _offset(name: str) -> tzinfo:
    """Spark also takes offsets such as ``+02:00`` and ``GMT+2``."""
    sign = name.removeprefix("GMT").removeprefix("UTC")
    hours, _, minutes = sign[1:].partition(":")
    try:
        text = f"2000-01-01T00:00:00{sign[0]}{int(hours):02}:{int(minutes or 0):02}"
        return datetime.fromisoformat(text).tzinfo or UTC
    except (ValueError, IndexError):
        return UTC
