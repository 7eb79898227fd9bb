"""Builds a guarded asset in a process of its own, which may be killed at some point.

``python -m tests.integration.guarded.worker build FOLDER VERSION KEYS`` builds; KEYS are partitions
with commas between them, and semicolons between runs. ``... kill FOLDER SEED POINTS`` builds again
and again: each time a copy of the process is killed at a random point, and another one tries anew.
"""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
import json
import os
import random
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
from pyspark.sql import SparkSession

import dq_dagster as dq
from tests.integration.calendar import RANGE_END, RANGE_START

PARTS = ["p0", "p1", "p2", "p3"]
ROWS = 6
CHANGES = {"open", "os.mkdir", "os.rename", "os.remove", "os.utime", "os.rmdir"}
RULES: list[Any] = [
    dq.RowExpectation(name="good", expectation="amount > 0", action_if_failed="drop"),
    dq.ColumnValuesInRange(name="small", columns="amount", max=4),
    dq.ColumnUnique(name="unique", columns="id", action_if_failed="drop"),
    dq.RecordCountInRange(name="rows", min=1, on="validated", action_if_failed="fail"),
]


class Session:
    """The session of the process."""

    @property
    def spark_session(self) -> Any:
        return SparkSession.active()


def rows_of(version: int, part: str) -> list[tuple[str, int, int]]:
    """Of each partition and version others; the first is bad, the last bad but kept."""
    first = version * 1_000 + PARTS.index(part) * 10
    return [(part, first + n, n or -1) for n in range(ROWS)]


def expected(version: int, part: str) -> tuple[list[int], list[int]]:
    """The ids that are published, and those that are quarantined."""
    ids = [number for _, number, _ in rows_of(version, part)]
    return ids[1:], [ids[0], ids[-1]]


def asset(version: int, stats: str) -> dg.AssetsDefinition:
    @dq.guarded_asset(
        rules=RULES,
        partitions_def=dg.StaticPartitionsDefinition(PARTS),
        backfill_policy=dg.BackfillPolicy.single_run(),
        stats=dq.StatsTable(stats),
        metadata={"partition_expr": "part"},
    )
    def orders(context: dg.AssetExecutionContext) -> Any:
        rows = [row for part in context.partition_keys for row in rows_of(version, part)]
        frame = SparkSession.active().createDataFrame(rows, "part string, id int, amount int")
        return frame.repartition(2)

    return orders


def build(folder: str, version: int, keys: list[str]) -> dg.ExecuteInProcessResult:
    tags = {RANGE_START: keys[0], RANGE_END: keys[-1]}
    return dg.materialize(
        [asset(version, f"{folder}/stats")],
        resources={"io_manager": dq.SparkIOManager(pyspark=Session(), path=folder)},
        tags=tags,
    )


def found(folder: str) -> dict[str, tuple[list[int], list[int]]]:
    """By partition, the ids that readers find, and those in quarantine."""
    io = dq.SparkIOManager(pyspark=Session(), path=folder)
    there: dict[str, tuple[list[int], list[int]]] = {}
    frames = [io.load_partitions(dg.AssetKey(n), None) for n in ("orders", "orders_quarantine")]
    every = [[(row["part"], row["id"]) for row in frame.collect()] for frame in frames]
    for part in PARTS:
        good, bad = (sorted(number for key, number in some if key == part) for some in every)
        there[part] = (good, bad)
    return there


def versions(folder: str) -> dict[str, tuple[int, int]]:
    """By partition, the version of what is published, and of its quarantine.

    Fails if one is not exactly what was written of one version.
    """
    there = {}
    for part, (good, bad) in found(folder).items():
        of_good, of_bad = good[0] // 1_000, bad[0] // 1_000
        assert (good, bad) == (expected(of_good, part)[0], expected(of_bad, part)[1]), part
        there[part] = (of_good, of_bad)
    return there


@dataclass(frozen=True)
class Point:
    """Where a process ends: at a change of files below the folder, or after some seconds."""

    change: int = 0
    seconds: float = 0

    def arm(self, folder: str) -> list[str]:
        """What has changed so far is in the list."""
        changes: list[str] = []

        def hook(event: str, arguments: tuple[object, ...]) -> None:
            if event in CHANGES and str(arguments[0]).startswith(folder):
                changes.append(event)
                if len(changes) == self.change:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        if self.seconds:
            signal.setitimer(signal.ITIMER_REAL, self.seconds)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        return changes


def in_a_copy(folder: str, version: int, point: Point) -> int:
    """Builds in a copy of this process, with the same Spark; the signal that ended it, or 0."""
    return measured(folder, version, point)[0]


def measured(folder: str, version: int, point: Point) -> tuple[int, int, float]:
    """The same, with the number of changes that it made if it came to its end, and its seconds."""
    began = time.monotonic()
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        with os.fdopen(reader) as said:
            count = int(said.read() or 0)
        ended = os.WTERMSIG(os.waitpid(child, 0)[1])
        return ended, count, time.monotonic() - began
    # Connections of its own to Spark: those of the original must not break with it.
    context: Any = SparkSession.active().sparkContext
    context._gateway._gateway_client.deque.clear()  # noqa: SLF001 (there is no other way)
    changes = point.arm(folder)
    done = build(folder, version, PARTS).success
    os.write(writer, str(len(changes)).encode())
    os._exit(0 if done else 1)


def kill_at_points(folder: str, seed: int, points: int) -> dict[str, int]:
    """How often it was killed, and how many different states that left; raises if one is wrong."""
    chance = random.Random(seed)
    assert in_a_copy(folder, 1, Point()) == 0
    # The second is like those to come: there is something to replace, and Spark is warm.
    ended, changes, seconds = measured(folder, 2, Point())
    assert (ended, changes > 20) == (0, True)
    version, killed, states = 2, 0, set()
    for number in range(points):
        old, version = version, version + 1
        # In the end Python renames files; before that Spark writes them.
        point = Point(change=chance.randint(1, changes))
        if number % 3 == 2:
            point = Point(seconds=chance.uniform(0.1, seconds))
        ended = in_a_copy(folder, version, point)
        killed += ended != 0
        there = versions(folder)
        for good, bad in there.values():
            # The old or the new; and what is new has its quarantine.
            assert {good, bad} <= {old, version}, (point, there)
            assert good <= bad, (point, there)
        assert ended or set(there.values()) == {(version, version)}, (point, there)
        states.add(tuple((good - old, bad - old) for good, bad in there.values()))
        version += 1
        assert in_a_copy(folder, version, Point()) == 0
        assert set(versions(folder).values()) == {(version, version)}, point
        assert not list(Path(folder).glob("*/.publishing/*.json")), point
    return {"killed": killed, "states": len(states)}


def main() -> None:
    task, folder, *arguments = sys.argv[1:]
    dq.ensure_java()
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    session.range(1).count()
    session.sparkContext.setLogLevel("OFF")
    if task == "kill":
        answer: Any = kill_at_points(folder, *map(int, arguments))
    else:
        version, keys = arguments
        answer = [build(folder, int(version), some.split(",")).success for some in keys.split(";")]
    sys.stdout.write(f"\n{json.dumps(answer)}\n")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
