"""The only module that uses parts of Dagster which are not public; a contract test watches them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import dagster as dg
from dagster import AssetCheckEvaluation
from dagster._check import CheckError
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckExecutionRecord,
    AssetCheckExecutionRecordStatus,
)

if TYPE_CHECKING:
    from dagster._core.execution.context.system import StepExecutionContext

_FINISHED = {AssetCheckExecutionRecordStatus.SUCCEEDED, AssetCheckExecutionRecordStatus.FAILED}


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


def check_keys_of(
    context: dg.AssetCheckExecutionContext, key: dg.AssetKey
) -> list[dg.AssetCheckKey]:
    """The checks of an asset: those of this job, and of the whole code location where known."""
    step = _step(context)
    known = set(step.job_def.asset_layer.asset_graph.asset_check_keys)
    # A job that was started from its definition, as in tests, belongs to no code location.
    with suppress(CheckError):
        known |= set(step.repository_def.asset_graph.asset_check_keys)
    return sorted(check for check in known if check.asset_key == key)


def evaluations_of(
    instance: dg.DagsterInstance, key: dg.AssetCheckKey, limit: int
) -> list[tuple[float, AssetCheckEvaluation]]:
    """The latest evaluations of a check with their times, the newest first.

    Only finished ones: the row of a run that is under way, or was killed, says nothing.
    """
    records = instance.event_log_storage.get_asset_check_execution_history(
        key, limit=limit, status=_FINISHED
    )
    return [
        (record.event.timestamp, evaluation)
        for record in records
        if record.event is not None
        and isinstance(evaluation := _evaluation(record), AssetCheckEvaluation)
    ]


def _evaluation(record: AssetCheckExecutionRecord) -> object:
    event = record.event.dagster_event if record.event else None
    return event.event_specific_data if event else None


def _step(context: dg.AssetCheckExecutionContext) -> StepExecutionContext:
    return context.op_execution_context.get_step_execution_context()


def _asset_of_input(step: StepExecutionContext, name: str) -> dg.AssetKey | None:
    return step.job_def.asset_layer.get_asset_key_for_node_input(step.node_handle, name)
