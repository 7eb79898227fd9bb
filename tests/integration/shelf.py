"""Small Dagster runs for the tests of checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
from dagster import AssetCheckEvaluation
from dagster_pyspark import LazyPySparkResource
from pyspark.sql import SparkSession

import dq_dagster as dq
from dq_dagster.integration.event_log.codec import Record

PYSPARK = LazyPySparkResource(spark_config={})


def asset_of(value: Any, name: str = "orders") -> dg.AssetsDefinition:
    """An asset that returns the value as it is."""

    @dg.asset(name=name)
    def table() -> Any:
        return value

    return table


def run(
    assets: Sequence[dg.AssetsDefinition],
    rule_sets: dq.RuleSet | Sequence[dq.RuleSet],
    *,
    resources: Mapping[str, Any] | None = None,
    instance: dg.DagsterInstance | None = None,
    selection: Any = None,
) -> dg.ExecuteInProcessResult:
    return dg.materialize_to_memory(
        [*assets, *dq.build_asset_checks(rule_sets)],
        resources=resources or {},
        instance=instance,
        selection=selection,
        raise_on_error=False,
    )


def check(
    spark: SparkSession, rows: Sequence[Any], schema: str, rules: Sequence[Any], **settings: Any
) -> dict[str, AssetCheckEvaluation]:
    """The evaluations of rules on a small table, by check name."""
    frame = spark.createDataFrame(rows, schema)
    result = run([asset_of(frame)], dq.RuleSet(asset="orders", rules=rules, **settings))
    return by_name(result)


def by_name(result: dg.ExecuteInProcessResult) -> dict[str, AssetCheckEvaluation]:
    return {e.check_name: e for e in result.get_asset_check_evaluations()}


def record_of(evaluation: AssetCheckEvaluation | dg.AssetObservation) -> Record:
    """What later checks read of a result."""
    record = Record.decode(evaluation.metadata["dq/record"].value)
    assert record is not None
    return record


def status_of(evaluation: AssetCheckEvaluation | dg.AssetObservation) -> str:
    return record_of(evaluation).status.value


def metadata_of(evaluation: AssetCheckEvaluation) -> dict[str, Any]:
    return {key: entry.value for key, entry in evaluation.metadata.items()}
