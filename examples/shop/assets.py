"""Four tables, two that are made from them, and one that grows day by day."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
import warnings

import dagster as dg
from dagster_pyspark import LazyPySparkResource
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from examples.shop import data
from examples.shop.resources import Shop

DAYS = dg.DailyPartitionsDefinition(data.FIRST_DAY, end_date=data.DAY_AFTER)

# Runs over several partitions are new in Dagster, and wanted.
warnings.filterwarnings("ignore", "Parameter `backfill_policy`", dg.BetaWarning)


@dg.asset(group_name="shop", kinds={"spark"})
def customers(pyspark: LazyPySparkResource, shop: Shop) -> DataFrame:
    """Everybody who has an account."""
    return data.customers(pyspark.spark_session, shop.customers)


@dg.asset(group_name="shop", kinds={"spark"})
def products(pyspark: LazyPySparkResource, shop: Shop) -> DataFrame:
    """The catalogue."""
    return data.products(pyspark.spark_session, shop.products)


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


@dg.asset(group_name="shop", kinds={"spark"})
def payments(orders: DataFrame, shop: Shop) -> DataFrame:
    """What the payment provider reports. Some orders were charged twice, until that is repaired."""
    return data.payments(orders, charged_twice=not shop.repaired)


@dg.asset(group_name="shop", kinds={"spark"})
def daily_revenue(orders: DataFrame) -> DataFrame:
    """Orders and revenue by day. No blocking rule of orders is broken, so this is always built."""
    return orders.groupBy(F.to_date("ordered_at").alias("day")).agg(
        F.count("order_id").alias("orders"), F.sum("amount").alias("revenue")
    )


@dg.asset(group_name="shop", kinds={"spark"})
def settlements(orders: DataFrame, payments: DataFrame) -> DataFrame:
    """What each order still owes. Not built while a blocking rule of payments is broken."""
    paid = payments.groupBy("order_id").agg(F.sum("paid_amount").alias("paid"))
    return orders.join(paid, "order_id").selectExpr(
        "order_id", "amount", "paid", "amount - paid AS still_open"
    )
