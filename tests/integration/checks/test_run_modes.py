"""Strong and weak rules: checks with the build, in a run of their own after it, and on demand."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from dq_dagster.integration.checks.request import PARTITIONS_TAG
from tests.integration.calendar import DAILY, day, orders_asset, orders_of, results, statuses
from tests.integration.shelf import PYSPARK, by_name

STRONG = dq.RecordCountInRange(name="strong", min=1)
WEAK = dq.ColumnMaxInRange(
    name="weak", columns="amount", max=50, run="after_build", blocking=False, scope="both"
)
ASKED = dq.ColumnSumInRange(name="asked", columns="amount", max=100, run="on_demand")
AMOUNTS = {day(1): [10.0, 20.0], day(2): [30.0, 60.0], day(3): [40.0], day(9): [70.0]}


def tick(defs: dg.Definitions, instance: dg.DagsterInstance, cursor: Any = None) -> Any:
    checks = dg.AssetSelection.all_asset_checks()
    return dg.evaluate_automation_conditions(defs, instance, asset_selection=checks, cursor=cursor)


class Works:
    """An asset and one downstream of it, with strong and weak rules, and a daemon by hand."""

    def __init__(self, asset: dg.AssetsDefinition, rules: Any, io_manager: Any) -> None:
        @dg.asset(
            name="report",
            deps=[asset],
            partitions_def=asset.partitions_def,
            backfill_policy=asset.backfill_policy,
        )
        def report() -> None: ...

        rule_set = dq.RuleSet(asset=asset, rules=rules)
        self.checks = dq.build_asset_checks(rule_set, assets=[asset])
        self.instance = dg.DagsterInstance.ephemeral()
        self.defs = dg.Definitions(
            assets=[asset, report],
            asset_checks=self.checks,
            sensors=[dq.build_check_sensor(self.checks)],
            jobs=[
                dg.define_asset_job("build", selection=dg.AssetSelection.assets(asset, report)),
                dq.build_check_job("weak_ones", checks=self.checks, rules="weak"),
                dq.build_check_job("asked_for", checks=self.checks, rules=[rules[-1].name]),
                dq.build_check_job("first_days", checks=self.checks, partitions=[day(1), day(2)]),
                dq.build_check_job("all_days", checks=self.checks, partitions={"orders": "all"}),
            ],
            resources={"io_manager": io_manager},
        )
        dg.Definitions.validate_loadable(self.defs)
        self.cursor: Any = None

    def run(self, name: str, **options: Any) -> dg.ExecuteInProcessResult:
        job = self.defs.resolve_job_def(name)
        return job.execute_in_process(instance=self.instance, raise_on_error=False, **options)

    def tick(self) -> dict[str, set[Any]]:
        """What a tick of the sensor would run: the partitions by check."""
        found = tick(self.defs, self.instance, self.cursor)
        self.cursor = found.cursor
        return {
            result.key.name: _keys(result.true_subset)
            for result in found.results
            if not result.true_subset.is_empty
        }


def _keys(subset: Any) -> set[str | None]:
    return set(subset.expensively_compute_partition_keys()) if subset.is_partitioned else {None}


@pytest.fixture
def works(spark: SparkSession, tmp_path: Path) -> Works:
    io_manager = dq.SparkIOManager(pyspark=PYSPARK, path=str(tmp_path))
    return Works(orders_asset(spark, AMOUNTS), [STRONG, WEAK, ASKED], io_manager)


def test_weak_rules_run_after_the_build_and_on_back_dated_partitions(works: Works) -> None:
    assert works.tick() == {}
    build = works.run("build", partition_key=day(9))
    assert build.success
    assert statuses(build) == {("strong", day(9)): "Ok"}
    assert works.tick() == {"weak": {day(9)}, "weak__dataset": {None}}
    assert works.tick() == {}

    # Days before the latest one, and one that was built already.
    for key in (day(1), day(2), day(9)):
        works.run("build", partition_key=key)
    assert works.tick() == {"weak": {day(1), day(2), day(9)}, "weak__dataset": {None}}
    own = works.run("weak_ones", tags={"dagster/partition": day(2)})
    assert own.success
    assert statuses(own) == {("weak", day(2)): "Error", ("weak__dataset", None): "Error"}
    assert results(own)["weak", day(2)].description == (
        "The maximum of 'amount' is 60, above the maximum of 50."
    )
    # Its results are no build, and a build while it ran is not forgotten.
    works.run("build", partition_key=day(2))
    works.run("weak_ones", tags={"dagster/partition": day(2)})
    assert works.tick() == {"weak": {day(2)}, "weak__dataset": {None}}
    assert works.tick() == {}


def test_on_demand_is_computed_only_when_asked_for(works: Works) -> None:
    works.tick()
    for key in (day(1), day(2)):
        works.run("build", partition_key=key)
    assert "asked" not in works.tick()
    assert statuses(works.run("asked_for", tags={"dagster/partition": day(2)})) == {
        ("asked", day(2)): "Ok"
    }


def test_a_job_of_checks_computes_chosen_partitions_each_rule_in_its_scope(works: Works) -> None:
    for key in (day(1), day(2), day(3)):
        works.run("build", partition_key=key)
    first = {
        ("strong", day(1)): "Ok",
        ("strong", day(2)): "Ok",
        ("weak", day(1)): "Ok",
        ("weak", day(2)): "Error",
        ("weak__dataset", None): "Error",
        ("asked", day(1)): "Ok",
        ("asked", day(2)): "Ok",
    }
    assert statuses(works.run("first_days")) == first
    third = {("strong", day(3)): "Ok", ("weak", day(3)): "Ok", ("asked", day(3)): "Ok"}
    assert statuses(works.run("all_days")) == first | third
    by_tag = works.run("asked_for", tags={PARTITIONS_TAG: f"{day(1)}, {day(3)}"})
    assert statuses(by_tag) == {("asked", day(1)): "Ok", ("asked", day(3)): "Ok"}
    wrong = works.run("asked_for", tags={PARTITIONS_TAG: '["2024-03-1"]'})
    assert not wrong.success
    assert "names '2024-03-1', which is no partition of it. Did you mean '2024-03-01'?" in str(
        [event.step_failure_data.error for event in wrong.get_step_failure_events()]
    )


def test_a_strong_rule_stops_what_is_downstream_and_a_weak_one_does_not(
    spark: SparkSession,
) -> None:
    frame = orders_of(spark, {day(1): [60.0]})

    @dg.asset
    def orders() -> Any:
        return frame

    weak_only = Works(orders, [STRONG, WEAK], dg.mem_io_manager)
    weak_only.tick()
    build = weak_only.run("build")
    assert build.success
    assert set(by_name(build)) == {"strong"}
    assert len(build.asset_materializations_for_node("report")) == 1
    assert weak_only.tick() == {"weak": {None}}

    strict = Works(orders, [STRONG.model_copy(update={"min": 2}), WEAK], dg.mem_io_manager)
    strict.tick()
    build = strict.run("build")
    assert not build.success
    assert by_name(build)["strong"].description == (
        "The number of rows is 1, below the minimum of 2."
    )
    assert build.asset_materializations_for_node("report") == []
    # What was built is looked at all the same.
    assert strict.tick() == {"weak": {None}}


def test_dagster_leaves_weak_checks_out_of_the_builds_that_it_starts_itself(
    spark: SparkSession,
) -> None:
    @dg.asset(automation_condition=dg.AutomationCondition.missing())
    def orders() -> Any:
        return orders_of(spark, {day(1): [60.0]})

    works = Works(orders, [STRONG, WEAK], dg.mem_io_manager)
    sensor = next(iter(works.defs.sensors or ()))
    assert isinstance(sensor, dg.AutomationConditionSensorDefinition)
    assert sensor.default_status is dg.DefaultSensorStatus.RUNNING
    build = works.run("build")
    steps = {event.step_key for event in build.get_step_success_events()}
    assert steps == {"orders", "report", "dq__orders", "dq__orders__after_build"}
    logged = [e.user_message for e in works.instance.all_logs(build.run_id)]
    assert "orders: 1 check run after the build, in a run of their own." in logged


def test_other_assets_that_a_weak_rule_looks_at_do_not_start_it(spark: SparkSession) -> None:
    @dg.asset
    def customers() -> Any:
        return spark.createDataFrame([(60.0,)], "amount double")

    @dg.asset
    def orders() -> Any:
        return orders_of(spark, {day(1): [60.0]})

    rule = dq.ColumnValuesInReference(
        name="known", columns="amount", reference=dq.Reference(asset="customers"),
        reference_columns="amount", run="after_build",
    )  # fmt: skip
    checks = dq.build_asset_checks(dq.RuleSet(asset=orders, rules=[rule]))
    defs = dg.Definitions(assets=[customers, orders], asset_checks=checks)
    instance = dg.DagsterInstance.ephemeral()
    first = tick(defs, instance)
    dg.materialize([customers], instance=instance, resources={"io_manager": dg.mem_io_manager})
    second = tick(defs, instance, first.cursor)
    assert second.total_requested == 0
    dg.materialize([orders], instance=instance, resources={"io_manager": dg.mem_io_manager})
    assert tick(defs, instance, second.cursor).total_requested == 1


def refused(**fields: Any) -> str:
    with pytest.raises(dq.DeclarationError) as raised:
        dq.RecordCountInRange(min=1, **fields)
    return str(raised.value)


def test_refusals() -> None:
    for mode in ("after_build", "on_demand"):
        assert f"'blocking: true' means nothing with 'run: {mode}'" in refused(
            run=mode, blocking=True
        )
    assert dq.RecordCountInRange(min=1, run="after_build").run == "after_build"
    rule_set = dq.RuleSet(asset=dg.AssetSpec("orders", partitions_def=DAILY), rules=[STRONG])
    checks = dq.build_asset_checks(rule_set)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"rules": "strnog"}, "there is no such rule. Did you mean 'strong'?"),
        ({"assets": "order"}, "asset 'order': it has no checks. Did you mean 'orders'?"),
        ({"assets": []}, "the job 'job' has no check to compute."),
        ({"partitions": []}, "partitions are keys such as ['2024-03-01']"),
        ({"partitions": {"orders": 5}}, "or these by asset, not 5."),
        ({"checks": [rule_set]}, "checks= takes what dq.build_asset_checks(...) returned"),
    ]
    for arguments, message in cases:
        with pytest.raises(dq.DeclarationError) as raised:
            dq.build_check_job("job", **{"checks": checks, **arguments})
        assert message in str(raised.value)
    with pytest.raises(dq.DeclarationError, match="would have nothing to start"):
        dq.build_check_sensor(checks)
