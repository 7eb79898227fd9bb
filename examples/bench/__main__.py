"""How long rules take, as multiples of reading the table once. Seconds mean nothing elsewhere."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from examples.bench.data import COLUMNS, table
from examples.bench.stopwatch import measure
from examples.bench.suites import mixed_rules

FOLDER = Path(__file__).parents[2] / ".bench"
SIZES = (1, 30, 60, 80, 100, 200, 300, 1_000, 3_000)


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="a quick look: fewer rows and rules")
    options = parser.parse_args()
    sizes = SIZES if not options.small else SIZES[:7]
    rows = options.rows if not options.small else 200_000
    spark = _session()
    frame = table(spark, FOLDER, rows)
    print(f"{rows:,} rows x {COLUMNS + 1} columns, {options.repetitions} repetitions")
    actions: dict[str, Callable[[], object]] = {"scan": partial(_scan, frame)}
    actions |= {_label(size): partial(_evaluate, frame, size) for size in sizes}
    timings = measure(spark, actions, options.repetitions)
    scan = timings["scan"].typical
    print(f"{'what':<14}{'x scan':>9}{'seconds':>10}{'jobs':>6}")
    for name, timing in timings.items():
        ratio = timing.typical / scan
        print(f"{name:<14}{ratio:>9.2f}{timing.typical:>10.2f}{timing.jobs:>6}")


def _label(size: int) -> str:
    return "1 rule" if size == 1 else f"{size:,} rules"


def _scan(frame: DataFrame) -> object:
    return frame.selectExpr(*(f"count(c{n})" for n in range(COLUMNS))).collect()


def _evaluate(frame: DataFrame, size: int) -> object:
    result = dq.evaluate(frame, mixed_rules(size))
    assert result.ok, result  # noqa: S101 (a wrong answer must not count as a fast one)
    return result


def _session() -> SparkSession:
    dq.ensure_java()
    session = (
        SparkSession.builder.master("local[*]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "4g")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session


if __name__ == "__main__":
    main()
