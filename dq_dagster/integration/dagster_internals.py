"""The only module that uses parts of Dagster which are not public; a contract test watches them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import dagster as dg

if TYPE_CHECKING:
    from dagster._core.execution.context.system import StepExecutionContext


def load_asset_value(context: dg.AssetCheckExecutionContext, key: dg.AssetKey) -> Any:
    """The asset's value through its own IO manager, loaded now, inside the step.

    As a declared input, Dagster would load it before the step's code runs, and a value that can
    not be loaded would leave every check without a result. The public ``load_asset_value`` makes
    a new IO manager, which knows nothing of values kept in memory.
    """
    step = _step(context)
    for step_input in step.step.step_inputs:
        definition = step.op_def.input_def_named(step_input.name)
        if _asset_of_input(step, step_input.name) == key:
            events = cast("Any", step_input.source).load_input_object(step, definition)
            return next(iter(events))
    raise LookupError(f"The check has no dependency on asset {key.to_user_string()}.")


def is_partitioned(context: dg.AssetCheckExecutionContext, key: dg.AssetKey) -> bool:
    """Whether the checked asset has partitions."""
    layer = _step(context).job_def.asset_layer
    return layer.has(key) and layer.get(key).partitions_def is not None


def asset_metadata(context: dg.AssetCheckExecutionContext, key: dg.AssetKey) -> Mapping[str, Any]:
    """What the asset's definition says; nothing if the job does not know the asset."""
    layer = _step(context).job_def.asset_layer
    return layer.get(key).metadata if layer.has(key) else {}


def _step(context: dg.AssetCheckExecutionContext) -> StepExecutionContext:
    return context.op_execution_context.get_step_execution_context()


def _asset_of_input(step: StepExecutionContext, name: str) -> dg.AssetKey | None:
    return step.job_def.asset_layer.get_asset_key_for_node_input(step.node_handle, name)
