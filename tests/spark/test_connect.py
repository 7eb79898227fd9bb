"""Spark Connect gives the outcomes that classic Spark gives."""

from __future__ import annotations

import json
import subprocess
import sys

from pyspark.sql import SparkSession

import dq_dagster as dq
from tests.spark.connect_session import RULES, TABLE, told


def test_connect_and_classic_agree(spark: SparkSession) -> None:
    zone = str(spark.conf.get("spark.sql.session.timeZone"))
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.connect_session", zone],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    there = json.loads(done.stdout.splitlines()[-1])
    here = told(dq.evaluate(spark.sql(TABLE), RULES))
    assert there == here
    assert {status for _, status, _, _ in here} == {"Ok", "Error"}
