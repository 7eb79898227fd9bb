"""Time and Spark jobs of things done in turn, so that a slow moment hits all of them alike."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

from pyspark.sql import SparkSession

Clock = Literal["wall", "cpu"]


def _nothing() -> None:
    """What most actions need done before."""


@dataclass(frozen=True)
class Action:
    """What is measured, and what has to be done before each time, which is not."""

    run: Callable[[], object]
    before: Callable[[], object] = _nothing


@dataclass(frozen=True)
class Lap:
    """What one repetition of one thing took, in seconds; CPU of Java and Python."""

    wall: float
    cpu: float
    jobs: int

    def on(self, clock: Clock) -> float:
        return self.wall if clock == "wall" else self.cpu


@dataclass(frozen=True)
class Laps:
    """The repetitions of several things; those of one number were done in one round."""

    by_name: Mapping[str, tuple[Lap, ...]]

    def seconds(self, name: str, clock: Clock) -> float:
        return median(lap.on(clock) for lap in self.by_name[name])

    def jobs(self, name: str) -> int:
        return max(lap.jobs for lap in self.by_name[name])

    def ratio(self, name: str, reference: str, clock: Clock) -> float:
        """Taken round by round: what slows the machine down slows both."""
        pairs = zip(self.by_name[name], self.by_name[reference], strict=True)
        return median(one.on(clock) / other.on(clock) for one, other in pairs)


def read_laps(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> Laps:
    """From JSON."""
    return Laps({name: tuple(Lap(**lap) for lap in laps) for name, laps in found.items()})


def measure(spark: SparkSession, actions: Mapping[str, Action], rounds: int) -> Laps:
    """Does all of them that often, each time in another order; a first round only warms up."""
    laps: dict[str, tuple[Lap, ...]] = dict.fromkeys(actions, ())
    names = list(actions)
    for turn in range(rounds + 1):
        print(f"  round {turn} of {rounds}:" if turn else "  warming up:", end="", flush=True)
        start = turn % len(names)
        for name in names[start:] + names[:start]:
            print(f" {name}", end="", flush=True)
            actions[name].before()
            lap = _lap(spark, actions[name].run)
            print(f" {lap.wall:.1f} s;", end="", flush=True)
            if turn:
                laps[name] += (lap,)
        print()
    return Laps(laps)


def _lap(spark: SparkSession, action: Callable[[], object]) -> Lap:
    group = str(uuid.uuid4())
    context = spark.sparkContext
    context.setJobGroup(group, "bench")
    cpu, wall = _cpu_seconds(spark), time.perf_counter()
    action()
    wall, cpu = time.perf_counter() - wall, _cpu_seconds(spark) - cpu
    nothing: Any = None
    context.setLocalProperty("spark.jobGroup.id", nothing)
    return Lap(wall, cpu, len(context.statusTracker().getJobIdsForGroup(group)))


def _cpu_seconds(spark: SparkSession) -> float:
    """Of Java, with the threads that collect garbage and compile, and of Python on its workers."""
    java: Any = spark.sparkContext._jvm  # noqa: SLF001 (a benchmark may look inside)
    # The bean's own class is not open to calls from outside, its interface is.
    kind = java.java.lang.Class.forName("com.sun.management.OperatingSystemMXBean")
    bean = java.java.lang.management.ManagementFactory.getPlatformMXBean(kind)
    mine = float(kind.getMethod("getProcessCpuTime", None).invoke(bean, None)) / 1e9
    return mine + _seconds_of_children(java.java.lang.ProcessHandle.current().pid())


def _seconds_of_children(process: int) -> float:
    """What the processes below another one took, those that ended included; by way of Linux."""
    ticks: dict[int, list[tuple[int, int]]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # What follows the name: state, parent, ..., and the four times from the 12th on.
            fields = file.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            children = ticks.setdefault(int(fields[1]), [])
            children.append((int(file.parent.name), sum(map(int, fields[11:15]))))
    found, below = 0, [process]
    while below:
        for child, its in ticks.get(below.pop(), ()):
            found += its
            below.append(child)
    return found / os.sysconf("SC_CLK_TCK")
