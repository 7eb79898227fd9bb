"""The rule agg_dq without Spark: what it takes, what it measures, what it says."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

import dq_dagster as dq
from dq_dagster.errors import Misfit, SparkFailure
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.judging.evidence import Evidence
from dq_dagster.metrics.metric import Metric, RecordCount
from dq_dagster.metrics.sources import SqlAggregate, SqlCondition

NAN, INF = math.nan, math.inf


def judged(expectation: str, answer: Any, *parts: Any, rows: int = 8, **fields: Any) -> Outcome:
    """The outcome where Spark gave that answer, and the aggregates these values."""
    rule = dq.AggregateExpectation(expectation=expectation, **fields)
    whole, *measured, counted = rule.metrics()
    values: dict[Metric, Any] = {whole: answer, counted: rows}
    values |= dict(zip(measured, parts, strict=True))
    zone = timezone(timedelta(hours=-5))
    return Outcome.of(rule, rule.judge(Evidence(values, zone)))


def test_it_measures_the_condition_its_aggregates_and_the_rows() -> None:
    rule = dq.AggregateExpectation(
        expectation="sum(amount) > 1 and count(distinct country) < 50 and SUM(amount) < 9",
        where="amount > 0",
    )
    assert rule.metrics() == (
        SqlCondition(rule.expectation, where="amount > 0"),
        SqlAggregate("sum(amount)", where="amount > 0"),
        SqlAggregate("count(distinct country)", where="amount > 0"),
        RecordCount(where="amount > 0"),
    )
    assert rule.name == (
        "agg_dq_sum_amount_1_and_count_distinct_country_50_and_SUM_amount_9_32a541"
    )


@pytest.mark.parametrize(
    ("answer", "null_is", "status", "verdict"),
    [
        (True, "fail", "Ok", "holds"),
        (True, "pass", "Ok", "holds"),
        (False, "fail", "Error", "does not hold"),
        (False, "pass", "Error", "does not hold"),
        (None, "fail", "Error", "is unknown (NULL), which fails"),
        (None, "pass", "Ok", "is unknown (NULL), which passes"),
    ],
)
def test_the_answer_decides(answer: bool | None, null_is: str, status: str, verdict: str) -> None:
    outcome = judged("sum(a) > 1", answer, 7, null_is=null_is)
    assert outcome.status == status
    assert outcome.message == f"'sum(a) > 1' {verdict}: sum(a) = 7."
    assert (outcome.observed, outcome.rows, outcome.failed_rows) == (7, 8, None)
    assert outcome.expected == "sum(a) > 1"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (9310, "9,310"),
        (Decimal("9310.50"), "9,310.50"),
        (2 / 3, "0.666667"),
        (None, "no value"),
        (True, "true"),
        ("secret", "a text of 6 characters"),
        (date(2024, 1, 31), "2024-01-31"),
        (datetime(2024, 1, 31, 12, tzinfo=UTC), "2024-01-31 07:00:00-05:00"),
        (-INF, "-inf"),
    ],
)
def test_values_are_shown_and_texts_never_quoted(value: Any, shown: str) -> None:
    outcome = judged("max(a) > 1", False, value)
    assert outcome.message == f"'max(a) > 1' does not hold: max(a) = {shown}."


def test_several_aggregates_are_observed_by_their_text() -> None:
    outcome = judged(
        "sum(amount) > 10000 and\n  count(distinct country) < 50", False, Decimal("9310.5"), 7
    )
    assert outcome.message == (
        "'sum(amount) > 10000 and count(distinct country) < 50' does not hold: "
        "sum(amount) = 9,310.5, count(distinct country) = 7."
    )
    assert outcome.observed == {"sum(amount)": Decimal("9310.5"), "count(distinct country)": 7}


def test_the_filter_is_reported() -> None:
    outcome = judged("count(*) > 1", True, 3, where="a > 0")
    assert outcome.message == "'count(*) > 1' holds: count(*) = 3 (rows where a > 0)."


def test_no_rows_are_nothing_to_judge() -> None:
    outcome = judged("count(*) = 0", None, None, rows=0)
    assert (outcome.status, outcome.observed, outcome.rows) == ("Empty", None, 0)
    assert judged("count(*) = 0", None, None, rows=0, on_empty="error").status == "Error"


@pytest.mark.parametrize(
    ("expectation", "answer", "status"),
    [
        ("avg(a) > 1", True, "Error"),
        ("avg(a) > 1", False, "Error"),
        ("isnan(avg(a)) or true", True, "Ok"),
        ("nanvl(avg(a), 1) > 0", True, "Ok"),
    ],
)
def test_nan_is_never_right_by_chance(expectation: str, answer: bool, status: str) -> None:
    outcome = judged(expectation, answer, NAN)
    assert outcome.status == status
    assert "= nan" in outcome.message
    assert ("is NaN (not a number)" in outcome.message) is (answer and status == "Error")


def test_many_aggregates_and_long_texts_are_cut() -> None:
    text = " and ".join(f"max(c{n}) > {n}" for n in range(40))
    outcome = judged(text, True, *range(40))
    assert "max(c5) = 5, and 34 more aggregates." in outcome.message
    assert len(outcome.message) < 500
    assert len(outcome.observed) == 40


@pytest.mark.parametrize("failure", [Misfit.no_column("a", ["b"]), SparkFailure("Spark raised X.")])
def test_a_condition_without_an_answer_is_that_failure(failure: Exception) -> None:
    for rows in (0, 8):
        with pytest.raises(type(failure)):
            judged("sum(a) > 1", failure, 1, rows=rows)


def test_an_aggregate_that_could_not_be_measured_is_left_out() -> None:
    outcome = judged("max(a) > min(a)", True, SparkFailure("Spark raised X."), 3)
    assert outcome.message == "'max(a) > min(a)' holds: min(a) = 3."
    assert outcome.observed == {"min(a)": 3}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"expectation": "amount > 0"},
            (
                "field 'expectation': there is no aggregate such as sum(amount) in the "
                "expression: put a condition on single rows into a rule of type row_dq."
            ),
        ),
        (
            {"type": "row_dq", "expectation": "sum(amount) > 0"},
            (
                "field 'expectation': 'sum(amount)' is an aggregate over many rows, while a row "
                "expression sees one row at a time: put the condition into a rule of type agg_dq."
            ),
        ),
        (
            {"expectation": "count(*) > (select 1)"},
            (
                "field 'expectation': '(select 1)' is a subquery, and subqueries are not possible "
                "here: write a condition on the columns of this table, or a rule of type "
                "query_dq. (A column of that name needs backquotes.)"
            ),
        ),
        ({}, "field 'expectation' is missing."),
        (
            {"expectation": "count(*) > 0", "null_is": "ok"},
            "field 'null_is': 'fail' or 'pass' is needed, not 'ok'.",
        ),
        (
            {"expectation": "count(*) > 0", "threshold": 0.1},
            None,
        ),
    ],
)
def test_what_does_not_fit_is_told_when_declared(fields: dict[str, Any], said: str | None) -> None:
    with pytest.raises(dq.DeclarationError) as caught:
        dq.RuleSet(asset="orders", rules=[{"type": "agg_dq", "name": "n", **fields}])
    (problem,) = caught.value.problems
    assert said is None or problem.message == said
