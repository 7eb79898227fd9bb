"""A table of yours that gets a record of each build, also by many writers at once."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from dq_dagster.storage.records import append_records
from tests.integration.calendar import DAILY, day
from tests.integration.guarded.gate import Gate, orders, positive, why

SCHEMA = "writer int, number int"
WRITER = """
import sys
import dq_dagster as dq
from tests.integration.guarded.test_stats_table import append_some
dq.ensure_java()
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
append_some(session, sys.argv[1], int(sys.argv[2]))
"""


def append_some(session: SparkSession, target: str, writer: int, count: int = 6) -> None:
    """Each record twice, as by a retry."""
    for number in range(count):
        for _ in range(2):
            append_records(session, target, [(writer, number)], SCHEMA, f"{writer}/{number}")


def test_each_build_of_a_slice_is_a_row(spark: SparkSession, tmp_path: Path) -> None:
    place = tmp_path / "a b" / "stats"
    gate = Gate(
        tmp_path,
        lambda keys: {key: orders(spark, 5, -1, None) for key in keys},
        [positive(), dq.RecordCountInRange(name="rows", min=1)],
        partitions_def=DAILY,
        stats=dq.StatsTable(str(place)),
    )
    first, second = gate.build(day(1), day(2)), gate.build(day(2))
    gate.value = lambda keys: {key: orders(spark) for key in keys}
    withheld = Gate(
        tmp_path,
        orders(spark, -1),
        [positive("fail")],
        stats=dq.StatsTable(str(place)),
        name="others",
    )
    third = withheld.build()
    assert not third.success
    found = {
        (row["run_id"], row["partition"]): row for row in spark.read.parquet(str(place)).collect()
    }
    assert set(found) == {
        (first.run_id, day(1)),
        (first.run_id, day(2)),
        (second.run_id, day(2)),
        (third.run_id, None),
    }
    row = found[first.run_id, day(1)]
    assert (row["asset"], row["status"], row["rows_in"], row["rows_published"]) == (
        "orders",
        "published",
        3,
        1,
    )
    assert row["share_dropped"] == pytest.approx(2 / 3)
    assert json.loads(row["rules"]) == {
        "positive": {"action": "drop", "faults": 2, "source": "Error"},
        "rows": {"action": "ignore", "source": "Ok", "validated": "Ok"},
    }
    last = found[third.run_id, None]
    assert (last["asset"], last["status"], last["rows_published"]) == ("others", "withheld", 0)
    # As dq.stats has it.
    [on_record] = [one for one in gate.stats() if one["run_id"] == second.run_id]
    assert on_record["fingerprint"] == row["fingerprint"]


def test_a_table_of_the_catalog(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("CREATE DATABASE IF NOT EXISTS monitoring")
    gate = Gate(
        tmp_path, orders(spark, 5, -1), [positive()], stats=dq.StatsTable("monitoring.dq_stats")
    )
    try:
        runs = [gate.build().run_id for _ in range(2)]
        found = spark.table("monitoring.dq_stats")
        assert sorted(row["run_id"] for row in found.collect()) == sorted(runs)
        assert found.where("rows_dropped = 1").count() == 2
    finally:
        spark.sql("DROP DATABASE monitoring CASCADE")


@pytest.mark.parametrize("kind", ["path", "catalog"])
def test_writers_in_one_session(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    target = str(tmp_path / "stats") if kind == "path" else "default.dq_of_threads"
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda writer: append_some(spark, target, writer, 3), range(4)))
        frame = spark.read.parquet(target) if kind == "path" else spark.table(target)
        assert sorted(map(tuple, frame.collect())) == [(w, n) for w in range(4) for n in range(3)]
    finally:
        spark.sql("DROP TABLE IF EXISTS default.dq_of_threads")
    if kind == "path":
        assert {file.suffix for file in (tmp_path / "stats").iterdir()} == {".parquet"}


@pytest.mark.deep
def test_writers_in_processes(spark: SparkSession, tmp_path: Path) -> None:
    target = str(tmp_path / "stats")
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, target, str(number)]) for number in range(4)
    ]
    for writer in writers:
        assert writer.wait(timeout=300) == 0
    found = sorted(map(tuple, spark.read.parquet(target).collect()))
    assert found == [(writer, number) for writer in range(4) for number in range(6)]


def test_a_table_that_cannot_be_written_fails_the_run(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    stats = dq.StatsTable(str(tmp_path / "taken" / "stats"))
    gate = Gate(tmp_path, orders(spark, 5, -1), [positive()], stats=stats)
    run = gate.build()
    assert "taken" in why(run)
    # What was published before is on record nonetheless.
    assert (gate.ids(), len(gate.stats())) == ([1], 1)
