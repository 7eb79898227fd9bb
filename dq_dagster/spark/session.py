"""The Spark session to work with, and its time zone."""

from __future__ import annotations

import os
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


def current_session(settings: Mapping[str, str] | None = None) -> SparkSession:
    """The active session, else a new one with these settings; a remote one needs no Java here."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if "SPARK_REMOTE" not in os.environ:
        ensure_java()
    builder = SparkSession.builder
    for name, value in (settings or {}).items():
        builder.config(name, value)
    return builder.getOrCreate()


def quiet_session(settings: Mapping[str, str] | None = None) -> SparkSession:
    """Like ``current_session``, but what a starting Spark has to say is only told if it fails."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    with tempfile.TemporaryFile() as log:
        try:
            with _stderr_to(log):
                return current_session({**_QUIET, **(settings or {})})
        except (PySparkException, Py4JError) as error:
            log.seek(0)
            text = log.read().decode(errors="replace")
            raise SparkNotStarted.because(error, text) from error


@contextmanager
def _stderr_to(log: IO[bytes]) -> Iterator[None]:
    """The JVM writes to the file descriptor, which it keeps, and not to Python's ``sys.stderr``."""
    sys.stderr.flush()
    before = os.dup(2)
    os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


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
