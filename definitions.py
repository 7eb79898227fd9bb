"""What Dagster loads: the example shop, with its rules as checks."""

import dagster as dg

import dq_dagster as dq
from examples.shop import assets, jobs, resources, rules

defs = dg.Definitions(
    assets=dg.load_assets_from_modules([assets]),
    asset_checks=dq.build_asset_checks(rules.RULE_SETS),
    jobs=[jobs.shop_job, jobs.orders_by_day_job],
    schedules=[jobs.every_morning],
    resources={
        "pyspark": resources.pyspark,
        "io_manager": resources.io_manager,
        "shop": resources.Shop(),
    },
    # One process, one JVM: the multiprocess executor would start Spark anew for every step.
    executor=dg.in_process_executor,
)
