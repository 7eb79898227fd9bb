"""Suite G: a guarded asset beside the plain asset of the same rows, both built by Dagster.

Two tables: orders, and one of a hundred columns with a tenth of the rows. All rules count rows,
with actions in turn; about two rows in a hundred break one.
"""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from examples.bench.data import COLUMNS, NUMBERS, TEXTS, orders
from examples.bench.in_dagster import QUIET
from examples.bench.peers.installing import installed
from examples.bench.peers.spark_expectations import SPARK_EXPECTATIONS, guarded
from examples.bench.report import SameJobs, Target
from examples.bench.setting import Actions, Setting, Suite
from examples.bench.stopwatch import Action

SIZES = (30, 200)
WIDE = 100


def wide_table(spark: SparkSession, rows: int) -> DataFrame:
    """A table of a hundred columns, the same every time: one in three is of text."""
    columns = [
        f"concat('v', pmod(xxhash64(id, {n}), 5000)) AS c{n}"
        if n % 3 == 0
        else f"pmod(xxhash64(id, {n}), 1000) AS c{n}"
        for n in range(WIDE)
    ]
    return spark.range(0, rows, 1, 4).selectExpr(*columns)


def rules_of_orders(count: int) -> list[dq.Rule]:
    """That many rules over all columns; one in fifty orders has a quantity of 50."""
    columns = list(COLUMNS)
    rules = [_rule(n, columns[n % len(columns)], n // len(columns)) for n in range(count - 1)]
    return [*rules, dq.RowExpectation(name="few", expectation="quantity < 50", **_acting(0))]


def rules_of_wide(count: int) -> list[dq.Rule]:
    """That many rules over all columns; one row in fifty breaks the first."""
    few = dq.RowExpectation(name="few", expectation="c1 < 980", **_acting(0))
    return [few, *(_wide_rule(n, n % WIDE, n // WIDE) for n in range(count - 1))]


def _rule(n: int, column: str, turn: int) -> dq.Rule:
    name, acting = f"rule_{n}", _acting(n)
    if column in TEXTS:
        match turn % 5:
            case 0 | 2:
                return dq.ColumnValueLengthsInRange(
                    name=name, columns=column, min=1, max=90 + turn, **acting
                )
            case 4:
                pattern = f"[ -~]{{1,{90 + turn}}}"
                return dq.ColumnValuesMatch(name=name, columns=column, pattern=pattern, **acting)
            case _:
                words = [f"none-{turn}", "-"]
                return dq.ColumnValuesNotInSet(name=name, columns=column, values=words, **acting)
    highest = f"{10**15 + turn}" if column in NUMBERS else f"DATE'{2030 + turn}-01-01'"
    if column in NUMBERS and turn % 2 == 0:
        return dq.ColumnValuesInRange(
            name=name, columns=column, min=-1 - turn, max=int(highest), **acting
        )
    text = f"{column} < {highest}"
    return dq.RowExpectation(name=name, expectation=text, null_is="pass", **acting)


def _wide_rule(n: int, column: int, turn: int) -> dq.Rule:
    name, acting = f"rule_{n}", _acting(n)
    if column % 3 == 0:
        return dq.ColumnValueLengthsInRange(
            name=name, columns=f"c{column}", min=1, max=9 + turn, **acting
        )
    return dq.ColumnValuesInRange(
        name=name, columns=f"c{column}", min=-turn, max=1_000 + turn, **acting
    )


def _acting(n: int) -> Any:
    return {"action_if_failed": ("drop", "ignore")[n % 2]}


def build_of(
    frame: DataFrame, folder: Path, rules: Sequence[dq.Rule] | None
) -> Callable[[], dg.ExecuteInProcessResult]:
    """Builds the asset once more: guarded, if there are rules."""

    def rows() -> Any:
        return frame

    asset: Any = (
        dg.asset(name="table")(rows)
        if rules is None
        else dq.guarded_asset(name="table", rules=rules)(rows)
    )
    defs = dg.Definitions(
        assets=[asset],
        resources={"io_manager": dq.SparkIOManager(path=str(folder), keep_replaced_hours=0)},
        jobs=[dg.define_asset_job("build", dg.AssetSelection.all())],
    )
    job, instance = defs.resolve_job_def("build"), dg.DagsterInstance.ephemeral()

    def build() -> dg.ExecuteInProcessResult:
        return job.execute_in_process(instance=instance, run_config=QUIET)

    return build


def _stored(setting: Setting, name: str, frame: DataFrame) -> DataFrame:
    """The same rows from files: what computes them is not what is measured."""
    path = str(setting.scratch / name)
    frame.write.parquet(path)
    return setting.spark.read.parquet(path)


def _in_flight(setting: Setting) -> Actions:
    rows, wide = setting.rows, max(setting.rows // 10, 1)
    print(f"  {rows:,} orders, and {wide:,} rows x {WIDE} columns", flush=True)
    tables = {
        "orders": (orders(setting.spark, rows).coalesce(4), rules_of_orders),
        "wide": (wide_table(setting.spark, wide), rules_of_wide),
    }
    actions: dict[str, Action] = {}
    for name, (frame, rules) in tables.items():
        stored = _stored(setting, name, frame)
        for count in (None, *SIZES):
            folder = setting.scratch / f"{name}-{count}"
            build = build_of(stored, folder, None if count is None else rules(count))
            before = partial(shutil.rmtree, folder, ignore_errors=True)
            actions[_label(name, count)] = Action(build, before)
        if SPARK_EXPECTATIONS.package in setting.peers and name == "orders":
            actions |= _peers(setting, stored)
    return actions


def _peers(setting: Setting, frame: DataFrame) -> Actions:
    """Spark-Expectations on the same orders, where it can be had."""
    package = SPARK_EXPECTATIONS.package
    missing = installed(package, SPARK_EXPECTATIONS.module, setting.folder / "peers")
    if missing is not None:
        print(f"  {missing}", flush=True)
        return {}
    return {
        f"orders, {count} rules, {package}": Action(guarded(frame, rules_of_orders(count)))
        for count in SIZES
    }


def _label(table: str, rules: int | None) -> str:
    return f"{table}, plain" if rules is None else f"{table}, {rules} rules"


SUITE_G = Suite(
    "Suite G: guarded assets",
    _in_flight,
    references=("orders, plain", "wide, plain"),
    verdicts=tuple(
        verdict
        for table in ("orders", "wide")
        for verdict in (
            Target(_label(table, 30), _label(table, None), 1.35),
            Target(_label(table, 200), _label(table, None), 2.0),
            SameJobs(f"rules ({table})", {n: _label(table, n) for n in SIZES}),
        )
    ),
)
