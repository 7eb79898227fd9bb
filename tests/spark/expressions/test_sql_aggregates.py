"""Conditions on aggregates in Spark: isolation, cost, filters, types of values, odd names."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from tests.depth import deep_after
from tests.oracle.names import HOSTILE_NAMES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Rule = dict[str, Any]
Counter = Callable[[Callable[[], object]], int]


WALL_CLOCK = datetime(2024, 11, 3, 1, 30, 0, 500000, tzinfo=UTC).replace(tzinfo=None)


def agg(text: str, **fields: Any) -> Rule:
    return {"type": "agg_dq", "expectation": text, **fields}


RAISING: dict[str, tuple[Rule, str]] = {
    "division of a value": (agg("sum(100 / x) > 1"), "DIVIDE_BY_ZERO"),
    "division of aggregates": (agg("sum(id) / (count(*) - 10) > 1"), "DIVIDE_BY_ZERO"),
    "overflow of a sum": (agg("sum(l) > 0"), "ARITHMETIC_OVERFLOW"),
    "cast": (agg("max(CAST(s AS INT)) > 0"), "CAST_INVALID_INPUT"),
    "filter": (agg("count(*) filter (where 100 / x > 1) > 1"), "DIVIDE_BY_ZERO"),
    "cast of an aggregate": (agg("CAST(max(s) AS INT) > 0"), "CAST_INVALID_INPUT"),
    # Spark does not say where this one comes from.
    "no context": (agg("max(make_date(2020, 13, id)) IS NULL"), "DATETIME_FIELD_OUT_OF_BOUNDS"),
    "distinct": (agg("count(distinct 100 / x) > 1"), "DIVIDE_BY_ZERO"),
}
CALM: list[Rule] = [
    agg("count(*) = 10"),
    agg("sum(x) > 100"),
    agg("avg(x) between 0 and 1 and max(id) < 10"),
    agg("sum(try_divide(100, x)) > 1"),
    agg("sum(100 / x) > 1", where="x <> 0"),
    agg("sum(100 / x) filter (where x <> 0) > 1"),
    agg("avg(100 / x) filter (where x <> 0) > 1"),
    agg("sum(if(x = 0, 0, 100 / x)) > 1"),
    agg("try_sum(l) is null"),
    agg("max(l) > 0 and min(l) > 0"),
    agg("sum(id) / count(*) > 4"),
    agg("sum(id) / count(*) > 4", where="x > 5"),
    agg("if(count(*) = 10, true, sum(id) / (count(*) - 10) > 1)"),
    agg("max(try_cast(s AS INT)) = 6"),
    agg("bool_and(x >= 0)"),
    agg("stddev(id) > 1 and corr(id, x) < 1"),
    agg("max(s) = 'abc'"),
    {"type": "row_dq", "expectation": "id >= 0"},
    {"type": "row_dq", "expectation": "x = 0 OR 100 / x > 1"},
    *[
        {"type": f"column_{statistic}_in_range", "columns": "x", "min": 0, "soft_max": 1}
        for statistic in ("min", "max", "avg", "sum", "stddev")
    ],
    {"type": "column_not_empty", "columns": ["x", "s"]},
    {"type": "record_count_in_range", "min": 1, "where": "x <> 0"},
]


def _named(rules: Sequence[Rule], prefix: str) -> list[Rule]:
    return [{**rule, "name": f"{prefix}{n}"} for n, rule in enumerate(rules)]


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    rows = [(n, n % 3, str(n) if n < 7 else "abc", 2**63 - 1 - n) for n in range(10)]
    return spark.createDataFrame(rows, "id int, x int, s string, l bigint").coalesce(1)


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
    assert len(CALM) >= 25
    for n in range(len(CALM)):
        assert "error" not in alone[f"calm{n}"].details, alone[f"calm{n}"].message


@pytest.mark.parametrize("seed", deep_after(1, [1, 2]))
def test_five_raising_rules_leave_the_others_alone(
    table: DataFrame, alone: dict[str, dq.Outcome], count_jobs: Counter, seed: int
) -> None:
    random = Random(seed)
    named = _named([rule for rule, _ in RAISING.values()], "raising")
    rules = [*_named(CALM, "calm"), *random.sample(named, 5)]
    random.shuffle(rules)
    found: list[dq.Outcome] = []
    jobs = count_jobs(lambda: found.extend(dq.evaluate(table, rules, samples=False)))
    assert [_said(outcome) for outcome in found] == [_said(alone[rule["name"]]) for rule in rules]
    # A query is at most two jobs; the rules are never asked one by one.
    assert jobs <= 4 + 12 * 5


def test_a_raising_part_within_rows_that_are_left_out(table: DataFrame) -> None:
    found = dq.evaluate(
        table,
        [
            agg("sum(100 / x) > 1", name="raising"),
            agg("sum(100 / x) > 1", name="filtered", where="x > 0"),
            agg("sum(100 / x) filter (where 100 / x > 60) > 1", name="twice", where="x > 0"),
            agg("avg(100 / x) filter (where x > 1) > 1", name="own"),
        ],
    )
    assert found["raising"].status == "Error"
    assert (found["filtered"].status, found["filtered"].observed) == ("Ok", 450.0)
    assert (found["twice"].status, found["twice"].observed) == ("Ok", 300.0)
    assert (found["own"].status, found["own"].observed) == ("Ok", 50.0)


def test_forty_rules_take_as_many_jobs_as_one(table: DataFrame, count_jobs: Counter) -> None:
    kinds = ("sum({c}) > {n}", "avg({c}) < {n} or max({c}) > {n}", "count_if({c} > {n}) = 0",
             "stddev({c}) > {n} and count(*) > {n}")  # fmt: skip
    many = [
        agg(kind.format(c=column, n=n), name=f"{column}{n}{number}")
        for number, kind in enumerate(kinds)
        for column in ("id", "x")
        for n in range(5)
    ]
    assert len(many) == 40
    found: list[dq.Outcome] = []
    one = count_jobs(lambda: dq.evaluate(table, many[:1], samples=False))
    assert count_jobs(lambda: found.extend(dq.evaluate(table, many, samples=False))) == one
    assert not [outcome.message for outcome in found if "error" in outcome.details]


def test_aggregates_ride_in_the_pass_of_the_other_rules(
    table: DataFrame, count_jobs: Counter
) -> None:
    plain: list[Rule] = [{"type": "column_avg_in_range", "columns": "x", "min": 0}]
    one = count_jobs(lambda: dq.evaluate(table, plain, samples=False))
    assert (
        count_jobs(
            lambda: dq.evaluate(table, [*plain, agg("sum(x) / count(*) > 0")], samples=False)
        )
        == one
    )


@pytest.mark.parametrize(
    ("where", "counted", "total"),
    [(None, 10, 45), ("x = 0", 4, 18), ("x > 0 and id < 3", 2, 3), ("null", 0, None)],
)
def test_a_filter_comes_before_aggregation(
    table: DataFrame, where: str | None, counted: int, total: int | None
) -> None:
    texts = {
        "rows": "count(*) >= 0",
        "ones": "count(1) >= 0",
        "distinct": "count(distinct id, x) >= 0",
        "ifs": "count_if(true) >= 0",
        "sum": "sum(id) >= 0",
        "pairs": "regr_count(id, x) >= 0",
    }
    rules = [
        agg(text, name=name) | ({"where": where} if where else {}) for name, text in texts.items()
    ]
    found = {outcome.rule.name: outcome for outcome in dq.evaluate(table, rules)}
    alone = found.pop("sum")
    assert (alone.observed, alone.status) == (total, "Ok" if counted else "Empty")
    assert {outcome.status for outcome in found.values()} == {"Ok"}
    assert {outcome.observed for outcome in found.values()} == {counted}
    assert {outcome.rows for outcome in found.values()} == {counted}


def test_unknown_answers_and_no_rows(spark: SparkSession) -> None:
    schema = "x int, y int"
    rules = [
        agg("sum(x) > 0", name="fails"),
        agg("sum(x) > 0", name="passes", null_is="pass"),
        agg("count(*) = 0", name="zero"),
        agg("sum(y) / count(x) > 0", name="division"),
        agg("count(*)", name="number"),
    ]
    nulls = dq.evaluate(spark.createDataFrame([(None, 1), (None, 2)], schema), rules[:3])
    assert [outcome.status for outcome in nulls] == ["Error", "Ok", "Error"]
    assert nulls["fails"].message == (
        "'sum(x) > 0' is unknown (NULL), which fails: sum(x) = no value."
    )
    nothing = dq.evaluate(spark.createDataFrame([], schema), rules)
    # As SQL says; and a text that is no condition is so without rows too.
    statuses = [outcome.status for outcome in nothing]
    assert statuses == ["Empty", "Empty", "Ok", "Empty", "Error"]


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("max(7Y)", 7),
        ("max(9223372036854775807L)", 2**63 - 1),
        ("max(CAST('0.000000000000000001' AS DECIMAL(38,18)))", Decimal("1E-18")),
        (
            "sum(CAST('12345678901234567890.12' AS DECIMAL(22,2)))",
            Decimal("12345678901234567890.12"),
        ),
        ("max(float(0.5))", 0.5),
        ("max(1e300)", 1e300),
        ("max(-double('Infinity'))", -math.inf),
        ("max(true)", True),
        ("max(date'2024-01-31')", date(2024, 1, 31)),
        ("max(date'0001-01-01')", date(1, 1, 1)),
        ("max(date_add(date'9999-12-31', 500))", "+10001-05-14"),
        (
            "max(timestamp'2024-11-03 01:30:00.123456-05:00')",
            datetime(2024, 11, 3, 6, 30, 0, 123456, tzinfo=UTC),
        ),
        ("max(timestamp'1800-01-01 00:00:00Z')", datetime(1800, 1, 1, tzinfo=UTC)),
        ("max(timestamp_ntz'2024-11-03 01:30:00.5')", WALL_CLOCK),
        ("max('it''s \"quoted\"')", 'it\'s "quoted"'),
        ("max(array(1, 2))", "[1, 2]"),
        ("max(interval '1' day)", "INTERVAL '1' DAY"),
        ("max(null)", None),
    ],
)
def test_values_of_every_type_come_back_exactly(spark: SparkSession, sql: str, value: Any) -> None:
    rule = agg(f"{sql} is null", null_is="pass")
    (outcome,) = dq.evaluate(spark.range(1), [rule])
    assert outcome.status == ("Ok" if value is None else "Error")
    observed = outcome.observed
    if isinstance(observed, datetime) and observed.tzinfo:
        # Shown in the session's zone; Python never holds an hour that comes twice for equal.
        observed = observed.astimezone(UTC)
    assert observed == value
    assert isinstance(observed, type(value))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("count(*)", "'count(*)' is of type bigint; an expectation must be true or false."),
        ("max(s)", "'max(s)' is of type string; an expectation must be true or false."),
        ("sum(idd) > 0", "Column 'idd' is not in the table. Did you mean 'id'?"),
        ("sum(x > 0) > 0", "Spark does not accept this rule: "),
        ("count(*) > array(1)", "Spark does not accept this rule: "),
    ],
)
def test_what_does_not_fit_the_table_is_told(table: DataFrame, text: str, words: str) -> None:
    found = dq.evaluate(table, [agg(text, name="bad"), agg("count(*) = 10", name="good")])
    assert found["bad"].status == "Error"
    assert found["bad"].message.startswith(words)
    assert found["good"].status == "Ok"


def test_a_filter_that_is_no_condition_is_told(table: DataFrame) -> None:
    (outcome,) = dq.evaluate(table, [agg("count(*) > 0", where="x + 1")])
    assert outcome.message.startswith("'x + 1' is of type int; a row predicate must be")


def test_odd_column_names(spark: SparkSession) -> None:
    values = [f"id + {n} AS `{name.replace('`', '``')}`" for n, name in enumerate(HOSTILE_NAMES)]
    rules = [
        agg(f"max(`{name.replace('`', '``')}`) = {n + 2}", name=f"r{n}")
        for n, name in enumerate(HOSTILE_NAMES)
    ]
    found = dq.evaluate(spark.range(3).selectExpr(*values), rules)
    assert [outcome.observed for outcome in found] == [n + 2 for n in range(len(HOSTILE_NAMES))]
    assert {outcome.status for outcome in found} == {"Ok"}


def test_numbers_are_kept_for_later(table: DataFrame) -> None:
    (outcome,) = dq.evaluate(table, [agg("avg(x) > 0 and max(s) = 'abc' and count(*) = 10")])
    assert outcome.metrics == {"sql:avg(x)": 0.9, "sql:count(*)": 10, "record_count": 10}
    assert outcome.observed == {"avg(x)": 0.9, "max(s)": "abc", "count(*)": 10}
    assert "a text of 3 characters" in outcome.message
