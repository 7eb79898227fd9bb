"""Assets whose keys lie below each other, or look like folders, keep their data to themselves."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.depth import deep_after
from tests.integration.io_manager.warehouse import manager, whole

DAYS = dg.StaticPartitionsDefinition(["a", "b"])
KEYS: tuple[tuple[str, ...], ...] = (
    ("orders",),
    ("orders", "refunds"),
    ("orders", "refunds", "late"),
)


def built(
    place: str, key: tuple[str, ...], frame: DataFrame, instance: dg.DagsterInstance, **options: Any
) -> dg.ExecuteInProcessResult:
    partitioned = "partition_key" in options

    @dg.multi_asset(
        outs={"data": dg.AssetOut(key=dg.AssetKey(list(key)))},
        partitions_def=DAYS if partitioned else None,
        name="built",
    )
    def asset() -> Any:
        return frame

    resources = {"io_manager": manager(place)}
    return dg.materialize([asset], resources=resources, instance=instance, **options)


def stored(
    place: str, key: tuple[str, ...], instance: dg.DagsterInstance, partitions: list[str]
) -> list[tuple[Any, ...]]:
    with dg.build_resources({"io": manager(place)}, instance=instance) as resources:
        asset_key = dg.AssetKey(list(key))
        if partitions:
            frame = resources.io.load_partitions(asset_key, partitions)
        else:
            frame = whole(resources.io, asset_key)
        return sorted(tuple(row) for row in frame.collect())


@pytest.mark.parametrize("scheme", deep_after(1, ["", "file://"]))
@pytest.mark.parametrize(
    "partitioned", [(), ("orders",), ("orders/refunds", "orders/refunds/late")]
)
def test_nested_assets_survive_each_other(
    spark: SparkSession, tmp_path: Path, scheme: str, partitioned: Any
) -> None:
    place = f"{scheme}{tmp_path}/lake"
    keys = [key for key in KEYS if "/".join(key) in partitioned]
    newest: dict[tuple[str, ...], int] = {}
    with dg.DagsterInstance.ephemeral() as instance:
        for number, key in enumerate([*KEYS, *reversed(KEYS)]):
            frame = spark.sql(f"SELECT '{'/'.join(key)}' AS name, {number} AS number")
            options = {"partition_key": "a"} if key in keys else {}
            built(place, key, frame, instance, **options)
            newest[key] = number
            for other, its in newest.items():
                found = stored(place, other, instance, ["a"] if other in keys else [])
                assert found == [("/".join(other), its)]


ODD = [
    ("orders", "dq_dataset"),
    ("orders", "DQ_dataset"),
    ("orders", "!dq_dataset"),
    ("orders", "dq_partition=a"),
    ("orders", ".journal"),
    ("orders", ".staging", "x"),
    ("orders", "_current.json"),
    ("orders", ".."),
    ("orders", "."),
    ("..", "..", "orders"),
    ("orders/refunds",),
    ("orders", "refunds"),
    ("_hidden",),
    ("a b",),
    ("büro",),
]


def test_odd_keys_have_folders_of_their_own(spark: SparkSession, tmp_path: Path) -> None:
    place = str(tmp_path / "deep" / "er" / "lake")
    with dg.DagsterInstance.ephemeral() as instance:
        for key, number in zip([("orders",), *ODD], itertools.count()):
            built(place, key, spark.sql(f"SELECT {number} AS number"), instance)
        built(place, ("orders",), spark.sql("SELECT 0 AS number"), instance)
        for key, number in zip([("orders",), *ODD], itertools.count()):
            assert stored(place, key, instance, []) == [(number,)], key
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["er"]
    assert [path.name for path in (tmp_path / "deep" / "er").iterdir()] == ["lake"]
    assert (tmp_path / "deep" / "er" / "lake" / "orders" / "refunds" / "dq_dataset").is_dir()
