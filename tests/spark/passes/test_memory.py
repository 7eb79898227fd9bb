"""Ten million different values on a driver with one gigabyte, which here is all that Spark has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ROWS = 10_000_000
JUDGE = f"""
import json
import dq_dagster as dq
dq.ensure_java()
from pyspark.sql import SparkSession
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.memory", "1g")
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
frame = spark.range({ROWS}).selectExpr("id", "concat('v', id) AS s", "id % 1000003 AS x")
rules = [
    dq.ColumnUnique(name="numbers", columns="id"),
    dq.ColumnUnique(name="texts", columns="s"),
    dq.ColumnMostFrequentInSet(name="top", columns="s", values=["v0"]),
    dq.ColumnMedianInRange(name="median", columns="id", min=0),
    dq.ColumnNotEmpty(name="groups", columns="id", dimensions=["s"]),
]
found = dq.evaluate(frame, rules)
print(json.dumps([[str(o.status), str(o.observed), o.message] for o in found]))
print(json.dumps(found["groups"].details["dimensions"]))
"""


@pytest.mark.deep
def test_ten_million_values_fit() -> None:
    # Java as it is by default, unlike that of the other tests: with so many rows it matters.
    by_default = {**os.environ, "SPARK_SUBMIT_OPTS": ""}
    done = subprocess.run(
        [sys.executable, "-c", JUDGE],
        cwd=ROOT,
        env=by_default,
        capture_output=True,
        text=True,
        check=True,
    )
    outcomes, groups = (json.loads(line) for line in done.stdout.splitlines()[-2:])
    assert [status for status, _, _ in outcomes] == ["Ok", "Ok", "Error", "Ok", "Ok"]
    assert [observed for _, observed, _ in outcomes[:2]] == ["0", "0"]
    assert f"{ROWS:,} of them tie for 1 place." in outcomes[2][2]
    assert outcomes[3][1] == str((ROWS - 1) / 2)
    assert "too many groups by 's'" in groups["s"]
