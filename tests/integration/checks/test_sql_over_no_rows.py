"""A partition without rows in a run of Dagster: what SQL says of none."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from typing import Any

import dagster as dg
from pyspark.sql import SparkSession

import dq_dagster as dq
from tests.integration.shelf import status_of


def test_a_run_of_dagster_says_so(spark: SparkSession) -> None:
    partitions = dg.StaticPartitionsDefinition(["a", "b"])

    @dg.asset(partitions_def=partitions)
    def orders(context: dg.AssetExecutionContext) -> Any:
        rows = [("a", 1)] if context.partition_key == "a" else []
        return spark.createDataFrame(rows, "day string, x int")

    checks = dq.build_asset_checks(
        dq.RuleSet(
            asset=orders,
            rules=[
                dq.AggregateExpectation(name="there", expectation="count(*) > 0", blocking=False),
                dq.AggregateExpectation(name="unknown", expectation="sum(x) > 0", blocking=False),
            ],
        )
    )
    said: dict[str, dict[str, tuple[bool, str, Any]]] = {}
    with dg.DagsterInstance.ephemeral() as instance:
        for key in ("a", "b"):
            result = dg.materialize_to_memory(
                [orders, *checks], partition_key=key, instance=instance
            )
            said[key] = {
                one.check_name: (one.passed, one.description or "", status_of(one))
                for one in result.get_asset_check_evaluations()
            }
    assert said["a"]["there"][::2] == (True, "Ok")
    assert said["b"]["there"][::2] == (False, "Error")
    assert "'count(*) > 0' does not hold over no rows: count(*) = 0." in said["b"]["there"][1]
    assert said["b"]["unknown"][::2] == (True, "Empty")
