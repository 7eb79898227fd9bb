"""Builds a guarded asset in a process of its own, which may kill itself at some point.

``python -m tests.integration.guarded.worker FOLDER VERSION KEYS CHANGES SECONDS``: the process ends
at that change of files below the folder, or so many seconds after the build began; 0 is never.
"""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
import json
import os
import signal
import sys
import threading
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


class Session(dg.ConfigurableResource):
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


def found(session: SparkSession, folder: str) -> dict[str, tuple[list[int], list[int]]]:
    """By partition, the ids that readers find, and those in quarantine."""
    io = dq.SparkIOManager(pyspark=Session(), path=folder)
    there: dict[str, tuple[list[int], list[int]]] = {}
    frames = [io.load_partitions(dg.AssetKey(n), None) for n in ("orders", "orders_quarantine")]
    every = [[(row["part"], row["id"]) for row in frame.collect()] for frame in frames]
    for part in PARTS:
        good, bad = (sorted(number for key, number in some if key == part) for some in every)
        there[part] = (good, bad)
    return there


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _kill_at(change: int, folder: str) -> None:
    left = change

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event in CHANGES and str(arguments[0]).startswith(folder):
            left -= 1
            if left == 0:
                _kill()

    sys.addaudithook(hook)


def main() -> None:
    folder, version, keys, change, seconds = sys.argv[1:]
    dq.ensure_java()
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    session.range(1).count()
    session.sparkContext.setLogLevel("OFF")
    Path(folder).mkdir(exist_ok=True)
    if int(change):
        _kill_at(int(change), folder)
    if float(seconds):
        threading.Timer(float(seconds), _kill).start()
    for part in keys.split(";"):
        build(folder, int(version), part.split(","))
    sys.stdout.write(json.dumps("done"))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
