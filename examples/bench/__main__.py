"""How long rules take, as multiples of work done by hand. Seconds mean nothing elsewhere."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from examples.bench.answers import evaluate, require_equal_answers
from examples.bench.data import COLUMNS, DAYS, stored_orders
from examples.bench.references import SCANNED, by_hand, scan
from examples.bench.report import Target, save, table
from examples.bench.stopwatch import Laps, measure
from examples.bench.suites import EVERYDAY, IN_ONE_LOOK, many_rules

FOLDER = Path(__file__).parents[2] / ".bench"
SCAN, BY_HAND = "L0 (one scan)", "L1 (by hand)"
ALL, ONE_LOOK = f"{len(EVERYDAY)} rules", f"{len(IN_ONE_LOOK)} rules of one look"
SIZES = (60, 80, 100, 120, 300, 1_000)
TARGETS = {
    "A": (Target(ALL, BY_HAND, 1.0, aim=0.75), Target(ONE_LOOK, SCAN, 1.5)),
    # In proportion, 120 rules take twice as long as 60: whatever takes longer is a cliff.
    "W": (
        *(Target(f"{size} rules", "60 rules", 2.0) for size in (80, 100, 120)),
        Target("1000 rules", "100 rules", 8.0),
    ),
}
REFERENCES = {"A": (SCAN, BY_HAND), "W": (SCAN, "100 rules")}
TITLES = {"A": "Suite A: everyday rules", "W": "Suite W: many rules"}
Actions = dict[str, Callable[[], object]]


def main() -> None:
    options = _options()
    spark = _session()
    frame = stored_orders(spark, FOLDER, options.rows)
    print(f"{options.rows:,} rows x {len(COLUMNS)} columns x {DAYS} days", flush=True)
    measured: dict[str, Laps] = {}
    verdicts: list[str] = []
    for suite in options.suite or "AW":
        print(f"\n{TITLES[suite]}", flush=True)
        laps = measure(spark, _actions(suite, frame), options.repeat)
        print("\n".join(table(laps, REFERENCES[suite])), flush=True)
        measured[suite] = laps
        verdicts += [target.verdict(laps) for target in TARGETS[suite]]
    print("\nTargets", *verdicts, sep="\n  ")
    if options.small:
        print("  (meant for the full size: with few rows, what each query costs anyway weighs in)")
    print(f"\nWritten to {save(FOLDER / 'results', vars(options), measured, verdicts)}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--small", action="store_true", help="a quick look, at 200,000 rows")
    parser.add_argument("--rows", type=int, help="5,000,000 where omitted")
    parser.add_argument("--repeat", type=int, help="measured rounds: 5 where omitted, 3 if small")
    parser.add_argument("--suite", choices=("A", "W"), help="both where omitted")
    options = parser.parse_args()
    options.rows = options.rows or (200_000 if options.small else 5_000_000)
    options.repeat = options.repeat or (3 if options.small else 5)
    if options.rows < 1 or options.repeat < 1:
        parser.error("--rows and --repeat start at 1")
    return options


def _actions(suite: str, frame: DataFrame) -> Actions:
    if suite == "A":
        require_equal_answers(frame)
        return {
            SCAN: partial(scan, frame, SCANNED),
            BY_HAND: partial(by_hand, frame),
            ALL: partial(evaluate, frame, EVERYDAY),
            ONE_LOOK: partial(evaluate, frame, IN_ONE_LOOK),
        }
    actions: Actions = {SCAN: partial(scan, frame, list(COLUMNS))}
    return actions | {f"{n} rules": partial(evaluate, frame, many_rules(n)) for n in SIZES}


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
