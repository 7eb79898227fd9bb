"""Rules from tables: the same objects as in Python, and the row of every mistake."""

from __future__ import annotations

import json
import sys
import time
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import dq_dagster as dq
from dq_dagster.rules.catalogue import RULE_TYPES
from dq_dagster.sources.rules_table.rules import forms

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = (
    "asset string, type string, name string, columns string, min double, max string, "
    "threshold string, `values` array<string>, expectation string, where string, "
    "is_active boolean, tags array<string>, fields map<string, string>"
)
ROWS: list[dict[str, Any]] = [
    {"asset": "shop/orders", "type": "record_count_in_range", "min": 1.0},
    {"asset": "shop/orders", "type": "column_not_empty", "columns": "id, customer",
     "threshold": "{soft_max: 0.01, max: 0.05}", "tags": ["crm", "nightly"]},
    {"asset": "shop/orders", "type": "column_values_in_set", "columns": "country",
     "values": ["DE", "NO"], "threshold": "0.1", "is_active": False},
    {"asset": "shop/orders", "type": "row_dq", "name": "paid", "expectation": "amount > 0",
     "where": "status = 'paid'", "fields": {"null_is": "pass", "action_if_failed": "drop"}},
    {"asset": "customers", "type": "column_max_in_range", "columns": "seen", "max": "2024-01-31"},
    {"asset": "customers", "type": "column_avg_in_range", "columns": "age", "max": "120.10",
     "name": " ", "fields": {"soft_max": "60", "scope": "both"}},
]  # fmt: skip
EXPECTED = [
    dq.RuleSet(
        asset="shop/orders",
        rules=[
            dq.RecordCountInRange(min=1),
            dq.ColumnNotEmpty(
                columns=["id", "customer"],
                threshold={"soft_max": 0.01, "max": 0.05},  # type: ignore[arg-type]
                tags=["crm", "nightly"],
            ),
            dq.ColumnValuesInSet(
                columns="country",
                values=["DE", "NO"],
                threshold=0.1,
                enabled=False,
            ),
            dq.RowExpectation(
                name="paid",
                expectation="amount > 0",
                where="status = 'paid'",
                null_is="pass",
                action_if_failed="drop",
            ),
        ],
    ),
    dq.RuleSet(
        asset="customers",
        rules=[
            dq.ColumnMaxInRange(columns="seen", max=date(2024, 1, 31)),
            dq.ColumnAvgInRange(columns="age", max=120.1, soft_max=60, scope="both"),
        ],
    ),
]


def said(source: Any, **options: Any) -> list[str]:
    with pytest.raises(dq.DeclarationError) as caught:
        dq.load_rules(source, **options)
    return [str(problem) for problem in caught.value.problems]


def test_tables_of_spark_and_pandas_give_the_objects_that_python_gives(
    spark: SparkSession,
) -> None:
    frame = spark.createDataFrame(ROWS, SCHEMA).coalesce(1)
    assert dq.load_rules(frame) == EXPECTED
    assert dq.load_rules(pd.DataFrame(ROWS)) == EXPECTED
    assert dq.load_rules(pd.DataFrame(ROWS).rename(columns=str.upper)) == EXPECTED
    frame.createOrReplaceTempView("dq_rules_of_a_team")
    try:
        named = dq.Table("dq_rules_of_a_team")
        loaded = dq.load_rules(named, spark=spark)
        assert loaded == dq.load_rules(named) == EXPECTED
        assert loaded[1].origin.of(loaded[1].rules[0]) == "table 'dq_rules_of_a_team', row 5"
    finally:
        spark.catalog.dropTempView("dq_rules_of_a_team")


def test_what_was_loaded_runs(spark: SparkSession) -> None:
    table = pd.DataFrame({"type": ["column_not_empty"], "column": ["a"], "blocking": [True]})
    [rules] = dq.load_rules(table, asset="o")
    data = spark.createDataFrame([(1,), (None,)], "a int")
    assert dq.evaluate(data, rules)["column_not_empty_a"].failed_rows == 1


