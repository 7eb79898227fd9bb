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
from dq_dagster.spark.java import ensure_java

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
    if _is_started():
        # Another thread's: settings would change it for those who started it.
        return SparkSession.builder.getOrCreate()
    return _started(settings or {})


def _is_started() -> bool:
    from pyspark import SparkContext

    return SparkContext._active_spark_context is not None  # noqa: SLF001 (there is no other way)


def _started(settings: Mapping[str, str]) -> SparkSession:
    """Starts Spark; what it says meanwhile is only told if it fails. A remote one has its own."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    remote = "SPARK_REMOTE" in os.environ
    if not remote:
        ensure_java()
    builder = SparkSession.builder
    for name, value in {**({} if remote else _QUIET), **settings}.items():
        builder.config(name, value)
    with tempfile.TemporaryFile() as log:
        try:
            with _stderr_to(log):
                session = builder.getOrCreate()
        except (PySparkException, Py4JError) as error:
            raise SparkNotStarted.because(error, _text(log)) from error
        _tell_the_rest(log)
        return session


def _text(log: IO[bytes]) -> str:
    log.seek(0)
    return log.read().decode(errors="replace")


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


def is_case_sensitive(session: SparkSession) -> bool:
    """Whether the session takes ``a`` and ``A`` for two columns."""
    return (session.conf.get("spark.sql.caseSensitive") or "false").lower() == "true"


def _tell_the_rest(log: IO[bytes]) -> None:
    """Hands on what others wrote to the same place while Spark started."""
    rest = [line for line in _text(log).splitlines() if not _NOISE.match(line)]
    if rest and sys.stderr is not None:
        sys.stderr.write("".join(f"{line}\n" for line in rest))


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
