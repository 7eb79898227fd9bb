"""Views of TopNotch plans: queries over named inputs, which leave nothing behind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dq_dagster.errors import UnreadableData
from dq_dagster.plan.topnotch import PlanInput, ViewCommand
from dq_dagster.spark.topnotch.views import read_input, view, with_features

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def viewed(query: str, **frames: DataFrame) -> DataFrame:
    command = ViewCommand(
        "v",
        {},
        "plan.json:1:1",
        sources=tuple(PlanInput(name) for name in frames),
        aliases=tuple(frames),
        query=query,
    )
    return view(command, list(frames.values()))


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("select * from loans order by id", [(1, "a"), (2, "b")]),
        (
            "select l.id, o.id as old from LOANS l full join old o on l.id = o.id",
            [(1, None), (2, 2), (None, 3)],
        ),
        ("with loans as (select * from loans where id > 1) select * from loans", [(2, "b")]),
        ("(select id from loans) union all (select id from old)", [(1,), (2,), (2,), (3,)]),
        ("from loans select id where id = 1", [(1,)]),
        ("select '{id} {input_0} ' || name as x from loans where id = 1", [("{id} {input_0} a",)]),
        ("select count(*) as n, row_number() over (order by 1) as r from loans", [(2, 1)]),
    ],
)
def test_queries(spark: SparkSession, query: str, rows: list[object]) -> None:
    loans = spark.createDataFrame([(1, "a"), (2, "b")], "id int, name string")
    old = spark.createDataFrame([(2,), (3,)], "id int")
    # A table of the session that is called like an input is not what the query reads.
    spark.createDataFrame([(9, "z")], "id int, name string").createOrReplaceTempView("loans")
    before = {table.name for table in spark.catalog.listTables()}
    found = viewed(query, loans=loans, old=old)
    assert sorted(map(str, found.collect())) == sorted(
        str(spark.createDataFrame([row], found.schema).first()) for row in rows
    )
    assert {table.name for table in spark.catalog.listTables()} == before
    spark.catalog.dropTempView("loans")


def test_a_query_that_spark_does_not_take_is_said_so(spark: SparkSession) -> None:
    loans = spark.range(1)
    with pytest.raises(
        UnreadableData, match=r"The query of 'v' fails: .*`nme`.*cannot be resolved"
    ):
        viewed("select nme from loans", loans=loans)
    with pytest.raises(UnreadableData, match=r"The query of 'v' fails: .*`other`.*cannot be found"):
        viewed("select * from other", loans=loans)


def test_files_are_parquet_or_have_a_delimiter(tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "rows.txt").write_text("id|name\n1|a\n2|\n")
    text = read_input(spark, PlanInput("r", path=str(tmp_path / "rows.txt"), delimiter="|"))
    assert text.schema.simpleString() == "struct<id:int,name:string>"
    assert text.collect() == [(1, "a"), (2, None)]
    text.write.parquet(str(tmp_path / "rows"))
    assert read_input(spark, PlanInput("r", path=str(tmp_path / "rows"))).count() == 2
    with pytest.raises(UnreadableData, match="cannot be read as parquet"):
        read_input(spark, PlanInput("r", path=str(tmp_path / "none")))


def test_features_are_further_columns(spark: SparkSession) -> None:
    frame = spark.sql("select 1 as id")
    assert with_features(frame, {}) is frame
    found = with_features(frame, {"next": "id + 1", "word": "concat('a', id)"})
    assert found.collect() == [(1, 2, "a1")]
    with pytest.raises(UnreadableData, match="There is a column 'ID' already"):
        with_features(frame, {"ID": "1"})
    with pytest.raises(UnreadableData, match=r"The features a, b cannot be added: .*`x`"):
        with_features(frame, {"a": "id", "b": "x"})
