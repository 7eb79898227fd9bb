"""A job for the multiprocess executor: module-level, since its steps import it anew."""

import dagster as dg
import pandas as pd

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
    "numbers_job", executor_def=dg.multiprocess_executor.configured({"max_concurrent": 1})
)
defs = dg.Definitions(assets=[numbers], asset_checks=CHECKS, jobs=[JOB])


def make_job() -> dg.JobDefinition:
    return defs.resolve_job_def("numbers_job")
