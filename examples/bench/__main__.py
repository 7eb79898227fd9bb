"""How long rules take, as multiples of work done by hand. Seconds of other machines mean nothing.

Suites: A (everyday rules), W (many rules), B (everyday rules by day), I (a new day among many old
ones), D (what Dagster itself costs), G (guarded assets), T (table diffs), M (monitoring; without
Spark).
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

import dq_dagster as dq
from examples.bench.data import SHAPES
from examples.bench.days import SUITE_B
from examples.bench.everyday import SUITE_A, SUITE_W
from examples.bench.growing import SUITE_I
from examples.bench.in_dagster import SUITE_D
from examples.bench.in_flight import SUITE_G
from examples.bench.monitoring import run_suite
from examples.bench.report import save, table
from examples.bench.setting import Setting
from examples.bench.stopwatch import Laps, measure
from examples.bench.two_tables import SUITE_T

FOLDER = Path(__file__).parents[2] / ".bench"
SUITES = {
    "A": SUITE_A,
    "W": SUITE_W,
    "B": SUITE_B,
    "I": SUITE_I,
    "D": SUITE_D,
    "G": SUITE_G,
    "T": SUITE_T,
}


def main() -> None:
    options = _options()
    if options.suite == "M":
        run_suite(small=options.small)
        return
    with TemporaryDirectory(prefix="dq-bench-") as scratch:
        setting = Setting(
            spark=_session(),
            folder=FOLDER,
            scratch=Path(scratch),
            rows=options.rows,
            rounds=options.repeat,
            small=options.small,
            peers=options.peers,
        )
        measured = {
            (name, shape): _measured(name, replace(setting, shape=shape))
            for name in options.suite or SUITES
            for shape in (options.shape or (SHAPES if SUITES[name].shaped else ["even"]))
        }
    verdicts = [
        f"{each.verdict(laps)} [{shape}]"
        for (name, shape), laps in measured.items()
        for each in SUITES[name].verdicts
    ]
    print("\nTargets", *verdicts, sep="\n  ")
    if options.small:
        print("  (meant for the full size: with few rows, what each query costs anyway weighs in)")
    named = {f"{name} {shape}": laps for (name, shape), laps in measured.items()}
    print(f"\nWritten to {save(FOLDER / 'results', vars(options), named, verdicts)}")


def _measured(name: str, setting: Setting) -> Laps:
    suite = SUITES[name]
    print(f"\n{suite.title}", flush=True)
    laps = measure(setting.spark, suite.actions(setting), setting.rounds)
    print("\n".join(table(laps, suite.references)), flush=True)
    return laps


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./dev bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--small", action="store_true", help="a quick try with 200,000 rows")
    parser.add_argument("--rows", type=int, help="5,000,000 where omitted")
    parser.add_argument("--repeat", type=int, help="measured rounds: 5 where omitted, 3 if small")
    parser.add_argument(
        "--peers", action="store_true", help="with Spark-Expectations beside suite G"
    )
    parser.add_argument(
        "--shape", choices=list(SHAPES), nargs=1, help="suites A and B on all of them where omitted"
    )
    parser.add_argument("--suite", choices=(*SUITES, "M"), help="all but M where omitted")
    options = parser.parse_args()
    options.rows = options.rows or (200_000 if options.small else 5_000_000)
    options.repeat = options.repeat or (3 if options.small else 5)
    if options.rows < 1 or options.repeat < 1:
        parser.error("--rows and --repeat start at 1")
    return options


def _session() -> SparkSession:
    dq.ensure_java()
    session = (
        SparkSession.builder.master("local[*]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "4g")
        # What is tried on little data is to be what large data goes through.
        .config("spark.dq_dagster.small", "0")
        .config("spark.sql.warehouse.dir", str(FOLDER / "warehouse"))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session


if __name__ == "__main__":
    main()
