"""Rules about all rows together, in flight: on the source, on what is validated, or on both."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from tests.integration.calendar import DAILY, day
from tests.integration.guarded.gate import (
    QUARANTINE,
    Gate,
    built,
    judged,
    orders,
    positive,
    rule,
    said,
    untyped,
    why,
)


def rows_in_range(name: str, **fields: Any) -> dict[str, Any]:
    return rule("record_count_in_range", name=name, **fields)


def test_the_phases(spark: SparkSession, tmp_path: Path) -> None:
    rules = [
        positive(),
        *(
            rows_in_range(f"{word}_{on}", **{word: 2}, on=on)
            for word in ("min", "max")
            for on in ("source", "validated", "both")
        ),
        dq.AggregateExpectation(name="sql", expectation="sum(amount) < 0", on="source"),
        dq.AggregateExpectation(name="sql_both", expectation="sum(amount) < 0"),
        rule(
            "metric_in_range",
            name="metric",
            metric={"query": "SELECT count(*) AS n FROM {table}"},
            max=2,
        ),
    ]
    gate = Gate(tmp_path, orders(spark, 5, -10, -20), rules)
    run = gate.build()
    assert run.success
    found, sentences = judged(run), said(run)
    # One row of three is published.
    assert found == {
        "positive": "Error",
        "min_source": "Ok",
        "min_validated": "Error",
        "min_both": "Error",
        "max_source": "Error",
        "max_validated": "Ok",
        "max_both": "Error",
        "sql": "Ok",
        "sql_both": "Error",
        "metric": "Error",
    }
    assert sentences["max_source"] == "The number of rows is 3, above the maximum of 2."
    assert sentences["max_both"] == (
        "The number of rows is 1, as expected (at most 2). Of the rows as they came: The number of "
        "rows is 3, above the maximum of 2."
    )
    rules_on_record = gate.stats()[0]["rules"]
    assert rules_on_record["max_both"] == {
        "action": "ignore",
        "source": "Error",
        "validated": "Ok",
    }
    assert rules_on_record["min_validated"] == {"action": "ignore", "validated": "Error"}


@pytest.mark.parametrize(("on", "stops"), [("source", True), ("validated", False), ("both", True)])
def test_an_aggregate_that_lets_nothing_pass(
    spark: SparkSession, tmp_path: Path, on: str, stops: bool
) -> None:
    rules = [
        positive(),
        untyped.ColumnMinInRange(
            name="min", columns="amount", min=0, on=on, action_if_failed="fail"
        ),
    ]
    gate = Gate(tmp_path, orders(spark, 5, -10), rules)
    run = gate.build()
    assert run.success != stops
    assert judged(run) == {"positive": "Error", "min": "Error" if stops else "Ok"}
    if stops:
        assert why(run).startswith("Nothing of 'orders' was published. min: ")
        assert "-10" in why(run)
        assert built(run) == [("orders_quarantine", None)]
        assert gate.quarantined() == {2: ("withheld", ["positive"])}
        return
    assert (gate.ids(), gate.quarantined()) == ([1], {2: ("left_out", ["positive"])})


def test_where_no_row_is_left_out_both_phases_are_the_same(
    spark: SparkSession, tmp_path: Path
) -> None:
    rules = [
        positive("ignore"),
        rows_in_range("both", max=1),
        rows_in_range("v", max=1, on="validated"),
    ]
    gate = Gate(tmp_path, orders(spark, 5, -10), rules)
    run = gate.build()
    assert said(run)["both"] == "The number of rows is 2, above the maximum of 1."
    assert gate.stats()[0]["rules"]["both"] == {
        "action": "ignore",
        "source": "Error",
        "validated": "Error",
    }
    assert gate.ids() == [1, 2]


def test_a_schema_is_that_of_the_rows(spark: SparkSession, tmp_path: Path) -> None:
    rules = [
        positive(),
        dq.ColumnCountInRange(name="columns", min=2, max=2),
        dq.SchemaEquals(
            name="schema",
            expected=[{"name": "id", "type": "int"}, {"name": "amount", "type": "int"}],
            action_if_failed="fail",
        ),
    ]
    gate = Gate(
        tmp_path,
        lambda keys: {key: orders(spark, 5, -10) for key in keys},
        rules,
        partitions_def=DAILY,
    )
    run = gate.build(day(1), day(2))
    assert run.success
    assert set(judged(run).values()) == {"Ok", "Error"}
    assert {key for key, status in judged(run).items() if status == "Error"} == {
        ("positive", day(1)),
        ("positive", day(2)),
    }


def test_what_is_typical_is_learned_from_what_was_published(
    spark: SparkSession, tmp_path: Path
) -> None:
    rules: list[Any] = [
        positive(),
        dq.RecordCountTypical(name="typical", learning_period=3, action_if_failed="fail"),
        dq.RecordCountTypical(name="as_it_came", learning_period=3, on="source"),
    ]
    assert rules[1].on == "validated"
    gate = Gate(tmp_path, orders(spark, 1, 2, -3), rules)
    for _ in range(3):
        run = gate.build()
        assert judged(run)["typical"] == "Empty"
    # Two rows are left of more: typical for what is published, and not for what came.
    gate.value = orders(spark, 1, 2, -3, -4, -5)
    run = gate.build()
    assert run.success
    assert judged(run) == {"positive": "Error", "typical": "Ok", "as_it_came": "Error"}
    gate.value = orders(spark, 1, 2, 3)
    run = gate.build()
    assert why(run).startswith(
        "Nothing of 'orders' was published. typical: The number of rows is 3"
    )
    assert gate.ids() == [1, 2]


def test_what_is_typical_among_the_partitions_of_one_run(
    spark: SparkSession, tmp_path: Path
) -> None:
    sizes = {day(n): [1] * (9 if n == 6 else 2) for n in range(1, 7)}
    gate = Gate(
        tmp_path,
        lambda keys: {key: orders(spark, *sizes[key], -1) for key in keys},
        [positive(), dq.RecordCountTypical(name="typical", learning_period=3)],
        partitions_def=DAILY,
    )
    run = gate.build(day(1), day(6))
    assert run.success
    assert [judged(run)["typical", day(n)] for n in range(1, 7)] == [
        "Empty",
        "Empty",
        "Empty",
        "Ok",
        "Ok",
        "Error",
    ]


def test_the_whole_dataset_is_what_will_be_there(spark: SparkSession, tmp_path: Path) -> None:
    amounts = {day(1): [1, 2], day(2): [3], day(3): [4, 5, -4]}
    rules = [
        positive(),
        dq.ColumnUnique(name="unique", columns="amount", scope="both"),
        dq.ColumnMaxInRange(
            name="largest", columns="amount", max=9, scope="whole_dataset", action_if_failed="fail"
        ),
    ]
    gate = Gate(
        tmp_path,
        lambda keys: {key: orders(spark, *amounts[key]) for key in keys},
        rules,
        partitions_def=DAILY,
    )
    assert gate.build(day(1), day(2)).success
    run = gate.build(day(3))
    assert said(run)["unique__dataset"].startswith("0 of 6 values (0 %) of 'amount'")
    # Rebuilt, the old rows of the day do not count; those of other days do.
    amounts[day(3)] = [1, 1, 50]
    run = gate.build(day(3))
    assert why(run).startswith(
        "Nothing of 'orders' was published. largest: The maximum of 'amount' is 50"
    )
    assert said(run)["unique__dataset"] == (
        "3 of 6 values (50 %) of 'amount' are not unique (none allowed). Of this build, 2 rows "
        "break it."
    )
    assert judged(run)["unique", day(3)] == "Error"
    # A value that repeats in another partition is no fault of its row.
    assert gate.quarantined() == {
        1: ("withheld", ["unique"]),
        2: ("withheld", ["unique"]),
        # Of what is published.
        3: ("left_out", ["positive"]),
    }
    amounts[day(3)] = [1, 5]
    run = gate.build(day(3))
    assert run.success
    assert judged(run) == {
        ("positive", day(3)): "Ok",
        ("unique", day(3)): "Ok",
        "unique__dataset": "Error",
        "largest": "Ok",
    }
    assert sorted(row["amount"] for row in gate.published()) == [1, 1, 2, 3, 5]


def test_of_the_whole_it_is_said_which_rows_are_in_quarantine(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A check of the whole counts stored rows as well, of which the quarantine has none."""
    amounts: dict[str, list[int | None]] = {
        day(1): [None, 2],
        day(2): [None, None, -1],
        day(3): [1],
    }
    given = dq.ColumnNotEmpty(name="given", columns="amount", scope="both")
    gate = Gate(
        tmp_path,
        lambda keys: {key: orders(spark, *amounts[key]) for key in keys},
        [given, positive(null_is="pass", scope="whole_dataset")],
        partitions_def=DAILY,
    )
    assert gate.build(day(1)).success
    run = gate.build(day(2))
    assert said(run) == {
        ("given", day(2)): "2 of 3 rows (66.67 %) have no 'amount' (none allowed). Such rows are "
        "kept.",
        "given__dataset": "3 of 5 rows (60 %) have no 'amount' (none allowed). Of this build, 2 "
        "rows break it, and are kept.",
        "positive": "1 of 5 rows (20 %) does not meet 'amount > 0' (none allowed). Of this build, "
        "1 row breaks it, and is left out.",
    }
    assert len(gate.frame(QUARANTINE, [day(2)]).collect()) == 3
    run = gate.build(day(3))
    assert said(run)["given__dataset"].endswith("Of this build, 0 rows break it.")
