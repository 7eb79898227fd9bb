"""The only module that uses parts of Dagster which are not public; a contract test watches them."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import dagster as dg
from dagster import AssetCheckEvaluation
from dagster._check import CheckError
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationTargetMaterializationData,
)
from dagster._core.definitions.assets.definition.asset_spec import (
    SYSTEM_METADATA_KEY_IO_MANAGER_KEY,
)
from dagster._core.definitions.job_base import RepoBackedJob
from dagster._core.definitions.partitions.context import partition_loading_context
from dagster._core.event_api import PartitionKeyFilter
from dagster._core.execution.api import create_execution_plan
from dagster._core.execution.context.metadata_logging import (
    AssetMetadataHandle,
    OutputMetadataAccumulator,
)
from dagster._core.execution.context_creation_job import scoped_job_context
from dagster._core.execution.plan.inputs import FromLoadableAsset, FromStepOutput
from dagster._core.execution.plan.outputs import StepOutputHandle
from dagster._core.execution.resources_init import resource_initialization_manager
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus
from dagster._core.storage.mem_io_manager import InMemoryIOManager
from dagster._core.storage.tags import (
    ASSET_PARTITION_RANGE_END_TAG,
    ASSET_PARTITION_RANGE_START_TAG,
    PARTITION_NAME_TAG,
)
from dagster._utils.warnings import disable_dagster_warnings

from dq_dagster.integration.step_context import LOCATION, StepContext

__all__ = ["PARTITION_NAME_TAG", "disable_dagster_warnings", "partition_loading_context"]

if TYPE_CHECKING:
    from dagster._core.definitions.assets.graph.base_asset_graph import BaseAssetGraph
    from dagster._core.execution.context.system import StepExecutionContext
    from dagster._core.execution.plan.inputs import StepInput

_FINISHED = {AssetCheckExecutionRecordStatus.SUCCEEDED, AssetCheckExecutionRecordStatus.FAILED}
# Of a run whose events nobody waits for on the screen.
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
RANGE_TAGS = [ASSET_PARTITION_RANGE_START_TAG, ASSET_PARTITION_RANGE_END_TAG]
# The entry of an asset's metadata that names its IO manager.
IO_MANAGER_KEY = SYSTEM_METADATA_KEY_IO_MANAGER_KEY
# What Dagster notes on an asset that it only knows because something refers to it.
_STUB = "dagster/auto_created_stub_asset"


@dataclass(frozen=True, slots=True)
class Materialization:
    """When and by which run an asset, or one partition of it, was built."""

    storage_id: int
    run_id: str
    timestamp: float
    # Where its metadata says that the data is.
    path: str | None = None


def load_asset_value(
    context: StepContext, key: dg.AssetKey, partitions: Collection[str] | None = None
) -> Any:
    """The asset's value through its own IO manager, loaded now, inside the step.

    As a declared input, Dagster would load it before the step's code runs, and a value that cannot
    be loaded would leave every check without a result. The public ``load_asset_value`` makes
    a new IO manager, which knows nothing of values kept in memory. ``partitions`` are those to
    load; without them Dagster decides by the run.
    """
    step = _step(context)
    step_input = _input_of(step, key)
    if step_input is None:
        return _load_own(step, key, partitions)
    definition = step.op_def.input_def_named(step_input.name)
    asking = step if partitions is None else _asking_for(step, key, partitions)
    return next(iter(cast("Any", step_input.source).load_input_object(asking, definition)))


def _load_own(
    step: StepExecutionContext, key: dg.AssetKey, partitions: Collection[str] | None
) -> Any:
    """What is stored of an asset that the step itself builds."""
    manager = _own_io_manager(step, key)
    if manager is None:
        raise LookupError(f"The step has nothing to do with asset {key.to_user_string()}.")
    definition = step.job_def.asset_layer.get(key).partitions_def
    load = partial(
        dg.build_input_context,
        asset_key=key,
        asset_partitions_def=definition,
        instance=step.instance,
        definition_metadata=step.job_def.asset_layer.get(key).metadata,
        dagster_type=dg.PythonObjectDagsterType(object),
    )
    if definition is None:
        return manager.load_input(load())
    keys = step.instance.get_materialized_partitions(key) if partitions is None else partitions
    return {one: manager.load_input(load(partition_key=one)) for one in sorted(keys)}


def _own_io_manager(step: StepExecutionContext, key: dg.AssetKey) -> Any:
    """The IO manager of an asset that the step itself builds; None if it does not."""
    for output in step.step.step_outputs:
        layer = step.job_def.asset_layer
        if layer.get_asset_key_for_node_output(step.node_handle, output.name) == key:
            return step.get_io_manager(StepOutputHandle(step.step.key, output.name))
    return None


def holds_one_run_only(context: StepContext, key: dg.AssetKey) -> bool:
    """Whether the asset's IO manager keeps values in memory, and forgets them after the run."""
    return isinstance(io_manager_of(context, key), InMemoryIOManager)


