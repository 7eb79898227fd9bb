"""A session without ANSI gets the answers that one with ANSI gets, and keeps its setting."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import SparkSession as Session

import dq_dagster as dq
from dq_dagster.evaluation.states import Reuse
from dq_dagster.spark.frames.ansi import ANSI

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BIG = 2**63 - 1
MAX_DECIMAL = "9" * 38
ROWS = [
    (1, BIG, "7", 0, Decimal(MAX_DECIMAL), "a", 2147483647, [1, 2]),
    (2, BIG, "abc", 2, Decimal(MAX_DECIMAL), "a", 1, []),
    (3, 5, "", 4, Decimal(1), "b", 1, [3]),
]
SCHEMA = "id int, l bigint, s string, z int, d decimal(38,0), g string, i int, a array<int>"

#: By SQL that raises under ANSI, the name of what Spark raises.
RAISING: dict[str, tuple[dict[str, Any], str]] = {
    "sum of longs": ({"type": "agg_dq", "expectation": "sum(l) < 0"}, "OVERFLOW"),
    "sum of decimals": ({"type": "agg_dq", "expectation": "sum(d) is null"}, "OUT_OF_RANGE"),
    "metric": ({"type": "metric_in_range", "metric": {"sql": "sum(l)"}, "max": 7}, "OVERFLOW"),
    "query": (
        {
            "type": "metric_in_range",
            "metric": {"query": "select sum(l) as n from {table}"},
            "max": 7,
        },
        "OVERFLOW",
    ),
    "row": ({"type": "row_dq", "expectation": "l + 5 < 0 or l = 5"}, "OVERFLOW"),
    "cast": (
        {"type": "row_dq", "expectation": "cast(s as int) > 0", "null_is": "pass"},
        "CAST_INVALID",
    ),
    "comparison": ({"type": "row_dq", "expectation": "s > 0", "null_is": "pass"}, "CAST_INVALID"),
    "division": ({"type": "row_dq", "expectation": "1 / z > 0", "null_is": "pass"}, "ZERO"),
    "index": ({"type": "row_dq", "expectation": "a[1] = 2", "null_is": "pass"}, "ARRAY_INDEX"),
    "where": ({"type": "record_count_in_range", "min": 0, "where": "1 / z > 0"}, "ZERO"),
    "where of values": (
        {"type": "column_unique", "columns": "id", "where": "cast(s as int) > 0"},
        "CAST_INVALID",
    ),
    "where of a median": (
        {"type": "column_median_in_range", "columns": "id", "min": 0, "where": "1 / z > 0"},
        "ZERO",
    ),
    "another asset": (
        {
            "type": "compare_metrics",
            "metric": {"sql": "count(*)"},
            "operator": ">",
            "other": {"sql": "sum(l)"},
            "other_asset": "other",
        },
        "OVERFLOW",
    ),
}
CALM: list[dict[str, Any]] = [
    {"type": "agg_dq", "expectation": "sum(id) = 6 and avg(z) = 2", "dimensions": ["g"]},
    {"type": "agg_dq", "expectation": "sum(try_cast(s as int)) = 7"},
    {"type": "row_dq", "expectation": "id > 1 and try_divide(1, z) is not null"},
    {"type": "metric_in_range", "metric": {"query": "select count(*) from {table}"}, "min": 3},
    {
        "type": "metric_in_range",
        "name": "view",
        "metric": {"query": "select sum(n) from {table} cross join little"},
        "min": 9,
        "max": 9,
    },
    {"type": "record_count_in_range", "min": 1, "where": "s <> ''"},
    {"type": "column_unique", "columns": ["id", "s"], "where": "id < 3"},
    {"type": "unique_key", "columns": ["id", "s"]},
    *[
        {"type": f"column_{what}_in_range", "columns": columns, "min": 0, "name": what}
        for what in ("min", "max", "avg", "sum", "median")
        for columns in [["id", "l", "d", "i", "z"]]
    ],
    {"type": "column_stddev_in_range", "columns": ["id", "z"], "min": 0},
    {"type": "column_values_in_range", "columns": ["l", "d", "i"], "max": 6},
    {"type": "column_value_lengths_in_range", "columns": "s", "min": 1},
    {"type": "column_values_in_set", "columns": "s", "values": ["7", "abc"]},
    {"type": "column_values_in_set", "columns": ["l", "i"], "values": [5, 1], "name": "numbers"},
    {"type": "column_top_values_in_set", "columns": "g", "top": 2, "values": ["a", "b"]},
    {"type": "column_most_frequent_in_set", "columns": "g", "values": ["a"]},
    {"type": "column_values_match", "columns": "s", "pattern": "[a-z]+"},
    {"type": "column_not_empty", "columns": "s", "empty_includes_blank": True},
    {"type": "column_values_in_reference", "columns": "id", "reference": {"asset": "other"}},
    {
        "type": "column_values_in_reference",
        "name": "its_table",
        "columns": "id",
        "reference": {"table": "little"},
        "reference_columns": ["n"],
    },
    *[
        {"type": "column_valid_meaning", "columns": "s", "meaning": meaning, "name": meaning}
        for meaning in ("integer", "decimal", "date", "date_to_parse", "boolean", "json_array",
                        "latitude", "iban", "datetime_with_zone", "ip_address", "geopoint")
    ],
    {"type": "schema_contains", "expected": [{"name": "s", "type": "string"}]},
    {"type": "column_count_in_range", "min": 8, "max": 8},
    {
        "type": "python", "name": "python",
        "function": "tests.spark.frames.test_ansi:sees_its_session",
    },
]  # fmt: skip


def sees_its_session(data: DataFrame, context: Any) -> tuple[str, str]:
    """Functions get the data in the session that it came from, with all that is there."""
    session = data.sparkSession
    return "Ok", f"{data.count()} rows, {session.table('little').count()} beside them"


def _session(spark: SparkSession, *, ansi: bool) -> SparkSession:
    session = spark.newSession()
    session.conf.set(ANSI, str(ansi).lower())
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    session.sql("select 3 as n").createTempView("little")
    return session


@pytest.fixture(scope="module")
def sessions(spark: SparkSession) -> Iterator[dict[bool, SparkSession]]:
    yield {ansi: _session(spark, ansi=ansi) for ansi in (True, False)}
    # Making a frame makes its session the active one.
    spark.createDataFrame([], "a int")


@pytest.fixture(scope="module")
def tables(sessions: dict[bool, SparkSession]) -> dict[bool, DataFrame]:
    return {
        ansi: session.createDataFrame(ROWS, SCHEMA).coalesce(1)
        for ansi, session in sessions.items()
    }


def _named(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"name": f"r{n}", **rule} for n, rule in enumerate(rules)]


def _said(found: dq.Evaluation) -> list[tuple[Any, ...]]:
    return [
        (one.rule.name, one.partition, one.status, one.observed, one.message, one.rows)
        for one in found
    ]


def test_what_raises_under_ansi_is_an_error(tables: dict[bool, DataFrame]) -> None:
    rules = [{**rule, "name": name.replace(" ", "_")} for name, (rule, _) in RAISING.items()]
    table = tables[False]
    said = _said(dq.evaluate(table, rules, references={"other": table}))
    for (name, _, status, _, message, _), (_, words) in zip(said, RAISING.values(), strict=True):
        assert status == "Error", name
        assert words in message, (name, message)


@pytest.mark.parametrize("partitioned", [False, True])
def test_all_else_gets_the_same_answers(tables: dict[bool, DataFrame], partitioned: bool) -> None:
    key = "concat(g, '')" if partitioned else None
    rules = _named(CALM)
    if partitioned:
        rules = [{**rule, "scope": "both"} for rule in rules]
    found = {
        ansi: dq.evaluate(table, rules, references={"other": table}, partition_by=key)
        for ansi, table in tables.items()
    }
    assert _said(found[False]) == _said(found[True])
    broken = [one.message for one in found[False] if one.details.get("error") == "SparkFailure"]
    assert broken == []
    if not partitioned:
        by_name = {one.rule.name: one for one in found[False]}
        assert by_name["view"].observed == 9
        assert by_name["python"].message == "3 rows, 1 beside them."
        assert by_name["sum"].observed["l"] == 2 * BIG + 5


def test_a_partition_key_that_raises(tables: dict[bool, DataFrame]) -> None:
    rule = [{"type": "record_count_in_range", "min": 0}]
    for table in tables.values():
        with pytest.raises(dq.DqError, match="CAST_INVALID_INPUT"):
            dq.evaluate(table, rule, partition_by="cast(s as int)")


def test_the_session_stays_as_it_is(
    sessions: dict[bool, SparkSession], tables: dict[bool, DataFrame]
) -> None:
    session, table = sessions[False], tables[False]
    before = session.conf.getAll, [view.name for view in session.catalog.listTables()]
    active = Session.getActiveSession()
    cached = session.range(3).selectExpr("id", "id AS l").cache()
    assert cached.count() == 3
    rules: list[dict[str, Any]] = [
        {"type": "agg_dq", "expectation": "sum(l) = 3"},
        {"type": "column_median_in_range", "columns": "id", "min": 0},
        {"type": "metric_in_range", "metric": {"sql": "sum(id)"}, "min": 0},
    ]
    found = dq.evaluate(cached, rules, partition_by="id % 2")
    assert {one.status for one in found if one.rule.type != "agg_dq"} == {"Ok"}
    assert cached.storageLevel.useMemory
    cached.unpersist()
    assert (session.conf.getAll, [view.name for view in session.catalog.listTables()]) == before
    now = Session.getActiveSession()
    assert active is not None
    assert now is not None
    assert now.conf.get(ANSI) == active.conf.get(ANSI)
    # Others go on as before.
    assert table.selectExpr("sum(l) AS n").collect()[0]["n"] == 3
    assert table.selectExpr("count(cast(s as int)) AS n").collect()[0]["n"] == 1


def test_what_the_author_computed_stays_as_it_was(tables: dict[bool, DataFrame]) -> None:
    computed = tables[False].selectExpr("cast(s as int) AS c", "l + 5 AS w", "1 / z AS q")
    found = dq.evaluate(
        computed,
        [
            {"type": "column_not_empty", "columns": ["c", "q"], "name": "empty"},
            {"type": "row_dq", "expectation": "c = 7 or c is null", "name": "row"},
            {"type": "agg_dq", "expectation": "min(w) < 0 and count(q) = 2", "name": "agg"},
        ],
    )
    assert found["empty"].observed == {"c": 2, "q": 1}
    assert (found["row"].status, found["agg"].status) == ("Ok", "Ok")


def test_settings_that_change_are_followed(sessions: dict[bool, SparkSession]) -> None:
    session = sessions[False]
    table = session.sql("select timestamp'2024-01-01 00:00:00Z' AS t")
    rule = [{"type": "agg_dq", "expectation": "hour(max(t)) = 9"}]
    assert next(iter(dq.evaluate(table, rule))).status == "Ok"
    session.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        assert next(iter(dq.evaluate(table, rule))).status == "Error"
    finally:
        session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")


def test_files_are_found(sessions: dict[bool, SparkSession], tmp_path: Path) -> None:
    place = str(tmp_path / "t")
    sessions[True].range(10).selectExpr("id", "id % 2 AS p").write.partitionBy("p").parquet(place)
    rules: list[dict[str, Any]] = [
        {"type": "file_size_in_range", "min": 1, "scope": "both"},
        {"type": "agg_dq", "expectation": "sum(id) > 0", "scope": "both"},
    ]
    said = [
        _said(dq.evaluate(session.read.parquet(place), rules, partition_by="p"))
        for session in sessions.values()
    ]
    assert said[0] == said[1]
    assert {status for _, _, status, *_ in said[0]} == {"Ok"}


def test_states_of_another_setting_are_not_reused(tables: dict[bool, DataFrame]) -> None:
    rules: list[dict[str, Any]] = [
        {"type": "column_sum_in_range", "columns": "id", "min": 0, "scope": "whole_dataset"},
        {"type": "row_dq", "expectation": "id > 0", "scope": "whole_dataset"},
    ]
    names = ("a", "b")
    kept = {
        ansi: dq.evaluate(table, rules, partition_by="g", reuse=Reuse(names))
        for ansi, table in tables.items()
    }
    for ansi, table in tables.items():
        for other, earlier in kept.items():
            blocks: dict[str, Any] = {}
            for outcome in earlier:
                assert outcome.states is not None
                blocks |= outcome.states.blocks()
            again = dq.evaluate(table, rules, partition_by="g", reuse=Reuse(names, blocks))
            for outcome in again:
                assert ("as recorded" in outcome.message) is (ansi is other)
                assert outcome.status == "Ok"
