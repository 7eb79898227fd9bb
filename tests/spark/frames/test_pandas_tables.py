"""pandas DataFrames: each column is judged rightly, or says which type keeps it from that."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from dq_dagster.spark.frames.frames import as_spark
from tests.spark.frames.pandas_tables import (
    CANARY,
    FINE,
    GAP,
    NOON,
    RIGHT,
    RULES,
    WRONG,
    objects,
    seen,
    table,
    times,
)
from tests.spark.session.connect_session import said


def test_columns_that_spark_can_hold(spark: SparkSession) -> None:
    frame = as_spark(pd.DataFrame({name: odd for name, (odd, _, _) in RIGHT.items()}))
    assert seen(frame) == {name: [kind, texts] for name, (_, kind, texts) in RIGHT.items()}


def test_columns_that_spark_can_not_hold_cost_only_their_own_rules(spark: SparkSession) -> None:
    data = pd.DataFrame({name: odd for name, (odd, _) in WRONG.items()}).assign(fine=[1, 2])
    rules = [dq.ColumnNotEmpty(name=name, columns=name) for name in [*WRONG, "fine"]]
    result = dq.evaluate(data, [*rules, dq.RecordCountInRange(name="rows", min=2, max=2)])
    assert result["fine"].status.value == "Ok"
    assert result["rows"].status.value == "Ok"
    for name, (_, kind) in WRONG.items():
        outcome = result[name]
        assert outcome.status.value == "Error"
        assert outcome.message.startswith(f"Column '{name}' is of the pandas type {kind}")
        assert "4711" not in outcome.message
        assert CANARY not in outcome.message


def test_every_rule_beside_a_column_that_cannot_be_read(spark: SparkSession) -> None:
    result = dq.evaluate(table(WRONG["uint64"][0]), RULES)
    by_name = {outcome.rule.name: outcome for outcome in result}
    assert {name for name, outcome in by_name.items() if outcome.ok} == FINE
    reason = "Column 'odd' is of the pandas type uint64, which Spark does not have: convert it"
    for name in by_name.keys() - FINE - {"odd there"}:
        assert by_name[name].message.startswith(reason), name
    assert by_name["odd there"].message == (
        "1 of 1 column is not as expected: 'odd' is of type uint64 instead of bigint."
    )
    assert by_name["groups"].details["dimensions"]["fine"]


def test_a_reference_whose_key_cannot_be_read(spark: SparkSession) -> None:
    rule = dq.ColumnValuesInReference(
        columns="fine", reference=dq.Reference(asset="other"), reference_columns="odd"
    )
    other = table(WRONG["period"][0])
    [outcome] = dq.evaluate(table(objects(1, 2)), [rule], references={"other": other})
    assert outcome.status.value == "Error"
    assert "Column 'odd' is of the pandas type period[M]" in outcome.message


def test_times_that_the_zone_does_not_have_keep_their_values(spark: SparkSession) -> None:
    hours = pd.Series(pd.date_range("2024-03-10", periods=24, freq="h"))
    rules = [
        dq.ColumnUnique(columns="odd"),
        dq.ColumnNotEmpty(columns="odd"),
        dq.ColumnMaxInRange(columns="odd", max="2024-03-10 23:00:00", min="2024-03-10 23:00:00"),
        dq.ColumnValuesInSet(columns="odd", values=["2024-03-10 02:00:00"], where="hour(odd) = 2"),
        dq.Freshness(columns="odd", max="1 hour"),
    ]
    frame = pd.DataFrame({"odd": hours})
    result = dq.evaluate(frame, rules, now=pd.Timestamp("2024-03-10 23:30", tz="America/New_York"))
    assert [outcome.status.value for outcome in result] == ["Ok"] * 5, result


def test_partitions_share_the_type_of_their_times(spark: SparkSession) -> None:
    parts = {"a": table(times(NOON, NOON)), "b": table(times(GAP, NOON))}
    frame = as_spark(parts)
    assert frame.schema["odd"].dataType.simpleString() == "timestamp_ntz"
    assert frame.count() == 4


@pytest.fixture
def session_zone(spark: SparkSession) -> Iterator[Any]:
    before = str(spark.conf.get("spark.sql.session.timeZone"))
    yield lambda zone: spark.conf.set("spark.sql.session.timeZone", zone)
    spark.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.parametrize("zone", ["GMT+2", "+02:00", "UTC", "Z", "Europe/Berlin"])
def test_naive_times_are_meant_in_the_session_zone(
    spark: SparkSession, session_zone: Any, zone: str
) -> None:
    session_zone(zone)
    frame = as_spark(table(times(NOON, NOON)))
    assert seen(frame)["odd"] == ["timestamp", ["2024-01-01 12:00:00"] * 2]


def test_a_table_without_columns_has_rows(spark: SparkSession) -> None:
    rules: list[dq.Rule] = [
        dq.RecordCountInRange(min=3, max=3),
        dq.ColumnCountInRange(max=0),
        dq.ColumnNotEmpty(columns="a"),
    ]
    result = dq.evaluate(pd.DataFrame(index=range(3)), rules)
    assert [(o.status.value, o.message) for o in result] == [
        ("Ok", "The number of rows is 3, as expected (exactly 3)."),
        ("Ok", "The number of columns is 0, as expected (at most 0)."),
        ("Error", "Column 'a' is not in the table, which has no columns."),
    ]
    [nothing] = dq.evaluate(pd.DataFrame(), rules[:1])
    assert nothing.observed == 0
    [unreadable] = dq.evaluate(pd.DataFrame({"a": WRONG["huge"][0]}), rules[:1])
    assert unreadable.observed == 2


@pytest.mark.parametrize(
    ("names", "fine"),
    [
        (["a", "a", "b"], "b"),
        ([1, "1", 2], "2"),
        ([("x", "a"), ("x", "a"), ("x", "b")], "('x', 'b')"),
        ([None, float("nan"), "none"], "nan"),
    ],
)
def test_names_of_columns(spark: SparkSession, names: list[Any], fine: str) -> None:
    columns = pd.MultiIndex.from_tuples(names) if isinstance(names[0], tuple) else names
    data = pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=columns)
    rules = [
        dq.ColumnNotEmpty(name="fine", columns=fine),
        dq.ColumnNotEmpty(name="twice", columns=str(names[0])),
        dq.ColumnCountInRange(min=3, max=3),
        dq.RecordCountInRange(min=2, max=2),
    ]
    result = dq.evaluate(data, rules)
    assert [outcome.status.value for outcome in result] == ["Ok", "Error", "Ok", "Ok"]
    assert result["twice"].message.startswith(f"Column '{names[0]}' is ambiguous: the table has ")


def test_a_schema_is_not_written_of_what_cannot_be_read(spark: SparkSession) -> None:
    with pytest.raises(dq.DqError, match="Column 'odd' is of the pandas type float16, which"):
        dq.schema_of(table(pd.Series(np.array([1, 2], dtype="float16"))))


@pytest.mark.deep
def test_connect_and_classic_agree(spark: SparkSession) -> None:
    zone = str(spark.conf.get("spark.sql.session.timeZone"))
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.frames.pandas_tables", zone],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    kinds, wrong, nothing = json.loads(done.stdout.splitlines()[-1])
    assert kinds == {name: [kind, texts] for name, (_, kind, texts) in RIGHT.items()}
    assert wrong == said(dq.evaluate(table(WRONG["uint64"][0]), RULES))
    assert nothing == said(dq.evaluate(pd.DataFrame(index=range(3)), RULES[:2]))
