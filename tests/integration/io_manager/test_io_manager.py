"""Assets stored and loaded by Spark."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from pydantic import ValidationError
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from tests.integration.io_manager.warehouse import manager, whole
from tests.integration.shelf import PYSPARK, asset_of


def materialize(folder: Path | str, *assets: Any, **options: Any) -> dg.ExecuteInProcessResult:
    io_manager = manager(folder, **options.pop("settings", {}))
    return dg.materialize(assets, resources={"io_manager": io_manager}, **options)


def place_of(result: dg.ExecuteInProcessResult) -> str:
    [event] = result.asset_materializations_for_node("orders")
    return str(event.metadata["path"].value)


def loaded(folder: Path | str, **settings: Any) -> DataFrame:
    return whole(manager(folder, **settings))


def ids(frame: DataFrame) -> list[int]:
    return sorted(row.id for row in frame.collect())


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
    place = place_of(result)
    assert Path(place).parent == tmp_path / "orders" / "dq_dataset"
    assert ids(spark.read.parquet(place)) == [1, 2]
    schema = event.metadata["dagster/column_schema"].value
    assert [(c.name, c.type) for c in schema.columns] == [("id", "int")]  # type: ignore[union-attr]


def test_a_rebuild_replaces_the_old_data(spark: SparkSession, tmp_path: Path) -> None:
    for rows in ([(1,), (2,)], [(7,)]):
        materialize(tmp_path, asset_of(spark.createDataFrame(rows, "id int")))
    assert ids(loaded(tmp_path)) == [7]
    assert [p.name for p in tmp_path.iterdir()] == ["orders"]


def test_an_asset_can_be_rebuilt_from_itself(spark: SparkSession, tmp_path: Path) -> None:
    materialize(tmp_path, asset_of(spark.createDataFrame([(1,)], "id int")))
    old = loaded(tmp_path)
    materialize(tmp_path, asset_of(old.selectExpr("id + 1 AS id")))
    assert ids(loaded(tmp_path)) == [2]


def test_a_failed_write_leaves_the_old_data(spark: SparkSession, tmp_path: Path) -> None:
    materialize(tmp_path, asset_of(spark.createDataFrame([(1,)], "id int")))
    broken = spark.createDataFrame([("x",)], "s string").selectExpr("CAST(s AS INT) AS id")
    result = materialize(tmp_path, asset_of(broken), raise_on_error=False)
    assert not result.success
    assert ids(loaded(tmp_path)) == [1]
    assert list((tmp_path / "orders" / ".staging").iterdir()) == []
    assert len(list((tmp_path / "orders" / "dq_dataset").glob("[!_]*"))) == 1


def test_checks_read_what_was_stored(spark: SparkSession, tmp_path: Path) -> None:
    rules = dq.RuleSet(asset="orders", rules=[dq.ColumnMaxInRange(columns="id", max=1)])
    checks = dq.build_asset_checks(rules)
    orders = asset_of(spark.createDataFrame([(1,)], "id int"))
    at = f"'{tmp_path / 'orders'}'"
    with dg.DagsterInstance.ephemeral() as instance:
        only_checks = dg.AssetSelection.checks_for_assets("orders")
        for build, said in (
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
            assert (evaluation.passed, evaluation.description) == (build, said)


@pytest.mark.parametrize("kind", ["json", "csv", "orc"])
@pytest.mark.parametrize("scheme", ["", "file://"])
def test_other_formats_keep_their_columns(
    spark: SparkSession, tmp_path: Path, kind: str, scheme: str
) -> None:
    rows = spark.sql("SELECT 1 AS id, '01' AS code, DATE'2024-03-01' AS day")
    place = f"{scheme}{tmp_path}"
    materialize(place, asset_of(rows), settings={"format": kind})
    frame = loaded(place, format=kind)
    assert frame.dtypes == [("id", "int"), ("code", "string"), ("day", "date")]
    assert frame.collect() == [(1, "01", date(2024, 3, 1))]


def test_nothing_is_stored_yet(spark: SparkSession, tmp_path: Path) -> None:
    for place in (str(tmp_path), f"file://{tmp_path}"):
        with pytest.raises(dq.DqError) as raised:
            loaded(place)
        assert str(raised.value) == (
            f"Asset 'orders' has not been materialized yet: nothing is stored at '{place}/orders'."
        )


def test_the_time_that_replaced_data_is_kept_is_not_negative() -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        dq.SparkIOManager(pyspark=PYSPARK, path="data", keep_replaced_hours=-1)
