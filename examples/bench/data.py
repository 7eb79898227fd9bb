"""The table that is measured: orders of twenty days, the same every time, written once a size."""

from __future__ import annotations

import hashlib
from datetime import date, timedelta
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

DAYS = 20
FIRST_DAY = date(2024, 3, 1)
DAY_KEYS = tuple((FIRST_DAY + timedelta(days=day)).isoformat() for day in range(DAYS))
_WORDS = "blue green red small large soft hard round flat bright"


def _random(salt: int, below: int) -> str:
    """A whole number from 0 that looks random, and depends on the row alone."""
    return f"pmod(xxhash64(id, {salt}), {below})"


def _pick(salt: int, words: str, *, skew: int = 1) -> str:
    """One of the words; with a skew the first ones more often."""
    listed = ", ".join(f"'{word}'" for word in words.split())
    many = len(words.split())
    place = f"CAST(floor({many} * pow({_random(salt, 1_000_000)} / 1e6, {skew})) AS INT)"
    return f"element_at(array({listed}), 1 + {place})"


def _sometimes(salt: int, percent: int, value: str) -> str:
    """The value, but missing in so many of a hundred rows."""
    return f"IF({_random(salt, 100)} < {percent}, NULL, {value})"


COUNTRIES = "DE FR NO SE DK FI NL BE AT CH IT ES PT PL CZ IE GB US CA JP"
CURRENCIES = "EUR USD GBP NOK SEK CHF"
STATUSES = "new paid packed shipped delivered returned"

NUMBERS = {
    "order_id": f"id * 1000 + {_random(1, 1000)}",
    "customer_id": f"CAST({_random(2, 200_000)} AS INT)",
    "quantity": f"CAST(1 + {_random(3, 50)} AS INT)",
    "unit_price": f"exp({_random(4, 1_000_000_007)} / 2e8)",
    "amount": f"CAST({_random(5, 5_000_000)} / 100 AS DECIMAL(12, 2))",
    "discount": _sometimes(6, 10, f"{_random(7, 1000)} / 2000D"),
    "tax_rate": f"CAST({_random(8, 2500)} / 10000 AS DECIMAL(5, 4))",
    "weight": _sometimes(9, 3, f"{_random(10, 1_000_000_007)} / 1e7"),
    "items": f"CAST(1 + {_random(11, 9)} AS INT)",
    "rating": _sometimes(12, 40, f"CAST(1 + {_random(13, 5)} AS INT)"),
}
TEXTS = {
    "payment": "md5(CAST(id AS STRING))",
    "country": _pick(14, COUNTRIES, skew=2),
    "currency": _pick(15, CURRENCIES, skew=3),
    "status": _pick(16, STATUSES),
    "channel": _pick(17, "web shop phone app"),
    "email": f"concat('user', {_random(18, 500_000)}, '@mail', {_random(19, 30)}, '.example')",
    "phone": f"concat('+', {_random(20, 90)} + 10, ' ', {_random(21, 90_000_000)} + 10000000)",
    "note": _sometimes(22, 50, f"concat({_pick(23, _WORDS)}, ' ', {_pick(24, _WORDS)})"),
}
TIMES = {
    "ordered_at": f"timestampadd(SECOND, {_random(25, 86_400)}, CAST(day AS TIMESTAMP))",
    "shipped_on": _sometimes(26, 25, f"date_add(day, CAST({_random(27, 9)} AS INT))"),
}
COLUMNS = NUMBERS | TEXTS | TIMES


def _few(salt: int, many: int) -> str:
    """One of so many whole numbers, the small ones far more often."""
    return f"CAST(floor({many} * pow({_random(salt, 1_000_000)} / 1e6, 4)) AS BIGINT)"


# What a table looks like decides what work costs: few values that repeat, or many long ones.
SHAPES = {
    "even": COLUMNS,
    "skewed": COLUMNS
    | {
        "payment": f"md5(CAST({_few(31, 1_000)} AS STRING))",
        "unit_price": f"1 + {_few(32, 200)} / 2D",
        "amount": f"CAST({_few(33, 50)} * 9.99 AS DECIMAL(12, 2))",
        "weight": f"{_few(34, 100)} / 4D",
        "country": _pick(14, COUNTRIES, skew=6),
    },
    "long": COLUMNS
    | {
        "payment": "concat('payment/', sha2(CAST(id AS STRING), 512))",
        "amount": _sometimes(
            35, 60, f"CAST({_random(5, 500_000_000_000)} / 100 AS DECIMAL(12, 2))"
        ),
        "weight": _sometimes(36, 60, f"exp({_random(10, 1_000_000_007)} / 5e7)"),
        "country": f"IF({_random(37, 10)} < 2, 'DE', concat('region ', sha1(CAST("
        f"{_random(38, 500_000)} AS STRING))))",
        "email": _sometimes(39, 50, "concat(sha2(CAST(id AS STRING), 256), '@mail.example')"),
        "note": _sometimes(22, 50, f"repeat(concat({_pick(23, _WORDS)}, ' '), 20)"),
    },
}


def orders(spark: SparkSession, rows: int, shape: str = "even") -> DataFrame:
    """That many orders, spread evenly over the days; nothing is written."""
    # As many parts as days, so that each day is one file whatever machine writes it.
    ids = spark.range(0, rows, 1, DAYS)
    return _orders(ids, FIRST_DAY, f"id * {DAYS} DIV {rows}", shape)


def orders_of_days(spark: SparkSession, first: date, days: range, rows: int) -> DataFrame:
    """That many orders of each of these days, where the first one is day 0."""
    ids = spark.range(days.start * rows, days.stop * rows, 1, min(len(days), DAYS))
    return _orders(ids, first, f"id DIV {rows}")


def _orders(ids: DataFrame, first: date, days_later: str, shape: str = "even") -> DataFrame:
    day = f"date_add(DATE'{first}', CAST({days_later} AS INT)) AS day"
    dated = ids.selectExpr("id", day)
    return dated.selectExpr(*(f"{sql} AS {name}" for name, sql in SHAPES[shape].items()), "day")


def stored_orders(spark: SparkSession, folder: Path, rows: int, shape: str = "even") -> DataFrame:
    """The same from files, which are written first if they are not there yet."""
    content = hashlib.sha256(repr((SHAPES[shape], DAYS)).encode()).hexdigest()[:8]
    path = folder / f"orders-{rows}-{content}"
    if not (path / "_SUCCESS").exists():
        print(f"Writing {rows:,} rows to {path} ...", flush=True)
        orders(spark, rows, shape).write.mode("overwrite").partitionBy("day").parquet(str(path))
    return spark.read.parquet(str(path))
