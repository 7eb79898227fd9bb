"""Partitioned assets in a folder, for the tests of the IO manager."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from tests.integration.shelf import PYSPARK

DAILY = dg.DailyPartitionsDefinition("2024-03-01", end_date="2024-05-01")
START, END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"
ORDERS = dg.AssetKey("orders")


def manager(folder: Path | str, **settings: Any) -> dq.SparkIOManager:
    return dq.SparkIOManager(pyspark=PYSPARK, path=str(folder), **settings)


def orders_of(
    value: Callable[[Sequence[str]], Any],
    partitions_def: dg.PartitionsDefinition[Any] = DAILY,
    expression: Any = "day",
) -> dg.AssetsDefinition:
    """An asset whose value is a function of the run's partition keys."""

    @dg.asset(
        name="orders",
        partitions_def=partitions_def,
        backfill_policy=dg.BackfillPolicy.single_run(),
        metadata={} if expression is None else {"partition_expr": expression},
    )
    def orders(context: dg.AssetExecutionContext) -> Any:
        return value(context.partition_keys)

    return orders


def rows(spark: SparkSession, amounts: Mapping[str, Sequence[int]]) -> DataFrame:
    """One row an amount, on its day."""
    found = [(date.fromisoformat(key), amount) for key in amounts for amount in amounts[key]]
    return spark.createDataFrame(found, "day date, amount int")


def build(folder: Path | str, assets: Any, *keys: str, **options: Any) -> dg.ExecuteInProcessResult:
    """A run of one partition, or from the first to the last of them."""
    if len(keys) == 1:
        options["partition_key"] = keys[0]
    elif keys:
        options["tags"] = {START: keys[0], END: keys[-1]}
    io_manager = manager(folder, **options.pop("settings", {}))
    assets = assets if isinstance(assets, list) else [assets]
    return dg.materialize(assets, resources={"io_manager": io_manager}, **options)


def whole(io: dq.SparkIOManager, asset_key: dg.AssetKey = ORDERS) -> DataFrame:
    """An asset without partitions, as one that depends on it gets it."""
    kind = dg.PythonObjectDagsterType(DataFrame)
    context = dg.build_input_context(asset_key=asset_key, dagster_type=kind)
    frame: DataFrame = io.load_input(context)
    return frame


def amounts(frame: DataFrame) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for row in frame.orderBy("day", "amount").collect():
        found.setdefault(str(row.day), []).append(row.amount)
    return found


def days(first: int, last: int) -> list[str]:
    return [f"2024-03-{day:02}" for day in range(first, last + 1)]


def why(result: dg.ExecuteInProcessResult) -> str:
    [failure] = result.filter_events(lambda event: event.is_step_failure)
    return str(failure.step_failure_data.error)