def io_manager_of(context: StepContext, key: dg.AssetKey) -> Any:
    """What the asset's value is loaded with inside the step; None if it is not loaded at all."""
    step = _step(context)
    step_input = _input_of(step, key)
    if step_input is None:
        return _own_io_manager(step, key)
    source: Any = getattr(step_input, "source", None)
    # Where several steps come before it, one of them has the value.
    source = getattr(source, "source_to_load_from", source)
    if isinstance(source, FromStepOutput):
        return step.get_io_manager(source.step_output_handle)
    if isinstance(source, FromLoadableAsset):
        return getattr(step.resources, step.job_def.asset_layer.get(key).io_manager_key)
    return None


def _asking_for(
    step: StepExecutionContext, key: dg.AssetKey, partitions: Collection[str]
) -> StepExecutionContext:
    """The same step, as if it depended on just these partitions of the asset."""
    definition = step.job_def.asset_layer.get(key).partitions_def
    if definition is None:
        return step
    with partition_loading_context(dynamic_partitions_store=step.instance):
        subset = definition.subset_with_partition_keys(partitions)
    asking: Any = copy.copy(step)
    asking.asset_partitions_subset_for_input = lambda *_, **__: subset
    return cast("StepExecutionContext", asking)


def partitions_def_of(
    context: StepContext, key: dg.AssetKey
) -> dg.PartitionsDefinition[Any] | None:
    """How the asset is partitioned; None if it is not, or the job does not know it."""
    layer = _step(context).job_def.asset_layer
    return layer.get(key).partitions_def if layer.has(key) else None


def is_built_by_dagster(context: StepContext, key: dg.AssetKey) -> bool:
    """Whether some run can materialize the asset, so that Dagster knows what there is of it."""
    return _is_buildable(_step(context), key) or False


def builds(context: StepContext, key: dg.AssetKey) -> bool:
    """Whether the run itself builds the asset: in one that does not, others seem to."""
    return key in _step(context).job_def.asset_layer.asset_graph.materializable_asset_keys


def is_external(context: StepContext | dg.InputContext, key: dg.AssetKey) -> bool:
    """Whether others build the asset; not so where nobody here can tell."""
    try:
        step = context.step_context if isinstance(context, dg.InputContext) else _step(context)
    except dg.DagsterInvariantViolationError:
        return False
    buildable = _is_buildable(step, key)
    if buildable is not None:
        return not buildable
    # What a job does not build is a copy in it, which still has the IO manager of the original.
    graph = step.job_def.asset_layer.asset_graph
    return graph.has(key) and IO_MANAGER_KEY not in graph.get(key).metadata


def _is_buildable(step: StepExecutionContext, key: dg.AssetKey) -> bool | None:
    """A job of checks alone takes the asset for one that others build; the code location knows."""
    graphs = _graphs(step)
    if any(graph.has(key) and graph.get(key).is_materializable for graph in graphs):
        return True
    return None if len(graphs) == 1 else False


