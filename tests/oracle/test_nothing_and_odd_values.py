"""Every rule on NULLs, NaN, infinities, no rows, blanks, and a filter that leaves nothing."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pytest

import dq_dagster as dq
from tests.oracle.rules import WITHOUT_ROWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Policy: TypeAlias = Literal["pass", "warn", "error"]
NAN, INF = float("nan"), float("inf")
DAY, NOW = date(2024, 3, 1), datetime(2024, 3, 2, tzinfo=UTC)

# The number column is n, the text column t; the date column d has a value where n has one.
SCENARIOS: dict[str, list[tuple[float | None, str | None]]] = {
    "null": [(None, None), (None, None)],
    "none": [],
    "blank": [(None, ""), (None, " "), (None, "\t\n")],
    "filtered": [(1.0, "a"), (2.0, "b")],
    "nan": [(NAN, "a"), (1.0, "a")],
    "inf": [(INF, "a"), (1.0, "a")],
    "-inf": [(-INF, "a"), (1.0, "a")],
}
# Rules on texts are asked of t where it is t that is odd, and else of n, which they do not fit.
TEXT_SCENARIOS = {"null", "none", "blank", "filtered"}
COUNTING = {"column_not_empty", "column_empty"}
ON_TEXT = {"column_value_lengths_in_range", "column_values_match", "column_values_not_match"}

RULES: dict[str, dict[str, Any]] = {
    "column_min_in_range": {"min": 0, "max": 10},
    "column_max_in_range": {"min": 0, "max": 10},
    "column_avg_in_range": {"min": 0, "max": 10},
    "column_sum_in_range": {"min": 0, "max": 10},
    "column_stddev_in_range": {"max": 10},
    "column_median_in_range": {"min": 0, "max": 10},
    # By the past below, 1 to 3 is typical.
    "column_min_typical": {},
    "column_max_typical": {},
    "column_avg_typical": {},
    "column_sum_typical": {},
    "column_stddev_typical": {},
    "column_median_typical": {},
    "column_empty_count_typical": {"min_iqr": 2},
    "column_unique_count_typical": {},
    "record_count_typical": {},
    "column_count_typical": {"min_iqr": 2},
    "metric_typical": {"metric": "column_avg:n"},
    "column_unique": {},
    "unique_key": {"columns": ["n"]},
    "column_top_values_in_set": {"values": [1.0], "top": 1},
    "column_most_frequent_in_set": {"values": [1.0]},
    "column_not_empty": {},
    "column_empty": {},
    "column_values_in_set": {"values": [1.0]},
    "column_values_not_in_set": {"values": [2.0]},
    # Without a maximum: NaN, which Spark holds for the greatest value, must not pass.
    "column_values_in_range": {"min": 0},
    "column_value_lengths_in_range": {"max": 10},
    "column_values_match": {"pattern": "[a-z]+"},
    "column_values_not_match": {"pattern": "[a-z]+"},
    "column_valid_meaning": {"meaning": "decimal"},
    "column_values_in_reference": {"reference": {"asset": "ones"}},
    "table_diff": {"keys": "id", "reference": {"asset": "itself"}},
    "metric_in_range": {"metric": "column_avg:n", "min": 0, "max": 10},
    "metric_in_set": {"metric": "column_max:n", "values": [1.0]},
    "compare_metrics": {"metric": "column_min:n", "operator": "<=", "other": "column_max:n"},
    "python": {"function": "tests.rules.types.functions:fine"},
    "record_count_in_range": {"min": 1},
    "column_count_in_range": {"min": 4, "max": 4},
    "file_size_in_range": {"min": 0},
    "schema_equals": {
        "expected": [
            {"name": "id", "type": "int"},
            {"name": "n", "type": "double"},
            {"name": "t", "type": "string", "max_length": 2},
            {"name": "d", "type": "date"},
        ]
    },
    "schema_contains": {"expected": [{"name": "t", "type": "string", "max_length": 1}]},
    "freshness": {"columns": "d", "max": "1 day"},
    "row_inserted_count_in_range": {"columns": "d", "window": "1 day", "min": 1},
    "row_dq": {"expectation": "n > 0"},
    "agg_dq": {"expectation": "avg(n) > 0"},
    "query_dq": {"expectation": "(select avg(t.n) from {table} t) > 0"},
    "template": {"template": "column_average", "parameters": {"column": "n"}, "holds_when": "> 0"},
}

E, K, X = "Empty", "Ok", "Error"
EXPECTED: dict[str, list[str]] = {
    # rule                           null none blank filtered nan inf -inf
    "column_min_in_range":           [E,   E,   E,    E,       X,  K,  X],
    "column_max_in_range":           [E,   E,   E,    E,       X,  X,  K],
    "column_avg_in_range":           [E,   E,   E,    E,       X,  X,  X],
    "column_sum_in_range":           [E,   E,   E,    E,       X,  X,  X],
    "column_stddev_in_range":        [E,   E,   E,    E,       X,  X,  X],
    "column_median_in_range":        [E,   E,   E,    E,       X,  X,  X],
    "column_min_typical":            [E,   E,   E,    E,       X,  K,  X],
    "column_max_typical":            [E,   E,   E,    E,       X,  X,  K],
    "column_avg_typical":            [E,   E,   E,    E,       X,  X,  X],
    "column_sum_typical":            [E,   E,   E,    E,       X,  X,  X],
    "column_stddev_typical":         [E,   E,   E,    E,       X,  X,  X],
    "column_median_typical":         [E,   E,   E,    E,       X,  X,  X],
    "column_empty_count_typical":    [K,   E,   K,    E,       K,  K,  K],
    "column_unique_count_typical":   [E,   E,   E,    E,       K,  K,  K],
    "record_count_typical":          [K,   X,   K,    X,       K,  K,  K],
    "column_count_typical":          [K,   K,   K,    K,       K,  K,  K],
    "metric_typical":                [E,   E,   E,    E,       X,  X,  X],
    # NaN is a value, and one NaN is unique.
    "column_unique":                 [E,   E,   E,    E,       K,  K,  K],
    "unique_key":                    [E,   E,   E,    E,       K,  K,  K],
    # Two values tie for the one place.
    "column_top_values_in_set":      [E,   E,   E,    E,       X,  X,  X],
    "column_most_frequent_in_set":   [E,   E,   E,    E,       X,  X,  X],
    "column_not_empty":              [X,   E,   X,    E,       K,  K,  K],
    "column_empty":                  [K,   E,   K,    E,       X,  X,  X],
    "column_values_in_set":          [E,   E,   E,    E,       X,  X,  X],
    "column_values_not_in_set":      [E,   E,   E,    E,       K,  K,  K],
    "column_values_in_range":        [E,   E,   E,    E,       X,  K,  X],
    "column_value_lengths_in_range": [E,   E,   E,    E,       X,  X,  X],
    "column_values_match":           [E,   E,   E,    E,       X,  X,  X],
    "column_values_not_match":       [E,   E,   E,    E,       X,  X,  X],
    # A row without a value is invalid; of numbers, NaN and infinities are no decimals.
    "column_valid_meaning":          [X,   E,   X,    E,       X,  X,  X],
    "column_values_in_reference":    [E,   E,   E,    E,       X,  X,  X],
    # The same odd values on both sides are equal.
    "table_diff":                    [K,   E,   K,    E,       K,  K,  K],
    "metric_in_range":               [E,   E,   E,    E,       X,  X,  X],
    "metric_in_set":                 [E,   E,   E,    E,       X,  X,  K],
    "compare_metrics":               [E,   E,   E,    E,       X,  K,  K],
    # A function decides for itself what to make of nothing.
    "python":                        [K,   K,   K,    K,       K,  K,  K],
    # A number of rows is always there, and it may be 0.
    "record_count_in_range":         [K,   X,   K,    X,       K,  K,  K],
    "column_count_in_range":         [K,   K,   K,    K,       K,  K,  K],
    # The data comes from no file, whatever it holds.
    "file_size_in_range":            [X,   X,   X,    X,       X,  X,  X],
    "schema_equals":                 [K,   K,   K,    K,       K,  K,  K],
    "schema_contains":               [K,   K,   X,    K,       K,  K,  K],
    "freshness":                     [E,   E,   E,    E,       K,  K,  K],
    "row_inserted_count_in_range":   [X,   X,   X,    X,       K,  K,  K],
    # A predicate in SQL means what it means to Spark: NULL fails, and NaN > 0.
    "row_dq":                        [X,   E,   X,    E,       K,  K,  X],
    # An unknown answer fails, and an aggregate that is NaN is not trusted.
    "agg_dq":                        [X,   E,   X,    E,       X,  K,  X],
    "query_dq":                      [X,   E,   X,    E,       X,  K,  X],
    # Without a number there is nothing to judge.
    "template":                      [E,   E,   E,    E,       X,  K,  X],
}  # fmt: skip


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_rule_on_odd_values(spark: SparkSession, scenario: str) -> None:
    column = list(SCENARIOS).index(scenario)
    outcomes = _judge(spark, scenario)
    found = {name: str(outcome.status) for name, outcome in outcomes.items()}
    assert found == {name: statuses[column] for name, statuses in EXPECTED.items()}


@pytest.mark.parametrize(("policy", "status"), [("warn", "Warning"), ("error", "Error")])
def test_empty_counts_as_what_the_rule_set_says(
    spark: SparkSession, policy: Policy, status: str
) -> None:
    outcomes = _judge(spark, "none", on_empty=policy)
    column = list(SCENARIOS).index("none")
    for name, outcome in outcomes.items():
        expected = EXPECTED[name][column]
        assert outcome.status == (status if expected == E else expected), name
        assert ("(on_empty)" in outcome.message) is (expected == E)


def test_messages_name_what_is_odd(spark: SparkSession) -> None:
    nan = _judge(spark, "nan")
    for statistic in ("min", "max", "avg", "sum", "stddev", "median"):
        for kind in ("in_range", "typical"):
            assert "is NaN (not a number)" in nan[f"column_{statistic}_{kind}"].message
    assert nan["column_values_in_range"].failed_rows == 1
    for name in ON_TEXT:
        assert "'n' of type double" in nan[name].message
    null = _judge(spark, "null")
    assert null["column_not_empty"].message.startswith("2 of 2 rows (100 %) have no 'n'")
    assert "'n' has no value" in null["column_values_in_set"].message


def _judge(spark: SparkSession, scenario: str, on_empty: Policy = "pass") -> dict[str, dq.Outcome]:
    rows = [
        (number, n, t, None if n is None else DAY)
        for number, (n, t) in enumerate(SCENARIOS[scenario])
    ]
    frame = spark.createDataFrame(rows, "id int, n double, t string, d date")
    rules = [_rule(kind, fields, scenario) for kind, fields in RULES.items()]
    blank = scenario == "blank"
    rule_set = dq.RuleSet(
        asset="odd", rules=tuple(rules), on_empty=on_empty, empty_includes_blank=blank
    )
    ones = spark.createDataFrame([(1.0, "a"), (None, None)], "n double, t string")
    references = {"ones": ones, "itself": frame}
    evaluation = dq.evaluate(
        frame, rule_set, now=NOW, references=references, history=_past(rule_set)
    )
    return {outcome.rule.type: outcome for outcome in evaluation}


def _past(rule_set: dq.RuleSet) -> dict[str, list[int]]:
    keys = {metric.key for rule in rule_set.rules for metric in rule.metrics()}
    return {key: [1, 2, 2, 3, 1, 2, 2, 3] for key in keys}


def _rule(kind: str, fields: dict[str, Any], scenario: str) -> dict[str, Any]:
    rule = {"type": kind, "name": kind, **fields}
    if kind.startswith("column_") and not kind.startswith("column_count"):
        on_text = kind in ON_TEXT and scenario in TEXT_SCENARIOS
        blank = kind in COUNTING and scenario == "blank"
        rule["columns"] = "t" if on_text or blank else "n"
    if scenario == "filtered" and kind not in WITHOUT_ROWS:
        rule["where"] = "id < 0"
    return rule


def test_to_a_condition_in_sql_nan_is_what_it_is_to_spark(spark: SparkSession) -> None:
    """As the page of the rule says, with both ways to keep it out."""
    rows = spark.createDataFrame([(NAN,), (1.0,)], "amount double")
    found = dq.evaluate(
        rows,
        [
            dq.RowExpectation(name="plain", expectation="amount > 0"),
            dq.RowExpectation(name="said", expectation="amount > 0 and not isnan(amount)"),
            dq.ColumnValuesInRange(name="range", columns="amount", min=0),
        ],
    )
    assert {one.rule.name: (one.status, one.failed_rows) for one in found} == {
        "plain": ("Ok", 0),
        "said": ("Error", 1),
        "range": ("Error", 1),
    }
