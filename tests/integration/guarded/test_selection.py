"""What a run is about: the asset alone, its checks alone, some of them, its quarantine alone."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from tests.integration.calendar import DAILY, day
from tests.integration.guarded.gate import (
    ORDERS,
    QUARANTINE,
    SCHEMA,
    Gate,
    built,
    judged,
    orders,
    positive,
    said,
    why,
)

RULES: list[Any] = [
    positive(),
    dq.ColumnUnique(name="unique", columns="amount"),
    dq.RecordCountInRange(name="rows", min=3, scope="both"),
]


@pytest.fixture
def gate(spark: SparkSession, tmp_path: Path) -> Gate:
    return Gate(tmp_path, orders(spark, 5, -1, 6, 6), RULES, error_drop_threshold=0.5)


def files(folder: Path) -> dict[str, int]:
    return {
        str(path): path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock"
    }


def test_the_checks_alone_judge_what_is_stored_and_write_nothing(
    gate: Gate, tmp_path: Path
) -> None:
    never = gate.build(job="checks")
    assert set(judged(never).values()) <= {"Empty", "Error"}
    gate.build()
    before = files(tmp_path)
    calls = []
    gate.value = lambda *_: calls.append(1)
    run = gate.build(job="checks")
    assert run.success
    assert not calls
    assert built(run) == []
    assert said(run) == {
        "positive": "0 of 3 rows (0 %) do not meet 'amount > 0' (none allowed).",
        "unique": "2 of 3 values (66.67 %) of 'amount' are not unique (none allowed).",
        "rows": "The number of rows is 3, as expected (at least 3).",
        "error_drop_threshold": (
            "Nothing to judge: rows are dropped only while the asset is built."
        ),
    }
    assert files(tmp_path) == before
    assert len(gate.stats()) == 1


def test_the_asset_alone_is_guarded_all_the_same(gate: Gate) -> None:
    run = gate.build(job="asset_alone")
    assert run.success
    assert judged(run) == {}
    # Its quarantine is written with it, whether it is selected or not, and Dagster knows of that.
    assert built(run) == [("orders", None), ("orders_quarantine", None)]
    assert gate.ids() == [1, 3, 4]
    assert gate.quarantined() == {
        2: ("left_out", ["positive"]),
        3: ("kept", ["unique"]),
        4: ("kept", ["unique"]),
    }
    assert len(gate.stats()[0]["rules"]) == 4


def test_the_asset_and_one_check(gate: Gate) -> None:
    job = dg.define_asset_job(
        "some",
        selection=dg.AssetSelection.assets(ORDERS).without_checks()
        | dg.AssetSelection.checks(dg.AssetCheckKey(ORDERS, "unique")),
    )
    gate.defs = dg.Definitions.merge(gate.defs, dg.Definitions(jobs=[job]))
    run = gate.build(job="some")
    assert run.success
    assert judged(run) == {"unique": "Error"}
    assert gate.ids() == [1, 3, 4]


def test_the_quarantine_alone_says_what_to_do(gate: Gate) -> None:
    job = dg.define_asset_job(
        "kept", selection=dg.AssetSelection.assets(QUARANTINE).without_checks()
    )
    gate.defs = dg.Definitions.merge(gate.defs, dg.Definitions(jobs=[job]))
    run = gate.build(job="kept")
    assert why(run) == (
        "'orders_quarantine' is written when 'orders' is built: materialize 'orders'."
    )
    assert built(run) == []


def test_checks_alone_of_partitions(spark: SparkSession, tmp_path: Path) -> None:
    gate = Gate(
        tmp_path,
        lambda keys: {key: orders(spark, 5, -1, 6, 6) for key in keys},
        RULES,
        partitions_def=DAILY,
    )
    gate.build(day(1), day(2))
    before = files(tmp_path)
    run = gate.build(job="checks", tags={"dagster/partition": day(2)})
    assert run.success
    assert judged(run) == {
        ("positive", day(2)): "Ok",
        ("unique", day(2)): "Error",
        ("rows", day(2)): "Ok",
        "rows__dataset": "Ok",
    }
    assert said(run)["rows__dataset"] == "The number of rows is 6, as expected (at least 3)."
    assert files(tmp_path) == before
    none = gate.build(job="checks")
    assert why(none).startswith("Checks of asset 'orders' judge single partitions")


def test_checks_of_its_own_are_judged_by_the_build_alone(
    spark: SparkSession, tmp_path: Path
) -> None:
    @dq.guarded_asset(rules=RULES, check_specs=[dg.AssetCheckSpec("mine", asset="orders")])
    def orders():  # type: ignore[no-untyped-def]  # noqa: ANN202
        return dg.MaterializeResult(
            value=spark.createDataFrame([(1, 5)], SCHEMA),
            check_results=[dg.AssetCheckResult(check_name="mine", passed=True)],
        )

    gate = Gate(tmp_path, orders, RULES)
    gate.defs = dg.Definitions(
        assets=[orders],
        resources={"io_manager": gate.io},
        jobs=[
            dg.define_asset_job("checks", selection=dg.AssetSelection.all_asset_checks()),
            dg.define_asset_job(
                "asset_alone", selection=dg.AssetSelection.assets(ORDERS).without_checks()
            ),
        ],
    )
    assert set(judged_names(gate.build())) == {"mine", "positive", "unique", "rows"}
    run = gate.build(job="checks")
    assert judged_names(run) == {"positive", "unique", "rows"}
    alone = gate.build(job="asset_alone")
    assert alone.success
    # The function says so whenever it is called.
    assert judged_names(alone) == {"mine"}


def judged_names(run: dg.ExecuteInProcessResult) -> set[str]:
    return {one.check_name for one in run.get_asset_check_evaluations()}
