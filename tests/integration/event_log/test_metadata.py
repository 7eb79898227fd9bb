"""The sanitiser: nothing gets into Dagster's metadata but plain, small, harmless JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, cast

import dagster as dg
import numpy as np
import pandas as pd
import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from dq_dagster.evaluation.outcome import Outcome, plain
from dq_dagster.integration.checks.results import entries_of
from dq_dagster.integration.event_log.codec import Record
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement, Status
from dq_dagster.judging.typical import Typical, TypicalFinding, Unknown
from tests.integration.shelf import asset_of, by_name, check, metadata_of, record_of, run


class Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (1, 1),
        (True, True),
        (2**70, 2**70),
        (1.5, 1.5),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (Decimal("1.50"), 1.5),
        (np.float64(2.5), 2.5),
        (np.int64(3), 3),
        (np.float64("nan"), "nan"),
        (np.bool_(True), True),
        (date(2024, 2, 29), "2024-02-29"),
        (datetime(2024, 2, 29, 12, tzinfo=UTC), "2024-02-29T12:00:00+00:00"),
        (Colour.RED, "red"),
        (b"bytes", "bytes"),
        (object(), "object"),
        ({"a": [Decimal(1), {1: None}]}, {"a": [1.0, {"1": None}]}),
        (pd.Timestamp("2024-01-01"), "2024-01-01T00:00:00"),
    ],
)
def test_values_become_plain_json(value: Any, kept: Any) -> None:
    result = plain(value)
    assert (result, type(result)) == (kept, type(kept))
    json.dumps(result, allow_nan=False)


def test_metadata_stays_small() -> None:
    columns = {
        f"a_rather_long_column_name_{n}": Judgement(Status.OK, "m" * 200) for n in range(400)
    }
    rule = dq.ColumnNotEmpty(columns=list(columns))
    outcome = Outcome(
        rule,
        Judgement(Status.OK, "fine", observed=dict.fromkeys(columns, 0), columns=columns),
        metrics=dict.fromkeys(columns, 0),
    )
    entries = entries_of(outcome, Record.of(outcome).encode())
    assert len(json.dumps(entries, default=str)) <= 16_384
    assert entries["dq/record"]["status"] == "Ok"


CANARY = "canary-7f3a"


def test_no_row_value_reaches_the_event_log(spark: SparkSession, capfd: Any) -> None:
    rows = [(CANARY, 1), (f"{CANARY}-2", 0), (None, 2)]
    rules: list[dq.Rule] = [
        dq.ColumnMinInRange(name="min", columns="s", min="z"),
        dq.ColumnMaxInRange(name="max", columns="s", max="a"),
        dq.ColumnValuesInSet(name="set", columns="s", values=["x"]),
        dq.ColumnValuesMatch(name="match", columns="s", pattern="x+"),
        dq.ColumnValueLengthsInRange(name="length", columns="s", max=1),
        dq.ColumnNotEmpty(name="empty", columns="s"),
        dq.RowExpectation(name="cast", expectation="CAST(s AS INT) > 0"),
        dq.RowExpectation(name="divide", expectation="1 / n > 0 AND length(s) > 0"),
        dq.ColumnValuesInRange(name="range", columns=["s", "n"], min="z"),
    ]
    found = check(spark, rows, "s string, n int", rules)
    assert len(found) == len(rules)
    for name, evaluation in found.items():
        assert not evaluation.passed, name
        assert CANARY not in str(evaluation), name
        json.dumps(
            {k: v for k, v in metadata_of(evaluation).items() if k != "dq/columns"},
            allow_nan=False,
        )
    written = capfd.readouterr()
    assert CANARY not in written.out
    assert CANARY not in written.err


def test_an_observed_nan_is_kept_as_text(spark: SparkSession) -> None:
    found = check(spark, [(math.nan,)], "x double", [dq.ColumnMaxInRange(columns="x", min=0)])
    evaluation = found["column_max_in_range_x"]
    assert metadata_of(evaluation)["dq/observed"] == "nan"
    assert evaluation.description == (
        "The maximum of 'x' is NaN (not a number), which fits no range."
    )


def test_several_observed_values_of_several_columns(spark: SparkSession) -> None:
    rules: list[dq.Rule] = [
        dq.ColumnMostFrequentInSet(name="most", columns=["s", "t"], values=["a"], blocking=False),
        dq.ColumnTopValuesInSet(name="top", columns=["n", "m"], top=2, values=[1, 2]),
        dq.RecordCountInRange(name="rows", min=1),
    ]
    rows = [("a", "b", 1, 1), ("a", "c", 1, 2), ("b", "b", 2, 2)]
    found = check(spark, rows, "s string, t string, n int, m int", rules)
    assert set(found) == {"most", "top", "rows"}
    assert found["rows"].passed
    shown = {
        name: [(row["column"], row["status"], row["observed"]) for row in rows_of(found[name])]
        for name in ("most", "top")
    }
    assert shown == {
        "most": [("s", "Ok", "a text of 1 character"), ("t", "Error", "a text of 1 character")],
        "top": [("n", "Ok", "1, 2"), ("m", "Ok", "2, 1")],
    }


def rows_of(evaluation: dg.AssetCheckEvaluation) -> list[Mapping[str, Any]]:
    table: Any = evaluation.metadata["dq/columns"]
    return [record.data for record in table.records]


class Untellable(dq.RecordCountInRange):
    """A rule of somebody whose details have no shape that is known."""

    def judge(self, evidence: Evidence) -> Judgement:
        return Judgement(Status.WARNING, "Some rows are odd.", details={"schema": [{}]})


def test_details_that_cannot_be_recorded_cost_only_themselves(spark: SparkSession) -> None:
    odd = Untellable(name="odd", min=1)
    found = check(spark, [(1,)], "n int", [odd, dq.RecordCountInRange(name="rows", min=1)])
    assert found["rows"].passed
    assert metadata_of(found["rows"])["dq/observed"] == 1
    assert (found["odd"].passed, found["odd"].severity) == (False, dg.AssetCheckSeverity.WARN)
    assert found["odd"].description == (
        "Some rows are odd. Its details could not be recorded (KeyError)."
    )
    entries = metadata_of(found["odd"])
    # Its numbers are on record all the same, and of which state of the data they are.
    record = entries.pop("dq/record")
    assert record.pop("data").isdigit()
    assert entries == {"dq/status": "Warning"}
    assert record == {
        "v": 1,
        "status": "Warning",
        "type": "record_count_in_range",
        "observed": {"record_count": 1},
    }


class Uncountable(dq.RecordCountInRange):
    """A rule of somebody who counts in numbers that JSON does not have."""

    def judge(self, evidence: Evidence) -> Judgement:
        return Judgement(Status.WARNING, "Odd.", rows=cast("int", {1j}), bounds={"min": {1j}})


def test_numbers_are_on_record_whatever_else_a_rule_says(spark: SparkSession) -> None:
    odd = Uncountable(name="odd", min=1)
    found = check(spark, [(1,)], "n int", [odd, dq.RecordCountInRange(name="rows", min=1)])
    assert found["rows"].passed
    assert "Its details could not be recorded" in str(found["odd"].description)
    [(key, record)] = metadata_of(found["odd"]).items()
    assert key == "dq/record"
    assert (record["status"], record["observed"]) == ("Warning", {"record_count": 1})


def test_what_later_checks_learn_from_is_kept_of_any_number_of_columns(spark: SparkSession) -> None:
    columns = [f"a_rather_long_column_name_{n}" for n in range(150)]
    rule = dq.ColumnAvgTypical(
        name="avg", columns=columns, learning_period=2, min_iqr=1, blocking=False
    )
    rule_set = dq.RuleSet(asset="orders", rules=[rule])
    instance = dg.DagsterInstance.ephemeral()
    last: dict[str, Any] = {}
    for number in (1.0, 2.0, 50.0):
        data = asset_of(pd.DataFrame({name: [number] for name in columns}))
        [found] = by_name(run([data], rule_set, instance=instance)).values()
        last = metadata_of(found)
        metrics = record_of(found).metrics
        assert {metrics[f"column_avg:{name}"] for name in columns} == {number}
    assert last["dq/record"]["status"] == "Error"
    assert "dq/observed" not in last


def typical_of(columns: int) -> Mapping[str, Any]:
    """The metadata of change detection on so many columns."""
    names = [f"a_rather_long_column_name_{n}" for n in range(columns)]
    judged = {
        name: Judgement(
            Status.OK,
            "fine",
            typical=TypicalFinding(
                Typical(),
                f"column_avg:{name}",
                datetime(2024, 2, 29, tzinfo=UTC),
                Unknown(Status.EMPTY, "Still learning."),
            ),
        )
        for name in names
    }
    outcome = Outcome(
        dq.ColumnAvgTypical(columns=names),
        Judgement(
            Status.OK,
            "fine",
            observed=dict.fromkeys(names, 0.5),
            bounds={name: {"min": 0, "max": 1} for name in names},
            expected="typical " * 1_000,
            columns=judged,
        ),
        metrics={f"{kind}:{name}": 1 for name in names for kind in ("column_avg", "count_value")},
    )
    return entries_of(outcome, Record.of(outcome).encode())


def test_numbers_that_are_not_judged_give_way_before_a_database_refuses_them() -> None:
    some = typical_of(300)
    assert len(some["dq/record"]["metrics"]) == 600
    assert not {"dq/observed", "dq/columns"} & set(some)
    assert "bounds" not in some["dq/record"]
    assert len(some["dq/expected"]) == 500
    many = typical_of(700)["dq/record"]["metrics"]
    assert {key.partition(":")[0] for key in many} == {"column_avg"}
    assert len(many) == 700
