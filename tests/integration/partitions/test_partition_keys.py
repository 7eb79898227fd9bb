"""From rows to partition keys: columns, expressions, dimensions, and what goes wrong."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import dagster as dg
import pytest
from dagster import partition_loading_context
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from dq_dagster.errors import Unassignable
from dq_dagster.integration.partitions.keys import (
    partition_expr_of,
    partition_key_sql,
    partition_time,
)

BERLIN = "Europe/Berlin"
START = datetime.fromisoformat("2023-01-01")


def cron(schedule: str, fmt: str) -> Any:
    end = datetime.fromisoformat("2025-01-01")
    return dg.TimeWindowPartitionsDefinition(START, fmt, end=end, cron_schedule=schedule)


DAILY = dg.DailyPartitionsDefinition(start_date="1990-01-01", timezone=BERLIN)
COLOURS = dg.StaticPartitionsDefinition(["red", "blue"])
BOTH = dg.MultiPartitionsDefinition({"when": DAILY, "colour": COLOURS})
ROW = "id int, day date, at timestamp, told string, colour string, `odd ``name` string"


def test_texts_expressions_and_dimensions(spark: SparkSession) -> None:
    rows: list[tuple[Any, ...]] = [
        (1, date(2024, 3, 31), datetime(2024, 3, 30, 23, 30, tzinfo=UTC), "2024-03-31", "red", "x"),
        (None, None, None, None, None, None),
    ]
    frame = spark.createDataFrame(rows, ROW)
    named = dg.DynamicPartitionsDefinition(name="odd")
    cases: list[tuple[Any, Any, str | None]] = [
        (DAILY, "day", "2024-03-31"),
        (DAILY, "AT", "2024-03-31"),
        (DAILY, "told", "2024-03-31"),
        (DAILY, "date_add(day, 1)", "2024-04-01"),
        (DAILY, "CAST(day AS STRING)", "2024-03-31"),
        (DAILY, "make_date(20240 + id - 1, 3, 31)", "+20240-03-31"),
        (cron("0 0 * * *", "%y-%m-%d"), "make_date(1924, 3, 30 + id)", None),
        (cron("0 0 1 * *", "%Y%m"), "make_date(20240, 2 + id, 1)", "+2024003"),
        (COLOURS, "colour", "red"),
        (COLOURS, "id", "1"),
        (named, "odd `name", "x"),
        (named, "concat(told, '/', colour)", "2024-03-31/red"),
        (BOTH, {"when": "at", "colour": "colour"}, "red|2024-03-31"),
        (
            dg.HourlyPartitionsDefinition(start_date=START, timezone=BERLIN),
            "at",
            "2024-03-31-00:00",
        ),
    ]
    sql = [
        partition_key_sql(definition, expression, frame.schema)
        for definition, expression, _ in cases
    ]
    first, second = frame.orderBy(F.desc_nulls_last("id")).selectExpr(*sql).collect()
    assert list(first) == [wanted for *_, wanted in cases]
    assert list(second) == [None] * len(cases)


def test_what_cannot_be_assigned_is_told(spark: SparkSession) -> None:
    schema = spark.createDataFrame([], ROW).schema
    far = dg.TimeWindowPartitionsDefinition(START, "%Y-%m-%d-%H", cron_schedule="0 */6 * * *")
    cases: list[tuple[Any, Any, str]] = [
        (
            BOTH,
            {"wen": "at", "colour": "colour"},
            (
                "Asset 'orders' is partitioned by 'colour' and 'when', but the 'partition_expr' of "
                "its metadata says nothing about 'when'. Did you mean 'wen'? Give a column or SQL "
                "expression for each, e.g. {'colour': 'colour', 'when': 'when'}."
            ),
        ),
        (
            DAILY,
            {"when": "at"},
            (
                "Asset 'orders' is partitioned in one dimension, but the 'partition_expr' of its "
                "metadata is a mapping (of 'when'): give one column or SQL expression."
            ),
        ),
        (
            DAILY,
            "id",
            (
                "The 'partition_expr' of asset 'orders', 'id', is of type int, but the partitions "
                "are time windows: it needs a date, a timestamp, or the key itself as a string."
            ),
        ),
        (
            COLOURS,
            "colour) or (id",
            (
                "The 'partition_expr' of asset 'orders', 'colour) or (id', is neither a column nor "
                "an SQL expression: Syntax error: "
            ),
        ),
        (
            far,
            "at",
            "follow no formula, and 6,0",
        ),
    ]
    for definition, expression, told in cases:
        now = datetime(2027, 2, 10, tzinfo=UTC)
        with pytest.raises(Unassignable) as raised, partition_loading_context(now):
            partition_key_sql(definition, expression, schema, asset="orders")
        assert told in str(raised.value)


def test_unknown_columns_are_told_by_spark(spark: SparkSession) -> None:
    with pytest.raises(Unassignable, match="'coluor', is neither a column nor an SQL expression"):
        partition_key_sql(COLOURS, "coluor", spark.createDataFrame([], ROW).schema)


def test_few_of_very_many_windows_can_be_searched(spark: SparkSession) -> None:
    many = dg.TimeWindowPartitionsDefinition(
        START,
        "%Y-%m-%d-%H",
        end=datetime.fromisoformat("2026-01-01"),
        cron_schedule="0 */6 * * *",
    )
    asked = ["2024-01-01-06", "2024-01-01-18"]
    both = dg.MultiPartitionsDefinition({"when": many, "colour": COLOURS})
    frame = spark.range(0, 24).selectExpr(
        "id",
        "TIMESTAMP_NTZ'2024-01-01 00:00:00' + make_dt_interval(0, id) AS at",
        "'red' AS colour",
    )
    one = partition_key_sql(many, "at", frame.schema, keys=asked)
    two = partition_key_sql(
        both, {"when": "at", "colour": "colour"}, frame.schema, keys=[f"red|{asked[0]}"]
    )
    rows = frame.orderBy("id").selectExpr(one, two).collect()
    assert [row[0] for row in rows] == [*[None] * 6, *[asked[0]] * 6, *[None] * 6, *[asked[1]] * 6]
    assert [row[1] for row in rows] == [*[None] * 6, *[f"red|{asked[0]}"] * 6, *[None] * 12]


def test_the_expression_comes_from_the_metadata() -> None:
    assert partition_expr_of("orders", {"partition_expr": "day"}) == "day"
    wrapped = {"partition_expr": dg.MetadataValue.json({"when": "day", "colour": "c"})}
    assert partition_expr_of("orders", wrapped) == {"when": "day", "colour": "c"}
    told = (
        "Asset 'orders' is partitioned, but its metadata has no 'partition_expr': say which column "
        "or SQL expression gives a row's partition, e.g. metadata={'partition_expr': 'day'}."
    )
    for metadata in ({}, {"partition_expr": " "}, {"partition_expr": None}):
        with pytest.raises(Unassignable) as raised:
            partition_expr_of("orders", metadata)
        assert str(raised.value) == told


@pytest.mark.parametrize(
    ("definition", "key", "start"),
    [
        (DAILY, "2024-03-31", datetime(2024, 3, 31, tzinfo=ZoneInfo(BERLIN))),
        (BOTH, "red|2024-03-31", datetime(2024, 3, 31, tzinfo=ZoneInfo(BERLIN))),
        (BOTH, "red|2024-03-31|x", None),
        (COLOURS, "red", None),
        (DAILY, "yesterday", None),
        (cron("0 0 * * 0", "%Y-%m-%d"), "2024-03-31", datetime(2024, 3, 31, tzinfo=UTC)),
        (cron("0 0 * * 0", "%Y-%m-%d"), "2024-04-01", None),
        (cron("30 2 * * *", "%Y-%m-%d"), "2024-04-01", datetime(2024, 4, 1, 2, 30, tzinfo=UTC)),
        (dg.MultiPartitionsDefinition({"a": DAILY, "b": DAILY}), "2024-03-31|2024-03-31", None),
    ],
)
def test_the_time_of_a_key(definition: Any, key: str, start: datetime | None) -> None:
    assert partition_time(definition, key) == start
