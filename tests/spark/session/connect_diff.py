"""Compares tables on Spark Connect, in a process of its own, and prints what came out."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import dq_dagster as dq
from dq_dagster.errors import Misfit
from tests.connect_port import wait_for_port

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEFT = (
    "SELECT id, id % 3 AS day, concat('a', id) AS `t.x`, id / 7D AS n, map('k', id) AS m "
    "FROM range(12)"
)
RIGHT = f"SELECT id, day, `t.x`, if(id = 4, n + 1, n) AS n, m FROM ({LEFT}) WHERE id <> 7"


def said(session: SparkSession) -> dict[str, Any]:
    left, right = session.sql(LEFT), session.sql(RIGHT)
    found = dq.diff(left, right, keys="id", partition_by="day", samples=2)
    rule = dq.TableDiff(keys="id", reference=dq.Reference(asset="there"), scope="both")
    judged = dq.evaluate(left, [rule], references={"there": right}, partition_by="day")
    try:
        dq.diff(left, right, keys="day")
        keys = ""
    except Misfit as misfit:
        keys = str(misfit)
    return {
        "diff": found.to_dict(),
        "rows": [found.only_left_rows.count(), found.changed_rows.count()],
        "hash": dq.row_hashes(left).whole.text,
        "rule": [[one.partition, one.message] for one in judged],
        "keys": keys,
    }


def main() -> None:
    dq.ensure_java()
    from pyspark.sql import SparkSession

    wait_for_port()
    session = SparkSession.builder.remote("local[1]").getOrCreate()
    sys.stdout.write(json.dumps(said(session)))
    session.stop()


if __name__ == "__main__":
    main()
