"""The sanitiser: nothing gets into Dagster's metadata but plain, small, harmless JSON."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.evaluation.plain import plain
from dq_dagster.integration.metadata import of_outcome
from dq_dagster.judging.status import Status
from tests.integration.shelf import check, metadata_of


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
        f"a_rather_long_column_name_{n}": {"status": Status.OK, "message": "m" * 200}
        for n in range(400)
    }
    rule = dq.ColumnNotEmpty(columns=list(columns))
    outcome = Outcome(
        rule,
        Status.OK,
        "fine",
        observed=dict.fromkeys(columns, 0),
        details={"columns": columns},
        metrics=dict.fromkeys(columns, 0),
    )
    entries = of_outcome(outcome)
    assert len(json.dumps(entries, default=str)) <= 16_384
    assert entries["dq/status"] == "Ok"


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
