"""Moments as SQL: seconds since 1970, and what a wall clock somewhere shows then.

No text here depends on the time zone of the Spark session: it works on whole numbers and on
timestamps without a zone only.
"""

from __future__ import annotations

from pyspark.sql import types as T

from dq_dagster.spark.quoting import text

_EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
UTC = "UTC"


def seconds_of(sql: str, kind: T.DataType, zone: str) -> str:
    """Whole seconds since 1970 of a timestamp, or of a date or wall time as meant in the zone.

    A wall time that occurs twice is the first one; one that is skipped counts as the time the
    clock would have shown had it been set forward later, as Java and Python have it.
    """
    if isinstance(kind, T.TimestampType):
        return f"unix_seconds({sql})"
    wall = f"CAST({sql} AS TIMESTAMP_NTZ)" if isinstance(kind, T.DateType) else sql
    return seconds_of_wall(_converted(wall, zone, UTC))


def wall_of(sql: str, kind: T.DataType, zone: str) -> str:
    """What the zone's wall clock shows at that moment, as a timestamp without a zone."""
    if isinstance(kind, T.DateType):
        return f"CAST({sql} AS TIMESTAMP_NTZ)"
    if isinstance(kind, T.TimestampNTZType):
        # There and back, so that a skipped time becomes one that was shown.
        return _converted(_converted(sql, zone, UTC), UTC, zone)
    return wall_of_seconds(f"unix_seconds({sql})", zone)


def wall_of_seconds(seconds: str, zone: str) -> str:
    return _converted(f"timestampadd(SECOND, {seconds}, {_EPOCH})", UTC, zone)


def seconds_of_wall(wall: str) -> str:
    """Seconds since 1970 as if the wall clock were one of UTC."""
    day = f"unix_date(CAST({wall} AS DATE))"
    return f"({day} * 86400L + hour({wall}) * 3600 + minute({wall}) * 60 + second({wall}))"


def _converted(wall: str, source: str, target: str) -> str:
    if source == target:
        return wall
    return f"convert_timezone({text(source)}, {text(target)}, {wall})"
