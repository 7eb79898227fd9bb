"""Partitions that are the same on both sides are not joined, and with hashes not even read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dq_dagster as dq

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

PARTITIONS = 1_000
DIFFERING = (3, 500, 998)
SCHEMA = "id bigint, t string, day int"


def write(folder: Path, changed: dict[int, Any]) -> str:
    """One file of two rows a partition."""
    for day in range(PARTITIONS):
        place = folder / f"day={day}"
        place.mkdir(parents=True)
        table = pa.table({"id": [2 * day, 2 * day + 1], "t": ["a", changed.get(day, "b")]})
        pq.write_table(table, place / "part-0.parquet")
    return str(folder)


def files_read(spark: SparkSession) -> int:
    """By the query that ran last, according to Spark."""
    java: Any = spark
    store = java._jsparkSession.sharedState().statusStore()  # noqa: SLF001
    last = store.executionsList().last()
    values = store.executionMetrics(last.executionId())
    metrics = last.metrics()
    every = [metrics.apply(n) for n in range(metrics.size())]
    # Each time a plan is adapted, it names its metrics anew.
    counters = {one.accumulatorId() for one in every if one.name() == "number of files read"}
    return sum(int(values.apply(counter).replace(",", "")) for counter in counters)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    root = tmp_path_factory.mktemp("days")
    changed = dict.fromkeys(DIFFERING, "c")
    return write(root / "left", {}), write(root / "right", changed)


def read(spark: SparkSession, folder: str) -> DataFrame:
    return spark.read.schema(SCHEMA).parquet(folder)


def test_three_of_a_thousand_partitions_are_read(
    spark: SparkSession, folders: tuple[str, str]
) -> None:
    left, right = (read(spark, folder) for folder in folders)
    hashes = tuple(dq.row_hashes(one, partition_by="day") for one in (left, right))
    kept = [dq.RowHashes.from_dict(json.loads(json.dumps(one.to_dict()))) for one in hashes]
    assert kept == list(hashes)
    found = dq.diff(left, right, keys="id", partition_by="day", hashes=(kept[0], kept[1]))
    assert files_read(spark) == 2 * len(DIFFERING)
    assert (found.changed, found.same, found.rows_left) == (3, 1_997, 2_000)
    assert "3 of 1,000 partitions were joined." in str(found)
    # So are the rows themselves.
    assert found.changed_rows.count() == 3
    assert files_read(spark) == 2 * len(DIFFERING)
    # Without hashes at hand, a narrow pass finds the same three.
    plain = dq.diff(left, right, keys="id", partition_by="day")
    assert files_read(spark) == 2 * len(DIFFERING)
    assert plain.to_dict() == found.to_dict()


def test_hashes_are_of_rows_not_of_their_order_or_types(spark: SparkSession) -> None:
    rows = [
        (1, None, "", 0.0),
        (2, "a", None, -0.0),
        (2, "a", None, -0.0),
        (3, "", "b", float("nan")),
    ]
    one = spark.createDataFrame(rows, "i int, a string, b string, x double")
    other = spark.createDataFrame(list(reversed(rows)), "i bigint, a string, b string, x float")
    other = other.select("x", "b", "a", "i")
    hashes = dq.row_hashes(one)
    assert hashes.columns == ("a", "b", "i", "x")
    assert (hashes.whole, hashes.types) == (dq.row_hashes(other).whole, dq.row_hashes(other).types)
    for wrong in (
        one.distinct(),
        one.limit(3),
        one.selectExpr("i", "b AS a", "a AS b", "x"),
        one.selectExpr("i", "coalesce(a, '') AS a", "b", "x"),
        one.selectExpr("i + 1 AS i", "a", "b", "x"),
    ):
        assert dq.row_hashes(wrong).whole != hashes.whole


def test_arrays_do_not_run_into_each_other(spark: SparkSession) -> None:
    one = spark.sql("SELECT array(1) AS a, array(2) AS b, map('x', array(-0D)) AS m")
    other = spark.sql(
        "SELECT array(1, 2) AS a, CAST(array() AS ARRAY<INT>) AS b, map('x', array(0D)) AS m"
    )
    assert dq.row_hashes(one).whole != dq.row_hashes(other).whole
    assert dq.row_hashes(one, columns=["m"]).whole == dq.row_hashes(other, columns=["m"]).whole


def test_hashes_that_do_not_fit_are_refused(spark: SparkSession) -> None:
    table = spark.sql("SELECT 1 AS id, 'a' AS t, 7 AS day")
    by_day = dq.row_hashes(table, partition_by="day")
    narrow = dq.row_hashes(table, columns=["id"], partition_by="day")
    with pytest.raises(dq.DeclarationError, match="they lack 'day'"):
        dq.diff(table, table, keys="id", partition_by="day", hashes=(narrow, narrow))
    with pytest.raises(dq.DeclarationError, match="partitions of 'day', not of 'id'"):
        dq.diff(table, table, keys="id", partition_by="id", hashes=(by_day, by_day))
    with pytest.raises(dq.DeclarationError, match="These are no hashes of rows"):
        dq.RowHashes.from_dict({"version": 1, "partitions": [["a", 3]]})
    found = dq.diff(table, table, keys="id", partition_by="day", hashes=(by_day, None))
    assert (found.equal, found.same, str(found.partitions)) == (
        True,
        1,
        "PartitionsRead(total=1, read=0)",
    )


def test_rows_that_moved_between_partitions_are_changed(spark: SparkSession) -> None:
    left = spark.sql("SELECT id, id % 3 AS day FROM range(9)")
    right = left.selectExpr("id", "if(id = 4, 2, day) AS day")
    found = dq.diff(left, right, keys="id", partition_by="day")
    assert (found.changed, found.same, found.only_left) == (1, 8, 0)
    assert found.partitions is not None
    assert (found.partitions.total, found.partitions.read) == (3, 2)
