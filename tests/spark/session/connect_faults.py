"""Splits the same rows on Spark Connect, in a process of its own, and prints what came out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import dq_dagster as dq
from tests.connect_port import wait_for_port
from tests.spark.session.connect_session import TABLE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KNOWN = "SELECT 1 AS id UNION ALL SELECT 2"
BUILT_IN: list[dict[str, Any]] = [
    {"type": "column_not_empty", "columns": ["name", "day"], "empty_includes_blank": True},
    {"type": "column_values_in_range", "columns": "x", "max": 5, "soft_max": 1},
    {"type": "column_values_in_set", "columns": "name", "values": ["ann", "it's"]},
    {"type": "column_values_match", "columns": "name", "pattern": "[a-z]+"},
    {"type": "column_valid_meaning", "columns": "name", "meaning": "country"},
    {"type": "column_values_in_reference", "columns": "id", "reference": {"asset": "known"}},
    {"type": "column_unique", "columns": "half"},
    {"type": "unique_key", "columns": ["half", "whole"], "action_if_failed": "ignore"},
]
OF_USERS: list[dict[str, Any]] = [
    {"type": "row_dq", "name": "row", "expectation": "amount > 20", "null_is": "pass"},
    {"type": "column_not_empty", "name": "some", "columns": "name", "where": "id > 1"},
    {"type": "unique_key", "name": "key", "columns": ["half"], "keep": {"order_by": "id DESC"}},
]
WRONG: list[dict[str, Any]] = [
    {"type": "row_dq", "name": "number", "expectation": "id + 1"},
    {"type": "column_unique", "name": "filter", "columns": "id", "where": "id + 1"},
    {"type": "column_not_empty", "name": "missing", "columns": "nam"},
    {"type": "column_unique", "name": "order", "columns": "id", "keep": {"order_by": "map(1, id)"}},
]


def rows(session: SparkSession) -> DataFrame:
    return session.sql(TABLE).selectExpr("*", "least(id, 1) AS half", "1 AS whole")


def said(session: SparkSession, rules: list[dict[str, Any]]) -> dict[str, Any]:
    references = {"known": session.sql(KNOWN)}
    data = rows(session)
    good, bad = dq.split(data, rules, references=references)
    named = dq.failing_rows(data, rules, references=references).select("id", "dq_faults")
    return {
        "good": sorted(row["id"] for row in good.collect()),
        "bad": sorted(row["id"] for row in bad.collect()),
        "named": sorted(
            [row["id"], [entry.asDict() for entry in row["dq_faults"]]] for row in named.collect()
        ),
    }


def problems(session: SparkSession, rules: list[dict[str, Any]]) -> list[str]:
    return refused(lambda: dq.split(rows(session), rules))


def refused(action: Callable[[], object]) -> list[str]:
    try:
        action()
    except dq.DeclarationError as error:
        return [str(problem) for problem in error.problems]
    return []


def main() -> None:
    dq.ensure_java()
    from pyspark.sql import SparkSession

    wait_for_port()
    builder = SparkSession.builder.remote("local[1]")
    session = builder.config("spark.sql.session.timeZone", sys.argv[1]).getOrCreate()
    found = {
        "answers": said(session, [*BUILT_IN, *OF_USERS]),
        "problems": problems(session, WRONG),
    }
    session.conf.set("spark.sql.ansi.enabled", "false")
    found["lenient"] = said(session, BUILT_IN)
    found["refused"] = problems(session, [*BUILT_IN[:5], *OF_USERS])
    sys.stdout.write(json.dumps(found))
    session.stop()


if __name__ == "__main__":
    main()
