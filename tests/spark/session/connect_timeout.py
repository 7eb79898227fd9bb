"""Evaluates with a timeout on Spark Connect, in a process of its own, and prints the outcomes."""

from __future__ import annotations

import json
import sys
import threading
import time

import dq_dagster as dq
from tests.connect_port import wait_for_port
from tests.spark.session.connect_session import said

ENDLESS = "SELECT sum(sqrt(id)) FROM range(10000000000000)"
RULES: list[dq.Rule] = [
    dq.ColumnUnique(name="slow", columns="slow"),
    dq.RecordCountInRange(name="rows", min=1),
    dq.ColumnNotEmpty(name="filled", columns="id"),
]


def main() -> None:
    dq.ensure_java()
    from pyspark.sql import SparkSession

    wait_for_port()
    session = SparkSession.builder.remote("local[2]").getOrCreate()
    dq.evaluate(session.range(3), [RULES[1]])
    frame = session.sql(f"SELECT id, ({ENDLESS}) AS slow FROM range(4)")
    found = []

    def other() -> None:
        # In one part, so that it leaves a core to the others.
        words = ENDLESS.replace("10000000000000", "0, 3000000000, 1, 1")
        found.append(session.sql(words).collect()[0][0])

    thread = threading.Thread(target=other)
    thread.start()
    start = time.monotonic()
    outcomes = said(dq.evaluate(frame, RULES, timeout=10))
    took = time.monotonic() - start
    thread.join()
    answer = {"took": took, "outcomes": outcomes, "other": found, "tags": [*session.getTags()]}
    sys.stdout.write(json.dumps(answer))
    session.stop()


if __name__ == "__main__":
    main()
