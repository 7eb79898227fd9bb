"""Rows that break rules: of streams, of many partitions, and of columns of every type."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

import dq_dagster as dq
from dq_dagster.spark.frames.ansi import ANSI
from tests.depth import deep_after

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "id long, s string, x double"
ROW_RULES: list[dict[str, Any]] = [
    {"type": "column_not_empty", "columns": "s", "action_if_failed": "ignore"},
    {"type": "column_values_in_range", "columns": "x", "max": 5, "soft_max": 3},
    {"type": "row_dq", "name": "row", "expectation": "id % 4 > 0", "where": "s IS NOT NULL"},
    {"type": "column_values_in_reference", "columns": "s", "reference": {"asset": "known"}},
]
UNIQUE: dict[str, Any] = {"type": "column_unique", "columns": "s", "name": "unique"}


@pytest.fixture
def folder(spark: SparkSession, tmp_path: Path) -> str:
    """Three files, which are three batches of a stream."""
    place = str(tmp_path / "in")
    for n in range(3):
        rows = spark.range(n * 10, n * 10 + 10, 1, 1).selectExpr(
            "id", "if(id % 5 = 0, NULL, concat('v', id % 3)) AS s", "id % 7 / 1D AS x"
        )
        rows.write.mode("append").parquet(place)
    return place


@pytest.fixture
def stream(spark: SparkSession, folder: str) -> DataFrame:
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(folder)


@pytest.fixture(scope="module")
def known(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([("v0",), ("v1",), (None,)], "s string")


def written(rows: DataFrame, place: Path) -> DataFrame:
    """What a stream writes of what there is now."""
    query = (
        rows.writeStream.format("parquet")
        .option("checkpointLocation", str(place / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(place / "rows"))
    )
    query.awaitTermination()
    assert len(query.recentProgress) >= 3
    return rows.sparkSession.read.parquet(str(place / "rows"))


def in_order(rows: DataFrame) -> list[Any]:
    return sorted(rows.collect(), key=lambda row: row["id"])


def test_rows_of_a_stream(
    spark: SparkSession, folder: str, stream: DataFrame, known: DataFrame, tmp_path: Path
) -> None:
    references = {"known": known}
    still = spark.read.schema(SCHEMA).parquet(folder)
    good, bad = dq.split(stream, ROW_RULES, references=references)
    assert good.isStreaming
    right = dq.split(still, ROW_RULES, references=references)
    assert in_order(written(good, tmp_path / "good")) == in_order(right[0])
    assert in_order(written(bad, tmp_path / "bad")) == in_order(right[1])
    named = dq.failing_rows(stream, ROW_RULES, references=references)
    found = in_order(written(named, tmp_path / "named"))
    assert found == in_order(dq.failing_rows(still, ROW_RULES, references=references))
    assert {entry["rule"] for row in found for entry in row["dq_faults"]} == {
        "column_not_empty_s",
        "column_values_in_range_x",
        "row",
        "column_values_in_reference_s",
    }


def test_what_a_stream_cannot_say(stream: DataFrame) -> None:
    rules = [
        *ROW_RULES[:3],
        UNIQUE,
        {"type": "unique_key", "columns": ["s", "x"], "name": "key", "keep": {"order_by": "id"}},
        {"type": "agg_dq", "name": "agg", "expectation": "count(*) > 0"},
        {"type": "column_valid_meaning", "columns": "s", "meaning": "from_schema", "name": "m"},
        {
            "type": "column_values_in_reference",
            "name": "itself",
            "columns": "s",
            "reference": {"asset": "data"},
        },
    ]
    with pytest.raises(dq.DeclarationError) as caught:
        dq.split(stream, rules)
    repeats = (
        "Whether a value repeats is known once all rows are there, which a stream never has: "
        "split each batch of it by itself, with foreachBatch."
    )
    assert [str(problem) for problem in caught.value.problems] == [
        f"rule 'unique': {repeats}",
        f"rule 'key': {repeats}",
        (
            "rule 'agg': It judges all rows together, so that no single row is good or bad: leave "
            "it out here, and judge it by dq.evaluate."
        ),
        (
            "rule 'm': The schema gives column 's' no meaning: set one in the rule set's "
            "column_meanings, such as {s: email}, or name a meaning on the rule itself."
        ),
        (
            "rule 'itself': The reference asset 'data' is a stream, and what it lacks now may "
            "still come: give data that is all there, or split each batch by itself, with "
            "foreachBatch."
        ),
    ]


def test_each_batch_of_a_stream_by_itself(
    spark: SparkSession, folder: str, stream: DataFrame, known: DataFrame, tmp_path: Path
) -> None:
    rules = [*ROW_RULES, UNIQUE | {"keep": {"order_by": "id DESC"}}]
    places = {kind: str(tmp_path / kind) for kind in ("good", "bad")}

    def divided(batch: DataFrame, number: int) -> None:
        good, bad = dq.split(batch, rules, references={"known": known})
        good.write.mode("append").parquet(places["good"])
        bad.write.mode("append").parquet(places["bad"])

    query = stream.writeStream.trigger(availableNow=True).foreachBatch(divided).start()
    query.awaitTermination()
    right: dict[str, list[Any]] = {"good": [], "bad": []}
    for n in range(3):
        batch = spark.read.parquet(folder).where(f"id >= {n * 10} AND id < {n * 10 + 10}")
        good, bad = dq.split(batch, rules, references={"known": known})
        right["good"] += in_order(good)
        right["bad"] += in_order(bad)
    assert {kind: in_order(spark.read.parquet(at)) for kind, at in places.items()} == right
    assert right["good"]


def test_a_stream_without_ansi(spark: SparkSession, folder: str, tmp_path: Path) -> None:
    session = spark.newSession()
    session.conf.set(ANSI, "false")
    try:
        stream = session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(folder)
        with pytest.raises(dq.DeclarationError) as caught:
            dq.split(stream, ROW_RULES[:3])
        assert [problem.rule for problem in caught.value.problems] == ["row"]
        assert "The Spark session runs without ANSI" in str(caught.value)
        found = written(dq.split(stream, ROW_RULES[:2])[0], tmp_path)
        assert in_order(found) == in_order(dq.split(session.read.parquet(folder), ROW_RULES[:2])[0])
    finally:
        # Making a frame makes its session the active one.
        spark.createDataFrame([], "a int")


def test_one_of_identical_rows_is_kept(spark: SparkSession) -> None:
    rows = spark.range(0, 300, 1, 6).selectExpr("id % 10 AS k", "'same' AS s", "1.5D AS x")
    rule = {"type": "column_unique", "columns": "k", "keep": {"order_by": "s"}}
    for data in (rows, rows.repartition(7), rows.coalesce(1)):
        good, bad = dq.split(data, [rule])
        assert Counter(row["k"] for row in good.collect()) == dict.fromkeys(range(10), 1)
        assert bad.count() == 290


DIFFERING = (
    "array(id)",
    "named_struct('b', cast(id AS string))",
    "cast(cast(id AS string) AS binary)",
    "map(id, 1)",
    "parse_json(cast(id AS string))",
    "make_dt_interval(id)",
    "collate(if(id % 2 = 0, concat('A', id div 2), concat('a', id div 2)), 'UTF8_LCASE')",
    "if(id = 0, double('NaN'), id / 1D)",
    "timestamp_seconds(id)",
    "id % 3 = 0",
)


@pytest.mark.parametrize("sql", deep_after(4, DIFFERING))
def test_rows_that_are_alike_but_for_one_column(spark: SparkSession, sql: str) -> None:
    """Whatever its type is, it decides which row is kept, and not the order they come in."""
    rule = {"type": "column_unique", "columns": "k", "keep": {"order_by": "n"}}
    ways = ("id", "-id", "id % 7")
    kept = []
    for way in ways:
        rows = spark.range(0, 40, 1, 4).repartitionByRange(3, F.expr(way))
        data = rows.selectExpr("id % 5 AS k", "NULL AS n", f"{sql} AS c")
        good, _ = dq.split(data, [rule])
        text = good.selectExpr("k", "to_json(named_struct('c', c)) AS c")
        kept.append(sorted((row["k"], row["c"]) for row in text.collect()))
    assert kept[0] == kept[1] == kept[2]
    assert [k for k, _ in kept[0]] == list(range(5))


def test_rows_without_a_value_do_not_meet_in_one_place(spark: SparkSession) -> None:
    """Most keys are NULL: their rows stay spread over as many tasks as they came in."""
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "8")
    session.conf.set("spark.sql.adaptive.enabled", "false")
    rule = {"type": "column_unique", "columns": "k"}
    try:
        rows = session.range(0, 4_000, 1, 8).selectExpr("if(id % 100 = 0, id % 200, NULL) AS k")
        good, bad = dq.split(rows, [rule])
        assert (good.count(), bad.count()) == (3_960, 40)
        sizes = good.groupBy(F.spark_partition_id()).count().collect()
        assert max(row["count"] for row in sizes) < 3_000
    finally:
        spark.createDataFrame([], "a int")
