"""A guarded asset without partitions: where its rows go, and what its checks say."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import DataFrame, Row, SparkSession

import dq_dagster as dq
from tests.integration.guarded.gate import (
    ORDERS,
    QUARANTINE,
    Gate,
    built,
    judged,
    materialized,
    orders,
    own_columns,
    positive,
    said,
    stopping,
    why,
)
from tests.integration.shelf import by_name

RULES: list[Any] = [
    positive(tags=["money"]),
    dq.ColumnValuesInRange(name="small", columns="amount", max=100),
    dq.ColumnNotEmpty(name="filled", columns=["id"], action_if_failed="fail"),
    dq.RecordCountInRange(name="rows", min=4),
    dq.ColumnSumInRange(name="source sum", columns="amount", min=0, max=400, on="source"),
    dq.ColumnSumInRange(name="sum", columns="amount", max=330, on="validated"),
]


@dg.asset
def report(orders: DataFrame) -> None:
    """Downstream of what is guarded."""
    assert orders.count() == 3


@dataclass
class Flow:
    """Two runs: the first is published; the second breaks a rule that lets nothing pass."""

    gate: Gate
    began: datetime
    first: dg.ExecuteInProcessResult
    rows: list[Row]
    kept: list[Row]
    quarantined: dict[int, Any]
    second: dg.ExecuteInProcessResult


@pytest.fixture(scope="module")
def flow(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flow]:
    began = datetime.now(UTC)
    with dg.DagsterInstance.ephemeral() as instance:
        gate = Gate(
            tmp_path_factory.mktemp("flow"),
            orders(spark, 5, -1, None, 20, 300),
            RULES,
            instance=instance,
            beside=[report],
        )
        first = gate.build()
        rows, kept, quarantined = gate.published(), gate.published(QUARANTINE), gate.quarantined()
        gate.value = spark.createDataFrame([(None, 7), (9, -7), (10, 8)], "id int, amount int")
        yield Flow(gate, began, first, rows, kept, quarantined, gate.build())


def test_rows_go_where_their_faults_send_them(flow: Flow) -> None:
    assert flow.first.success
    assert flow.rows == [Row(id=1, amount=5), Row(id=4, amount=20), Row(id=5, amount=300)]
    assert flow.quarantined == {
        2: ("left_out", ["positive"]),
        3: ("left_out", ["positive"]),
        5: ("kept", ["small"]),
    }
    assert ("orders", None) in built(flow.first)
    assert ("orders_quarantine", None) in built(flow.first)
    assert flow.first.asset_materializations_for_node("report")


def test_each_rule_says_what_it_found_and_what_became_of_the_rows(flow: Flow) -> None:
    assert said(flow.first) == {
        "positive": (
            "2 of 5 rows (40 %) do not meet 'amount > 0' (none allowed). Such rows are left out."
        ),
        "small": (
            "1 of 4 values (25 %) of 'amount' is outside the range (at most 100). Such rows are "
            "kept."
        ),
        "filled": "0 of 5 rows (0 %) have no 'id' (none allowed).",
        "rows": "The number of rows is 3, below the minimum of 4.",
        "source_sum": "The sum of 'amount' is 324, as expected (at least 0 and at most 400).",
        "sum": "The sum of 'amount' is 325, as expected (at most 330).",
    }
    assert judged(flow.first) == {
        "positive": "Error",
        "small": "Error",
        "filled": "Ok",
        "rows": "Error",
        "source_sum": "Ok",
        "sum": "Ok",
    }


def test_results_are_about_the_rows_that_were_published(flow: Flow) -> None:
    [(_, number)] = materialized(flow.gate, flow.first).items()
    for name, one in by_name(flow.first).items():
        assert one.severity == dg.AssetCheckSeverity.ERROR
        # An Error fails the run where the action says so, and nowhere else.
        assert one.blocking == (name == "filled")
        assert one.target_materialization_data is not None
        assert one.target_materialization_data.run_id == flow.first.run_id
        assert one.target_materialization_data.storage_id == number


def test_what_is_kept_of_a_bad_row(flow: Flow) -> None:
    row = next(row for row in flow.kept if row["id"] == 2)
    assert row["dq_faults"] == [
        Row(
            rule="positive",
            type="row_dq",
            action="drop",
            columns=["amount"],
            quality_dimension="validity",
            tags=["money"],
            severity="error",
        )
    ]
    assert row["amount"] == -1
    assert row["dq_run_id"] == flow.first.run_id
    assert flow.began <= row["dq_time"].astimezone(UTC) <= datetime.now(UTC)
    assert {row["dq_fingerprint"] for row in flow.kept} == {flow.gate.stats()[1]["fingerprint"]}
    assert own_columns(flow.gate.frame(QUARANTINE)) == ["id", "amount"]


def test_the_materializations_say_where_the_rows_are_and_how_many(
    spark: SparkSession, flow: Flow
) -> None:
    found = {
        event.asset_key: event.materialization.metadata
        for event in flow.first.get_asset_materialization_events()
    }
    of_asset, of_quarantine = found[ORDERS], found[QUARANTINE]
    assert {
        name: entry.value
        for name, entry in of_asset.items()
        if name.startswith("dq/") and name != "dq/stats"
    } == {"dq/rows_in": 5, "dq/rows_published": 3, "dq/rows_dropped": 2, "dq/rows_quarantined": 3}
    assert of_quarantine["dagster/row_count"].value == 3
    # The folders hold exactly the rows, also for those who know nothing of all this.
    assert spark.read.parquet(str(of_asset["path"].value)).columns == ["id", "amount"]
    assert sorted(spark.read.parquet(str(of_asset["path"].value)).collect(), key=repr) == flow.rows
    assert spark.read.parquet(str(of_quarantine["path"].value)).count() == 3


def test_what_a_build_did_is_on_record(flow: Flow) -> None:
    withheld, published = flow.gate.stats()
    assert [published["run_id"], withheld["run_id"]] == [flow.first.run_id, flow.second.run_id]
    numbers = {
        name: value for name, value in published.items() if name.startswith(("rows", "share"))
    }
    assert numbers == {
        "rows_in": 5,
        "rows_good": 2,
        "rows_published": 3,
        "rows_quarantined": 3,
        "rows_dropped": 2,
        "share_good": 0.4,
        "share_published": 0.6,
        "share_quarantined": 0.6,
        "share_dropped": 0.4,
    }
    assert (published["status"], published["asset"], published["partition"]) == (
        "published",
        "orders",
        None,
    )
    assert published["duration_seconds"] > 0
    assert published["rules"] == {
        "positive": {"action": "drop", "faults": 2, "source": "Error"},
        "small": {"action": "ignore", "faults": 1, "source": "Error"},
        "filled": {"action": "fail", "faults": 0, "source": "Ok"},
        "rows": {"action": "ignore", "source": "Ok", "validated": "Error"},
        "source sum": {"action": "ignore", "source": "Ok"},
        "sum": {"action": "ignore", "validated": "Ok"},
    }
    assert (withheld["status"], withheld["rows_in"], withheld["rows_published"]) == (
        "withheld",
        3,
        0,
    )
    assert withheld["rules"]["filled"] == {"action": "fail", "faults": 1, "source": "Error"}
    for asset in (ORDERS, "orders", flow.gate.asset, ["orders"]):
        assert len(dq.stats(flow.gate.instance, asset)) == 2
    assert len(dq.stats(flow.gate.instance, ORDERS, limit=1)) == 1


def test_a_build_that_breaks_a_rule_that_lets_nothing_pass(flow: Flow) -> None:
    assert why(flow.second) == (
        "Nothing of 'orders' was published. filled: 1 of 3 rows (33.33 %) has no 'id' (none "
        "allowed)."
    )
    assert stopping(flow.second) == ["filled"]
    assert flow.gate.published() == flow.rows
    assert built(flow.second) == [("orders_quarantine", None)]
    assert not flow.second.asset_materializations_for_node("report")
    found = {row["id"]: row for row in flow.gate.published(QUARANTINE)}
    # Beside those that belong to what is published.
    assert {key: row["dq_state"] for key, row in found.items()} == {
        2: "left_out",
        3: "left_out",
        5: "kept",
        None: "withheld",
        9: "withheld",
    }
    withheld = [row for row in found.values() if row["dq_state"] == "withheld"]
    assert {row["dq_run_id"] for row in withheld} == {flow.second.run_id}


def test_each_check_has_its_result_where_nothing_is_published(flow: Flow) -> None:
    assert judged(flow.second) == {
        "positive": "Error",
        "small": "Ok",
        "filled": "Error",
        "rows": "Error",
        "source_sum": "Ok",
        "sum": "Ok",
    }
    filled = by_name(flow.second)["filled"]
    assert (filled.passed, filled.blocking, filled.severity) == (
        False,
        True,
        dg.AssetCheckSeverity.ERROR,
    )
    together, seen = (
        event.asset_observation_data.asset_observation
        for event in flow.second.get_asset_observation_events()
    )
    assert together.metadata["dq/dataset_status"].value == "Error"
    assert str(seen.description).startswith(
        "Nothing was published. filled: 1 of 3 rows (33.33 %) has no"
    )
    assert seen.metadata["dq/rows_published"].value == 0


def test_nothing_is_left_of_rows_on_their_way(flow: Flow) -> None:
    for key in (ORDERS, QUARANTINE):
        root = Path(flow.gate.io.path) / key.to_user_string()
        assert not list((root / ".staging").iterdir())
        assert not list(root.glob(".publishing/*.json"))


def test_lineage(flow: Flow) -> None:
    specs = flow.gate.asset.specs_by_key
    assert set(specs) == {ORDERS, QUARANTINE}
    assert [dep.asset_key for dep in specs[QUARANTINE].deps] == [ORDERS]
    assert not list(specs[ORDERS].deps)
    assert specs[QUARANTINE].kinds == {"quarantine"}
    assert specs[QUARANTINE].description == (
        "Rows of orders that break rules, and which: as they came, with dq_faults, and when and by "
        "which run that was found."
    )
    assert {key.name for key in flow.gate.asset.check_keys} == {
        "positive",
        "small",
        "filled",
        "rows",
        "source_sum",
        "sum",
    }


def test_no_rows_at_all(spark: SparkSession, tmp_path: Path) -> None:
    gate = Gate(tmp_path, orders(spark), [*RULES[:3], dq.ColumnUnique(columns="id"), *RULES[4:]])
    run = gate.build()
    assert run.success
    assert judged(run) == {
        "positive": "Empty",
        "small": "Empty",
        "filled": "Empty",
        "column_unique_id": "Empty",
        "source_sum": "Empty",
        "sum": "Empty",
    }
    assert (gate.published(), gate.published(QUARANTINE)) == ([], [])
    assert gate.frame().columns == ["id", "amount"]
    assert gate.stats()[0]["share_good"] == 0.0


def test_all_rows_are_bad(spark: SparkSession, tmp_path: Path) -> None:
    rules = [positive(), dq.ColumnMaxInRange(columns="amount", min=0, on="validated")]
    gate = Gate(tmp_path, orders(spark, -1, -2), rules)
    run = gate.build()
    assert run.success
    assert judged(run) == {"positive": "Error", "column_max_in_range_amount": "Empty"}
    assert gate.published() == []
    assert gate.frame().columns == ["id", "amount"]
    assert gate.quarantined() == {1: ("left_out", ["positive"]), 2: ("left_out", ["positive"])}


@pytest.mark.parametrize("rules", [[], [positive(enabled=False)]])
def test_without_rules_all_rows_are_good(
    spark: SparkSession, tmp_path: Path, rules: list[Any]
) -> None:
    gate = Gate(tmp_path, orders(spark, 5, -1), rules)
    run = gate.build()
    assert run.success
    assert judged(run) == {}
    assert (gate.ids(), gate.published(QUARANTINE)) == ([1, 2], [])
    assert gate.stats()[0]["rules"] == {}


def test_without_a_quarantine_bad_rows_are_dropped_all_the_same(
    spark: SparkSession, tmp_path: Path
) -> None:
    gate = Gate(tmp_path, orders(spark, 5, -1), [positive()], quarantine=False)
    run = gate.build()
    assert run.success
    assert built(run) == [("orders", None)]
    assert gate.ids() == [1]
    assert set(gate.asset.specs_by_key) == {ORDERS}
    assert gate.stats()[0]["rules"] == {
        "positive": {"action": "drop", "faults": 1, "source": "Error"}
    }
    gate.value = orders(spark, -1)
    stopped = Gate(tmp_path, orders(spark, 5, 6, -1), [positive("fail")], quarantine=False)
    run = stopped.build()
    assert why(run).startswith("Nothing of 'orders' was published. positive: 1 of 3 rows")
    assert stopped.ids() == [1]
    assert not (tmp_path / "orders_quarantine").exists()
