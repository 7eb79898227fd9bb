"""Metrics from materialization metadata of partitioned assets: each partition has its own."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from typing import Any

import dagster as dg
from pyspark.sql import SparkSession

import dq_dagster as dq
from tests.integration.calendar import DAILY, Shop, day, orders_of, results

# How many rows each day says it has.
SAID = {day(1): 1, day(2): 2, day(3): 9}
REFUSED = (
    "The metadata 'said' is not the same for all slices that this run is about, and a check takes "
    "one value of it: run the check on one partition at a time, or give the rule one scope."
)


def judged(name: str, source: dq.MetricSource, **fields: Any) -> dq.Rule:
    return dq.MetricInRange(name=name, metric=source, max=5, blocking=False, **fields)


def orders_asset(spark: SparkSession) -> dg.AssetsDefinition:
    """Its partitions say how many rows they have, and all of them the same unit."""

    @dg.asset(
        name="orders",
        partitions_def=DAILY,
        backfill_policy=dg.BackfillPolicy.single_run(),
        metadata={"partition_expr": "day"},
    )
    def orders(context: dg.AssetExecutionContext) -> Any:
        for key in context.partition_keys:
            context.add_asset_metadata({"said": SAID[key], "unit": 1}, partition_key=key)
        return orders_of(spark, {key: [1.0] for key in context.partition_keys})

    return orders


def shop_of(spark: SparkSession, *rules: dq.Rule) -> Shop:
    # The data comes from elsewhere, so that any partition can be judged in any run.
    def everything() -> Any:
        return orders_of(spark, {key: [1.0] for key in SAID})

    asset = orders_asset(spark)
    return Shop(asset, dq.RuleSet(asset=asset, rules=rules, reader=everything))


def test_a_partition_is_judged_by_its_own_materialization(spark: SparkSession) -> None:
    shop = shop_of(spark, judged("said", dq.MetricSource(metadata="said")))
    for key in (day(1), day(3), day(2)):
        shop.build(key)
    messages = {
        key: str(results(shop.check(tags={"dq/partition": key}))["said", key].description)
        for key in SAID
    }
    assert messages == {
        day(1): "Metric 'metadata:said' is 1, as expected (at most 5).",
        day(2): "Metric 'metadata:said' is 2, as expected (at most 5).",
        day(3): "Metric 'metadata:said' is 9, above the maximum of 5.",
    }


def test_the_whole_dataset_is_judged_by_what_was_built_last(spark: SparkSession) -> None:
    rule = judged("said", dq.MetricSource(metadata="said"), scope="whole_dataset")
    shop = shop_of(spark, rule, dq.RecordCountInRange(name="rows", min=1))
    shop.build(day(3))
    shop.build(day(1))
    found = results(shop.check("said"))
    assert found["said", None].description == (
        "Metric 'metadata:said' is 1, as expected (at most 5)."
    )


def test_a_partition_and_the_whole_need_not_agree(spark: SparkSession) -> None:
    by_scope = {
        "both": judged("said", dq.MetricSource(metadata="said"), scope="both"),
        "whole": judged("last", dq.MetricSource(metadata="said"), scope="whole_dataset"),
    }
    shop = shop_of(spark, *by_scope.values(), dq.RecordCountInRange(name="rows", min=1))
    for key in (day(3), day(1)):
        shop.build(key)
    run = shop.check(tags={"dq/partition": day(3)})
    said = {where: str(one.description) for where, one in results(run).items()}
    assert said["said", day(3)] == "Metric 'metadata:said' is 9, above the maximum of 5."
    last = "Metric 'metadata:said' is 1, as expected (at most 5)."
    assert (said["said__dataset", None], said["last", None]) == (last, last)
    [observation] = run.get_asset_observation_events()
    assert observation.asset_observation_data.asset_observation.description == (
        "last: Metric 'metadata:said' is 9, above the maximum of 5."
    )


def test_several_partitions_at_once_need_to_agree(spark: SparkSession) -> None:
    shop = shop_of(
        spark,
        judged("said", dq.MetricSource(metadata="said")),
        judged("unit", dq.MetricSource(metadata="unit"), scope="both"),
    )
    found = results(shop.build(day(1), day(3)))
    assert {str(found["said", key].description) for key in SAID} == {REFUSED}
    same = "Metric 'metadata:unit' is 1, as expected (at most 5)."
    slices = [("unit", key) for key in SAID]
    assert {str(found[one].description) for one in [*slices, ("unit__dataset", None)]} == {same}


def test_metadata_of_another_asset(spark: SparkSession) -> None:
    """That of the same partition where there is one, else that of what was built last."""

    @dg.asset(partitions_def=DAILY)
    def daily(context: dg.AssetExecutionContext) -> None:
        context.add_output_metadata({"said": SAID[context.partition_key]})

    @dg.asset(partitions_def=dg.StaticPartitionsDefinition(["north", "south"]))
    def regions(context: dg.AssetExecutionContext) -> None:
        context.add_output_metadata({"said": len(context.partition_key)})

    orders = orders_asset(spark)
    rules = [
        judged("daily", dq.MetricSource(metadata="said", asset="daily")),
        judged("regions", dq.MetricSource(metadata="said", asset="regions")),
    ]
    rule_set = dq.RuleSet(asset=orders, rules=rules)
    checks = dq.build_asset_checks(rule_set, assets=[orders])
    assets = [orders, daily, regions, *checks]
    found = {}
    with dg.DagsterInstance.ephemeral() as instance:

        def build(selected: dg.AssetsDefinition, key: str) -> dg.ExecuteInProcessResult:
            selection = dg.AssetSelection.assets(selected)
            return dg.materialize_to_memory(
                assets, selection=selection, partition_key=key, instance=instance
            )

        build(daily, day(2))
        build(daily, day(3))
        build(regions, "south")
        for key in (day(1), day(2)):
            told = results(build(orders, key))
            found[key] = [str(told[name, key].description) for name in ("daily", "regions")]
    five = "Metric 'metadata:said' is 5, as expected (at most 5)."
    assert found == {
        day(1): ["Nothing to judge: metric 'metadata:said' has no value.", five],
        day(2): ["Metric 'metadata:said' is 2, as expected (at most 5).", five],
    }
