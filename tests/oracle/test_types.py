"""Rules on columns of every type: the right answer, or an Error that names column and type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from tests.oracle.cases import rule

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NUMBERS = {
    "tinyint", "smallint", "int", "bigint", "float", "double", "decimal(10,2)", "decimal(38,18)",
}  # fmt: skip
SIMPLE = NUMBERS | {"string", "boolean", "date", "timestamp", "timestamp_ntz"}
LITERALS = {
    "tinyint": "1Y", "smallint": "1S", "int": "1", "bigint": "1L", "float": "float(1)",
    "double": "1D", "decimal(10,2)": "1BD", "decimal(38,18)": "1BD", "string": "'a'",
    "boolean": "true", "date": "date'2024-01-01'", "timestamp": "timestamp'2024-01-01'",
    "timestamp_ntz": "timestamp_ntz'2024-01-01'", "void": "NULL", "binary": "X'00'",
    "array<int>": "array(1)", "map<string,int>": "map('a', 1)",
    "struct<x:int,y:string>": "named_struct('x', 1, 'y', 'a')", "variant": "parse_json('1')",
    "interval day": "interval 1 day", "interval month": "interval 1 month",
}  # fmt: skip
NAMES = {kind: f"c{n}" for n, kind in enumerate(LITERALS)}


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    """One row with a value in every column, and one with none."""
    listed = ", ".join(
        f"if(id = 0, CAST({sql} AS {kind}), NULL) AS {NAMES[kind]}"
        if kind != "void"
        else f"NULL AS {NAMES[kind]}"
        for kind, sql in LITERALS.items()
    )
    return spark.sql(f"SELECT {listed} FROM range(2)")


def _judge(table: DataFrame, kind: str, **fields: Any) -> dict[str, dq.Outcome]:
    rules = [rule(kind, columns=name, name=name, **fields) for name in NAMES.values()]
    found = {outcome.rule.name: outcome for outcome in dq.evaluate(table, rules)}
    return {kind_of: found[name] for kind_of, name in NAMES.items()}


def _assert_refused(outcome: dq.Outcome, kind: str) -> None:
    assert outcome.status == "Error"
    assert f"'{NAMES[kind]}' of type {kind}" in outcome.message
    assert outcome.details["error"] == "Misfit"


def test_the_table_has_these_types(table: DataFrame) -> None:
    assert [field.dataType.simpleString() for field in table.schema] == list(LITERALS)


@pytest.mark.parametrize(
    ("kind", "status"), [("column_not_empty", "Error"), ("column_empty", "Error")]
)
def test_emptiness_is_told_for_every_type(table: DataFrame, kind: str, status: str) -> None:
    for type_name, outcome in _judge(table, kind).items():
        empty = 2 if type_name == "void" else 1
        assert outcome.observed == empty, type_name
        assert outcome.status == ("Ok" if kind == "column_empty" and empty == 2 else status)


@pytest.mark.parametrize("statistic", ["avg", "sum", "stddev"])
def test_statistics_of_numbers_only(table: DataFrame, statistic: str) -> None:
    for kind, outcome in _judge(table, f"column_{statistic}_in_range", min=1, max=1).items():
        if kind == "void" or (kind in NUMBERS and statistic == "stddev"):
            assert outcome.status == "Empty", kind
        elif kind in NUMBERS:
            assert (outcome.status, outcome.observed) == ("Ok", 1), kind
        else:
            _assert_refused(outcome, kind)


@pytest.mark.parametrize("name", ["column_min_in_range", "column_max_in_range"])
def test_extremes_of_what_has_an_order(table: DataFrame, name: str) -> None:
    for kind, outcome in _judge(table, name, min=1, max=1).items():
        if kind == "void":
            assert outcome.status == "Empty"
        elif kind in NUMBERS:
            assert (outcome.status, outcome.observed) == ("Ok", 1), kind
        elif kind in SIMPLE:
            # The bound, a number, does not fit.
            assert outcome.status == "Error"
            assert f"'{NAMES[kind]}'" in outcome.message, kind
        else:
            _assert_refused(outcome, kind)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("column_values_in_range", {"min": 1, "max": 1}),
        ("column_values_in_set", {"values": [1]}),
        ("column_values_not_in_set", {"values": [2]}),
    ],
)
def test_values_compared_with_a_number(table: DataFrame, name: str, fields: dict[str, Any]) -> None:
    for kind, outcome in _judge(table, name, **fields).items():
        if kind == "void":
            assert outcome.status == "Empty"
        elif kind in NUMBERS:
            assert (outcome.status, outcome.observed, outcome.rows) == ("Ok", 0, 1), kind
        else:
            _assert_refused(outcome, kind)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("column_value_lengths_in_range", {"max": 1}),
        ("column_values_match", {"pattern": "."}),
        ("column_values_not_match", {"pattern": "b"}),
    ],
)
def test_rules_about_text(table: DataFrame, name: str, fields: dict[str, Any]) -> None:
    for kind, outcome in _judge(table, name, **fields).items():
        if kind == "void":
            assert outcome.status == "Empty"
        elif kind == "string":
            assert (outcome.status, outcome.observed, outcome.rows) == ("Ok", 0, 1)
        else:
            _assert_refused(outcome, kind)


WRONG_MEMBERS: list[tuple[str, Any, Any]] = [
    ("int", 1, "1"), ("int", 1, True), ("double", 1, "NaN"), ("decimal(10,2)", 1, "1.00"),
    ("string", "a", 1), ("string", "a", True), ("boolean", True, 1), ("boolean", True, "true"),
    ("date", "2024-01-01", 20240101), ("date", "2024-01-01", "x"), ("timestamp", "2024-01-01", 0),
    ("timestamp_ntz", "2024-01-01", "2024-01-01T00:00:00Z"),
]  # fmt: skip


@pytest.mark.parametrize("name", ["column_values_in_set", "column_values_not_in_set"])
def test_a_set_with_one_value_of_another_type_is_refused(table: DataFrame, name: str) -> None:
    rules = [
        rule(name, name=f"r{n}", columns=NAMES[kind], values=[right, wrong])
        for n, (kind, right, wrong) in enumerate(WRONG_MEMBERS)
    ]
    for (kind, _, wrong), outcome in zip(WRONG_MEMBERS, dq.evaluate(table, rules), strict=True):
        _assert_refused(outcome, kind)
        assert str(wrong).lower() in outcome.message.lower()


def test_one_column_that_does_not_fit_spoils_no_other(table: DataFrame) -> None:
    names = [NAMES[kind] for kind in ("int", "string", "double")]
    (outcome,) = dq.evaluate(table, [rule("column_sum_in_range", columns=names, min=0)])
    assert outcome.status == "Error"
    assert outcome.observed == {names[0]: 1, names[1]: None, names[2]: 1.0}
    statuses = [column["status"] for column in outcome.details["columns"].values()]
    assert statuses == ["Ok", "Error", "Ok"]
    assert "of type string" in outcome.message
