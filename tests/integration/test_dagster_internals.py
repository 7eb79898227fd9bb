"""The parts of Dagster that are not public still look as this library uses them."""

# No "from __future__ import annotations": Dagster reads the annotation of a check's context.
import inspect

import dagster as dg
from dagster import AssetCheckEvaluation
from dagster._core.definitions.asset_checks.asset_check_evaluation import (  # noqa: TID251
    AssetCheckEvaluationTargetMaterializationData,
)
from dagster._core.definitions.assets.definition.asset_spec import (  # noqa: TID251
    SYSTEM_METADATA_KEY_AUTO_CREATED_STUB_ASSET,
)
from dagster._core.definitions.assets.graph.asset_graph import AssetGraph  # noqa: TID251
from dagster._core.definitions.assets.job.asset_layer import AssetLayer  # noqa: TID251
from dagster._core.definitions.job_definition import JobDefinition  # noqa: TID251
from dagster._core.definitions.op_definition import OpDefinition  # noqa: TID251
from dagster._core.definitions.partitions.context import partition_loading_context  # noqa: TID251
from dagster._core.event_api import PartitionKeyFilter  # noqa: TID251
from dagster._core.events import DagsterEvent  # noqa: TID251
from dagster._core.execution.context.metadata_logging import (  # noqa: TID251
    AssetMetadataHandle,
    OutputMetadataAccumulator,
)
from dagster._core.execution.context.op_execution_context import OpExecutionContext  # noqa: TID251 (what is watched)
from dagster._core.execution.context.system import PlanData, StepExecutionContext  # noqa: TID251
from dagster._core.execution.context_creation_job import scoped_job_context  # noqa: TID251
from dagster._core.execution.plan.inputs import (  # noqa: TID251
    FromLoadableAsset,
    FromMultipleSourcesLoadSingleSource,
    FromStepOutput,
)
from dagster._core.execution.resources_init import (  # noqa: TID251
    resource_initialization_manager,
)
from dagster._core.storage.asset_check_execution_record import (  # noqa: TID251
    AssetCheckExecutionRecord,
    AssetCheckExecutionRecordStatus,
)
from dagster._core.storage.event_log.base import EventLogStorage  # noqa: TID251
from dagster._core.storage.event_log.schema import (  # noqa: TID251
    AssetCheckExecutionsTable,
    AssetKeyTable,
    SqlEventLogStorageTable,
)
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage  # noqa: TID251
from dagster._core.storage.mem_io_manager import InMemoryIOManager  # noqa: TID251
from dagster._core.storage.tags import (  # noqa: TID251
    ASSET_PARTITION_RANGE_END_TAG,
    ASSET_PARTITION_RANGE_START_TAG,
    PARTITION_NAME_TAG,
)

from dq_dagster.integration.internals import is_built_by_dagster, is_external, outside_of_runs


def test_a_step_input_can_be_loaded_by_hand() -> None:
    for source in (FromStepOutput, FromLoadableAsset):
        parameters = list(inspect.signature(source.load_input_object).parameters)
        assert parameters == ["self", "step_context", "input_def"]


def test_a_job_knows_its_checks_and_where_it_belongs() -> None:
    assert hasattr(AssetGraph, "asset_check_keys")
    assert hasattr(StepExecutionContext, "repository_def")
    assert "asset_graph" in inspect.signature(AssetLayer).parameters


def test_an_op_is_asked_for_its_inputs_where_a_job_is_put_together() -> None:
    asked = OpDefinition.get_inputs_must_be_resolved_top_level
    assert list(inspect.signature(asked).parameters) == ["self", "asset_layer", "handle"]
    source = inspect.getsource(JobDefinition.__init__)
    assert "get_inputs_must_be_resolved_top_level(self._asset_layer)" in source
    # An asset that Dagster made up says so.
    assert SYSTEM_METADATA_KEY_AUTO_CREATED_STUB_ASSET == "dagster/auto_created_stub_asset"


def test_the_history_of_a_check_can_be_read() -> None:
    history = EventLogStorage.get_asset_check_execution_history
    assert {"check_key", "limit", "status"} <= set(inspect.signature(history).parameters)
    assert {"id", "event", "status"} <= set(AssetCheckExecutionRecord._fields)
    finished = {AssetCheckExecutionRecordStatus.SUCCEEDED, AssetCheckExecutionRecordStatus.FAILED}
    assert len(finished) == 2
    assert "event_specific_data" in DagsterEvent._fields


def test_the_checks_on_record_can_be_listed() -> None:
    columns = set(AssetCheckExecutionsTable.c.keys())
    assert {"asset_key", "check_name", "evaluation_event_storage_id"} <= columns
    assert hasattr(SqlEventLogStorage, "index_connection")


def test_an_op_context_leads_to_its_step() -> None:
    assert callable(OpExecutionContext.get_step_execution_context)