def _graphs(step: StepExecutionContext) -> list[BaseAssetGraph[Any]]:
    """What the job knows of assets, and the whole code location.

    A job that was started from its definition, as in tests, belongs to none that it names.
    """
    graphs: list[BaseAssetGraph[Any]] = [step.job_def.asset_layer.asset_graph]
    with suppress(CheckError):
        return [*graphs, step.repository_def.asset_graph]
    return [*graphs, *LOCATION.get()]


def defined_in(graph: BaseAssetGraph[Any]) -> set[dg.AssetKey]:
    """The assets that somebody defined, on purpose."""
    every = graph.get_all_asset_keys()
    return {key for key in every if not graph.get(key).metadata.get(_STUB)}


def known_assets(context: StepContext) -> set[dg.AssetKey]:
    """The assets that are defined in the job, and in the whole code location where known."""
    return {key for graph in _graphs(_step(context)) for key in defined_in(graph)}


def asset_metadata(context: StepContext, key: dg.AssetKey) -> Mapping[str, Any]:
    """What the asset's definition says; nothing if the job does not know the asset."""
    layer = _step(context).job_def.asset_layer
    return layer.get(key).metadata if layer.has(key) else {}


def check_keys_of(context: StepContext, key: dg.AssetKey) -> list[dg.AssetCheckKey]:
    """The checks of an asset: those of this job, and of the whole code location where known."""
    known = {check for graph in _graphs(_step(context)) for check in graph.asset_check_keys}
    return sorted(check for check in known if check.asset_key == key)


@dataclass(frozen=True, slots=True)
class OneSlice:
    """One partition; without a key, the whole dataset."""

    partition: str | None = None


def evaluation_page(
    instance: dg.DagsterInstance,
    key: dg.AssetCheckKey,
    *,
    limit: int,
    cursor: int | None,
    only: OneSlice | None,
) -> list[tuple[int, float, str, AssetCheckEvaluation | None]]:
    """Evaluations of a check, the newest first: where to read on, when, by which run, and what.

    Only finished ones: the row of a run that is under way, or was killed, says nothing.
    """
    records = instance.event_log_storage.get_asset_check_execution_history(
        key,
        limit=limit,
        cursor=cursor,
        status=_FINISHED,
        partition_filter=None if only is None else PartitionKeyFilter(key=only.partition),
    )
    found: list[tuple[int, float, str, AssetCheckEvaluation | None]] = []
    for record in records:
        event = record.event.dagster_event if record.event else None
        said = event.event_specific_data if event else None
        moment = record.event.timestamp if record.event else 0.0
        evaluation = said if isinstance(said, AssetCheckEvaluation) else None
        found.append((record.id, moment, record.run_id, evaluation))
    return found


def checks_on_record(instance: dg.DagsterInstance) -> list[dg.AssetCheckKey]:
    """The checks that were ever evaluated; none if the event log is no SQL database.

    Dagster itself asks for checks by name only, and knows the names from the definitions.
    """
    from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable
    from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage

    storage = instance.event_log_storage
    if not isinstance(storage, SqlEventLogStorage):
        return []
    columns = AssetCheckExecutionsTable.c
    with storage.index_connection() as connection:
        found = connection.execute(
            AssetCheckExecutionsTable.select()
            .where(columns.evaluation_event_storage_id.is_not(None))
            .with_only_columns(columns.asset_key, columns.check_name)
            .distinct()
        ).all()
    keys = [(dg.AssetKey.from_db_string(asset), name) for asset, name in found]
    return sorted(dg.AssetCheckKey(asset, name) for asset, name in keys if asset is not None)


def storage_ids(instance: dg.DagsterInstance, key: dg.AssetKey) -> dict[str, int]:
    """The partitions that were ever built, each with the number of its latest materialization."""
    kind = dg.DagsterEventType.ASSET_MATERIALIZATION
    return dict(instance.event_log_storage.get_latest_storage_id_by_partition(key, kind))


