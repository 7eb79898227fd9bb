"""A guarded asset for tests: what it returns, its rules, and what is there after a run."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
from dagster import AssetCheckEvaluation
from pyspark.sql import DataFrame, Row, SparkSession

import dq_dagster as dq
from dq_dagster.integration.guarded.quarantine import OWN_COLUMNS
from tests.integration.calendar import RANGE_END, RANGE_START
from tests.integration.shelf import PYSPARK, status_of

# For rules whose fields are given as files have them.
untyped: Any = dq
ORDERS = dg.AssetKey("orders")
QUARANTINE = dg.AssetKey("orders_quarantine")
SCHEMA = "id int, amount int"


def orders(spark: SparkSession, *amounts: int | None) -> DataFrame:
    """One row an amount; the first has the id 1."""
    return spark.createDataFrame(list(enumerate(amounts, 1)), SCHEMA)


def rule(kind: str, **fields: Any) -> dict[str, Any]:
    """A rule as files have it."""
    return {"type": kind, **fields}


def positive(action: str = "drop", **fields: Any) -> dict[str, Any]:
    wanted = {"name": "positive", "expectation": "amount > 0", "action_if_failed": action}
    return rule("row_dq", **{**wanted, **fields})


class Gate:
    """A guarded asset in a folder, and an instance that remembers its runs."""

    def __init__(
        self,
        folder: Path | str,
        value: DataFrame | Callable[..., Any],
        rules: Any,
        *,
        instance: dg.DagsterInstance | None = None,
        io_manager: Any = None,
        beside: Sequence[Any] = (),
        resources: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        self.io = dq.SparkIOManager(pyspark=PYSPARK, path=str(folder))
        self.instance = instance or dg.DagsterInstance.ephemeral()
        self.value = value
        settings.setdefault("name", "orders")
        if "partitions_def" in settings:
            settings.setdefault("backfill_policy", dg.BackfillPolicy.single_run())

        @dq.guarded_asset(rules=rules, **settings)
        def table(context: dg.AssetExecutionContext) -> Any:
            given = self.value
            if not callable(given):
                return given
            partitioned = "partitions_def" in settings
            return given(*([list(context.partition_keys)] if partitioned else []))

        self.asset = table
        self.defs = dg.Definitions(
            assets=[table, *beside],
            resources={"io_manager": io_manager or self.io, **(resources or {})},
            jobs=[
                dg.define_asset_job("checks", selection=dg.AssetSelection.all_asset_checks()),
                dg.define_asset_job(
                    "asset_alone",
                    selection=dg.AssetSelection.assets(
                        table.keys_by_output_name["result"]
                    ).without_checks(),
                ),
            ],
        )
        dg.Definitions.validate_loadable(self.defs)

    def build(
        self, *keys: str, job: str | None = None, selection: Any = None, **options: Any
    ) -> dg.ExecuteInProcessResult:
        """Builds the asset, one partition of it, or those from the first to the last key."""
        if len(keys) == 1:
            options["partition_key"] = keys[0]
        elif keys:
            options["tags"] = {RANGE_START: keys[0], RANGE_END: keys[-1]}
        found = (
            self.defs.resolve_implicit_global_asset_job_def()
            if job is None
            else self.defs.resolve_job_def(job)
        )
        return found.execute_in_process(
            instance=self.instance, raise_on_error=False, asset_selection=selection, **options
        )

    def published(self, key: dg.AssetKey = ORDERS) -> list[Row]:
        """All that readers of the asset find."""
        return sorted(self.frame(key).collect(), key=repr)

    def ids(self, key: dg.AssetKey = ORDERS) -> list[int]:
        return sorted(row["id"] for row in self.published(key))

    def frame(self, key: dg.AssetKey = ORDERS, keys: Sequence[str] | None = None) -> DataFrame:
        store = self.io.store(key)
        if store.existing():
            return self.io.load_partitions(key, keys)
        return store.load_whole(self.io.session())

    def quarantined(self) -> dict[int, tuple[str, list[str]]]:
        """By the id of a row, what became of it and the rules that it breaks."""
        found = self.published(QUARANTINE)
        assert len({row["id"] for row in found}) == len(found)
        return {
            row["id"]: (row["dq_state"], sorted(one["rule"] for one in row["dq_faults"]))
            for row in sorted(found, key=lambda row: row["id"])
        }

    def stats(self) -> list[dict[str, Any]]:
        """What is on record of the builds, the newest first."""
        found: Any = dq.stats(self.instance, self.asset).to_dict("records")
        return list(found)


def own_columns(frame: DataFrame) -> list[str]:
    """Those that the rows came with."""
    return [name for name in frame.columns if name not in OWN_COLUMNS]


def said(run: dg.ExecuteInProcessResult) -> dict[Any, str]:
    """The sentences of the checks, by name, or by name and partition."""
    return {_place(one): str(one.description) for one in _evaluations(run)}


def judged(run: dg.ExecuteInProcessResult) -> dict[Any, str]:
    """The statuses of the checks, by name, or by name and partition."""
    return {_place(one): status_of(one) for one in _evaluations(run)}


def _evaluations(run: dg.ExecuteInProcessResult) -> list[AssetCheckEvaluation]:
    found = list(run.get_asset_check_evaluations())
    assert len({(one.check_name, one.partition) for one in found}) == len(found)
    return found


def _place(one: AssetCheckEvaluation) -> Any:
    return one.check_name if one.partition is None else (one.check_name, one.partition)


def why(run: dg.ExecuteInProcessResult) -> str:
    """What the step says of its failure."""
    assert not run.success
    [failure] = [event for event in run.all_events if event.is_step_failure]
    data = failure.step_failure_data
    known = data.user_failure_data
    return str(known.description if known is not None else data.error)


def stopping(run: dg.ExecuteInProcessResult) -> Any:
    """The rules because of which nothing was published."""
    [failure] = [event for event in run.all_events if event.is_step_failure]
    known = failure.step_failure_data.user_failure_data
    assert known is not None
    return known.metadata["dq/rules"].value


def built(run: dg.ExecuteInProcessResult) -> list[tuple[str, str | None]]:
    """The assets that were materialized, and their partitions."""
    events = run.get_asset_materialization_events()
    return sorted(
        (str(one.asset_key and one.asset_key.to_user_string()), one.partition) for one in events
    )


def materialized(gate: Gate, run: dg.ExecuteInProcessResult) -> dict[str | None, int]:
    """By partition, the number under which Dagster knows what the run built of the asset."""
    records = gate.instance.fetch_materializations(ORDERS, limit=100).records
    return {one.partition_key: one.storage_id for one in records if one.run_id == run.run_id}
