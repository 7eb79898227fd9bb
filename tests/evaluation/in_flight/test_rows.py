"""Rows in flight, without Dagster: what is written, counted, and said of rules that raise."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import dq_dagster as dq
from dq_dagster.evaluation.in_flight.phases import JudgedInFlight, Phases
from dq_dagster.evaluation.in_flight.rows import Incoming, RowCounts, RowsInFlight
from dq_dagster.spark.frames.frames import HIDDEN_KEY
from dq_dagster.spark.frames.other_datasets import OtherDatasets
from dq_dagster.storage.judged import JudgedFiles

NOW = datetime(2024, 3, 1, tzinfo=UTC)
BESIDE = OtherDatasets(asset="orders")


def in_flight(
    folder: Path, rules: list[Any], *incoming: Incoming
) -> tuple[RowsInFlight, tuple[Any, ...]]:
    every = dq.RuleSet(asset="orders", rules=rules).enabled_rules
    counting = tuple(rule for rule in every if rule.counts_rows)
    rows = RowsInFlight("orders", counting, JudgedFiles("orders", str(folder)), NOW, BESIDE)
    rows.write(incoming)
    return rows, every


def judge(spark: SparkSession, rows: RowsInFlight, rules: tuple[Any, ...]) -> list[JudgedInFlight]:
    counts, faults = rows.counted(spark)
    phases = Phases(rows, rules, counts, faults, None, lambda _: BESIDE)
    files = rows.files
    return phases.judge(lambda phase: getattr(files, phase)(spark), lambda _: files.source(spark))


def numbers(spark: SparkSession, *values: int | None) -> DataFrame:
    return spark.createDataFrame([(value,) for value in values], "n int")


ROWS_OF_ALL = {"type": "record_count_in_range", "name": "rows", "min": 2}


def row_rule(name: str, expectation: str, action: str = "ignore") -> dict[str, Any]:
    return {
        "type": "row_dq",
        "name": name,
        "expectation": expectation,
        "action_if_failed": action,
    }


def test_counts_and_outcomes(spark: SparkSession, tmp_path: Path) -> None:
    rules = [row_rule("positive", "n > 0", "drop"), row_rule("small", "n < 9"), ROWS_OF_ALL]
    rows, every = in_flight(tmp_path, rules, Incoming(numbers(spark, 1, -1, 10, None)))
    counts, _ = rows.counted(spark)
    assert counts == {None: RowCounts(good=1, kept=1, out=2)}
    assert (counts[None].source, counts[None].validated, counts[None].bad) == (4, 2, 3)
    assert rows.rule_counts(spark, rows.fault_counts(spark)) == {
        ("positive", None): 2,
        ("small", None): 2,
    }
    judged = judge(spark, rows, every)
    assert [(one.outcome.rule.name, one.outcome.status.value) for one in judged] == [
        ("positive", "Error"),
        ("small", "Error"),
        ("rows", "Ok"),
    ]
    assert [sorted(one.by_phase) for one in judged] == [
        ["source"],
        ["source"],
        ["source", "validated"],
    ]
    assert not any(one.stops for one in judged)


@pytest.mark.parametrize(("action", "stops"), [("ignore", False), ("drop", True), ("fail", True)])
@pytest.mark.parametrize("hidden", [False, True])
def test_a_rule_that_raises_on_a_row(
    spark: SparkSession, tmp_path: Path, action: str, stops: bool, hidden: bool
) -> None:
    """``hidden``: another rule keeps the row out, so that Spark need not ask this one."""
    rules = [
        row_rule("positive", "n > 0", "drop" if hidden else "ignore"),
        row_rule("raising", "10 / n > 1", action),
        row_rule("even", "n % 2 = 0"),
    ]
    rows, every = in_flight(tmp_path, rules, Incoming(numbers(spark, 1, 0, 4, 100)))
    found = {one.outcome.rule.name: one for one in judge(spark, rows, every)}
    assert list(rows.failures) == ["raising"]
    assert "DIVIDE_BY_ZERO" in found["raising"].outcome.message
    assert {name: one.stops for name, one in found.items()} == {
        "positive": False,
        "raising": stops,
        "even": False,
    }
    # It is as if the rule were not there.
    bad = [row for judged in rows.bad(spark) for row in judged.bad_with_entries().collect()]
    assert {row["n"]: [one["rule"] for one in row["dq_faults"]] for row in bad} == {
        0: ["positive"],
        1: ["even"],
    }
    assert rows.rule_counts(spark, rows.fault_counts(spark)) == {
        ("positive", None): 1,
        ("even", None): 1,
    }


def test_a_filter_that_raises_on_a_row(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([(0, 1), (1, 0), (2, 2)], "n int, m int")
    rules = [
        {"type": "column_values_in_range", "name": "range", "columns": ["n", "m"], "min": 1},
        {**row_rule("both", "10 / m > 1"), "where": "10 / n > 1"},
    ]
    rows, every = in_flight(tmp_path, rules, Incoming(frame))
    found = {one.outcome.rule.name: one for one in judge(spark, rows, every)}
    assert list(rows.failures) == ["both"]
    assert found["range"].outcome.observed == {"n": 1, "m": 1}
    bad = [row for judged in rows.bad(spark) for row in judged.bad_with_entries().collect()]
    assert {row["n"]: row["dq_faults"][0]["columns"] for row in bad} == {0: ["n"], 1: ["m"]}


def test_several_kinds_of_rows(spark: SparkSession, tmp_path: Path) -> None:
    first = numbers(spark, 1, -1).withColumn(HIDDEN_KEY, F.lit("a"))
    second = spark.createDataFrame([(2, "x"), (2, None)], "n int, s string")
    second = second.withColumn(HIDDEN_KEY, F.lit("b/c"))
    rules = [
        row_rule("positive", "n > 0", "drop"),
        {"type": "column_unique", "columns": "n", "name": "unique"},
        {"type": "column_not_empty", "columns": "s", "name": "filled"},
        ROWS_OF_ALL,
    ]
    incoming = (Incoming(first, ("a",)), Incoming(second, ("b/c",)))
    rows, every = in_flight(tmp_path, rules, *incoming)
    counts, _ = rows.counted(spark)
    assert counts == {"a": RowCounts(good=1, out=1), "b/c": RowCounts(kept=2)}
    assert rows.keys == ("a", "b/c")
    found = {
        (one.outcome.rule.name, one.outcome.partition): one.outcome.status.value
        for one in judge(spark, rows, every)
    }
    # Without the column, nobody can say of each row whether it is filled.
    assert found == {
        ("positive", "a"): "Error",
        ("positive", "b/c"): "Ok",
        ("unique", "a"): "Ok",
        ("unique", "b/c"): "Error",
        ("filled", "a"): "Error",
        ("filled", "b/c"): "Error",
        ("rows", "a"): "Error",
        ("rows", "b/c"): "Ok",
    }


def test_what_spark_cannot_compute_is_no_matter_of_rules(
    spark: SparkSession, tmp_path: Path
) -> None:
    broken = numbers(spark, 1, 0).selectExpr("CAST(1 / n AS INT) AS n")
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        in_flight(tmp_path, [row_rule("positive", "n > 0", "drop")], Incoming(broken))
