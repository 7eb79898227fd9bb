"""How long rules take, as multiples of work done by hand. Seconds of other machines mean nothing.

Suites: A (everyday rules), W (many rules), B (everyday rules by day), I (a new day among many old
ones), D (what Dagster itself costs), G (guarded assets), T (table diffs), S (memory of the driver),
M (monitoring; without Spark).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from examples.bench import memory, monitoring, page
from examples.bench.chart import write_chart
from examples.bench.data import SHAPES
from examples.bench.peers.beside import PEERS, TIMES, measured_beside
from examples.bench.report import save, table
from examples.bench.setting import Setting, new_session
from examples.bench.stopwatch import Laps, measure
from examples.bench.targets import SUITES, Measured, verdicts

FOLDER = Path(__file__).parents[2] / ".bench"


def main() -> None:
    options = _options()
    if options.page:
        page.write(FOLDER / "results")
        return
    if options.suite == "M":
        monitoring.run_suite(small=options.small)
        return
    if options.suite == "S":
        memory.run_suite(FOLDER / "results", small=options.small)
        return
    with TemporaryDirectory(prefix="dq-bench-") as scratch:
        found = dict(_all(options, Path(scratch)))
    measured = {one: laps for one, laps in found.items() if isinstance(laps, Laps)}
    left_out = {one.name: why for one, why in found.items() if isinstance(why, str)}
    lines = list(verdicts(measured))
    print("\nTargets", *lines, sep="\n  ")
    for name, why in left_out.items():
        print(f"  left out: {name}: {why}")
    if options.small:
        print("  (meant for the full size: with few rows, what each query costs anyway weighs in)")
    named = {one.name: laps for one, laps in measured.items()}
    path = save(FOLDER / "results", vars(options), named, lines, left_out=left_out)
    print(f"\nWritten to {path} and {write_chart(path.with_suffix('.svg'), measured)}")


def _all(options: argparse.Namespace, scratch: Path) -> Iterator[tuple[Measured, Laps | str]]:
    setting = Setting(
        spark=new_session(FOLDER / "warehouse"),
        folder=FOLDER,
        scratch=scratch,
        rows=options.rows,
        rounds=options.repeat,
        small=options.small,
        peers=tuple(() if options.peers is None else options.peers or PEERS),
    )
    for suite in options.suite or SUITES:
        for shape in options.shape or (SHAPES if SUITES[suite].shaped else ["even"]):
            shaped = replace(setting, shape=shape)
            yield Measured(suite, shape), _measured(suite, shaped)
            for package in setting.peers if suite in TIMES else ():
                found = measured_beside(suite, package, shaped)
                lines = [f"  left out: {found}"] if isinstance(found, str) else _beside(found)
                print("\n".join(lines), flush=True)
                yield Measured(suite, shape, package), found


def _beside(laps: Laps) -> list[str]:
    scan, by_hand, *_ = laps.by_name
    return list(table(laps, (scan, by_hand)))


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
        "--peers",
        nargs="*",
        choices=list(PEERS),
        help="with other tools beside suites A, B and G: all that are known where none is named",
    )
    parser.add_argument(
        "--shape", choices=list(SHAPES), nargs=1, help="suites A and B on all of them where omitted"
    )
    parser.add_argument(
        "--suite", choices=(*SUITES, "S", "M"), help="all but S and M where omitted"
    )
    parser.add_argument(
        "--page", action="store_true", help="measure nothing: write docs/benchmarks.md anew"
    )
    options = parser.parse_args()
    options.rows = options.rows or (200_000 if options.small else 5_000_000)
    options.repeat = options.repeat or (3 if options.small else 5)
    if options.rows < 1 or options.repeat < 1:
        parser.error("--rows and --repeat start at 1")
    return options


if __name__ == "__main__":
    main()
