"""Runs about partitions that do not exist are refused: judged, they would have no rows."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from collections.abc import Mapping
from datetime import date
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from dq_dagster.integration.checks.request import PARTITION_TAG
from tests.integration.calendar import DAILY, RANGE_END, RANGE_START, Shop

ONE = "dagster/partition"
REGIONS = dg.StaticPartitionsDefinition(["north", "south", "east"])
LANDS = dg.DynamicPartitionsDefinition(name="lands")
BOTH = dg.MultiPartitionsDefinition({"day": DAILY, "region": REGIONS})
RULES = [
    dq.RecordCountInRange(name="rows", max=9),
    dq.RecordCountInRange(name="all_rows", max=9, scope="whole_dataset"),
]


def shop_of(partitions_def: Any) -> Shop:
    @dg.asset(partitions_def=partitions_def)
    def orders() -> Any:
        raise AssertionError("nothing is built here")

    shop = Shop(orders, RULES)
    shop.instance.add_dynamic_partitions("lands", ["Finland", "Norway"])
    return shop


def names(key: str, tag: str, hint: str = "") -> str:
    return (
        f"This run cannot judge asset 'orders': the tag {tag} names '{key}', which is no partition "
        f"of it.{hint}"
    )


@pytest.mark.parametrize(
    ("partitions_def", "tags", "expected"),
    [
        (DAILY, {ONE: "2024-03-1"}, names("2024-03-1", ONE, " Did you mean '2024-03-01'?")),
        (
            DAILY,
            {PARTITION_TAG: "2024-03-1"},
            names("2024-03-1", PARTITION_TAG, " Did you mean '2024-03-01'?"),
        ),
        (
            DAILY,
            {RANGE_START: "2024-03-1", RANGE_END: "2024-03-04"},
            names("2024-03-1", RANGE_START, " Did you mean '2024-03-01'?"),
        ),
        (
            DAILY,
            {RANGE_START: "2024-03-01", RANGE_END: "2024-3-04"},
            names("2024-3-04", RANGE_END, " Did you mean '2024-03-04'?"),
        ),
        (
            DAILY,
            {RANGE_START: "2024-03-04", RANGE_END: "2024-03-01"},
            (
                "This run is about no partition of asset 'orders': its range from '2024-03-04' to "
                "'2024-03-01' ends before it begins."
            ),
        ),
        # Before the first of them, and after the last.
        (DAILY, {ONE: "2023-03-01"}, names("2023-03-01", ONE)),
        (DAILY, {ONE: "2024-06-01"}, names("2024-06-01", ONE)),
        (REGIONS, {ONE: "noth"}, names("noth", ONE, " Did you mean 'north' or 'south'?")),
        (LANDS, {ONE: "finland"}, names("finland", ONE, " Did you mean 'Finland'?")),
        (BOTH, {ONE: "north|2024-03-01"}, names("north|2024-03-01", ONE)),
        (BOTH, {ONE: "2024-03-01"}, names("2024-03-01", ONE)),
        (BOTH, {ONE: "2024-03-1|north"}, names("2024-03-1|north", ONE)),
    ],
)
def test_no_check_judges_what_does_not_exist(
    partitions_def: Any, tags: Mapping[str, str], expected: str
) -> None:
    shop = shop_of(partitions_def)
    for job in ("rows", "checks"):
        run = shop.check(job, tags=tags)
        assert not run.success
        assert run.get_asset_check_evaluations() == []
        [failure] = [event for event in run.all_events if event.is_step_failure]
        said = failure.step_failure_data.user_failure_data.description
        assert said.startswith(expected)


@pytest.mark.parametrize(
    ("column", "keys", "expected"),
    [
        (
            "day",
            ["2024-03-1"],
            (
                "partitions names '2024-03-1', which no row can belong to: the column 'day' of "
                "partition_by is of type date. Did you mean '2024-03-01'?"
            ),
        ),
        (
            "day",
            ["north"],
            (
                "partitions names 'north', which no row can belong to: the column 'day' of "
                "partition_by is of type date."
            ),
        ),
        (
            "number",
            ["2", "03"],
            (
                "partitions names '03', which no row can belong to: the column 'number' of "
                "partition_by is of type int. Did you mean '3'?"
            ),
        ),
        (
            "moment",
            ["2024-03-01"],
            (
                "partitions names '2024-03-01', which no row can belong to: the column 'moment' of "
                "partition_by is of type timestamp. Did you mean '2024-03-01 00:00:00'?"
            ),
        ),
        ("moment", ["2024-03-01T00:00:00Z"], "is of type timestamp."),
        ("moment", ["2024-03-01 00:00:00.500"], "Did you mean '2024-03-01 00:00:00.5'?"),
        ("clock", ["2024-03-01T12:00"], "Did you mean '2024-03-01 12:00:00'?"),
        ("price", ["1.5"], "is of type decimal(10,2). Did you mean '1.50'?"),
        ("price", ["1.555"], "is of type decimal(10,2)."),
        ("day", "2024-03-01", "partitions is a list of keys: put the key between [ and ]."),
        (
            "day",
            [date(2024, 3, 1)],
            (
                "partitions must be a list of texts, as partition_by gives them: write "
                "'2024-03-01' instead of datetime.date(2024, 3, 1)."
            ),
        ),
    ],
)
def test_keys_that_no_row_can_have(
    spark: SparkSession, column: str, keys: Any, expected: str
) -> None:
    with pytest.raises(dq.DqError) as raised:
        dq.evaluate(columns_of(spark), [RULES[0]], partition_by=column, partitions=keys)
    assert expected in str(raised.value)


def test_keys_that_rows_could_have(spark: SparkSession) -> None:
    for column, keys in (
        ("day", ["2024-03-01", "2024-03-02"]),
        ("number", ["3", "-4"]),
        ("moment", ["2024-03-01 00:00:00", "+12024-03-01 00:00:00"]),
        ("clock", ["2024-03-01 12:00:00.25", "0001-01-01 00:00:00"]),
        ("price", ["1.50", "-0.25"]),
        ("fine", ["0.000000000010", "1.000000000000"]),
    ):
        found = dq.evaluate(columns_of(spark), [RULES[0]], partition_by=column, partitions=keys)
        assert [(one.partition, one.observed) for one in found] == [(keys[0], 1), (keys[1], 0)]


def columns_of(spark: SparkSession) -> DataFrame:
    return spark.sql(
        "SELECT DATE'2024-03-01' AS day, 3 AS number, TIMESTAMP'2024-03-01 00:00:00' AS moment, "
        "TIMESTAMP_NTZ'2024-03-01 12:00:00.25' AS clock, CAST(1.5 AS DECIMAL(10, 2)) AS price, "
        "CAST(0.00000000001 AS DECIMAL(20, 12)) AS fine"
    )
