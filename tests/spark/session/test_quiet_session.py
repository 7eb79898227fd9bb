"""The session that is started here keeps quiet; one that people started stays as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from threading import Thread

import pytest
from pyspark.sql import SparkSession

from dq_dagster.spark.session.session import current_session

# A rule that raises, one that sorts without partitions, and one that takes two jobs.
EVALUATED = """
import pandas as pd
import dq_dagster as dq

data = pd.DataFrame({"id": [1, 2, 0], "odd": pd.Series([1, 2, 3], dtype="uint64")})
print(dq.evaluate(data, [
    dq.RecordCountInRange(min=3),
    dq.ColumnUnique(columns="id"),
    dq.ColumnMedianInRange(columns="id", min=0),
    dq.ColumnNotEmpty(columns="odd"),
    dq.RowExpectation(name="division", expectation="10 / id > 1"),
    dq.MetricInRange(
        name="window",
        metric=dq.MetricSource(
            query="select max(n) from (select row_number() over (order by id) n from {table})"
        ),
        max=3,
    ),
]))
"""


def process(code: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "JAVA_TOOL_OPTIONS": "-Dsome=thing"}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )


def test_evaluating_pandas_prints_outcomes_and_nothing_else() -> None:
    done = process(EVALUATED)
    assert done.stderr == ""
    assert done.stdout.startswith("6 outcomes: 2 Error, 4 Ok\n")
    assert len(done.stdout.splitlines()) == 7


@pytest.mark.deep
def test_what_others_say_meanwhile_is_handed_on() -> None:
    code = (
        "import os, threading, time\n"
        "from dq_dagster.spark.session.session import current_session\n"
        "def warn():\n"
        "    while os.path.realpath('/proc/self/fd/2') == before: time.sleep(0.01)\n"
        "    os.write(2, b'somebody warns\\n')\n"
        "before = os.path.realpath('/proc/self/fd/2')\n"
        "threading.Thread(target=warn).start()\n"
        "print(current_session({'spark.master': 'local[1]'}).range(3).count())\n"
    )
    done = process(code)
    assert (done.stdout, done.stderr) == ("3\n", "somebody warns\n")


def test_a_session_that_does_not_start_says_why() -> None:
    code = (
        "from dq_dagster.spark.session.session import current_session\n"
        "current_session({'spark.master': 'nonsense'})\n"
    )
    done = process(code)
    assert "SparkNotStarted: Spark does not start (" in done.stderr
    assert "Master must either be yarn or start with" in done.stderr


def test_a_session_of_others_is_taken_as_it_is_in_every_thread(spark: SparkSession) -> None:
    seen: list[SparkSession] = []
    before = dict(spark.sparkContext.getConf().getAll())
    thread = Thread(
        target=lambda: seen.append(current_session({"spark.sql.ansi.enabled": "false"}))
    )
    thread.start()
    thread.join()
    assert seen[0].sparkContext is spark.sparkContext
    assert seen[0].conf.get("spark.sql.ansi.enabled") == "true"
    assert dict(spark.sparkContext.getConf().getAll()) == before
