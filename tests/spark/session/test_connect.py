"""Spark Connect gives the outcomes that classic Spark gives."""

from __future__ import annotations

import json
import subprocess
import sys

from pyspark.sql import SparkSession

import dq_dagster as dq
from tests.spark.session.connect_session import RULES, TABLE, said

REFUSED = "set spark.sql.ansi.enabled to true for the session"
#: Without ANSI these could get a wrong answer, and Connect has no other session for them.
SQL_OF_USERS = {
    rule.name
    for rule in RULES
    if rule.where is not None
    or isinstance(rule, dq.RowExpectation | dq.AggregateExpectation | dq.QueryExpectation)
    or rule.name in {"query", "time", "missing"}
}


def test_connect_and_classic_agree(spark: SparkSession) -> None:
    zone = str(spark.conf.get("spark.sql.session.timeZone"))
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.session.connect_session", zone],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    there = json.loads(done.stdout.splitlines()[-1])
    here = said(dq.evaluate(spark.sql(TABLE), RULES))
    assert there["true"] == here
    assert there["blocks"] is True
    assert {status for _, status, _, _ in here} == {"Ok", "Error"}
    refused = {name for name, _, _, message in there["false"] if REFUSED in message}
    assert refused == SQL_OF_USERS
    # What is no SQL of users gets the same answers.
    answered = [one for one in here if one[0] not in SQL_OF_USERS]
    assert [one for one in there["false"] if one[0] not in SQL_OF_USERS] == answered
    assert {status for name, status, _, _ in there["false"] if name in refused} == {"Error"}
