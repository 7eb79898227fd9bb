"""What the rules are compared with: the least that can be done, and the same work by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from examples.bench.data import COUNTRIES, CURRENCIES, STATUSES
from examples.bench.suites import NOT_EMPTY

# The columns that the rules of suite A read that take one pass.
SCANNED = [
    *NOT_EMPTY,
    "quantity",
    "amount",
    "unit_price",
    "weight",
    "discount",
    "tax_rate",
    "phone",
]

_AT_ONCE = {
    "rows": "count(1)",
    **{f"{column}_given": f"count_if({column} IS NULL)" for column in NOT_EMPTY},
    "quantity_min": "min(quantity)",
    "quantity_max": "max(quantity)",
    "amount_avg": "avg(amount)",
    "amount_sum": "sum(amount)",
    "unit_price_avg": "avg(unit_price)",
    "unit_price_stddev": "stddev(unit_price)",
    "weight_max": "max(weight)",
    "country_known": f"count_if(country NOT IN {tuple(COUNTRIES.split())})",
    "currency_known": f"count_if(currency NOT IN {tuple(CURRENCIES.split())})",
    "status_known": f"count_if(status NOT IN {tuple(STATUSES.split())})",
    "discount_range": "count_if(discount NOT BETWEEN 0 AND 0.5)",
    "quantity_range": "count_if(quantity NOT BETWEEN 1 AND 50)",
    "tax_rate_range": "count_if(tax_rate NOT BETWEEN 0 AND 0.25)",
    "currency_form": "count_if(currency NOT RLIKE '^[A-Z]{3}$')",
    "phone_form": r"count_if(phone NOT RLIKE '^\\+\\d{2} \\d{8}$')",
}


def scan(frame: DataFrame, columns: Sequence[str]) -> None:
    """L0: reads the columns, with the cheapest aggregate of each."""
    frame.selectExpr(*(f"count({column})" for column in columns)).collect()


def by_hand(frame: DataFrame) -> dict[str, Any]:
    """L1: suite A in plain PySpark: one aggregation, one query for all medians, and one for each
    unique column and the most frequent value."""
    texts = [f"{sql} AS {name}" for name, sql in _AT_ONCE.items()]
    return {
        **frame.selectExpr(*texts).collect()[0].asDict(),
        "columns": len(frame.columns),
        "order_id_unique": _repeated_rows(frame, "order_id"),
        "payment_unique": _repeated_rows(frame, "payment"),
        **_medians(frame, ["weight", "amount"]),
        "country_top": _most_frequent(frame, "country"),
    }


def by_day(frame: DataFrame) -> dict[str, dict[str, Any]]:
    """The same for each day, as far as one plain groupBy says it."""
    medians = {f"{column}_median": f"percentile({column}, 0.5)" for column in ("weight", "amount")}
    texts = {**_AT_ONCE, **medians}
    aggregates = [F.expr(sql).alias(name) for name, sql in texts.items()]
    days = frame.groupBy(F.col("day").cast("string").alias("key")).agg(*aggregates).collect()
    return {row["key"]: {name: row[name] for name in texts} for row in days}


def _repeated_rows(frame: DataFrame, column: str) -> int:
    counts = frame.where(f"{column} IS NOT NULL").groupBy(column).count()
    repeated = counts.where("count > 1").agg(F.sum("count").alias("rows")).collect()
    return repeated[0]["rows"] or 0


def _medians(frame: DataFrame, columns: Sequence[str]) -> dict[str, Any]:
    found = frame.selectExpr(*(f"median({column}) AS {column}_median" for column in columns))
    return dict(found.collect()[0].asDict())


def _most_frequent(frame: DataFrame, column: str) -> Any:
    counts = frame.where(f"{column} IS NOT NULL").groupBy(column).count()
    return counts.orderBy(F.desc("count")).limit(1).collect()[0][column]
