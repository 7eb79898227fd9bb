"""Jobs for processes of their own: module-level, since those import it anew."""

import os
from pathlib import Path

import dagster as dg
import pandas as pd
from dagster_pyspark import LazyPySparkResource

import dq_dagster as dq


@dg.asset
def numbers() -> pd.DataFrame:
    return pd.DataFrame({"n": [1, 2, 3]})


RULES = dq.RuleSet(
    asset=numbers,
    rules=[dq.ColumnSumInRange(columns="n", max=5), dq.RecordCountInRange(min=1)],
)
CHECKS = dq.build_asset_checks(RULES)


JOB = dg.define_asset_job(
    "numbers_job",
    selection=dg.AssetSelection.assets(numbers),
    executor_def=dg.multiprocess_executor.configured({"max_concurrent": 1}),
)

DAILY = dg.DailyPartitionsDefinition("2024-03-01", end_date="2024-03-06")


@dg.asset(
    partitions_def=DAILY,
    backfill_policy=dg.BackfillPolicy.single_run(),
    io_manager_key="files",
    metadata={"partition_expr": "day"},
)
def days(context: dg.AssetExecutionContext) -> pd.DataFrame:
    """As many rows as the day's number, but for the fourth day."""
    numbers_of_days = [int(key[-2:]) for key in context.partition_keys]
    rows = [f"2024-03-{n:02}" for n in numbers_of_days for _ in range(1 if n == 4 else n)]
    return pd.DataFrame({"day": rows})


DAYS_CHECKS = dq.build_asset_checks(
    dq.RuleSet(
        asset=days,
        incremental=True,
        rules=[dq.RecordCountInRange(name="rows", min=2, scope="both", blocking=False)],
    )
)
DAYS_JOB = dg.define_asset_job(
    "days_job", selection=dg.AssetSelection.assets(days), executor_def=dg.in_process_executor
)


@dg.asset(partitions_def=DAILY, io_manager_key="files", metadata={"partition_expr": "day"})
def visits(context: dg.AssetExecutionContext) -> pd.DataFrame:
    """As many rows as the day's number."""
    return pd.DataFrame({"day": [context.partition_key] * int(context.partition_key[-2:])})


VISITS_CHECKS = dq.build_asset_checks(
    dq.RuleSet(
        asset=visits,
        rules=[
            dq.TemplateRule(name="strong", template="row_count"),
            dq.TemplateRule(
                name="weak", template="row_count", fails_when="> 2", run="after_build", scope="both"
            ),
            dq.TemplateRule(name="asked", template="row_count", run="on_demand"),
        ],
    )
)
VISITS_SENSOR = dq.build_check_sensor(VISITS_CHECKS, minimum_interval_seconds=5)
PYSPARK = LazyPySparkResource(
    spark_config={"spark.master": "local[1]", "spark.ui.enabled": "false"}
)
defs = dg.Definitions(
    assets=[numbers, days, visits],
    asset_checks=[*CHECKS, *DAYS_CHECKS, *VISITS_CHECKS],
    jobs=[JOB, DAYS_JOB],
    sensors=[VISITS_SENSOR],
    executor=dg.in_process_executor,
    resources={
        "files": dq.SparkIOManager(
            pyspark=PYSPARK, path=str(Path(os.environ.get("DAGSTER_HOME", "data")) / "days")
        )
    },
)


def make_job() -> dg.JobDefinition:
    return defs.resolve_job_def("numbers_job")
