"""Partitioned assets stored and loaded by Spark."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from tests.integration.io_manager.warehouse import (
    DAILY,
    ORDERS,
    amounts,
    build,
    days,
    manager,
    orders_of,
    rows,
    why,
)


def test_a_run_replaces_its_partition_and_no_other(spark: SparkSession, tmp_path: Path) -> None:
    def built(key: str, amount: int) -> dg.ExecuteInProcessResult:
        asset = orders_of(lambda keys: rows(spark, {keys[0]: [amount, amount + 1]}))
        return build(tmp_path, asset, key)

    built("2024-03-01", 1)
    built("2024-03-02", 1)
    result = built("2024-03-01", 7)
    frame = manager(tmp_path).load_partitions(ORDERS, None)
    assert amounts(frame) == {"2024-03-01": [7, 8], "2024-03-02": [1, 2]}
    assert frame.columns == ["day", "amount"]
    assert manager(tmp_path).existing_partitions(ORDERS) == days(1, 2)
    [event] = result.asset_materializations_for_node("orders")
    place = str(event.metadata["path"].value)
    assert Path(place).parent == tmp_path / "orders" / "dq_partition=2024-03-01"
    assert amounts(spark.read.parquet(place)) == {"2024-03-01": [7, 8]}
    schema: Any = event.metadata["dagster/column_schema"].value
    assert [(c.name, c.type) for c in schema.columns] == [("day", "date"), ("amount", "int")]


def test_one_frame_of_several_partitions_is_split_by_one_write(
    spark: SparkSession, tmp_path: Path, count_jobs: Callable[[Callable[[], object]], int]
) -> None:
    asset = orders_of(lambda keys: rows(spark, {"2024-03-01": [1, 2], "2024-03-03": [3]}))
    assert count_jobs(lambda: build(tmp_path, asset, *days(1, 4))) == 1
    loaded = manager(tmp_path)
    assert loaded.existing_partitions(ORDERS) == days(1, 4)
    everything = loaded.load_partitions(ORDERS, None)
    assert amounts(everything) == {"2024-03-01": [1, 2], "2024-03-03": [3]}
    empty = loaded.load_partitions(ORDERS, ["2024-03-02"])
    assert (empty.columns, empty.count()) == (["day", "amount"], 0)


def test_rows_of_other_partitions_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    build(tmp_path, orders_of(lambda keys: rows(spark, {key: [1] for key in keys})), *days(1, 2))
    strange = {"2024-03-02": [2], "2024-03-07": [3, 4], "2024-04-01": [5]}
    result = build(
        tmp_path, orders_of(lambda keys: rows(spark, strange)), *days(1, 2), raise_on_error=False
    )
    assert (
        "3 rows of asset 'orders' belong to none of the 2 partitions of this run ('2024-03-01', "
        "'2024-03-02'), but to '2024-03-07' and '2024-04-01'. Nothing was written: return rows of "
        "the run's partitions only, or correct 'partition_expr'." in why(result)
    )
    stored = amounts(manager(tmp_path).load_partitions(ORDERS, None))
    assert stored == {"2024-03-01": [1], "2024-03-02": [1]}
    assert list((tmp_path / "orders" / ".staging").iterdir()) == []


def test_what_cannot_be_split_is_told(spark: SparkSession, tmp_path: Path) -> None:
    def said(value: Callable[[Sequence[str]], Any], expression: Any = "day") -> str:
        asset = orders_of(value, expression=expression)
        return why(build(tmp_path, asset, *days(1, 2), raise_on_error=False))

    nothing = said(lambda keys: rows(spark, {keys[0]: [1]}), expression=None)
    assert "Asset 'orders' is partitioned, but its metadata has no 'partition_expr'" in nothing
    other = said(lambda keys: {keys[0]: rows(spark, {}), "2024-03-09": rows(spark, {})})
    assert (
        "Asset 'orders' returned a dict by partition that is not about the partitions of this run: "
        "'2024-03-09' is not of this run; '2024-03-02' is missing. Nothing was written." in other
    )
    assert manager(tmp_path).existing_partitions(ORDERS) == []


def test_a_dict_by_partition_needs_no_expression(
    spark: SparkSession, tmp_path: Path, count_jobs: Callable[[Callable[[], object]], int]
) -> None:
    def value(keys: Sequence[str]) -> Any:
        wider = rows(spark, {keys[2]: [3]}).selectExpr("*", "'x' AS note")
        plain = pd.DataFrame({"day": [date(2024, 3, 2)], "amount": [2]}).astype({"amount": "int32"})
        return {keys[0]: rows(spark, {keys[0]: [1]}), keys[1]: plain, keys[2]: wider}

    asset = orders_of(value, expression=None)
    # One write for each of the two schemas.
    assert count_jobs(lambda: build(tmp_path, asset, *days(1, 3))) == 2
    frame = manager(tmp_path).load_partitions(ORDERS, None)
    found = sorted((str(row.day), row.amount, row.note) for row in frame.collect())
    assert found == [
        ("2024-03-01", 1, None),
        ("2024-03-02", 2, None),
        ("2024-03-03", 3, "x"),
    ]


def test_columns_that_came_later_are_there(spark: SparkSession, tmp_path: Path) -> None:
    def with_columns(key: str, *columns: str) -> None:
        build(tmp_path, orders_of(lambda keys: rows(spark, {key: [1]}).selectExpr(*columns)), key)

    with_columns("2024-03-01", "day", "amount")
    with_columns("2024-03-02", "day", "CAST(amount AS BIGINT) AS amount", "'x' AS note")
    frame = manager(tmp_path).load_partitions(ORDERS, None)
    assert frame.dtypes == [("day", "date"), ("amount", "bigint"), ("note", "string")]
    assert [row.note for row in frame.orderBy("day").collect()] == [None, "x"]
    with_columns("2024-03-03", "day", "CAST(amount AS STRING) AS amount")
    with pytest.raises(dq.DqError) as raised:
        manager(tmp_path).load_partitions(ORDERS, None)
    assert str(raised.value) == (
        "Column 'amount' is of type int in partition '2024-03-01', but of type string in partition "
        "'2024-03-03': bring both to one type, and materialize one of them again."
    )


def test_only_the_folders_of_the_partitions_asked_for_are_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    build(tmp_path, orders_of(lambda keys: rows(spark, {key: [1] for key in keys})), *days(1, 5))
    for key in ("2024-03-01", "2024-03-05"):
        for file in (tmp_path / "orders" / f"dq_partition={key}").rglob("*.parquet"):
            file.write_bytes(b"no parquet")
    frame = manager(tmp_path).load_partitions(ORDERS, days(2, 4))
    assert amounts(frame) == {key: [1] for key in days(2, 4)}
    assert len(frame.inputFiles()) == 3


def test_partitions_that_do_not_exist(spark: SparkSession, tmp_path: Path) -> None:
    build(tmp_path, orders_of(lambda keys: rows(spark, {key: [1] for key in keys})), "2024-03-02")
    loaded = manager(tmp_path)
    assert amounts(loaded.load_partitions(ORDERS, days(1, 5))) == {"2024-03-02": [1]}
    place = f"'{tmp_path / 'orders'}'"
    cases: list[tuple[dg.AssetKey, list[str] | None, str]] = [
        (
            ORDERS,
            days(1, 1),
            (
                f"Partition '2024-03-01' of asset 'orders' is not stored at {place}: materialize "
                "it first."
            ),
        ),
        (
            ORDERS,
            days(3, 7),
            (
                "None of the 5 partitions ('2024-03-03', '2024-03-04', '2024-03-05', ...) of asset "
                f"'orders' is stored at {place}: materialize it first."
            ),
        ),
        (
            dg.AssetKey("none"),
            None,
            f"No partition of asset 'none' is stored at '{tmp_path / 'none'}' yet.",
        ),
    ]
    for asset, keys, said in cases:
        with pytest.raises(dq.DqError) as raised:
            loaded.load_partitions(asset, keys)
        assert str(raised.value) == said


def test_downstream_assets_get_what_they_depend_on(spark: SparkSession, tmp_path: Path) -> None:
    seen: dict[str, Any] = {}
    three = dg.TimeWindowPartitionMapping(start_offset=-2, end_offset=0)

    @dg.asset(partitions_def=DAILY, ins={"orders": dg.AssetIn(partition_mapping=three)})
    def rolling(orders: DataFrame) -> None:
        seen["rolling"] = amounts(orders)

    @dg.asset
    def total(orders: pd.DataFrame) -> None:
        seen["total"] = sorted(orders["amount"])

    orders = orders_of(
        lambda keys: rows(spark, {key: [int(key[-2:])] for key in keys if key != "2024-03-03"})
    )
    build(tmp_path, orders, *days(1, 5))
    build(tmp_path, [rolling, orders], "2024-03-05", selection=[rolling])
    build(tmp_path, [total, orders], selection=[total])
    assert seen == {
        "rolling": {"2024-03-04": [4], "2024-03-05": [5]},
        "total": [1, 2, 4, 5],
    }


def test_static_dynamic_and_two_dimensional_partitions(spark: SparkSession, tmp_path: Path) -> None:
    odd = [
        "a/b",
        "../..",
        "x=y",
        "ü ß",
        "long " * 100,
        "_hidden",
        ".dot",
        "2024-03-01-00:00",
        "%41",
    ]
    static = dg.StaticPartitionsDefinition([*odd, "plain"])
    data = spark.createDataFrame([(key,) for key in [*odd, "plain"]], "name string")
    asset = orders_of(lambda keys: data, static, "name")
    build(tmp_path / "static", asset, odd[0], "plain")
    loaded = manager(tmp_path / "static")
    assert loaded.existing_partitions(ORDERS) == sorted([*odd, "plain"])
    for key in (odd[1], odd[4]):
        assert [row.name for row in loaded.load_partitions(ORDERS, [key]).collect()] == [key]
    assert loaded.load_partitions(ORDERS, None).count() == len(odd) + 1
    assert [path.name for path in tmp_path.iterdir()] == ["static"]

    both = dg.MultiPartitionsDefinition(
        {"day": DAILY, "colour": dg.StaticPartitionsDefinition(["red", "blue"])}
    )
    tiles = spark.createDataFrame(
        [(date(2024, 3, 1), "red", 1), (date(2024, 3, 2), "blue", 2)],
        "day date, colour string, amount int",
    )
    asset = orders_of(lambda keys: tiles, both, {"day": "day", "colour": "colour"})
    build(tmp_path / "both", asset, "red|2024-03-01", "blue|2024-03-02")
    found = manager(tmp_path / "both")
    assert found.existing_partitions(ORDERS) == [
        f"{colour}|{day}" for colour in ("blue", "red") for day in days(1, 2)
    ]
    assert amounts(found.load_partitions(ORDERS, ["red|2024-03-01"])) == {"2024-03-01": [1]}

    named = dg.DynamicPartitionsDefinition(name="customers")
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("customers", ["ann", "bob"])
        asset = orders_of(lambda keys: spark.sql("SELECT 1 AS id"), named, None)
        build(tmp_path / "dynamic", asset, "ann", instance=instance)
    assert manager(tmp_path / "dynamic").existing_partitions(ORDERS) == ["ann"]