def test_values_keep_their_types(spark: SparkSession) -> None:
    moment = datetime(2024, 3, 9, 12, 30, tzinfo=UTC)
    frame = spark.createDataFrame(
        [("column_max_in_range", ["ts"], moment, None, None),
         ("column_values_in_range", ["d"], None, Decimal("0.10"), None),
         ("schema_contains", None, None, None, '{"expected": [{"name": "a", "type": "int"}]}')],
        "type string, columns array<string>, max timestamp, min decimal(20, 2), fields string",
    ).coalesce(1)  # fmt: skip
    [rules] = dq.load_rules(frame, asset="o")
    assert rules.rules[0].max == moment
    assert rules.rules[1].min == Decimal("0.10")
    assert rules.rules[2].expected[0].name == "a"
    gaps = pd.DataFrame({"type": ["record_count_typical"] * 2, "learning_period": [3, None],
                         "name": ["a", "b"]})  # fmt: skip
    [typical] = dq.load_rules(gaps, asset="o")
    assert [rule.learning_period for rule in typical.rules] == [3, 7]


def test_every_problem_comes_with_its_row() -> None:
    rows = [
        {"asset": "o", "type": "column_not_emtpy", "columns": "a"},
        {"asset": None, "type": "record_count_in_range", "min": 1},
        {"asset": "o", "type": "record_count_in_range", "name": "n", "min": 2, "max": "1"},
        {"asset": "o", "type": "column_unique", "columns": "a", "column": "b"},
        {"asset": "o", "type": "column_values_in_set", "columns": "a", "values": "[1, 2"},
        {"asset": "o", "type": "row_dq", "name": "m", "expectation": "a = 1) or (1 = 1"},
        {"asset": "o", "name": "no_type"},
        {"asset": "o", "type": "column_empty", "columns": "a", "min": 3},
        {"asset": "o", "type": "column_empty", "columns": "b", "fields": "[1]"},
        {"asset": "o", "type": "column_unique", "name": "twice", "columns": "a"},
        {"asset": "o", "type": "column_unique", "name": "twice", "columns": "b", "colums": "x"},
    ]
    found = said(pd.DataFrame(rows))
    place = "rules table, row"
    assert found[0] == (
        "rules table: column 'colums' is no field of any rule. Did you mean 'columns'? Columns "
        "that are not about rules are named by ignore=['colums']."
    )
    starts = [
        f"{place} 1, rule 'column_not_emtpy a', asset 'o': unknown type 'column_not_emtpy'. Did",
        f"{place} 2: column 'asset' is empty: write the asset's key, such as warehouse/orders.",
        f"{place} 3, rule 'n', asset 'o': ",
        f"{place} 4: field 'columns' is given twice: once in column 'column'.",
        f"{place} 5: field 'values': not valid YAML",
        f"{place} 6, rule 'm', asset 'o': field 'expectation': syntax error: the bracket",
        f"{place} 7, rule 'no_type', asset 'o': field 'type' is missing.",
        f"{place} 8, rule 'column_empty a', asset 'o': unknown field 'min'.",
        f"{place} 9: column 'fields' needs fields by name, such as",
        (
            f"{place} 11, rule 'twice', asset 'o': 2 rules become the same check 'twice' "
            f"(column_unique at {place} 10, column_unique at {place} 11). Give each a"
        ),
    ]
    for start, text in zip(starts, found[1:], strict=True):
        assert text.startswith(start), text


def test_columns_that_are_not_about_rules() -> None:
    table = pd.DataFrame(
        [{"asset": "o", "type": "column_unique", "columns": "a", "Updated_By": "x", "id": 7}]
    )
    assert len(said(table)) == 2
    assert len(dq.load_rules(table, ignore=["updated_by", "ID"])[0].rules) == 1


CODE: list[dict[str, Any]] = [
    {"type": "query_dq", "expectation": "(select 1) = 1"},
    {"type": "python", "function": "tests.sources.untrusted:check"},
    {"type": "metric_in_range", "metric": "{query: 'select 1 from {table}'}", "min": 1},
    {"type": "metric_in_range", "fields": '{"metric": {"python": "tests.sources.untrusted:f"}}'},
    {"type": "row_dq", "expectation": "count(*) over () > 1", "across_rows": True},
    {"type": "row_dq", "expectation": "a > 1", "across_rows": "yes"},
    {"type": "row_dq", "expectation": "a > 1", "fields": '{"across_rows": true}'},
    {"type": "column_values_in_reference", "columns": "a", "reference": "{files: ../x}"},
]


