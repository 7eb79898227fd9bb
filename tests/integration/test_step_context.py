"""The contexts that Dagster gives to steps are what the engine needs of one."""

# No "from __future__ import annotations": Dagster reads the annotation of a step's context.
import dagster as dg

from dq_dagster.integration.partitions.asset_partitions import run_partitions
from dq_dagster.integration.step_context import OpContext, StepContext

DAILY = dg.DailyPartitionsDefinition("2024-03-01", end_date="2024-03-05")


def noted(context: StepContext) -> tuple[bool, bool, set[str], object]:
    """Whether a context is one, and what it says of checks and partitions."""
    names = {key.name for key in context.selected_asset_check_keys}
    context.log.debug("This is run %s.", context.run.run_id)
    assert context.instance.get_run_by_id(context.run.run_id) is not None
    assert context.resources.greeting == "hello"
    assert context.op_execution_context.get_step_execution_context() is not None
    return (
        isinstance(context, StepContext),
        isinstance(context.op_execution_context, OpContext),
        names,
        run_partitions(context),
    )


def test_checks_and_assets_have_a_step_context() -> None:
    found: dict[str, object] = {}

    @dg.asset(
        required_resource_keys={"greeting"},
        check_specs=[dg.AssetCheckSpec("built", asset="orders")],
        partitions_def=DAILY,
    )
    def orders(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
        found["asset"] = noted(context)
        return dg.MaterializeResult(check_results=[dg.AssetCheckResult(passed=True)])

    @dg.multi_asset_check(
        specs=[dg.AssetCheckSpec("checked", asset="orders")], required_resource_keys={"greeting"}
    )
    def checks(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
        found["check"] = noted(context)
        return dg.AssetCheckResult(passed=True)

    result = dg.materialize_to_memory(
        [orders, checks], resources={"greeting": "hello"}, partition_key="2024-03-02"
    )
    assert result.success
    assert found == {
        "asset": (True, True, {"built"}, ("2024-03-02",)),
        "check": (True, True, {"checked"}, ("2024-03-02",)),
    }
