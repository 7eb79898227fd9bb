"""Rules that count rows, in flight: what each does to the rows, with each action."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from tests.integration.guarded.gate import (
    QUARANTINE,
    Gate,
    built,
    judged,
    orders,
    positive,
    rule,
    said,
    stopping,
    untyped,
    why,
)

ACTIONS = ["ignore", "drop", "fail"]


def raising(action: str) -> dict[str, Any]:
    expectation = "10 / amount > 1"
    return rule(
        "row_dq", name=f"raising_{action}", expectation=expectation, action_if_failed=action
    )


def absent(action: str) -> dict[str, Any]:
    return rule(
        "column_not_empty", name=f"absent_{action}", columns="amuont", action_if_failed=action
    )


def test_a_rule_without_an_answer_stops_what_it_would_have_kept_out(
    spark: SparkSession, tmp_path: Path
) -> None:
    rules = [positive(), *map(raising, ACTIONS), *map(absent, ACTIONS)]
    gate = Gate(tmp_path, orders(spark, 5, 0, -1), rules)
    run = gate.build()
    assert why(run).startswith("Nothing of 'orders' was published. raising_drop: ")
    assert why(run).endswith(" And 1 more.")
    assert stopping(run) == [
        "raising_drop",
        "raising_fail",
        "absent_drop",
        "absent_fail",
    ]
    found, sentences = judged(run), said(run)
    assert found == {"positive": "Error", **{one["name"]: "Error" for one in rules[1:]}}
    assert sentences["positive"].startswith("2 of 3 rows (66.67 %) do not meet 'amount > 0'")
    for action in ACTIONS:
        assert "DIVIDE_BY_ZERO" in sentences[f"raising_{action}"]
        assert sentences[f"absent_{action}"].startswith("Column 'amuont' is not in the table.")
        assert "'amount'" in sentences[f"absent_{action}"]
    assert gate.quarantined() == {2: ("withheld", ["positive"]), 3: ("withheld", ["positive"])}
    assert gate.stats()[0]["rules"]["raising_drop"] == {"action": "drop", "source": "Error"}


def test_a_rule_without_an_answer_that_keeps_nothing_out_is_an_error_and_no_more(
    spark: SparkSession, tmp_path: Path
) -> None:
    unique = untyped.ColumnUnique(name="unique", columns="amount", action_if_failed="drop")
    rules = [positive(), raising("ignore"), absent("ignore"), unique]
    gate = Gate(tmp_path, orders(spark, 5, 0, 7, 7, 8), rules)
    run = gate.build()
    assert run.success
    assert judged(run) == {
        "positive": "Error",
        "raising_ignore": "Error",
        "absent_ignore": "Error",
        "unique": "Error",
    }
    assert gate.ids() == [1, 5]
    assert gate.quarantined() == {
        2: ("left_out", ["positive"]),
        3: ("left_out", ["unique"]),
        4: ("left_out", ["unique"]),
    }


def test_an_order_that_raises_is_an_error_of_its_rule(spark: SparkSession, tmp_path: Path) -> None:
    unique = untyped.ColumnUnique(
        name="unique",
        columns="amount",
        action_if_failed="drop",
        keep={"order_by": "1 / (id - 2)"},
    )
    gate = Gate(tmp_path, orders(spark, 5, 5, -1), [positive(), unique])
    run = gate.build()
    assert judged(run) == {"positive": "Error", "unique": "Error"}
    assert why(run).startswith("Nothing of 'orders' was published. unique: ")
    assert gate.quarantined() == {3: ("withheld", ["positive"])}


@dataclass
class Bounds:
    """One build with soft bounds and thresholds, and each action."""

    gate: Gate
    run: dg.ExecuteInProcessResult


SOFT = {"soft_max": 10, "max": 100, "columns": "amount"}


@pytest.fixture(scope="module")
def bounds(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bounds]:
    rows = [(1, 5, 1, 1), (2, 50, 1, 1), (3, 500, 1, 1), (4, 5, None, 1), (5, 5, 1, None)]
    value = spark.createDataFrame(rows, "id int, amount int, a int, b int")
    rules = [
        untyped.ColumnValuesInRange(name="soft_drop", action_if_failed="drop", **SOFT),
        untyped.ColumnValuesInRange(name="soft_ignore", **SOFT),
        # Only soft bounds are broken: the action has nothing to act on.
        untyped.ColumnValuesInRange(
            name="only_soft", columns="amount", soft_max=4, max=900, action_if_failed="fail"
        ),
        untyped.ColumnNotEmpty(
            name="tolerated", columns="a", threshold={"max": 2}, action_if_failed="drop"
        ),
        untyped.ColumnNotEmpty(
            name="warned", columns="b", threshold={"soft_max": 0, "max": 2}, action_if_failed="fail"
        ),
    ]
    with dg.DagsterInstance.ephemeral() as instance:
        gate = Gate(tmp_path_factory.mktemp("bounds"), value, rules, instance=instance)
        yield Bounds(gate, gate.build())


def test_warnings_never_act(bounds: Bounds) -> None:
    assert bounds.run.success
    assert judged(bounds.run) == {
        "soft_drop": "Error",
        "soft_ignore": "Error",
        "only_soft": "Warning",
        "tolerated": "Ok",
        "warned": "Warning",
    }
    found = bounds.gate.quarantined()
    assert {key: state for key, (state, _) in found.items()} == {
        1: "kept",
        2: "kept",
        3: "left_out",
        4: "left_out",
        # Its rule would fail the build, and tolerates it.
        5: "kept",
    }
    assert bounds.gate.ids() == [1, 2, 5]


def test_a_row_says_how_bad_it_is(bounds: Bounds) -> None:
    faults = {
        (row["id"], one["rule"]): (one["severity"], one["action"])
        for row in bounds.gate.published(QUARANTINE)
        for one in row["dq_faults"]
    }
    assert faults == {
        **{(n, "only_soft"): ("warning", "ignore") for n in (1, 2, 3, 4, 5)},
        (2, "soft_drop"): ("warning", "ignore"),
        (2, "soft_ignore"): ("warning", "ignore"),
        (3, "soft_drop"): ("error", "drop"),
        (3, "soft_ignore"): ("error", "ignore"),
        (4, "tolerated"): ("error", "drop"),
        (5, "warned"): ("error", "fail"),
    }
    rules = bounds.gate.stats()[0]["rules"]
    assert {name: one["faults"] for name, one in rules.items()} == {
        "soft_drop": 2,
        "soft_ignore": 2,
        "only_soft": 5,
        "tolerated": 1,
        "warned": 1,
    }


def test_the_sentences_say_what_became_of_the_rows(bounds: Bounds) -> None:
    found = said(bounds.run)
    assert found["soft_drop"].endswith("Such rows are left out.")
    assert found["soft_ignore"].endswith("Such rows are kept.")
    # They are beyond a soft bound only.
    assert found["only_soft"].endswith("Such rows are kept.")
    assert found["tolerated"].endswith("Such rows are left out.")
    # What a rule with ``fail`` tolerates is kept.
    assert found["warned"].endswith("Such rows are kept.")


def test_a_filter(spark: SparkSession, tmp_path: Path) -> None:
    rules = [
        positive(where="id > 2"),
        untyped.ColumnUnique(
            name="unique", columns="amount", where="amount < 9", action_if_failed="drop"
        ),
    ]
    gate = Gate(tmp_path, orders(spark, -1, 9, -2, 9, 3, 3), rules)
    run = gate.build()
    assert said(run)["positive"].startswith("1 of 4 rows (25 %) does not meet")
    assert gate.ids() == [1, 2, 4]
    assert gate.quarantined() == {
        3: ("left_out", ["positive"]),
        5: ("left_out", ["unique"]),
        6: ("left_out", ["unique"]),
    }


def test_of_a_repeated_value_one_row_may_be_kept(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(1, "a", 1), (2, "a", 3), (3, "a", 2), (4, "b", 1), (5, None, 1), (6, None, 1)]
    value = spark.createDataFrame(rows, "id int, code string, version int")
    keep = untyped.UniqueKey(
        name="newest", columns="code", keep={"order_by": "version DESC"}, action_if_failed="drop"
    )
    gate = Gate(tmp_path, value.repartition(3), [keep])
    run = gate.build()
    assert gate.ids() == [2, 4, 5, 6]
    assert gate.quarantined() == {1: ("left_out", ["newest"]), 3: ("left_out", ["newest"])}
    assert said(run)["newest"].startswith("2 of 4 values (50 %) of 'code'")
    assert gate.stats()[0]["rules"]["newest"]["faults"] == 2


def test_references_to_others_and_to_itself(spark: SparkSession, tmp_path: Path) -> None:
    @dg.asset
    def customers() -> DataFrame:
        return spark.createDataFrame([(1,), (2,)], "number int")

    rows = [(1, 1, None), (2, 2, 1), (3, 9, 2), (4, None, 7), (5, 1, 3)]
    value = spark.createDataFrame(rows, "id int, customer int, parent int")
    rules = [
        untyped.ColumnValuesInReference(
            name="customer",
            columns="customer",
            reference={"asset": "customers"},
            reference_columns=["number"],
            action_if_failed="drop",
        ),
        untyped.ColumnValuesInReference(
            name="parent",
            columns="parent",
            reference={"asset": "orders"},
            reference_columns=["id"],
            action_if_failed="drop",
        ),
    ]
    gate = Gate(tmp_path, value, rules, beside=[customers])
    run = gate.build()
    assert run.success
    # As they came: row 5 has a parent, although that one is left out itself.
    assert gate.ids() == [1, 2, 5]
    assert gate.quarantined() == {3: ("left_out", ["customer"]), 4: ("left_out", ["parent"])}
    assert said(run) == {
        "customer": (
            "1 of 4 values (25 %) of 'customer' is not in 'number' of asset 'customers' "
            "(none allowed). Such rows are left out."
        ),
        "parent": (
            "1 of 4 values (25 %) of 'parent' is not in 'id' of asset 'orders' (none "
            "allowed). Such rows are left out."
        ),
    }
    upstream = {
        dep.asset_key.to_user_string()
        for dep in gate.asset.specs_by_key[dg.AssetKey("orders")].deps
    }
    assert upstream == {"customers"}


def test_many_faults_that_are_not_in_the_row_itself(spark: SparkSession, tmp_path: Path) -> None:
    names = [f"c{n}" for n in range(11)]
    # Row n repeats the value of row 1 in column n - 2.
    rows = [
        (number, *(0 if number in {1, place + 2} else number for place in range(11)))
        for number in range(1, 14)
    ]
    value = spark.createDataFrame(rows, "id int, " + ", ".join(f"{name} int" for name in names))
    rules = [
        untyped.ColumnUnique(
            name=name,
            columns=name,
            action_if_failed="drop" if name == "c3" else "ignore",
            keep={"order_by": "id"},
        )
        for name in names
    ]
    gate = Gate(tmp_path, value, rules)
    assert gate.build().success
    assert gate.quarantined() == {
        place + 2: ("left_out" if place == 3 else "kept", [f"c{place}"]) for place in range(11)
    }
    assert gate.ids() == [n for n in range(1, 14) if n != 5]
    assert gate.frame().columns == ["id", *names]
    assert {one["faults"] for one in gate.stats()[0]["rules"].values()} == {1}


def test_groups_are_judged_as_well(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(1, 5, "x"), (2, -5, "x"), (3, 7, "y"), (4, -7, "z"), (5, 7, "z")]
    value = spark.createDataFrame(rows, "id int, amount int, city string")
    rules = [
        positive(dimensions=["city"]),
        untyped.ColumnUnique(name="unique", columns="amount", dimensions=["city"]),
    ]
    gate = Gate(tmp_path, value, rules)
    run = gate.build()
    assert run.success
    assert gate.quarantined() == {
        2: ("left_out", ["positive"]),
        3: ("kept", ["unique"]),
        4: ("left_out", ["positive"]),
        5: ("kept", ["unique"]),
    }
    [one] = [e for e in run.get_asset_check_evaluations() if e.check_name == "positive"]
    records: Any = one.metadata["dq/dimensions"]
    assert {record.data["group"]: record.data["status"] for record in records.records} == {
        "x": "Error",
        "y": "Ok",
        "z": "Error",
    }


@pytest.mark.parametrize(
    ("threshold", "status", "published"),
    [(0.5, "Ok", True), ({"soft_max": 0.1, "max": 0.9}, "Warning", True), (0.2, "Error", False)],
)
def test_a_limit_on_dropped_rows(
    spark: SparkSession, tmp_path: Path, threshold: Any, status: str, published: bool
) -> None:
    rules = [positive(), untyped.ColumnNotEmpty(name="filled", columns="amount")]
    gate = Gate(tmp_path, orders(spark, 5, -1, None, 4), rules, error_drop_threshold=threshold)
    run = gate.build()
    assert run.success == published
    assert judged(run)["error_drop_threshold"] == status
    assert said(run)["error_drop_threshold"].startswith("2 of 4 rows (50 %) are dropped")
    if published:
        assert gate.ids() == [1, 4]
        return
    assert why(run) == (
        "Nothing of 'orders' was published. error_drop_threshold: 2 of 4 rows (50 %) are dropped "
        "(at most 20 % allowed)."
    )
    assert built(run) == [("orders_quarantine", None)]
    assert {state for state, _ in gate.quarantined().values()} == {"withheld"}


def test_samples_are_shown_of_named_columns_alone(spark: SparkSession, tmp_path: Path) -> None:
    rules = [
        positive(),
        dq.ColumnUnique(name="unique", columns="id", action_if_failed="drop"),
        dq.ColumnNotEmpty(name="given", columns="note"),
    ]
    rule_set = untyped.RuleSet(asset="orders", rules=rules, samples=["amount", "id"])
    value = spark.createDataFrame(
        [(1, -7, "a"), (1, -7, None), (2, 3, "b")], "id int, amount int, note string"
    )
    gate = Gate(tmp_path, value, rule_set, quarantine=dq.Quarantine(sensitive=["id"]))
    shown = {
        one.check_name: [tuple(row.data.values()) for row in _table(one).records]
        for one in gate.build().get_asset_check_evaluations()
        if "dq/samples" in one.metadata
    }
    assert shown == {"positive": [("amount", "-7", 2)], "unique": [("id", "***", 2)]}


def _table(evaluation: dg.AssetCheckEvaluation) -> Any:
    return evaluation.metadata["dq/samples"]
