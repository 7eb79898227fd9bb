"""The job that builds and checks the whole shop, and when it runs."""

from __future__ import annotations

import dagster as dg

shop_job = dg.define_asset_job(
    "shop_job",
    selection=dg.AssetSelection.groups("shop"),
    description="Builds all tables of the shop and checks them.",
)

every_morning = dg.ScheduleDefinition(
    name="shop_every_morning", job=shop_job, cron_schedule="0 6 * * *"
)
