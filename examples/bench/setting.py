"""What a suite is, and what it is given to work with."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from examples.bench.data import COLUMNS, DAYS, stored_orders
from examples.bench.stopwatch import Action, Laps

Actions = Mapping[str, Action]


@dataclass(frozen=True)
class Setting:
    """``folder`` keeps the table for other times, ``scratch`` is gone when all is measured."""

    spark: SparkSession
    folder: Path
    scratch: Path
    rows: int
    rounds: int
    small: bool
    # Other tools that are measured beside ours, where a suite knows of some.
    peers: tuple[str, ...] = ()
    # What the values of the table look like.
    shape: str = "even"

    @cached_property
    def frame(self) -> DataFrame:
        """The table of orders, from files."""
        size = f"{self.rows:,} rows x {len(COLUMNS)} columns x {DAYS} days"
        print(f"  {size}, {self.shape}", flush=True)
        return stored_orders(self.spark, self.folder, self.rows, self.shape)


def new_session(warehouse: Path) -> SparkSession:
    # Tables of a run that was interrupted: Spark makes no new ones where they lie.
    shutil.rmtree(warehouse, ignore_errors=True)
    dq.ensure_java()
    session = (
        SparkSession.builder.master("local[*]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "4g")
        # What is tried on little data is to be what large data goes through.
        .config("spark.dq_dagster.small", "0")
        .config("spark.sql.warehouse.dir", str(warehouse))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session


class Verdict(Protocol):
    """Something to be said of what was measured."""

    def verdict(self, laps: Laps) -> str: ...


@dataclass(frozen=True)
class Suite:
    """Things that are measured in turn; ``actions`` makes sure that all answer rightly."""

    title: str
    actions: Callable[[Setting], Actions]
    references: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    # Whether it is measured on tables of all shapes.
    shaped: bool = False
