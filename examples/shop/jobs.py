"""The jobs that build and check the shop, and when they run."""

from __future__ import annotations

import dagster as dg

shop_job = dg.define_asset_job(
    "shop_job",
    selection=dg.AssetSelection.groups("shop") - dg.AssetSelection.assets("orders_by_day"),
    description="Builds all tables of the shop and checks them.",
)

# Apart from the others, because its runs are about days: one, a range, or all of them.
orders_by_day_job = dg.define_asset_job(
    "orders_by_day_job",
    selection=dg.AssetSelection.assets("orders_by_day"),
    description="Builds the orders of some days and checks each day, and all days together.",
)

every_morning = dg.ScheduleDefinition(
    name="shop_every_morning", job=shop_job, cron_schedule="0 6 * * *"
)
