"""Rules broken down by group, against plain Python on the rows of each group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from dq_dagster.evaluation.breakdown import OTHERS
from dq_dagster.judging.judgement import impact
from tests.depth import deep_after
from tests.oracle.comparing import same
from tests.oracle.frames import frame
from tests.oracle.plain import expected
from tests.oracle.rules import MAKERS, WITHOUT_ROWS, rules
from tests.oracle.sheets import GROUP, sheet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = list[dict[str, Any]]


@pytest.mark.parametrize(("seed", "top"), deep_after(1, [(20, 50), (21, 2), (22, 1)]))
def test_groups_say_what_plain_python_says(spark: SparkSession, seed: int, top: int) -> None:
    given = sheet(seed, 6).together
    asked = [
        {**rule, "dimensions": [GROUP], "top_dimensions": top}
        for rule in rules(seed, given, 2 * len(MAKERS))
        if rule["type"] not in WITHOUT_ROWS
    ]
    evaluation = dq.evaluate(frame(spark, given), asked)
    groups = _groups(given.rows())
    for rule, outcome in zip(asked, evaluation, strict=True):
        records = outcome.details["dimensions"][GROUP]
        _check_groups(rule, records, groups, given.types, top)
        # The rule itself is judged on all rows, broken down or not.
        verdict = expected(rule, given.rows(), given.types)
        assert outcome.status in {verdict.status, *verdict.also}, rule


def _groups(rows: Rows) -> dict[str | None, Rows]:
    found: dict[str | None, Rows] = {}
    for row in rows:
        found.setdefault(row[GROUP], []).append(row)
    return found


def _check_groups(
    rule: dict[str, Any],
    records: list[dict[str, Any]],
    groups: dict[str | None, Rows],
    types: dict[str, str],
    top: int,
) -> None:
    listed = [record for record in records if record["groups"] == 1 and record["group"] != OTHERS]
    named = {record["group"] for record in listed}
    assert len(listed) == min(top, len(listed) + 1 if len(records) > len(listed) else len(listed))
    for record in listed:
        _check(rule, record, groups[record["group"]], types)
    rest = [row for name, rows in groups.items() if name not in named for row in rows]
    for record in records[len(listed) :]:
        _check(rule, record, rest, types)
    impacts = [record["impact"] for record in listed]
    assert impacts == sorted(impacts, reverse=True)


def _check(rule: dict[str, Any], record: dict[str, Any], rows: Rows, types: dict[str, str]) -> None:
    verdict = expected(rule, rows, types)
    if verdict.by_column:
        assert record["status"] == verdict.status or verdict.also or _lenient(verdict), rule
        return
    if verdict.may_refuse and record["status"] == "Error":
        return
    assert record["status"] in {verdict.status, *verdict.also}, (rule, record, verdict)
    assert record["failed_rows"] == verdict.failed_rows, (rule, record, verdict)
    assert same(record["observed"], verdict.observed, verdict.slack), (rule, record, verdict)
    if verdict.failed_rows is not None and verdict.rows:
        assert record["impact"] == impact(verdict.failed_rows, verdict.rows)


def _lenient(verdict: Any) -> bool:
    """Whether a column's verdict depends on how doubles are rounded."""
    return any(one.also or one.may_refuse for one in verdict.by_column.values())


@pytest.mark.parametrize(
    ("failed", "rows", "score"),
    [
        (0, 1000, 0.0),
        (0, 0, 0.0),
        # 1 * .25 * .05 / 1.5
        (5, 5, 0.0083),
        # .25 * .5 * .5 / 1.5
        (25, 50, 0.0417),
        (100, 100, 0.5),
        (1_000, 1_000, 0.6667),
        (10_000, 10_000, 0.8333),
        (100_000, 100_000, 1.0),
        (50_000, 100_000, 0.25),
    ],
)
def test_impact(failed: int, rows: int, score: float) -> None:
    assert impact(failed, rows) == score
