"""Rows at a path that a plan names: replaced as a whole, and nothing else is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dq_dagster.errors import UnreadableData
from dq_dagster.storage.parquet_output import replace_parquet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_rows_take_the_place_of_those_before(tmp_path: Path, spark: SparkSession) -> None:
    target = str(tmp_path / "deep" / "out.parquet")
    assert replace_parquet(spark.range(3), target, "a").count() == 3
    # Also if they are made of them, and if there are none.
    fewer = spark.read.parquet(target).where("id > 0")
    assert replace_parquet(fewer, target, "a").count() == 2
    none = replace_parquet(spark.read.parquet(target).where("id > 9"), target, "a")
    assert (none.columns, none.count()) == (["id"], 0)
    assert [one.name for one in (tmp_path / "deep").iterdir()] == ["out.parquet"]


def test_the_old_rows_stay_if_writing_fails(tmp_path: Path, spark: SparkSession) -> None:
    target = str(tmp_path / "out")
    replace_parquet(spark.range(3), target, "a")
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        replace_parquet(spark.range(2).selectExpr("1 div id AS x"), target, "a")
    assert spark.read.parquet(target).count() == 3
    assert [one.name for one in tmp_path.iterdir()] == ["out"]


def test_nothing_but_parquet_is_overwritten(tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for name in ("notes", "file", "link"):
        with pytest.raises(UnreadableData, match="is no folder of Parquet files: it is not over"):
            replace_parquet(spark.range(1), str(tmp_path / name), "a")
    assert (tmp_path / "notes" / "mine.txt").read_text() == "mine"
    # An empty folder has nothing to lose.
    assert replace_parquet(spark.range(1), str(tmp_path / "real"), "a").count() == 1


def test_writers_at_once_leave_the_rows_of_one(tmp_path: Path, spark: SparkSession) -> None:
    target = str(tmp_path / "out")

    def write(rows: int) -> None:
        replace_parquet(spark.range(rows), target, "a")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, [1, 2, 3, 4]))
    assert spark.read.parquet(target).count() in {1, 2, 3, 4}
    assert [one.name for one in tmp_path.iterdir()] == ["out"]


def test_columns_that_parquet_cannot_tell_apart_are_refused(
    tmp_path: Path, spark: SparkSession
) -> None:
    with pytest.raises(UnreadableData, match="'a'"):
        replace_parquet(spark.sql("select 1 as x, 2 as x"), str(tmp_path / "out"), "a")
