"""Rows that are judged while they are written: by target and partition, and as published."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dq_dagster.errors import Unassignable
from dq_dagster.spark.frames.divided import AlikePartitions, Divided
from dq_dagster.spark.frames.frames import GOOD, HIDDEN_KEY, KEPT, OUT, TARGET
from dq_dagster.storage.judged import JudgedFiles
from dq_dagster.storage.local import LocalStore
from dq_dagster.storage.store import store_at

TARGETS = [GOOD, "kept-01", "out-10", "out-00", GOOD]
KEYS = ["a/b", "c"]


def rows(spark: SparkSession, targets: list[str] = TARGETS) -> DataFrame:
    found = [(n, target) for n, target in enumerate(targets)]
    return spark.createDataFrame(found, "n int, dq_target string").withColumn(
        TARGET, F.col("dq_target")
    )


def by_part(spark: SparkSession, *parts: str) -> DataFrame:
    named = spark.createDataFrame([(part,) for part in parts], f"`{HIDDEN_KEY}` string")
    return rows(spark).crossJoin(named)


def numbers(frame: DataFrame) -> list[int]:
    return sorted(row["n"] for row in frame.collect())


@pytest.mark.parametrize("marks", [2, 9])
@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_rows_by_target(spark: SparkSession, tmp_path: Path, marks: int, kind: str) -> None:
    files = JudgedFiles("orders", str(tmp_path), kind)
    files.write(rows(spark), None, marks=marks)
    [source] = files.rows(spark, GOOD, KEPT, OUT)
    # Many marks are in a column; a good row has none that anybody asks for.
    found = {row["n"]: row[TARGET] for row in source.frame.collect()}
    assert [found[n] for n in (1, 2, 3)] == TARGETS[1:4]
    assert [found[n].partition("-")[0] for n in (0, 4)] == [GOOD, GOOD]
    [bad] = files.rows(spark, KEPT, OUT)
    assert numbers(bad.frame) == [1, 2, 3]
    whole, valid = files.source(spark), files.validated(spark)
    assert isinstance(whole, DataFrame)
    assert isinstance(valid, DataFrame)
    assert (numbers(whole), numbers(valid)) == ([0, 1, 2, 3, 4], [0, 1, 4])
    # A column of the data that is called like ours is still there.
    assert whole.columns == valid.columns == ["n", "dq_target"]
    assert files.holds_rows_alone == (marks <= 8)


def test_rows_by_partition(spark: SparkSession, tmp_path: Path) -> None:
    files = JudgedFiles("orders", str(tmp_path))
    files.write(by_part(spark, "a/b"), KEYS, HIDDEN_KEY, marks=2)
    source = files.source(spark)
    assert isinstance(source, Divided)
    assert {row[HIDDEN_KEY] for row in source.frame.collect()} == {"a/b"}
    assert source.partitions == frozenset(KEYS)
    assert numbers(source.frame) == [0, 1, 2, 3, 4]


def test_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    files = JudgedFiles("orders", str(tmp_path))
    files.write(by_part(spark, "a/b").where("false"), KEYS, marks=2)
    [kind] = files.rows(spark, KEPT, OUT)
    assert (kind.frame.count(), kind.partitions) == (0, frozenset(KEYS))


def test_rows_of_no_partition_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    files = JudgedFiles("orders", str(tmp_path))
    with pytest.raises(Unassignable) as raised:
        files.write(by_part(spark, "c", "d"), KEYS, f"`{HIDDEN_KEY}`", marks=2)
    assert "5 rows of asset 'orders' belong to none of the 2 partitions" in str(raised.value)
    assert not files.writes


@pytest.mark.parametrize("kind", ["parquet", "orc", "json"])
@pytest.mark.parametrize("place", ["local", "remote"])
@pytest.mark.parametrize("marks", [2, 9])
def test_what_is_published(
    spark: SparkSession, tmp_path: Path, kind: str, place: str, marks: int
) -> None:
    root = f"file://{tmp_path}" if place == "remote" else str(tmp_path)
    store, beside = (store_at(f"{root}/{name}", name, kind) for name in ("orders", "bad"))
    with store.judged() as files:
        files.write(by_part(spark, "c"), KEYS, marks=marks)
        kinds = [
            AlikePartitions(one.partitions, one.frame.drop(TARGET))
            for one in files.rows(spark, KEPT, OUT)
        ]
        published, kept = store.publish_beside(files, spark, beside, kinds)
    assert set(published.places) == set(kept.places) == set(KEYS)
    assert numbers(store.load(spark, KEYS).plain) == [0, 1, 4]
    assert numbers(beside.load(spark, KEYS).plain) == [1, 2, 3]
    assert store.load(spark, KEYS).plain.columns == ["n", "dq_target"]
    assert numbers(store.load(spark, ["a/b"]).plain) == []
    assert numbers(spark.read.format(kind).load(published.places["c"])) == [0, 1, 4]


def test_what_is_not_published_is_gone(spark: SparkSession, tmp_path: Path) -> None:
    store = LocalStore("orders", tmp_path, "parquet")
    with store.judged() as files:
        files.write(rows(spark), None, marks=2)
        store.publish_judged(files, spark)
    assert numbers(store.load_whole(spark)) == [0, 1, 4]
    with store.judged() as files:
        files.write(rows(spark, [GOOD]), None)
    assert numbers(store.load_whole(spark)) == [0, 1, 4]
    assert not list((tmp_path / ".staging").iterdir())


def test_a_quarantine_that_fails_leaves_both_as_they_were(
    spark: SparkSession, tmp_path: Path
) -> None:
    store, beside = (LocalStore(name, tmp_path / name, "parquet") for name in ("orders", "bad"))

    def publish(targets: list[str], bad: DataFrame) -> None:
        with store.judged() as files:
            files.write(rows(spark, targets), None, marks=2)
            store.publish_beside(files, spark, beside, [AlikePartitions(frozenset(), bad)])

    publish(TARGETS, rows(spark).drop(TARGET))
    raising = rows(spark).drop(TARGET).selectExpr("CAST(1 / (n - n) AS INT) AS n")
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        publish([GOOD], raising)
    assert numbers(store.load_whole(spark)) == [0, 1, 4]
    assert numbers(beside.load_whole(spark)) == [0, 1, 2, 3, 4]
