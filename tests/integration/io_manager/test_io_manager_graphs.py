"""Values that ops pass on to each other belong to no asset; they are stored by run."""

# No "from __future__ import annotations": Dagster reads the annotations of ops.
import os
import time
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from tests.depth import deep_after
from tests.integration.calendar import statuses
from tests.integration.io_manager.warehouse import manager, why

SCHEMES = pytest.mark.parametrize("scheme", deep_after(1, ["", "file://"]))
DAYS = dg.StaticPartitionsDefinition(["mon", "tue"])


@dg.op
def numbers() -> Any:
    return pd.DataFrame({"amount": [1, 2, 3]})


@dg.op
def limit() -> Any:
    return {"most": 2, "names": ["a"]}


@dg.op
def nothing() -> Any:
    return None


@dg.op
def few(numbers: DataFrame, limit: Any, nothing: Any) -> DataFrame:
    assert nothing is None
    return numbers.where(f"amount <= {limit['most']}")


@dg.op
def as_pandas(few: pd.DataFrame) -> pd.DataFrame:
    return few.assign(double=few["amount"] * 2)


@SCHEMES
def test_a_graph_asset_and_its_checks(spark: SparkSession, tmp_path: Path, scheme: str) -> None:
    @dg.graph_asset
    def orders() -> Any:
        return as_pandas(few(numbers(), limit(), nothing()))

    rules = [dq.ColumnSumInRange(name="total", columns="double", min=6, max=6)]
    checks = dq.build_asset_checks(dq.RuleSet(asset=orders, rules=rules))
    run = dg.materialize(
        [orders, *checks], resources={"io_manager": manager(f"{scheme}{tmp_path}")}
    )
    assert statuses(run) == {("total", None): "Ok"}
    # The asset's own folder holds the asset, whatever was passed on before.
    assert sorted(child.name for child in tmp_path.iterdir()) == [".dq_runs", "orders"]
    assert [child.name for child in (tmp_path / ".dq_runs").iterdir()] == [run.run_id]
    [handled] = [e for e in run.all_events if e.is_handled_output and e.step_key == "orders.few"]
    said: Any = handled.event_specific_data
    assert spark.read.parquet(said.metadata["path"].value).count() == 2


@SCHEMES
def test_a_partitioned_graph_of_several_assets(
    spark: SparkSession, tmp_path: Path, scheme: str
) -> None:
    @dg.op
    def doubled(few: DataFrame) -> DataFrame:
        return few.selectExpr("amount * 2 AS amount")

    @dg.graph_multi_asset(
        outs={"small": dg.AssetOut(), "large": dg.AssetOut()}, partitions_def=DAYS
    )
    def sizes() -> Any:
        small = few(numbers(), limit(), nothing())
        # One of the assets is passed on inside the graph.
        return {"small": small, "large": doubled(small)}

    @dg.asset(partitions_def=DAYS)
    def report(large: DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"total": [large.agg({"amount": "sum"}).collect()[0][0]]})

    io_manager = manager(f"{scheme}{tmp_path}")
    with dg.DagsterInstance.ephemeral() as instance:
        for key in ("mon", "tue"):
            run = dg.materialize(
                [sizes, report],
                partition_key=key,
                resources={"io_manager": io_manager},
                instance=instance,
            )
            assert run.output_for_node("report")["total"].tolist() == [6]


@SCHEMES
def test_a_job_of_ops(spark: SparkSession, tmp_path: Path, scheme: str) -> None:
    @dg.op(out=dg.DynamicOut())
    def parts() -> Any:
        for number in (1, 2):
            yield dg.DynamicOutput(spark.range(number), mapping_key=f"n{number}")

    @dg.op
    def counted(part: DataFrame) -> int:
        return part.count()

    @dg.op
    def total(counts: list[int]) -> int:
        return sum(counts)

    @dg.job(resource_defs={"io_manager": manager(f"{scheme}{tmp_path}")})
    def job() -> None:
        total(parts().map(counted).collect())

    run = job.execute_in_process()
    assert run.output_for_node("total") == 3


def test_a_run_goes_on_where_another_failed(spark: SparkSession, tmp_path: Path) -> None:
    """Dagster then asks for the output of a step of the other run."""

    @dg.job(resource_defs={"io_manager": manager(tmp_path)})
    def job() -> None:
        few(numbers(), limit(), nothing())

    failed = job.execute_in_process()
    for step, expected in (("few", 2), ("limit", {"most": 2, "names": ["a"]})):
        output = dg.build_output_context(step_key=step, name="result", run_id=failed.run_id)
        kind = dg.PythonObjectDagsterType(object)
        context = dg.build_input_context(upstream_output=output, dagster_type=kind)
        found = manager(tmp_path).load_input(context)
        assert (found.count() if isinstance(found, DataFrame) else found) == expected
    gone = dg.build_output_context(step_key="few", name="result", run_id="other")
    with pytest.raises(dq.DqError, match="'result' of step 'few' in run other is not stored at"):
        manager(tmp_path).load_input(dg.build_input_context(upstream_output=gone))


def test_old_runs_are_removed_by_the_next_one(spark: SparkSession, tmp_path: Path) -> None:
    @dg.job(resource_defs={"io_manager": manager(tmp_path, keep_runs_days=2)})
    def job() -> None:
        few(numbers(), limit(), nothing())

    old, recent = (job.execute_in_process().run_id for _ in range(2))
    runs = tmp_path / ".dq_runs"
    for run_id, days in ((old, 3), (recent, 1)):
        moment = time.time() - days * 24 * 3600
        os.utime(runs / run_id, (moment, moment))
    new = job.execute_in_process().run_id
    assert {child.name for child in runs.iterdir()} == {recent, new}


def test_what_cannot_be_stored_is_told(spark: SparkSession, tmp_path: Path) -> None:
    @dg.op
    def frames() -> Any:
        return {"one": spark.range(1)}

    @dg.job(resource_defs={"io_manager": manager(tmp_path)})
    def job() -> None:
        frames()

    run = job.execute_in_process(raise_on_error=False)
    assert (
        f"The output 'result' of step 'frames' in run {run.run_id}, which is a builtins.dict, is "
        "neither a DataFrame nor can it be pickled"
    ) in why(run)
