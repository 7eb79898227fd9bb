"""Spark Connect compares tables as classic Spark does."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from pyspark.sql import SparkSession

from tests.spark.session.connect_diff import said


@pytest.mark.deep
def test_connect_and_classic_agree_on_diffs(spark: SparkSession) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.session.connect_diff"],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    there = json.loads(done.stdout.splitlines()[-1])
    here = json.loads(json.dumps(said(spark)))
    assert there == here
    assert here["diff"]["changed"] == 1
    assert here["diff"]["partitions"] == {"total": 3, "read": 1}
    assert "values that occur more than once: 3" in here["keys"]
