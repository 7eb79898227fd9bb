"""Columns with hostile names: every rule type on each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from tests.oracle.comparing import differences
from tests.oracle.frames import frame
from tests.oracle.generate import Column, Table
from tests.oracle.names import HOSTILE_NAMES
from tests.oracle.plain import expected
from tests.oracle.sql import say

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SIZE = 4
ON_NUMBERS: tuple[dict[str, Any], ...] = (
    {"type": "column_min_in_range", "min": 0, "soft_min": 1},
    {"type": "column_max_in_range", "max": 52, "soft_max": 10},
    {"type": "column_avg_in_range", "max": 50, "soft_max": 20},
    {"type": "column_sum_in_range", "max": 100, "soft_max": 50},
    {"type": "column_stddev_in_range", "max": 1, "min": 0.5},
    {"type": "column_not_empty", "threshold": {"type": "count", "max": 1}},
    {"type": "column_empty", "threshold": {"type": "proportion", "min": 0.25}},
    {"type": "column_values_in_set", "values": list(range(40))},
    {"type": "column_values_not_in_set", "values": [3, 5]},
    {"type": "column_values_in_range", "min": 2, "soft_max": 30},
)
ON_TEXTS: tuple[dict[str, Any], ...] = (
    {"type": "column_value_lengths_in_range", "max": 3},
    {"type": "column_values_match", "pattern": "[a-z]*"},
    {"type": "column_values_not_match", "pattern": "a", "match": "search"},
    {"type": "column_not_empty", "empty_includes_blank": True},
)


def test_there_are_fifty_names_that_differ_in_more_than_case() -> None:
    assert len({name.lower() for name in HOSTILE_NAMES}) == len(HOSTILE_NAMES) >= 50


def _numbers() -> Table:
    columns = [Column(name, "int", [None, n, n + 1, n + 2]) for n, name in enumerate(HOSTILE_NAMES)]
    return Table(SIZE, columns)


def _texts() -> Table:
    texts = ["abc", "", " ", "Ab", None, "a", "long text"]
    return Table(
        SIZE,
        [
            Column(name, "string", [texts[(n + row) % len(texts)] for row in range(SIZE)])
            for n, name in enumerate(HOSTILE_NAMES)
        ],
    )


@pytest.mark.parametrize(
    ("table", "rules"), [(_numbers(), ON_NUMBERS), (_texts(), ON_TEXTS)], ids=["numbers", "texts"]
)
def test_each_rule_judges_each_column(
    spark: SparkSession, table: Table, rules: tuple[dict[str, Any], ...]
) -> None:
    asked = [
        {**rule, "name": f"r{n}", "columns": list(HOSTILE_NAMES)} for n, rule in enumerate(rules)
    ]
    evaluation = dq.evaluate(frame(spark, table), asked)
    rows = table.rows()
    for rule, outcome in zip(asked, evaluation, strict=True):
        right = expected(rule, rows, table.types)
        assert differences(outcome, right) == [], rule["type"]
        assert list(outcome.observed) == list(HOSTILE_NAMES)
        assert shows_values(outcome), rule["type"]


def _more_than_one(value: int | None) -> bool | None:
    return None if value is None else value > 1


def test_sql_on_each_column(spark: SparkSession) -> None:
    table = _numbers()
    texts = [say("{c} > 1", name, _more_than_one) for name in HOSTILE_NAMES]
    asked: list[dict[str, Any]] = [
        {"type": "row_dq", "name": f"e{n}", "expectation": text} for n, text in enumerate(texts)
    ]
    asked += [
        {"type": "record_count_in_range", "name": f"w{n}", "min": 3, "where": text}
        for n, text in enumerate(texts)
    ]
    rows = table.rows()
    for rule, outcome in zip(asked, dq.evaluate(frame(spark, table), asked), strict=True):
        assert differences(outcome, expected(rule, rows, table.types)) == [], rule
        assert shows_values(outcome), rule


def shows_values(outcome: dq.Outcome) -> bool:
    """Whether there are samples wherever rows are to blame: one bad name would cost them all."""
    blamed = not outcome.ok and outcome.rule.counts_rows and outcome.failed_rows
    return bool(outcome.samples) == bool(blamed)


@pytest.mark.parametrize(
    ("asked", "status", "words"),
    [
        ("A", "Ok", ""),  # names are looked up as Spark does it, without regard to case
        ("aa", "Error", "Column 'aa' is not in the table."),
        ("amuont", "Error", "Did you mean 'amount'?"),
        ("Ä", "Error", "Column 'Ä' is not in the table."),
        ("s.x", "Ok", ""),
        ("s.z", "Error", "Column 's.z' is not in the table."),
        ("s", "Ok", ""),
    ],
)
def test_looking_up_names(spark: SparkSession, asked: str, status: str, words: str) -> None:
    data = spark.sql("SELECT 1 AS a, 2 AS amount, named_struct('x', 3) AS s")
    (outcome,) = dq.evaluate(data, [{"type": "column_not_empty", "columns": asked}])
    assert outcome.status == status
    assert words in outcome.message


def test_names_that_differ_only_in_case_are_not_guessed(spark: SparkSession) -> None:
    data = spark.sql("SELECT 1 AS a, CAST(NULL AS INT) AS A, 2 AS b")
    evaluation = dq.evaluate(
        data, [{"type": "column_not_empty", "columns": name} for name in ("a", "b")]
    )
    ambiguous, clear = evaluation
    assert (ambiguous.status, clear.status) == ("Error", "Ok")
    assert "'a' and 'A'" in ambiguous.message


def test_a_name_that_spark_would_replace_with_a_setting(spark: SparkSession) -> None:
    name = "${spark.app.name}"
    data = spark.createDataFrame([(1, 2)], f"`{name}` int, b int")
    odd, other = dq.evaluate(
        data, [{"type": "column_max_in_range", "columns": c, "max": 5} for c in (name, "b")]
    )
    assert (other.status, other.observed) == ("Ok", 2)
    # The right answer, or an Error that names the column.
    assert odd.observed == 1 or (odd.status == "Error" and name in odd.message)
