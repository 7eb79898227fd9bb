"""Attempts count once they are published, and a store says what there is then."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dq_dagster.errors import NothingStored, Unassignable
from dq_dagster.storage.store import Store, store_at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(params=["local", "remote"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    target = f"file://{tmp_path}" if request.param == "remote" else str(tmp_path)
    return store_at(f"{target}/orders", "orders", "parquet")


def rows(spark: SparkSession, *numbers: int) -> DataFrame:
    return spark.createDataFrame([(n, f"day{n}") for n in numbers], "n int, day string")


def numbers(frame: DataFrame) -> list[int]:
    return sorted(row["n"] for row in frame.collect())


def test_what_is_stored_as_a_whole(spark: SparkSession, store: Store) -> None:
    stored = store.write_whole(rows(spark, 1, 2))
    assert list(stored.places) == [None]
    assert numbers(spark.read.parquet(stored.place)) == [1, 2]
    assert stored.schema.names == ["n", "day"]
    assert numbers(store.load_whole(spark)) == [1, 2]


def test_what_is_stored_by_partition(spark: SparkSession, store: Store) -> None:
    stored = store.write({"a": rows(spark, 1), "b": rows(spark, 2, 3)})
    assert {key: numbers(spark.read.parquet(stored.places[key])) for key in stored.places} == {
        "a": [1],
        "b": [2, 3],
    }
    assert set(store.stored_among(spark, ["a", "b", "c"])) == {"a", "b"}
    assert numbers(store.load(spark, ["b"]).plain) == [2, 3]


def test_what_is_split_by_its_rows(spark: SparkSession, store: Store) -> None:
    stored = store.write_split(rows(spark, 1, 2), "day", ["day1", "day2", "day3"])
    assert sorted(map(str, stored.places)) == ["day1", "day2", "day3"]
    assert numbers(store.load(spark, ["day1", "day3"]).plain) == [1]


@pytest.mark.parametrize("raises", [False, True])
def test_an_attempt_that_is_not_published_leaves_what_was_there(
    spark: SparkSession, store: Store, raises: bool
) -> None:
    store.write_whole(rows(spark, 1))
    with suppress(ZeroDivisionError), store.attempt() as attempt:
        attempt.write_whole(rows(spark, 2))
        if raises:
            raise ZeroDivisionError
    assert numbers(store.load_whole(spark)) == [1]


def test_rows_of_no_partition_are_not_stored(spark: SparkSession, store: Store) -> None:
    store.write({"day1": rows(spark, 1)})
    with pytest.raises(Unassignable, match="day9"):
        store.write_split(rows(spark, 1, 9), "day", ["day1", "day2"])
    assert numbers(store.load(spark, ["day1", "day2"]).plain) == [1]


def test_a_store_without_data_says_so(spark: SparkSession, store: Store) -> None:
    with pytest.raises(NothingStored, match="orders"):
        store.load_whole(spark)
    assert not store.stored_among(spark, ["a"])