@pytest.mark.parametrize("row", CODE)
def test_a_table_cannot_switch_on_code(row: dict[str, Any]) -> None:
    [found] = said(pd.DataFrame([row]), asset="o")
    assert "and this source is not trusted with that: declare it in Python or in a file" in found
    assert found.startswith("rules table, row 1, rule ")
    assert "tests.sources.untrusted" not in sys.modules


def test_a_table_that_is_trusted_can() -> None:
    table = pd.DataFrame(
        [CODE[0], {**CODE[4], "parameters": '{"null_is": "pass"}'},
         {"type": "query_dq", "expectation": "(select 1) = :one", "parameters": '{"one": 1}'}]
    )  # fmt: skip
    [rules] = dq.load_rules(table, asset="o", trusted=True)
    assert rules.rules[1].across_rows
    assert rules.rules[1].null_is == "pass"
    assert rules.rules[2].parameters == {"one": 1}


def test_files_may_be_held_to_the_same(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("asset: o\nrules:\n- {type: query_dq, expectation: (select 1) = 1}\n")
    assert dq.load_rules(file)
    assert said(file, trusted=False)[0].startswith("rules.yaml:3, rule 'query_dq', asset 'o': it")


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (pd.DataFrame({"type": []}), "rules table: there are no rules in it."),
        (pd.DataFrame({"type": ["a"], "TYPE": ["b"]}), "column 'type' is there twice"),
        (pd.DataFrame({"type": ["a"] * 10_001}), "it has 10,001 rows; at most 10,000 are read."),
        (pd.DataFrame({"type": ["a" * 50_000_000]}), "it has 50,000,000 characters; at most"),
        (
            pd.DataFrame({"type": ["column_values_in_set"], "values": ["[" * 100_001]}),
            "field 'values': 100,001 characters are too many",
        ),
        (
            pd.DataFrame({"type": ["column_values_in_set"], "values": ["[" * 50_000]}),
            "field 'values': nested more than 50 levels deep.",
        ),
        (
            pd.DataFrame({"type": ["column_unique"], "fields": ["!!python/name:os.system"]}),
            "column 'fields': the tag 'tag:yaml.org,2002:python/name:os.system' is not allowed.",
        ),
    ],
)
def test_hostile_tables_are_refused_at_once(table: pd.DataFrame, why: str) -> None:
    start = time.monotonic()
    found = said(table, asset="o")
    assert time.monotonic() - start < 1
    assert why in found[0]


def test_large_tables_of_spark_are_not_fetched(spark: SparkSession) -> None:
    rows = spark.range(10_001).selectExpr("'record_count_in_range' AS type")
    assert said(rows, asset="o") == ["rules table: it has 10,001 rows; at most 10,000 are read."]
    wide = spark.range(1).selectExpr("repeat('x', 6000000) AS type")
    assert "characters; at most 5,000,000 are read." in said(wide, asset="o")[0]
    stream = spark.readStream.format("rate").load()
    assert said(stream) == ["rules table: it is a stream, which never has all of its rows."]
    with pytest.raises(dq.UnreadableData, match="Table 'no_such' cannot be read"):
        dq.load_rules(dq.Table("no_such"))


def test_what_is_no_source() -> None:
    assert said(7) == ["rules come from a path, a DataFrame or a dq.Table(...), not from a int."]
    assert said("no_such") == ["'no_such' does not exist. A table is named by dq.Table('no_such')."]


def test_every_field_of_every_type_can_be_a_column() -> None:
    for kind, model in RULE_TYPES.items():
        assert set(forms(model)) == set(model.model_fields), kind
    text = {"a": 1, "b": ["x"]}
    [rules] = dq.load_rules(
        pd.DataFrame([{"type": "python", "function": "examples.python_rules:no_gaps",
                       "arguments": json.dumps({"column": "order_id"}), "name": json.dumps(text)}]),
        asset="o", trusted=True,
    )  # fmt: skip
    assert rules.rules[0].arguments == {"column": "order_id"}
    assert rules.rules[0].name == json.dumps(text)
