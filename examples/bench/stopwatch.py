"""Seconds and Spark jobs of things done in turn, so that a slow moment hits all of them alike."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from pyspark.sql import SparkSession


@dataclass
class Timing:
    """What the repetitions of one thing took."""

    seconds: list[float] = field(default_factory=list)
    jobs: int = 0

    @property
    def typical(self) -> float:
        return median(self.seconds)


def measure(
    spark: SparkSession, actions: Mapping[str, Callable[[], object]], repetitions: int
) -> dict[str, Timing]:
    """Runs each action that often, each round in another order; the first round only warms up."""
    timings = {name: Timing() for name in actions}
    names = list(actions)
    for turn in range(repetitions + 1):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            seconds, jobs = _once(spark, actions[name])
            if turn:
                timings[name].seconds.append(seconds)
                timings[name].jobs = jobs
        print(f"  round {turn} of {repetitions} done", flush=True)
    return timings


def _once(spark: SparkSession, action: Callable[[], object]) -> tuple[float, int]:
    group = str(uuid.uuid4())
    context = spark.sparkContext
    context.setJobGroup(group, "bench")
    started = time.perf_counter()
    action()
    seconds = time.perf_counter() - started
    nothing: Any = None
    context.setLocalProperty("spark.jobGroup.id", nothing)
    return seconds, len(context.statusTracker().getJobIdsForGroup(group))
