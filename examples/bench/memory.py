"""Suite S: whether the driver needs more memory as rows and partitions become more.

In local mode one Java process is driver and executors at once, so its heap in the midst of work
says nothing of the driver. Three things do, each taken in a process of its own:

- what tasks sent to the driver: Spark itself limits that by ``spark.driver.maxResultSize``;
- what Java still holds when all is judged, the results included, after collecting garbage;
- the most that Python ever held, which is a driver only: workers are other processes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import SparkSession

from examples.bench.answers import evaluate_days
from examples.bench.data import FIRST_DAY, orders_of_days
from examples.bench.report import save
from examples.bench.setting import new_session

MB = 1_000_000
# Rows and partitions; the first is what all others are compared with.
CASES = ((1_000_000, 20), (5_000_000, 20), (20_000_000, 20), (1_000_000, 2_000))
SMALL_CASES = ((4_000, 20), (40_000, 20), (4_000, 200))
_COLLECTIONS = 6
# "Flat", with room for what differs from run to run.
MOST = 1.25


@dataclass(frozen=True)
class Footprint:
    """Bytes that the driver had to hold for one evaluation."""

    rows: int
    partitions: int
    sent: int
    java: int
    python: int

    @property
    def held(self) -> int:
        return self.java + self.python


def run_suite(folder: Path, *, small: bool) -> None:
    print("\nSuite S: memory of the driver, 30 rules on partitions and the whole table", flush=True)
    found = [_in_new_process(*case) for case in (SMALL_CASES if small else CASES)]
    print("\n".join(memory_table(found)))
    lines = list(memory_verdicts(found))
    print("\nTargets", *lines, sep="\n  ")
    path = save(folder, {"suite": "S", "small": small}, {}, lines, memory=[*map(asdict, found)])
    print(f"\nWritten to {path}")


def memory_table(found: list[Footprint]) -> Iterator[str]:
    titles = ("rows", "partitions", "sent MB", "Java MB", "Python MB", "x the first")
    yield "  " + "".join(f"{title:>13}" for title in titles)
    for one in found:
        sizes = "".join(f"{size / MB:>13.1f}" for size in (one.sent, one.java, one.python))
        ratio = one.held / found[0].held
        yield f"  {one.rows:>13,}{one.partitions:>13,}{sizes}{ratio:>13.2f}"


def memory_verdicts(found: list[Footprint]) -> Iterator[str]:
    first, *others = found
    for one in others:
        ratio = one.held / first.held
        held = "held  " if ratio <= MOST else "MISSED"
        yield (
            f"{held}  the driver holds {ratio:.2f} x as much for {one.rows:,} rows in "
            f"{one.partitions:,} partitions as for {first.rows:,} in {first.partitions:,} "
            f"(at most {MOST:.2f})"
        )


def footprint(spark: SparkSession, rows: int, partitions: int) -> Footprint:
    """Of an evaluation in this process, which should have done nothing before."""
    frame = orders_of_days(spark, FIRST_DAY, range(partitions), rows // partitions)
    outcomes = evaluate_days(frame)
    # Asked for while the outcomes are still held.
    java = _java_heap(spark)
    if len({one.partition for one in outcomes}) != partitions + 1:
        raise SystemExit(f"Not all of {partitions:,} partitions were judged")
    return Footprint(rows, partitions, _sent(spark), java, _most_of_python())


def _java_heap(spark: SparkSession) -> int:
    """The least of several times: Spark lets go of what a first collection found, and later."""
    java: Any = spark.sparkContext._jvm  # noqa: SLF001 (a benchmark may look inside)
    bean = java.java.lang.management.ManagementFactory.getMemoryMXBean()
    found = []
    for _ in range(_COLLECTIONS):
        java.java.lang.System.gc()
        found.append(int(bean.getHeapMemoryUsage().getUsed()))
        time.sleep(0.3)
    return min(found)


def _sent(spark: SparkSession) -> int:
    """By all tasks, as Spark counts it."""
    context: Any = spark.sparkContext
    scala = context._jsc.sc()  # noqa: SLF001 (a benchmark may look inside)
    scala.listenerBus().waitUntilEmpty()
    no_quantiles = context._gateway.new_array(context._jvm.double, 0)  # noqa: SLF001
    nothing = context._jvm.java.util.ArrayList()  # noqa: SLF001
    stages = scala.statusStore().stageList(nothing, False, False, no_quantiles, nothing)  # noqa: FBT003 (Java)
    return sum(int(stages.apply(n).resultSize()) for n in range(stages.size()))


def _most_of_python() -> int:
    """By way of Linux; ``getrusage`` would count the process that started this one, too."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    [most] = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(most) * 1024


def _in_new_process(rows: int, partitions: int) -> Footprint:
    print(f"  {rows:,} rows in {partitions:,} partitions ...", flush=True)
    with TemporaryDirectory(prefix="dq-bench-") as scratch:
        file = Path(scratch, "footprint.json")
        command = [sys.executable, "-m", "examples.bench.memory", str(rows), str(partitions)]
        subprocess.run([*command, str(file)], check=True)
        found: Mapping[str, int] = json.loads(file.read_text(encoding="utf-8"))
    return Footprint(**found)


def _main(rows: str, partitions: str, file: str) -> None:
    """In the new process."""
    spark = new_session(Path(file).parent / "warehouse")
    found = footprint(spark, int(rows), int(partitions))
    Path(file).write_text(json.dumps(asdict(found)), encoding="utf-8")


if __name__ == "__main__":
    _main(*sys.argv[1:])
