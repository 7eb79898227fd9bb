"""The example shop: a real run of its job, and what its checks say about the planted defects."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest
from rich.console import Console

import dq_dagster as dq
from definitions import defs
from dq_dagster.rules.base.column_rules import ColumnStatisticRule
from examples.shop import demo, rules
from tests.examples.shop_run import DEFECTS as ALL_DEFECTS
from tests.examples.shop_run import Defect, ShopRun, definitions, io_manager, resources
from tests.integration.shelf import record_of, status_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).parents[2]
RULE_SETS = {one.asset_name: one for one in (*rules.RULE_SETS, *rules.IN_FLIGHT)}


# Those of single days have a test of their own.
DEFECTS = [defect for defect in ALL_DEFECTS if defect.table != demo.BY_DAY]


@pytest.fixture(scope="module")
def tables(shop: ShopRun, spark: SparkSession) -> dict[str, DataFrame]:
    names = ("customers", "products", "orders", "payments", "payments_quarantine")
    stored = {name: spark.read.parquet(shop.path(name)) for name in names}
    # All payments that came: those that were published, and those that were left out.
    published = stored["payments"]
    left_out = stored.pop("payments_quarantine").select(*published.columns)
    return {**stored, "payments": published.union(left_out)}


@pytest.fixture(scope="module")
def planted_rows(tables: dict[str, DataFrame]) -> dict[Defect, int]:
    by_table = defaultdict(list)
    for defect in DEFECTS:
        by_table[defect.table].append(defect)
    found: dict[Defect, int] = {}
    for table, defects in by_table.items():
        counts = [f"count_if({defect.rows})" for defect in defects]
        found |= zip(defects, tables[table].selectExpr(*counts).collect()[0], strict=True)
    return found


def test_the_definitions_load() -> None:
    dg.Definitions.validate_loadable(defs)
    assert defs.executor is dg.in_process_executor
    schedule = defs.resolve_schedule_def("shop_every_morning")
    assert schedule.default_status is dg.DefaultScheduleStatus.STOPPED


def test_the_rules_show_every_outcome(shop: ShopRun) -> None:
    evaluations = shop.result.get_asset_check_evaluations()
    statuses = {status_of(evaluation) for evaluation in evaluations}
    assert statuses == {"Ok", "Warning", "Error", "Empty"}


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.check)
def test_every_planted_defect_is_found(
    defect: Defect, shop: ShopRun, planted_rows: dict[Defect, int]
) -> None:
    found = shop.metadata(defect.table, defect.check)
    rule = next(rule for rule in RULE_SETS[defect.table].rules if rule.name == defect.check)
    assert status_of(shop.evaluation(defect.table, defect.check)) == defect.status
    # Statistics, such as a minimum, count no rows.
    if not isinstance(rule, ColumnStatisticRule):
        assert failed_rows(found) == planted_rows[defect] > 0


def failed_rows(recorded: dict[str, Any]) -> int:
    return int(recorded.get("dq/failed_rows", recorded["dq/observed"]))


@pytest.mark.parametrize("table", ["customers", "products", "orders", "payments"])
def test_nothing_else_is_wrong(table: str, tables: dict[str, DataFrame]) -> None:
    good = tables[table]
    for defect in DEFECTS:
        if defect.table == table:
            good = good.where(f"NOT ({defect.rows})")
    outcomes = dq.evaluate(good, RULE_SETS[table])
    # What is missing as a whole cannot be put right by leaving rows out.
    assert [outcome.rule.name for outcome in outcomes if not outcome.ok] == (
        ["paypal_amounts"] if table == "payments" else []
    )


def test_there_are_twenty_defects() -> None:
    assert len(DEFECTS) == len({defect.check for defect in DEFECTS}) == 20


@pytest.mark.parametrize(
    ("asset", "check", "severity", "description"),
    [
        (
            "payments",
            "never_more_than_ordered",
            "ERROR",
            (
                "2 of 432 rows (0.46 %) do not meet 'paid_amount <= order_amount' (none allowed). "
                "Such rows are left out."
            ),
        ),
        (
            "customers",
            "email_given",
            "WARN",
            "3 of 120 rows (2.5 %) have no 'email' (at most 5 % allowed, ideally at most 1 %).",
        ),
        (
            "products",
            "lowest_price",
            "ERROR",
            "The minimum of 'price' is 0.00, below the minimum of 0.01.",
        ),
        (
            "orders",
            "quantity_in_range",
            "ERROR",
            (
                "2 of 600 values (0.33 %) of 'quantity' are outside the range "
                "(at least 1 and at most 100, ideally at most 20)."
            ),
        ),
    ],
)
def test_what_a_failed_check_says(
    asset: str, check: str, severity: str, description: str, shop: ShopRun
) -> None:
    evaluation = shop.evaluation(asset, check)
    assert not evaluation.passed
    assert evaluation.severity.value == severity
    assert evaluation.description == description


def test_what_a_check_records(shop: ShopRun) -> None:
    recorded = shop.metadata("payments", "never_more_than_ordered")
    assert recorded["dq/rows"] == 432
    assert recorded["dq/observed"] == 2
    record = record_of(shop.evaluation("payments", "never_more_than_ordered"))
    assert (record.status, record.rule_type) == ("Error", "row_dq")
    assert record.bounds == {"max": 0}


def test_several_columns_are_recorded_one_by_one(shop: ShopRun) -> None:
    recorded = shop.evaluation("orders", "usual_amounts").metadata
    columns = recorded["dq/columns"]
    assert isinstance(columns, dg.TableMetadataValue)
    assert [record.data["column"] for record in columns.records] == ["amount", "unit_price"]
    assert [record.data["status"] for record in columns.records] == ["Ok", "Ok"]


def test_nothing_to_judge_passes_as_empty(shop: ShopRun) -> None:
    evaluation = shop.evaluation("customers", "vat_number_shape")
    assert evaluation.passed
    assert evaluation.metadata["dq/status"].value == "Empty"


def test_nothing_to_judge_is_a_warning_where_the_rule_says_so(shop: ShopRun) -> None:
    evaluation = shop.evaluation("payments", "paypal_amounts")
    assert not evaluation.passed
    assert evaluation.severity is dg.AssetCheckSeverity.WARN
    assert "method = 'paypal'" in str(evaluation.description)


def test_a_broken_blocking_rule_keeps_downstream_from_being_built(shop: ShopRun) -> None:
    assert not shop.result.success
    events = shop.result.get_asset_materialization_events()
    built = {event.asset_key.to_user_string() for event in events if event.asset_key}
    every = {key.to_user_string() for key in defs.resolve_all_asset_keys()}
    assert every - built == {"price_list", "orders_by_day"}
    assert shop.evaluation("products", "lowest_price").blocking


def test_repaired_prices_let_downstream_be_built(shop: ShopRun) -> None:
    result = defs.resolve_job_def("shop_job").execute_in_process(
        run_config={"resources": resources(shop.folder, repaired=True)},
        asset_selection=[dg.AssetKey("products"), dg.AssetKey("price_list")],
    )
    assert result.success
    checks = {
        evaluation.check_name: evaluation.passed
        for evaluation in result.get_asset_check_evaluations()
        if evaluation.asset_key == dg.AssetKey("price_list")
    }
    assert checks == {"record_count_in_range": True, "priced": True}


def test_bad_payments_are_left_out_and_kept_in_quarantine(
    shop: ShopRun, spark: SparkSession, tables: dict[str, DataFrame]
) -> None:
    planted = {
        (row.order_id, defect.check)
        for defect in DEFECTS
        if defect.table == "payments"
        for row in tables["payments"].where(defect.rows).collect()
    }
    rows = spark.read.parquet(shop.path("payments_quarantine")).collect()
    assert {(row.order_id, fault.rule) for row in rows for fault in row.dq_faults} == planted
    assert {(row.reference, row.dq_state) for row in rows} == {("***", "left_out")}
    published = spark.read.parquet(shop.path("payments"))
    assert published.where(published.order_id.isin([order for order, _ in planted])).isEmpty()
    # What is downstream was built from the good ones.
    assert spark.read.parquet(shop.path("settlements")).count() == published.count() == 428


def test_repaired_payments_are_released_by_a_replay(shop: ShopRun, spark: SparkSession) -> None:
    assert str(shop.replayed) == "payments: of 4 rows in quarantine 4 were released, 0 remain."
    now: Any = definitions(shop.folder).load_asset_value("payments", instance=shop.instance)
    assert now.count() == 432
    before = spark.read.parquet(shop.path("payments"))
    released = now.join(before, "payment_id", "left_anti").collect()
    assert {row.reference for row in released} == {f"P{row.order_id}" for row in released}
    assert all(row.paid_amount == row.order_amount for row in released)
    assert dq.stats(shop.instance, "payments")["rows_published"].tolist() == [432, 428]


def test_the_session_keeps_its_settings(shop: ShopRun, spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "America/New_York"


def test_the_demo_shows_its_progress(shop: ShopRun) -> None:
    lines = [line[8:].strip() for line in shop.progress.splitlines()]
    assert "customers: built" in lines
    assert "customers: checked, 2 Error, 3 Warning, 1 Empty, 6 Ok" in lines
    assert "payments: built, 4 rows left out" in lines
    assert "payments: checked, 2 Error, 1 Warning, 6 Ok" in lines
    assert "payments: replayed, 4 rows released" in lines


def test_the_demo_ends_with_a_table(shop: ShopRun) -> None:
    output = io.StringIO()
    console = Console(file=output, width=120)
    code = demo.show(shop.result, shop.replayed, shop.by_day, console, saved=True)
    text = output.getvalue()
    assert code == 0
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 120
    assert text.split()[:5] == ["asset", "check", "status", "observed", "message"]
    assert "51 checks: 11 Error, 10 Warning, 1 Empty, 27 Ok, 2 NotComputed" in text
    assert "Not run: price_list was not built." in text
    assert text.count("is a blocking rule, and it is broken") == 1
    assert "products.lowest_price is a blocking rule, and it is broken" in text
    words = " ".join(text.split())
    assert "Of 432 rows, 4 were left out and kept in payments_quarantine" in words
    assert "4 passed and are in payments now, 0 stay in quarantine" in words
    assert "./dev ui" in text


def test_a_narrow_terminal_gets_a_table_that_fits(shop: ShopRun) -> None:
    output = io.StringIO()
    demo.show(shop.result, shop.replayed, shop.by_day, Console(file=output, width=80), saved=True)
    lines = output.getvalue().splitlines()
    assert lines[1].split() == ["asset", "check", "status", "message"]
    assert max(len(line) for line in lines if "http" not in line) <= 80


def test_the_demo_says_when_nothing_was_saved(shop: ShopRun) -> None:
    output = io.StringIO()
    demo.show(shop.result, shop.replayed, shop.by_day, Console(file=output, width=120), saved=False)
    assert "Nothing was saved" in output.getvalue()
    assert "./dev ui" not in output.getvalue()


def test_the_demo_distinguishes_a_crash_from_a_broken_rule(
    spark: SparkSession, tmp_path: Path
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    output = io.StringIO()
    console = Console(file=output, width=120)
    with dg.DagsterInstance.ephemeral() as instance:
        result = demo.run(instance, console, resources=resources(in_the_way))
        replayed = demo.replay(result, instance, console)
        by_day = demo.run_days(instance, console, resources=io_manager(in_the_way))
    assert replayed is None
    assert demo.show(result, replayed, by_day, console, saved=True) == 1
    assert "customers could not be built" in output.getvalue()
    assert "orders_by_day could not be built" in output.getvalue()


@pytest.mark.deep
def test_the_demo_saves_what_dagster_shows_afterwards(tmp_path: Path) -> None:
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}", encoding="utf-8")
    command = [sys.executable, "-m", "examples.shop.demo", "--orders", "600"]
    environment = {**os.environ, "DAGSTER_HOME": str(tmp_path)}
    answer = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "./dev ui shows the same in Dagster" in answer.stdout
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        runs = instance.get_runs()
        assert [run.job_name for run in runs if "dq/replay" not in run.tags] == [
            "orders_by_day_job",
            "shop_job",
        ]
        assert len(runs) == 3
        assert instance.get_latest_materialization_event(dg.AssetKey("payments"))
    assert (tmp_path / "shop" / "payments").is_dir()
