"""Rules of partitioned assets as checks: of partitions, of the whole dataset, of both."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from dq_dagster.integration.checks.request import PARTITION_TAG
from tests.integration.calendar import (
    DAILY,
    RANGE_END,
    RANGE_START,
    Shop,
    day,
    orders_asset,
    orders_of,
    results,
    statuses,
)
from tests.integration.shelf import PYSPARK, record_of, status_of

RULES = [
    dq.RecordCountInRange(name="rows", min=2, blocking=False),
    dq.ColumnSumInRange(name="total", columns="amount", max=100, scope="both", blocking=False),
    dq.ColumnMaxInRange(name="largest", columns="amount", max=50, scope="whole_dataset"),
]
AMOUNTS = {day(1): [10.0, 20.0], day(2): [30.0], day(3): [40.0, 45.0, 50.0]}


def stored(tmp_path: Path) -> dq.SparkIOManager:
    return dq.SparkIOManager(pyspark=PYSPARK, path=str(tmp_path))


def test_a_run_of_one_partition(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(orders_asset(spark, AMOUNTS), RULES, io_manager=stored(tmp_path))
    shop.build(day(1))
    run = shop.build(day(3))
    assert run.success
    said = {where: one.description for where, one in results(run).items()}
    assert said == {
        ("rows", day(3)): "The number of rows is 3, as expected (at least 2).",
        ("total", day(3)): "The sum of 'amount' is 135, above the maximum of 100.",
        ("total__dataset", None): "The sum of 'amount' is 165, above the maximum of 100.",
        ("largest", None): "The maximum of 'amount' is 50, as expected (at most 50).",
    }


def test_a_run_over_a_range_has_one_result_a_partition_and_rule(
    spark: SparkSession, tmp_path: Path
) -> None:
    shop = Shop(orders_asset(spark, AMOUNTS), RULES, io_manager=stored(tmp_path))
    run = shop.build(day(1), day(4))
    assert run.success
    assert statuses(run) == {
        ("rows", day(1)): "Ok",
        ("rows", day(2)): "Error",
        ("rows", day(3)): "Ok",
        ("rows", day(4)): "Error",
        ("total", day(1)): "Ok",
        ("total", day(2)): "Ok",
        ("total", day(3)): "Error",
        ("total", day(4)): "Empty",
        ("total__dataset", None): "Error",
        ("largest", None): "Ok",
    }
    assert shop.rows("rows") == [
        (day(1), "SUCCEEDED"),
        (day(2), "FAILED"),
        (day(3), "SUCCEEDED"),
        (day(4), "FAILED"),
    ]
    built = {
        event.partition: event.event_specific_data
        for event in run.get_asset_materialization_events()
    }
    assert set(built) == {day(1), day(2), day(3), day(4)}
    for (_, partition), one in results(run).items():
        if partition is not None:
            assert one.target_materialization_data is not None
            assert one.target_materialization_data.run_id == run.run_id


def test_a_blocking_rule_that_one_partition_breaks_stops_the_run(
    spark: SparkSession, tmp_path: Path
) -> None:
    rules = [dq.RecordCountInRange(name="rows", min=2)]
    shop = Shop(orders_asset(spark, AMOUNTS), rules, io_manager=stored(tmp_path))
    run = shop.build(day(1), day(3))
    assert not run.success
    assert [status for _, status in shop.rows("rows")] == ["SUCCEEDED", "FAILED", "SUCCEEDED"]


def test_checks_alone_on_a_chosen_partition(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(orders_asset(spark, AMOUNTS), RULES, io_manager=stored(tmp_path))
    shop.build(day(1), day(3))
    run = shop.check("rows", tags={"dagster/partition": day(2)})
    assert statuses(run) == {("rows", day(2)): "Error"}
    ranged = shop.check("total", tags={RANGE_START: day(1), RANGE_END: day(3)})
    assert statuses(ranged) == {
        ("total", day(1)): "Ok",
        ("total", day(2)): "Ok",
        ("total", day(3)): "Error",
    }


def test_a_check_of_partitions_without_one_says_what_to_do(
    spark: SparkSession, tmp_path: Path
) -> None:
    shop = Shop(orders_asset(spark, AMOUNTS), RULES, io_manager=stored(tmp_path))
    shop.build(day(1))
    run = shop.check()
    assert not run.success
    # What can be judged without a partition has its result nonetheless.
    assert statuses(run) == {("total__dataset", None): "Ok", ("largest", None): "Ok"}
    [failure] = [event for event in run.all_events if event.is_step_failure]
    assert failure.step_failure_data.user_failure_data.description == (
        "Checks of asset 'orders' judge single partitions, but this run is about none: 'rows', "
        "'total'. Choose a partition to run them on (in the UI, or by the run's tag "
        "dagster/partition)."
    )


def test_what_was_never_built_is_not_read_and_not_judged(
    spark: SparkSession, tmp_path: Path
) -> None:
    shop = Shop(orders_asset(spark, AMOUNTS), RULES, io_manager=stored(tmp_path))
    shop.build(day(1))
    run = shop.check("rows", tags={RANGE_START: day(1), RANGE_END: day(2)})
    assert statuses(run) == {("rows", day(1)): "Ok", ("rows", day(2)): "Empty"}
    assert results(run)["rows", day(2)].description == (
        f"Nothing to judge: partition '{day(2)}' of asset 'orders' has never been materialized."
    )
    nothing = shop.check("rows", tags={"dagster/partition": day(9)})
    assert nothing.success
    assert statuses(nothing) == {("rows", day(9)): "Empty"}


def test_what_was_never_built_costs_no_other_check_its_result(
    spark: SparkSession, tmp_path: Path
) -> None:
    shop = Shop(orders_asset(spark, AMOUNTS), RULES, io_manager=stored(tmp_path))
    shop.build(day(1))
    for tag in ("dagster/partition", PARTITION_TAG):
        run = shop.check(tags={tag: day(9)})
        assert run.success
        assert statuses(run) == {
            ("rows", day(9)): "Empty",
            ("total", day(9)): "Empty",
            ("total__dataset", None): "Ok",
            ("largest", None): "Ok",
        }


def test_by_hand_any_rule_is_judged_on_one_partition(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(orders_asset(spark, AMOUNTS), RULES, io_manager=stored(tmp_path))
    shop.build(day(1), day(3))
    rows = shop.check("rows", tags={PARTITION_TAG: day(2)})
    assert statuses(rows) == {("rows", day(2)): "Error"}
    both = shop.check("total__dataset", tags={PARTITION_TAG: day(2)})
    said = {where: one.description for where, one in results(both).items()}
    assert said == {
        ("total", day(2)): "The sum of 'amount' is 30, as expected (at most 100).",
        ("total__dataset", None): "The sum of 'amount' is 195, above the maximum of 100.",
    }
    assert shop.rows("total")[-1] == (day(2), "SUCCEEDED")
    unknown = shop.check("largest", tags={PARTITION_TAG: "yesterday"})
    assert not unknown.success


def test_by_hand_the_partitions_of_the_run_are_judged_as_well(
    spark: SparkSession, tmp_path: Path
) -> None:
    shop = Shop(orders_asset(spark, AMOUNTS), RULES[:1], io_manager=stored(tmp_path))
    shop.build(day(1))
    run = shop.build(day(2), tags={PARTITION_TAG: day(1)})
    assert statuses(run) == {("rows", day(2)): "Error", ("rows", day(1)): "Ok"}


def test_by_hand_what_has_no_check_of_partitions_is_observed(
    spark: SparkSession, tmp_path: Path
) -> None:
    shop = Shop(orders_asset(spark, AMOUNTS), RULES, io_manager=stored(tmp_path))
    shop.build(day(1), day(3))
    run = shop.check("largest", tags={PARTITION_TAG: day(1)})
    # The verdict on the whole dataset stays what it says.
    assert statuses(run) == {("largest", None): "Ok"}
    assert shop.rows("largest")[-1] == (None, "SUCCEEDED")
    [observation] = run.get_asset_observation_events()
    found = observation.asset_observation_data.asset_observation
    assert (found.asset_key, found.partition) == (shop.key, day(1))
    assert found.description == "largest: The maximum of 'amount' is 20, as expected (at most 50)."
    assert status_of(found) == "Ok"


def test_in_memory_the_dataset_is_what_the_run_built(spark: SparkSession) -> None:
    shop = Shop(orders_asset(spark, AMOUNTS), RULES)
    run = shop.build(day(2))
    assert statuses(run) == {
        ("rows", day(2)): "Error",
        ("total", day(2)): "Ok",
        ("total__dataset", None): "Ok",
        ("largest", None): "Ok",
    }
    assert results(run)["largest", None].description == (
        "The maximum of 'amount' is 30, as expected (at most 50). Only this run's data was seen, "
        f"which is kept in memory: '{day(2)}'."
    )
    ranged = shop.build(day(1), day(3))
    assert statuses(ranged)["total", day(3)] == "Error"
    assert results(ranged)["largest", None].description == (
        "The maximum of 'amount' is 50, as expected (at most 50). Only this run's data was seen, "
        f"which is kept in memory: '{day(1)}', '{day(2)}', '{day(3)}'."
    )


def test_by_hand_what_is_not_in_memory_is_not_judged_as_empty(spark: SparkSession) -> None:
    shop = Shop(orders_asset(spark, AMOUNTS), [dq.RecordCountInRange(name="rows", max=9)])
    shop.build(day(1))
    run = shop.build(day(2), tags={PARTITION_TAG: day(1)})
    assert results(run)["rows", day(1)].description == (
        f"Partition '{day(1)}' of asset 'orders' cannot be read: its IO manager keeps values in "
        "memory, and only those that the run itself built."
    )


def test_materialize_to_memory_with_one_instance(spark: SparkSession) -> None:
    asset = orders_asset(spark, AMOUNTS)
    checks = dq.build_asset_checks(dq.RuleSet(asset=asset, rules=RULES))
    run = dg.materialize_to_memory(
        [asset, *checks], partition_key=day(3), instance=dg.DagsterInstance.ephemeral()
    )
    assert statuses(run)["rows", day(3)] == "Ok"
    assert statuses(run)["total__dataset", None] == "Error"


def test_without_an_expression_each_partition_is_read_by_itself(
    spark: SparkSession, tmp_path: Path
) -> None:
    shop = Shop(orders_asset(spark, AMOUNTS, metadata={}), RULES, io_manager=stored(tmp_path))
    shop.build(day(1))
    shop.build(day(2))
    run = shop.build(day(3))
    assert statuses(run) == {
        ("rows", day(3)): "Ok",
        ("total", day(3)): "Error",
        ("total__dataset", None): "Error",
        ("largest", None): "Ok",
    }
    ranged = shop.check("total", tags={RANGE_START: day(1), RANGE_END: day(3)})
    assert statuses(ranged)["total", day(1)] == "Ok"
    assert statuses(ranged)["total", day(3)] == "Error"


def test_values_by_partition_of_any_io_manager(spark: SparkSession, tmp_path: Path) -> None:
    @dg.asset(partitions_def=DAILY)
    def orders(context: dg.AssetExecutionContext) -> pd.DataFrame:
        return pd.DataFrame({"amount": AMOUNTS[context.partition_key]})

    rules = [*RULES, dq.ColumnCountInRange(name="columns", min=1, max=1, scope="both")]
    files = dg.FilesystemIOManager(base_dir=str(tmp_path))
    shop = Shop(orders, rules, io_manager=files)
    assert all(shop.build(day(number)).success for number in (1, 2))
    run = shop.build(day(3))
    assert statuses(run)["total", day(3)] == "Error"
    assert statuses(run)["largest", None] == "Ok"
    ranged = shop.check("rows", tags={RANGE_START: day(1), RANGE_END: day(3)})
    assert [statuses(ranged)["rows", day(n)] for n in (1, 2, 3)] == ["Ok", "Error", "Ok"]
    columns = shop.check("columns", tags={RANGE_START: day(1), RANGE_END: day(3)})
    assert set(statuses(columns).values()) == {"Ok"}


def test_a_reader_of_everything_needs_the_expression(spark: SparkSession) -> None:
    def read() -> Any:
        return orders_of(spark, AMOUNTS)

    spec = dg.AssetSpec("orders", partitions_def=DAILY)
    for expression, expected in ((None, "Error"), ("day", "Ok")):
        rule_set = dq.RuleSet(
            asset=spec,
            rules=[dq.RecordCountInRange(name="rows", min=2)],
            reader=read,
            partition_expr=expression,
        )
        [checks] = dq.build_asset_checks(rule_set)
        job = dg.Definitions(
            assets=[spec],
            asset_checks=[checks],
            jobs=[dg.define_asset_job("job", selection=dg.AssetSelection.all_asset_checks())],
        ).resolve_job_def("job")
        run = job.execute_in_process(tags={"dagster/partition": day(1)}, raise_on_error=False)
        assert statuses(run) == {("rows", day(1)): expected}
        if expression is None:
            assert "its metadata has no 'partition_expr'" in str(
                results(run)["rows", day(1)].description
            )


def test_a_reader_may_take_the_partitions_to_read(spark: SparkSession) -> None:
    asked = []

    def read(partitions: Any) -> Any:
        asked.append(partitions)
        return orders_of(spark, {key: AMOUNTS[key] for key in partitions or AMOUNTS})

    asset = orders_asset(spark, AMOUNTS)
    rule_set = dq.RuleSet(asset=asset, rules=RULES, reader=read)
    shop = Shop(asset, rule_set)
    shop.build(day(1))
    shop.build(day(2))
    run = shop.check("rows", tags={"dagster/partition": day(2)})
    assert statuses(run) == {("rows", day(2)): "Error"}
    assert list(asked[-1]) == [day(2)]


@pytest.mark.parametrize("given", [True, False])
def test_an_asset_named_by_its_key(spark: SparkSession, given: bool) -> None:
    asset = orders_asset(spark, AMOUNTS)
    rule_set = dq.RuleSet(asset="orders", rules=[dq.RecordCountInRange(name="rows", min=2)])
    checks = dq.build_asset_checks(rule_set, assets=[asset] if given else [])
    run = dg.materialize_to_memory([asset, *checks], partition_key=day(1), raise_on_error=False)
    if given:
        assert statuses(run) == {("rows", day(1)): "Ok"}
    else:
        [one] = run.get_asset_check_evaluations()
        assert one.description == (
            "Asset 'orders' is partitioned, but its rule set names it by its key only, so that "
            "the checks know nothing of its partitions. Give the definition: "
            "dq.build_asset_checks(rule_sets, assets=[...])."
        )


def test_two_dimensions(spark: SparkSession, tmp_path: Path) -> None:
    both = dg.MultiPartitionsDefinition(
        {"day": DAILY, "country": dg.StaticPartitionsDefinition(["DE", "FR"])}
    )

    @dg.asset(
        partitions_def=both,
        metadata={"partition_expr": {"day": "day", "country": "land"}},
    )
    def orders(context: dg.AssetExecutionContext) -> Any:
        keys = context.multi_partition_key.keys_by_dimension
        frame = orders_of(spark, {keys["day"]: AMOUNTS[keys["day"]]})
        return frame.selectExpr("*", f"'{keys['country']}' AS land")

    shop = Shop(orders, RULES, io_manager=stored(tmp_path))
    for key in (f"DE|{day(1)}", f"FR|{day(1)}", f"DE|{day(2)}"):
        assert shop.build(key).success
    run = shop.build(f"FR|{day(2)}")
    assert statuses(run) == {
        ("rows", f"FR|{day(2)}"): "Error",
        ("total", f"FR|{day(2)}"): "Ok",
        ("total__dataset", None): "Error",
        ("largest", None): "Ok",
    }
    assert "is 120," in str(results(run)["total__dataset", None].description)


def test_partitions_that_come_and_go(spark: SparkSession, tmp_path: Path) -> None:
    regions = dg.DynamicPartitionsDefinition(name="regions")

    @dg.asset(partitions_def=regions, metadata={"partition_expr": "region"})
    def orders(context: dg.AssetExecutionContext) -> Any:
        rows = [(context.partition_key, amount) for amount in (10.0, 25.0)]
        return spark.createDataFrame(rows, "region string, amount double")

    shop = Shop(orders, RULES, io_manager=stored(tmp_path))
    shop.instance.add_dynamic_partitions("regions", ["north sea", "a/b"])
    shop.build("north sea")
    run = shop.build("a/b")
    assert "is 70," in str(results(run)["total__dataset", None].description)
    shop.instance.delete_dynamic_partition("regions", "north sea")
    left = shop.check("total__dataset")
    assert "is 35," in str(results(left)["total__dataset", None].description)


class BuiltMeanwhile(dg.IOManager):
    """Another run builds a partition at the very moment a check reads the data."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self.instance = instance
        self.parts: dict[str, Any] = {}

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        self.parts[context.partition_key] = obj

    def load_input(self, context: dg.InputContext) -> Any:
        event = dg.AssetMaterialization(context.asset_key, partition=day(9))
        self.instance.report_runless_asset_event(event)
        keys = context.asset_partition_keys
        return {key: self.parts[key] for key in keys} if len(keys) > 1 else self.parts[keys[0]]


def test_a_result_points_to_what_was_built_before_the_data_was_read(spark: SparkSession) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        shop = Shop(
            orders_asset(spark, AMOUNTS),
            RULES,
            instance=instance,
            io_manager=BuiltMeanwhile(instance),
        )
        run = shop.build(day(1))
        assert instance.get_materialized_partitions(shop.key) == {day(1), day(9)}
        targets = [
            results(run)[where].target_materialization_data
            for where in (("total", day(1)), ("total__dataset", None))
        ]
        assert [target.run_id for target in targets if target is not None] == [run.run_id] * 2
        known = {str(target.storage_id) for target in targets if target is not None}
        assert {record_of(results(run)["total__dataset", None]).data} == known
