"""A rule that raises is an Error; all others say exactly what they say alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from tests.depth import deep_after

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Rule = dict[str, Any]
Counter = Callable[[Callable[[], object]], int]


def sql(text: str, **fields: Any) -> Rule:
    return {"type": "row_dq", "expectation": text, **fields}


RAISING: dict[str, tuple[Rule, str]] = {
    "division": (sql("100 / x > 1"), "DIVIDE_BY_ZERO"),
    "cast": (sql("CAST(s AS INT) > 0"), "CAST_INVALID_INPUT"),
    "index": (sql("a[5] > 0"), "INVALID_ARRAY_INDEX"),
    "overflow": (sql("l + 1 > 0"), "ARITHMETIC_OVERFLOW"),
    "pattern": (
        {"type": "column_values_match", "columns": "s", "pattern": r"\p{IsNonsense}"},
        "not a regular expression",
    ),
    # Spark does not say where this one comes from.
    "no context": (sql("make_date(2020, 13, id) IS NULL"), "DATETIME_FIELD_OUT_OF_BOUNDS"),
}
CALM: list[Rule] = [
    sql("id >= 0"),
    sql("x > 0", threshold=0.5),
    sql("x > 0", null_is="pass", where="id > 3"),
    sql("try_divide(100, x) > 1"),
    sql("100 / x > 1", where="x <> 0"),
    sql("100 / if(x = 0, 1, x) > 1"),
    sql("try_cast(s AS INT) IS NOT NULL"),
    sql("length(s) > 1"),
    sql("get(a, 5) IS NULL"),
    sql("x = 0 OR 100 / x > 1"),
    *[
        {"type": f"column_{statistic}_in_range", "columns": "x", "min": 0, "soft_max": 1}
        for statistic in ("min", "max", "avg", "sum", "stddev")
    ],
    {"type": "column_sum_in_range", "columns": "l", "max": 0},
    {"type": "column_sum_in_range", "columns": "x", "max": 9, "where": "id % 2 = 0"},
    {"type": "column_not_empty", "columns": ["x", "s", "a"]},
    {"type": "column_empty", "columns": "s"},
    {"type": "column_values_in_set", "columns": "s", "values": ["1", "2"]},
    {"type": "column_values_in_range", "columns": "x", "soft_max": 1},
    {"type": "column_value_lengths_in_range", "columns": "s", "max": 2},
    {"type": "column_values_match", "columns": "s", "pattern": "[0-9]+"},
    {"type": "record_count_in_range", "min": 1, "where": "x <> 0"},
    {"type": "column_count_in_range", "min": 5, "max": 5},
]


def _named(rules: Sequence[Rule], prefix: str) -> list[Rule]:
    return [{**rule, "name": f"{prefix}{n}"} for n, rule in enumerate(rules)]


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    rows = [(n, n % 3, str(n) if n < 7 else "abc", [n], 2**63 - 1 - n) for n in range(10)]
    table = spark.createDataFrame(rows, "id int, x int, s string, a array<int>, l bigint")
    return table.coalesce(1)


@pytest.fixture(scope="module")
def alone(table: DataFrame) -> dict[str, dq.Outcome]:
    """What each rule says when no other is asked."""
    raising = _named([rule for rule, _ in RAISING.values()], "raising")
    rules = [*_named(CALM, "calm"), *raising]
    return {rule["name"]: next(iter(dq.evaluate(table, [rule]))) for rule in rules}


def _said(outcome: dq.Outcome) -> tuple[Any, ...]:
    return outcome.status, outcome.observed, outcome.message, outcome.rows, outcome.failed_rows


def test_calm_rules_are_calm_and_raising_ones_raise(alone: dict[str, dq.Outcome]) -> None:
    for n, (_, words) in enumerate(RAISING.values()):
        outcome = alone[f"raising{n}"]
        assert outcome.status == "Error"
        assert words in outcome.message
        assert outcome.details["error"] == "SparkFailure"
        # Spark's own text quotes the data.
        assert "abc" not in outcome.message
    assert {"SparkFailure"} & {
        alone[f"calm{n}"].details.get("error") for n in range(len(CALM))
    } == set()
    assert len(CALM) == 25


@pytest.mark.parametrize("raising", deep_after(2, [1, 2, 3, 4, 5]))
def test_raising_rules_leave_the_others_alone(
    table: DataFrame, alone: dict[str, dq.Outcome], count_jobs: Counter, raising: int
) -> None:
    random = Random(raising)
    named = _named([rule for rule, _ in RAISING.values()], "raising")
    rules = [*_named(CALM, "calm"), *random.sample(named, raising)]
    random.shuffle(rules)
    found: list[dq.Outcome] = []
    jobs = count_jobs(lambda: found.extend(dq.evaluate(table, rules, samples=False)))
    assert [_said(outcome) for outcome in found] == [_said(alone[rule["name"]]) for rule in rules]
    # A query is at most two jobs. Each raising rule costs one more query if Spark names it, and
    # a search by halves if not; the rules are never asked one by one.
    assert jobs <= 4 + 12 * raising


def test_two_rules_with_the_same_raising_words(table: DataFrame) -> None:
    rules = [
        sql("100 / x > 1", name="one"),
        sql("100 / x > 2", name="other"),
        sql("id < 5 AND 100 / x > 1", name="third"),
        sql("x >= 0", name="calm"),
        sql("100 / x > 1", name="guarded", where="x <> 0"),
    ]
    found = dq.evaluate(table, rules)
    for name in ("one", "other", "third"):
        assert found[name].status == "Error"
        assert "DIVIDE_BY_ZERO" in found[name].message
    assert (found["calm"].status, found["calm"].observed) == ("Ok", 0)
    assert (found["guarded"].status, found["guarded"].rows) == ("Ok", 6)


def test_the_same_text_twice_is_an_error_twice(table: DataFrame) -> None:
    twice = [sql("100 / x > 1", name=name) for name in ("one", "other")]
    one, other = dq.evaluate(table, twice)
    assert one.status == other.status == "Error"
    assert one.message == other.message


def test_a_row_filter_that_raises(table: DataFrame, alone: dict[str, dq.Outcome]) -> None:
    filtered: list[Rule] = [
        {"type": "column_avg_in_range", "columns": "x", "min": 0},
        {"type": "column_min_in_range", "columns": "l", "min": 0},
        {"type": "column_not_empty", "columns": ["x", "s"]},
        {"type": "column_values_in_set", "columns": "s", "values": ["1"]},
        {"type": "record_count_in_range", "min": 0},
        sql("id >= 0"),
    ]
    bad = [{**rule, "where": "100 / x > 1"} for rule in _named(filtered, "bad")]
    found = dq.evaluate(table, [*bad, *_named(CALM, "calm")])
    for outcome in found:
        if outcome.rule.name.startswith("bad"):
            assert outcome.status == "Error", outcome.rule.name
            assert "DIVIDE_BY_ZERO" in outcome.message
        else:
            assert _said(outcome) == _said(alone[outcome.rule.name])


@pytest.mark.parametrize(
    "others",
    [
        [],
        [sql("100 / x > 1", where="x > 0", name="same")],
        [sql("100 / x > 1", name="raising")],
        [sql("100 / x > 5", name="raising"), sql("100 / x > 1", where="x > 1", name="same")],
        [sql("if(x <> 0, 100 / x > 1, true)", name="same")],
        [{"type": "column_sum_in_range", "columns": "id", "min": 0, "where": "x > 0", "name": "s"}],
    ],
    ids=["alone", "same, guarded", "same, raising", "both", "branch", "filter"],
)
def test_a_guarded_division_never_raises(table: DataFrame, others: list[Rule]) -> None:
    guarded = [
        sql("100 / x > 1", where="x <> 0", name="guarded"),
        sql("x = 0 OR 100 / x > 1", name="in order"),
    ]
    found = dq.evaluate(table, [*guarded, *others])
    assert found["guarded"].message == (
        "0 of 6 rows (0 %) do not meet '100 / x > 1' (none allowed; rows where x <> 0)."
    )
    assert found["in order"].message.startswith("0 of 10 rows")
    for outcome in found:
        assert (outcome.status == "Error") is (outcome.rule.name == "raising")


def test_a_column_that_raises_when_it_is_read(spark: SparkSession) -> None:
    lazy = spark.range(3).selectExpr("id", "1 / (id - 1) AS broken")
    found = dq.evaluate(
        lazy,
        [
            {"type": "column_not_empty", "columns": "id", "name": "id"},
            {"type": "column_not_empty", "columns": "broken", "name": "broken"},
            {"type": "column_max_in_range", "columns": "broken", "max": 1, "name": "most"},
            {"type": "column_max_in_range", "columns": "id", "max": 2, "name": "greatest"},
            {"type": "row_dq", "expectation": "id >= 0", "name": "row"},
        ],
    )
    assert found["most"].status == "Error"
    assert "DIVIDE_BY_ZERO" in found["most"].message
    for name, observed in {"id": 0, "greatest": 2, "row": 0}.items():
        assert (found[name].status, found[name].observed) == ("Ok", observed), name
