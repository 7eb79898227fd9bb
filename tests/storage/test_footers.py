"""What files say of themselves is what is in them, and nothing is said that they do not know."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from dq_dagster.spark.frames.frames import GOOD, HIDDEN_KEY, KEPT, OUT, TARGET
from dq_dagster.storage import footers
from dq_dagster.storage.footers import Noted, noted_by
from dq_dagster.storage.judged import JudgedFiles

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

MOMENT = datetime(2024, 3, 9, tzinfo=UTC)
SCHEMA = "n int, x double, t string, at timestamp, s struct<a: int>, l array<int>, `a.b` int"
ROWS = [
    (1, 1.0, "a", MOMENT, (1,), [1], 1),
    (None, float("nan"), "", None, (None,), [], None),
    (None, None, None, MOMENT, None, None, 3),
]
TARGETS = (GOOD, f"{KEPT}-01", OUT)


def rows(spark: SparkSession) -> DataFrame:
    """One row a target."""
    parts = [
        spark.createDataFrame([row], SCHEMA).withColumn(TARGET, F.lit(target))
        for row, target in zip(ROWS, TARGETS, strict=True)
    ]
    return parts[0].unionAll(parts[1]).unionAll(parts[2])


def test_rows_and_missing_values_by_target(spark: SparkSession, tmp_path: Path) -> None:
    files = JudgedFiles("orders", str(tmp_path))
    files.write(rows(spark), None, marks=2)
    found = noted_by(files)
    assert found is not None
    assert {place: one.rows for place, one in found.items()} == {
        (None, GOOD): 1,
        (None, KEPT): 1,
        (None, OUT): 1,
    }
    for place, row in zip((GOOD, KEPT, OUT), ROWS, strict=True):
        one = found[None, place]
        known = {name: one.without_value(name) for name in ("n", "x", "t")}
        assert known == {name: int(row[n] is None) for n, name in enumerate(known)}
        # Of structs and arrays a file knows the values inside; a dot may be one of either.
        assert [one.without_value(name) for name in ("s", "l", "a.b", "N", "none")] == [None] * 5
        # Some ways to store a time have no statistics.
        assert one.without_value("at") in (None, int(row[3] is None))


def test_rows_by_partition(spark: SparkSession, tmp_path: Path) -> None:
    files = JudgedFiles("orders", str(tmp_path))
    keyed = rows(spark).withColumn(HIDDEN_KEY, F.expr("if(n = 1, 'a/1', 'b')"))
    files.write(keyed, ("a/1", "b", "c"), marks=2)
    found = noted_by(files)
    assert found is not None
    assert {place: (one.rows, one.without_value("n")) for place, one in found.items()} == {
        ("a/1", GOOD): (1, 0),
        ("b", KEPT): (1, 1),
        ("b", OUT): (1, 1),
    }


def test_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    files = JudgedFiles("orders", str(tmp_path))
    files.write(rows(spark).where("false"), None)
    assert noted_by(files) == {}
    assert Noted().without_value("n") is None


@pytest.mark.parametrize("reason", ["format", "many"])
def test_files_that_are_not_asked(
    reason: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = JudgedFiles("orders", str(tmp_path), "orc" if reason == "format" else "parquet")
    files.write(rows(spark).drop("a.b"), None, marks=2)
    if reason == "many":
        monkeypatch.setattr(footers, "_MOST_FILES", 2)
    assert noted_by(files) is None


def test_a_file_that_cannot_be_read(spark: SparkSession, tmp_path: Path) -> None:
    files = JudgedFiles("orders", str(tmp_path))
    files.write(rows(spark), None, marks=2)
    next(tmp_path.rglob("*.parquet")).write_bytes(b"not parquet")
    assert noted_by(files) is None