def add_partition_metadata(
    context: dg.OutputContext, entries: Mapping[str, Mapping[str, Any]]
) -> None:
    """Metadata of single partitions, for the materializations of an output of several.

    As ``add_asset_metadata`` does, which would list all partitions of the run for each of them.
    """
    try:
        step: Any = context.step_context
    except dg.DagsterInvariantViolationError:
        # No step, as in tests of an IO manager alone, and so no materialization either.
        return
    known = step._metadata_accumulator  # noqa: SLF001 (see above)
    added: dict[Any, Any] = {
        AssetMetadataHandle(asset_key=context.asset_key, partition_key=partition): {
            **known.get_asset_metadata(context.asset_key, partition),
            **own,
        }
        for partition, own in entries.items()
    }
    step._metadata_accumulator = OutputMetadataAccumulator(  # noqa: SLF001 (see above)
        per_output_metadata={**known.per_output_metadata, **added}
    )


def evaluation_event(
    result: dg.AssetCheckResult,
    *,
    partition: str | None,
    blocking: bool,
    target: Materialization | None,
) -> AssetCheckEvaluation:
    """A result as the event that Dagster stores, for one partition, or for all of them together.

    An AssetCheckResult has no place for the partition, and Dagster cannot make an event of one
    where a check of the whole dataset runs beside checks of partitions. Without the
    materialization that it is about, the UI would not take it for the current one.
    """
    data = None
    if target is not None:
        data = AssetCheckEvaluationTargetMaterializationData(
            storage_id=target.storage_id, run_id=target.run_id, timestamp=target.timestamp
        )
    return AssetCheckEvaluation(
        asset_key=cast("dg.AssetKey", result.asset_key),
        check_name=cast("str", result.check_name),
        passed=result.passed,
        metadata=result.metadata,
        target_materialization_data=data,
        severity=result.severity,
        description=result.description,
        blocking=blocking,
        partition=partition,
    )


def output_of_check(context: StepContext, key: dg.AssetCheckKey) -> dg.Output[None]:
    """What lets steps go on that wait for a check."""
    return dg.Output(None, output_name=_step(context).job_def.asset_layer.get_op_output_name(key))


def partitioned_check_spec(
    partitions_def: dg.PartitionsDefinition[Any] | None, **fields: Any
) -> dg.AssetCheckSpec:
    """A check with partitions of its own, without the warning that those are new in Dagster."""
    with disable_dagster_warnings():
        return dg.AssetCheckSpec(partitions_def=partitions_def, **fields)


def partition_tags(context: StepContext) -> dict[str, str]:
    """The tags by which a run says what partitions it is about, as they were written."""
    tags = context.run.tags
    named = [PARTITION_NAME_TAG] if PARTITION_NAME_TAG in tags else RANGE_TAGS
    return {tag: tags[tag] for tag in named if tag in tags}


@contextmanager
def outside_of_runs(
    defs: dg.Definitions, instance: dg.DagsterInstance, tags: dict[str, str] | None = None
) -> Iterator[StepContext]:
    """The context of the step of the one job there is, which never runs: nothing is recorded."""
    [only] = defs.jobs or ()
    job = RepoBackedJob(only.name, defs.get_repository_def())
    plan = create_execution_plan(job, QUIET)

    def started(**arguments: Any) -> Any:
        return resource_initialization_manager(**{**arguments, "instance": instance})

    # What Dagster notes of resources goes to another instance, which is gone afterwards.
    with dg.DagsterInstance.ephemeral() as aside:
        run = aside.create_run_for_job(job.get_definition(), run_config=QUIET, tags=tags)
        with scoped_job_context(plan, job, QUIET, run, aside, started, raise_on_error=True) as made:
            step: Any = made.for_step(cast("Any", plan.steps[0]))
            step._plan_data = step.plan_data._replace(instance=instance)  # noqa: SLF001 (see above)
            yield dg.AssetCheckExecutionContext(dg.OpExecutionContext(step))


def _step(context: StepContext) -> StepExecutionContext:
    step: StepExecutionContext = context.op_execution_context.get_step_execution_context()
    return step


def _input_of(step: StepExecutionContext, key: dg.AssetKey) -> StepInput | None:
    key_of = partial(step.job_def.asset_layer.get_asset_key_for_node_input, step.node_handle)
    return next((one for one in step.step.step_inputs if key_of(one.name) == key), None)
