"""Time and Spark jobs of things done in turn, so that a slow moment hits all of them alike."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
    """What one repetition of one thing took, in seconds; CPU of the whole Java process."""

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
    cpu, wall = _java_cpu_seconds(spark), time.perf_counter()
    action()
    wall, cpu = time.perf_counter() - wall, _java_cpu_seconds(spark) - cpu
    nothing: Any = None
    context.setLocalProperty("spark.jobGroup.id", nothing)
    return Lap(wall, cpu, len(context.statusTracker().getJobIdsForGroup(group)))


def _java_cpu_seconds(spark: SparkSession) -> float:
    """Of all threads, those that collect garbage and compile included."""
    java: Any = spark.sparkContext._jvm  # noqa: SLF001 (a benchmark may look inside)
    # The bean's own class is not open to calls from outside, its interface is.
    kind = java.java.lang.Class.forName("com.sun.management.OperatingSystemMXBean")
    bean = java.java.lang.management.ManagementFactory.getPlatformMXBean(kind)
    return float(kind.getMethod("getProcessCpuTime", None).invoke(bean, None)) / 1e9
