"""Four tables, three that are made from them, and one that grows day by day."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
import warnings
from pathlib import Path

import dagster as dg
from dagster_pyspark import LazyPySparkResource
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import dq_dagster as dq
from examples.shop import data
from examples.shop.resources import Shop

# Here, because those of payments are part of the asset: it is judged while it is built.
RULE_FILES = {one.asset_name: one for one in dq.load_rules(Path(__file__).parent / "rules")}

DAYS = dg.DailyPartitionsDefinition(data.FIRST_DAY, end_date=data.DAY_AFTER)

# Runs over several partitions are new in Dagster, and wanted.
warnings.filterwarnings("ignore", "Parameter `backfill_policy`", dg.BetaWarning)


@dg.asset(group_name="shop", kinds={"spark"})
def customers(pyspark: LazyPySparkResource, shop: Shop) -> DataFrame:
    """Everybody who has an account."""
    return data.customers(pyspark.spark_session, shop.customers)


@dg.asset(group_name="shop", kinds={"spark"})
def products(pyspark: LazyPySparkResource, shop: Shop) -> DataFrame:
    """The catalogue. Some products cost nothing, until that is repaired."""
    return data.products(pyspark.spark_session, shop.products, given_away=not shop.repaired)


@dg.asset(group_name="shop", kinds={"spark"})
def price_list(products: DataFrame) -> DataFrame:
    """What partners see of the catalogue. Not built while a blocking rule of products is broken."""
    return products.select("sku", "title", "price")


@dg.asset(group_name="shop", kinds={"spark"})
def orders(pyspark: LazyPySparkResource, shop: Shop) -> DataFrame:
    """Orders of the first quarter of 2024, one product each."""
    return data.orders(
        pyspark.spark_session, shop.orders, customers=shop.customers, products=shop.products
    )


@dg.asset(
    group_name="shop",
    kinds={"spark"},
    partitions_def=DAYS,
    # What tells checks which day a row belongs to.
    metadata={"partition_expr": "day"},
    # Many days are built and checked in one run, not in one run each.
    backfill_policy=dg.BackfillPolicy.single_run(),
)
def orders_by_day(context: dg.AssetExecutionContext, pyspark: LazyPySparkResource) -> DataFrame:
    """Orders as they came in. On some days something was wrong that no fixed limit would find."""
    days = context.partition_key_range
    return data.orders_by_day(pyspark.spark_session, days.start, days.end)


@dq.guarded_asset(
    rules=RULE_FILES["payments"],
    # No card number may be stored, not even in the quarantine.
    quarantine=dq.Quarantine(sensitive=["reference"]),
    # If more than one row of twenty is bad, the whole delivery is.
    error_drop_threshold=0.05,
    group_name="shop",
    kinds={"spark"},
)
def payments(orders: DataFrame) -> DataFrame:
    """What the payment provider reports, without the payments that cannot be right."""
    return data.payments(orders)


@dg.asset(group_name="shop", kinds={"spark"})
def daily_revenue(orders: DataFrame) -> DataFrame:
    """Orders and revenue by day. No blocking rule of orders is broken, so this is always built."""
    return orders.groupBy(F.to_date("ordered_at").alias("day")).agg(
        F.count("order_id").alias("orders"), F.sum("amount").alias("revenue")
    )


@dg.asset(group_name="shop", kinds={"spark"})
def settlements(orders: DataFrame, payments: DataFrame) -> DataFrame:
    """What each order still owes. Those whose payments are in quarantine have to wait."""
    paid = payments.groupBy("order_id").agg(F.sum("paid_amount").alias("paid"))
    return orders.join(paid, "order_id").selectExpr(
        "order_id", "amount", "paid", "amount - paid AS still_open"
    )
