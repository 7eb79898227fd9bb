"""Evaluates rules on files on Spark Connect, in a process of its own, and prints the outcomes."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime

import dq_dagster as dq
from tests.connect_port import wait_for_port
from tests.spark.session.connect_session import said

NOW = datetime(2024, 3, 10, 12, tzinfo=UTC)
DATA = (
    "SELECT id, concat('text', id) AS t, array(named_struct('x', repeat('y', int(id)))) AS a, "
    "timestamp_micros(1710000000000000 + id * 3600000000) AS at, DATE'2024-03-09' + int(id) AS d, "
    "TIMESTAMP_NTZ'2024-03-09' + make_dt_interval(int(id)) AS n, id % 3 AS k FROM range(0, 6)"
)
RULES: list[dq.Rule] = [
    dq.FileSizeInRange(min=1, max="1 MB"),
    dq.SchemaContains(expected=[{"name": "a", "type": "array<struct<x:varchar(3)>>"}]),
    dq.SchemaEquals(expected=[{"name": "id", "type": "bigint"}, {"name": "t", "type": "date"}]),
    dq.Freshness(columns=["at", "d", "n"], max="1 hour"),
    dq.RowInsertedCountInRange(columns=["at", "d", "n"], window="2 days", max=1),
    dq.RecordCountInRange(min=1),
]


def judged(session: object, paths: list[str]) -> list[list[str]]:
    """The outcomes on each path, and on data that comes from no file."""
    reader = session.read  # type: ignore[attr-defined]
    frames = [*(reader.parquet(path) for path in paths), session.sql(DATA)]  # type: ignore[attr-defined]
    return [line for frame in frames for line in said(dq.evaluate(frame, RULES, now=NOW))]


def main() -> None:
    dq.ensure_java()
    from pyspark.sql import SparkSession

    zone, *paths = sys.argv[1:]
    wait_for_port()
    builder = SparkSession.builder.remote("local[1]")
    session = builder.config("spark.sql.session.timeZone", zone).getOrCreate()
    sys.stdout.write(json.dumps(judged(session, paths)))
    session.stop()


if __name__ == "__main__":
    main()
