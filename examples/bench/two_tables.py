"""Suite T: two tables compared by their keys, and by hand with one full outer join.

Three shapes: orders; orders of which every row is changed; and a narrow table of long texts. What
is done by hand counts the same rows and columns, and trusts that keys are unique. Then a table of a
hundred days of which three differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import dq_dagster as dq
from examples.bench.data import orders
from examples.bench.report import Target
from examples.bench.setting import Actions, Setting, Suite
from examples.bench.stopwatch import Action

DAYS = 100
CHANGED_DAYS = (7, 42, 99)
KEY = "order_id"
SHAPES = ("orders", "all changed", "long texts")

Counts = dict[str, int]


def pair(shape: str, frame: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Two tables that differ: in a few rows, in all of them, or in a few of long texts."""
    if shape == "long texts":
        left = frame.selectExpr(
            KEY, "repeat(md5(CAST(order_id AS STRING)), 8) AS t", "email", "phone"
        )
        right = left.withColumn("t", F.expr(f"if({KEY} % 100 = 7, upper(t), t)"))
    elif shape == "all changed":
        left, right = frame, frame.withColumn("quantity", F.expr("quantity + 1"))
    else:
        left = frame
        right = frame.withColumn("amount", F.expr(f"if({KEY} % 100 = 7, amount + 1, amount)"))
    return left.where(f"{KEY} % 997 != 1"), right.where(f"{KEY} % 991 != 1")


def of_days(frame: DataFrame) -> tuple[DataFrame, DataFrame]:
    """A table of a hundred days, and the same with a change on three of them."""
    left = frame.drop("day").withColumn("day", F.expr(f"CAST({KEY} % {DAYS} AS INT)"))
    days = ", ".join(map(str, CHANGED_DAYS))
    changed = f"if(day IN ({days}) AND {KEY} % 3 = 0, amount + 1, amount)"
    return left, left.withColumn("amount", F.expr(changed))


def by_hand(left: DataFrame, right: DataFrame) -> Counts:
    """One full outer join and one aggregation, as people write it."""
    columns = [name for name in left.columns if name != KEY]
    joined = left.alias("l").join(right.alias("r"), F.expr(f"l.{KEY} = r.{KEY}"), "full_outer")
    both = f"l.{KEY} IS NOT NULL AND r.{KEY} IS NOT NULL"
    differs = {name: f"{both} AND NOT (l.{name} <=> r.{name})" for name in columns}
    counted = {
        "only_left": f"r.{KEY} IS NULL",
        "only_right": f"l.{KEY} IS NULL",
        "changed": " OR ".join(f"({sql})" for sql in differs.values()),
        **differs,
    }
    row = joined.selectExpr(*(f"count_if({sql}) AS {name}" for name, sql in counted.items()))
    return dict(row.collect()[0].asDict())


def by_diff(left: DataFrame, right: DataFrame, **further: Any) -> Counts:
    found = dq.diff(left, right, keys=KEY, **further)
    rows = {"only_left": found.only_left, "only_right": found.only_right, "changed": found.changed}
    return {**rows, **{name: one.changed for name, one in found.columns.items()}}


def require_same_counts(what: str, found: Sequence[Counts]) -> None:
    for other in found[1:]:
        if other != found[0]:
            raise SystemExit(f"The counts of {what} differ: {found[0]} by hand, {other} by dq.diff")


def _stored(setting: Setting, name: str, frame: DataFrame, by: str | None = None) -> DataFrame:
    path = str(setting.scratch / name)
    writer = frame.repartition(4).write if by is None else frame.repartition(4, by).write
    (writer if by is None else writer.partitionBy(by)).parquet(path)
    return setting.spark.read.parquet(path)


def _two_tables(setting: Setting) -> Actions:
    print(f"  {setting.rows:,} rows in each table", flush=True)
    frame = orders(setting.spark, setting.rows)
    actions: dict[str, Action] = {}
    for shape in SHAPES:
        sides = [
            _stored(setting, f"{shape}-{side}", one)
            for side, one in zip(("left", "right"), pair(shape, frame), strict=True)
        ]
        actions |= _measured(shape, sides, {"dq.diff": by_diff})
    left, right = (
        _stored(setting, f"days-{side}", one, by="day")
        for side, one in zip(("left", "right"), of_days(frame), strict=True)
    )
    hashes = tuple(dq.row_hashes(one, partition_by="day") for one in (left, right))
    return actions | _measured(
        "days",
        [left, right],
        {
            "without hashes": lambda one, other: by_diff(one, other, partition_by="day"),
            "with hashes": lambda one, other: by_diff(
                one, other, partition_by="day", hashes=hashes
            ),
        },
    )


def _measured(
    what: str,
    sides: Sequence[DataFrame],
    ways: dict[str, Callable[[DataFrame, DataFrame], Counts]],
) -> dict[str, Action]:
    left, right = sides
    require_same_counts(what, [by_hand(left, right), *(way(left, right) for way in ways.values())])
    every = {"by hand": by_hand, **ways}
    return {
        f"{what}, {name}": Action(lambda way=way: way(left, right))  # type: ignore[misc]
        for name, way in every.items()
    }


SUITE_T = Suite(
    "Suite T: table diffs",
    _two_tables,
    references=tuple(f"{what}, by hand" for what in (*SHAPES, "days")),
    verdicts=(
        *(Target(f"{shape}, dq.diff", f"{shape}, by hand", 1.2) for shape in SHAPES),
        Target("days, with hashes", "days, by hand", 0.15),
        Target("days, without hashes", "days, by hand", 1.0),
    ),
)