def test_a_step_can_be_asked_for_chosen_partitions() -> None:
    assert callable(StepExecutionContext.asset_partitions_subset_for_input)
    assert callable(StepExecutionContext.for_input_manager)
    assert callable(StepExecutionContext.get_io_manager)
    assert "step_output_handle" in inspect.signature(FromStepOutput).parameters
    assert callable(partition_loading_context)
    assert callable(InMemoryIOManager)
    assert (
        "source_to_load_from" in inspect.signature(FromMultipleSourcesLoadSingleSource).parameters
    )


def test_evaluations_have_a_place_for_the_partition_and_its_materialization() -> None:
    fields = set(inspect.signature(AssetCheckEvaluation.__new__).parameters)
    assert {"partition", "blocking", "target_materialization_data"} <= fields
    target = AssetCheckEvaluationTargetMaterializationData(storage_id=1, run_id="a", timestamp=2.0)
    assert (target.storage_id, target.run_id, target.timestamp) == (1, "a", 2.0)
    history = EventLogStorage.get_asset_check_execution_history
    assert {"cursor", "partition_filter"} <= set(inspect.signature(history).parameters)
    assert PartitionKeyFilter(key=None).key is None
    assert callable(EventLogStorage.get_latest_storage_id_by_partition)
    assert callable(AssetLayer.get_op_output_name)


def test_partitions_of_one_output_can_have_metadata_of_their_own() -> None:
    known = OutputMetadataAccumulator.empty()
    key = dg.AssetKey("orders")
    added = known.with_additional_asset_metadata(key, "mon", {"path": "x"})
    handle = AssetMetadataHandle(asset_key=key, partition_key="mon")
    assert added.per_output_metadata == {handle: {"path": "x"}}
    assert added.get_asset_metadata(key, "mon") == {"path": "x"}
    assert "_metadata_accumulator" in inspect.getsource(StepExecutionContext.add_asset_metadata)


def test_what_a_job_does_not_build_keeps_the_name_of_its_io_manager() -> None:
    @dg.asset
    def built() -> int:
        return 1

    found = {}
    for definition in (built, dg.AssetSpec("built")):

        @dg.asset_check(asset="built")
        def check(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
            found[type(definition)] = is_external(context, dg.AssetKey("built"))  # noqa: B023 (runs at once)
            return dg.AssetCheckResult(passed=True)

        dg.materialize([definition, check], selection=dg.AssetSelection.all_asset_checks())
    assert found == {dg.AssetsDefinition: False, dg.AssetSpec: True}


def test_a_step_can_be_made_without_a_run() -> None:
    parameters = inspect.signature(scoped_job_context).parameters
    assert {"scoped_resources_builder_cm", "raise_on_error"} <= set(parameters)
    assert "instance" in inspect.signature(resource_initialization_manager).parameters
    assert "instance" in PlanData._fields

    @dg.asset
    def built() -> int:
        return 1

    @dg.asset_check(asset="built")
    def check() -> dg.AssetCheckResult:
        return dg.AssetCheckResult(passed=True)

    job = dg.define_asset_job("alone", selection=dg.AssetSelection.checks(check))
    defs = dg.Definitions(assets=[built], asset_checks=[check], jobs=[job])
    with dg.DagsterInstance.ephemeral() as instance, outside_of_runs(defs, instance) as context:
        assert is_built_by_dagster(context, dg.AssetKey("built"))
        assert context.instance is instance
        assert not instance.get_runs()


def test_the_tags_that_name_partitions() -> None:
    assert PARTITION_NAME_TAG == "dagster/partition"
    assert ASSET_PARTITION_RANGE_START_TAG == "dagster/asset_partition_range_start"
    assert ASSET_PARTITION_RANGE_END_TAG == "dagster/asset_partition_range_end"


def test_the_tables_of_the_log_have_the_columns_that_are_read() -> None:
    known = {
        table.name: set(table.c.keys())
        for table in (AssetCheckExecutionsTable, SqlEventLogStorageTable, AssetKeyTable)
    }
    rows = "id asset_key check_name partition run_id execution_status evaluation_event"
    assert known["asset_check_executions"] >= {
        *rows.split(),
        "evaluation_event_timestamp",
        "evaluation_event_storage_id",
        "materialization_event_storage_id",
    }
    assert known["event_logs"] >= {"id", "run_id", "event", "dagster_event_type", "timestamp"}
    assert known["asset_keys"] >= {
        "asset_key",
        "last_materialization",
        "last_materialization_timestamp",
    }
    assert {one.value for one in AssetCheckExecutionRecordStatus} == {
        "PLANNED",
        "SUCCEEDED",
        "FAILED",
    }


def test_events_of_checks_are_found_by_their_kind_and_number() -> None:
    """Without that index, to follow them would read the whole log each time."""
    indexed = [tuple(one.columns.keys()) for one in SqlEventLogStorageTable.indexes]
    assert ("dagster_event_type", "id") in indexed
