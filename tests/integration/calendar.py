"""A partitioned asset for the tests of checks: one row an order, some orders a day."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

import dagster as dg
from dagster import AssetCheckEvaluation
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from tests.integration.shelf import status_of

DAILY = dg.DailyPartitionsDefinition("2024-03-01", end_date="2024-05-01")
RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"


def day(number: int) -> str:
    """The key of the n-th day, counted from 1."""
    return (date(2024, 2, 29) + timedelta(days=number)).isoformat()


def orders_of(spark: SparkSession, amounts: Mapping[str, Sequence[float | None]]) -> DataFrame:
    """One row an amount, on its day."""
    rows = [(date.fromisoformat(key), amount) for key in amounts for amount in amounts[key]]
    return spark.createDataFrame(rows, "day date, amount double")


def orders_asset(
    spark: SparkSession,
    amounts: Mapping[str, Sequence[float | None]],
    *,
    partitions_def: dg.PartitionsDefinition[Any] = DAILY,
    metadata: Mapping[str, Any] | None = None,
) -> dg.AssetsDefinition:
    """Builds the partitions of a run from the amounts, which may change between runs."""

    @dg.asset(
        name="orders",
        partitions_def=partitions_def,
        backfill_policy=dg.BackfillPolicy.single_run(),
        metadata={"partition_expr": "day"} if metadata is None else metadata,
    )
    def orders(context: dg.AssetExecutionContext) -> Any:
        return orders_of(spark, {key: amounts.get(key, ()) for key in context.partition_keys})

    return orders


class Shop:
    """An asset with its rules, an instance that remembers, and ways to run them."""

    def __init__(
        self,
        asset: dg.AssetsDefinition,
        rules: dq.RuleSet | Sequence[Any],
        *,
        instance: dg.DagsterInstance | None = None,
        io_manager: Any = dg.mem_io_manager,
    ) -> None:
        self.rule_set = (
            rules if isinstance(rules, dq.RuleSet) else dq.RuleSet(asset=asset, rules=rules)
        )
        self.instance = instance or dg.DagsterInstance.ephemeral()
        self.key = asset.key
        checks = dq.build_asset_checks(self.rule_set, assets=[asset])
        self.defs = dg.Definitions(
            assets=[asset],
            asset_checks=checks,
            resources={"io_manager": io_manager},
            jobs=[
                dg.define_asset_job("checks", selection=dg.AssetSelection.all_asset_checks()),
                *(
                    dg.define_asset_job(key.name, selection=dg.AssetSelection.checks(key))
                    for definition in checks
                    for key in definition.check_keys
                ),
            ],
        )
        dg.Definitions.validate_loadable(self.defs)

    def build(self, *keys: str, tags: Mapping[str, str] | None = None) -> Any:
        """Builds and checks one partition, or those from the first to the last key."""
        job = self.defs.resolve_implicit_global_asset_job_def()
        if len(keys) == 1:
            return job.execute_in_process(
                instance=self.instance,
                partition_key=keys[0],
                tags=dict(tags or {}),
                raise_on_error=False,
            )
        spans = {RANGE_START: keys[0], RANGE_END: keys[-1], **(tags or {})}
        return job.execute_in_process(instance=self.instance, tags=spans, raise_on_error=False)

    def check(self, name: str = "checks", *, tags: Mapping[str, str] | None = None) -> Any:
        """Runs one check, or all of them, and builds nothing."""
        job = self.defs.resolve_job_def(name)
        return job.execute_in_process(
            instance=self.instance, tags=dict(tags or {}), raise_on_error=False
        )

    def rows(self, name: str) -> list[tuple[str | None, str]]:
        """What Dagster has stored for a check: partition and status, the oldest first."""
        records = self.instance.event_log_storage.get_asset_check_execution_history(
            dg.AssetCheckKey(self.key, name), limit=1_000
        )
        return [(record.partition, record.status.value) for record in reversed(records)]


def results(run: dg.ExecuteInProcessResult) -> dict[tuple[str, str | None], AssetCheckEvaluation]:
    """The evaluations of a run by check and partition; two of one slice would be a fault."""
    found = run.get_asset_check_evaluations()
    by_slice = {(one.check_name, one.partition): one for one in found}
    assert len(by_slice) == len(found)
    return by_slice


def statuses(run: dg.ExecuteInProcessResult) -> dict[tuple[str, str | None], str]:
    return {where: status_of(one) for where, one in results(run).items()}
