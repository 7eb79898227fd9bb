"""Assets stored and loaded by Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from tests.integration.shelf import PYSPARK, asset_of


def materialize(folder: Path, *assets: Any, **options: Any) -> dg.ExecuteInProcessResult:
    manager = dq.SparkIOManager(pyspark=PYSPARK, path=str(folder), **options.pop("settings", {}))
    return dg.materialize(assets, resources={"io_manager": manager}, **options)


def test_stores_and_loads_spark_and_pandas(spark: SparkSession, tmp_path: Path) -> None:
    @dg.asset
    def doubled(orders: DataFrame) -> pd.DataFrame:
        return orders.selectExpr("id * 2 AS id").toPandas()

    @dg.asset
    def total(doubled: pd.DataFrame) -> None:
        assert sorted(doubled["id"]) == [2, 4]

    orders = asset_of(spark.createDataFrame([(1,), (2,)], "id int"))
    result = materialize(tmp_path, orders, doubled, total)
    assert result.success
    assert sorted(p.name for p in tmp_path.iterdir()) == ["doubled", "orders"]
    [event] = result.asset_materializations_for_node("orders")
    assert event.metadata["path"].value == str(tmp_path / "orders")
    schema = event.metadata["dagster/column_schema"].value
    assert [(c.name, c.type) for c in schema.columns] == [("id", "int")]  # type: ignore[union-attr]


def test_a_rebuild_replaces_the_old_data(spark: SparkSession, tmp_path: Path) -> None:
    for rows in ([(1,), (2,)], [(7,)]):
        materialize(tmp_path, asset_of(spark.createDataFrame(rows, "id int")))
    assert [row.id for row in spark.read.parquet(str(tmp_path / "orders")).collect()] == [7]
    assert [p.name for p in tmp_path.iterdir()] == ["orders"]


def test_an_asset_can_be_rebuilt_from_itself(spark: SparkSession, tmp_path: Path) -> None:
    materialize(tmp_path, asset_of(spark.createDataFrame([(1,)], "id int")))
    old = spark.read.parquet(str(tmp_path / "orders"))
    materialize(tmp_path, asset_of(old.selectExpr("id + 1 AS id")))
    assert [row.id for row in spark.read.parquet(str(tmp_path / "orders")).collect()] == [2]


def test_a_failed_write_leaves_the_old_data(spark: SparkSession, tmp_path: Path) -> None:
    materialize(tmp_path, asset_of(spark.createDataFrame([(1,)], "id int")))
    broken = spark.createDataFrame([("x",)], "s string").selectExpr("CAST(s AS INT) AS id")
    result = materialize(tmp_path, asset_of(broken), raise_on_error=False)
    assert not result.success
    assert [row.id for row in spark.read.parquet(str(tmp_path / "orders")).collect()] == [1]
    assert [p.name for p in tmp_path.iterdir()] == ["orders"]


def test_checks_read_what_was_stored(spark: SparkSession, tmp_path: Path) -> None:
    rules = dq.RuleSet(asset="orders", rules=[dq.ColumnMaxInRange(columns="id", max=1)])
    checks = dq.build_asset_checks(rules)
    orders = asset_of(spark.createDataFrame([(1,)], "id int"))
    at = f"'{tmp_path / 'orders'}'"
    with dg.DagsterInstance.ephemeral() as instance:
        only_checks = dg.AssetSelection.checks_for_assets("orders")
        for build, told in (
            (False, f"Asset 'orders' has not been materialized yet: nothing is stored at {at}."),
            (True, "The maximum of 'id' is 1, as expected (at most 1)."),
        ):
            if build:
                materialize(tmp_path, orders, instance=instance)
            result = materialize(
                tmp_path,
                orders,
                *checks,
                selection=only_checks,
                instance=instance,
                raise_on_error=False,
            )
            [evaluation] = result.get_asset_check_evaluations()
            assert (evaluation.passed, evaluation.description) == (build, told)


def test_other_formats(spark: SparkSession, tmp_path: Path) -> None:
    orders = asset_of(spark.createDataFrame([(1,)], "id int"))
    materialize(tmp_path, orders, settings={"format": "json"})
    assert [row.id for row in spark.read.json(str(tmp_path / "orders")).collect()] == [1]
