"""Spark Connect splits rows as classic Spark does."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from pyspark.sql import SparkSession

from tests.spark.session.connect_faults import BUILT_IN, OF_USERS, WRONG, problems, said
from tests.spark.session.test_connect import REFUSED


@pytest.mark.deep
def test_connect_and_classic_agree_on_rows(spark: SparkSession) -> None:
    zone = str(spark.conf.get("spark.sql.session.timeZone"))
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.session.connect_faults", zone],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    there = json.loads(done.stdout.splitlines()[-1])
    assert there["answers"] == said(spark, [*BUILT_IN, *OF_USERS])
    assert there["lenient"] == said(spark, BUILT_IN)
    wrong = problems(spark, WRONG)
    assert there["problems"] == wrong
    assert [text.split(":")[0] for text in wrong] == [f"rule '{rule['name']}'" for rule in WRONG]
    # Connect has no other session for SQL of users, which might get a wrong answer.
    assert [text.split(":")[0] for text in there["refused"]] == [
        f"rule '{rule['name']}'" for rule in OF_USERS
    ]
    assert all(REFUSED in text for text in there["refused"])
