"""The Spark session to work with, and its time zone."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dq_dagster.spark.java import ensure_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def current_session() -> SparkSession:
    """The active session, else a local one; only a classic local one needs Java here."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    ensure_java()
    return SparkSession.builder.getOrCreate()


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
