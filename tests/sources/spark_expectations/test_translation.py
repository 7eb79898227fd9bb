"""What becomes of rules of Spark-Expectations, and what the report says of them."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import dq_dagster as dq

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

BASE = {
    "product_id": "p", "table_name": "dev.orders", "rule_type": "row_dq", "rule": "r",
    "column_name": "", "expectation": "a > 0", "action_if_failed": "ignore", "tag": "",
    "description": "", "enable_for_source_dq_validation": True,
    "enable_for_target_dq_validation": True, "is_active": True, "enable_error_drop_alert": False,
    "error_drop_threshold": 0, "query_dq_delimiter": None, "enable_querydq_custom_output": None,
    "priority": "medium",
}  # fmt: skip


def load(*rows: dict[str, Any], trusted: bool | None = True, **options: Any) -> dq.Migration:
    table = pd.DataFrame([{**BASE, **row} for row in rows])
    return dq.load_spark_expectations(table, trusted=trusted, **options)


def only(row: dict[str, Any], **options: Any) -> tuple[dq.MigrationEntry, Any]:
    loaded = load(row, **options)
    [entry] = loaded.report
    rules = [rule for one in loaded.rule_sets for rule in one.rules]
    return entry, rules[0] if rules else None


# Expectations as its documentation has them: the type, the text, and the fields that it becomes.
AS_THEY_ARE: list[tuple[str, str, dict[str, Any]]] = [
    ("row_dq", "sku is not null", {"type": "row_dq", "expectation": "sku is not null"}),
    ("row_dq", "lower(trim(mode)) in('first', 'second')", {"type": "row_dq"}),
    ("row_dq", "sku rlike '^[A-Z]{2}[0-9]+$'", {"expectation": "sku rlike '^[A-Z]{2}[0-9]+$'"}),
    ("row_dq", "sku not rlike 'x' or sku not rlike 'y'", {"type": "row_dq"}),
    ("row_dq", "price * 100 < 60", {"type": "row_dq"}),
    ("row_dq", "left_a + left_b = 10", {"type": "row_dq"}),
    ("row_dq", "sent is null or sent >= ordered", {"type": "row_dq"}),
    ("row_dq", "count(*) over(partition by id order by 1)=1",
     {"type": "unique_key", "columns": ("id",), "empty_is_key": True, "keep": None}),
    ("row_dq", "count(*) over(partition by shop, `order id`) = 1",
     {"type": "unique_key", "columns": ("shop", "order id")}),
    ("row_dq", "sum(qty) over(partition by shop order by 1) > 10",
     {"type": "row_dq", "across_rows": True}),
    ("row_dq", "count(*) over(partition by id order by at) = 1", {"across_rows": True}),
    ("row_dq", "count(*) over(partition by lower(id)) = 1", {"across_rows": True}),
    ("row_dq", "price > (select avg(price) from prices)", {"type": "row_dq", "across_rows": True}),
    ("row_dq", "to_date(day, 'yyyy-MM-dd') is not null",
     {"expectation": "CAST(try_to_timestamp(day, 'yyyy-MM-dd') AS DATE) is not null"}),
    ("row_dq", "cast(a as decimal(10)) > 0", {"expectation": "try_cast(a as decimal(10)) > 0"}),
    ("row_dq", "a / b > 1 and a % 2 = 0", {"expectation": "a / nullif(b, 0) > 1 and a % 2 = 0"}),
    ("row_dq", "a / 0 > 1 or a div 0.0 > 1",
     {"expectation": "a / nullif(0, 0) > 1 or a div nullif(0.0, 0) > 1"}),
    ("row_dq", "mod(a, b - 1) = 0 and pmod(a,2) = 1",
     {"expectation": "mod(a, nullif( b - 1, 0)) = 0 and pmod(a, nullif(2, 0)) = 1"}),
    ("row_dq", "a::int > 1", {"expectation": "try_cast(a AS int) > 1"}),
    ("row_dq", "-t.`a b`::decimal(10, 2) > 1",
     {"expectation": "-try_cast(t.`a b` AS decimal(10, 2)) > 1"}),
    ("row_dq", "not (a || b)::int = lower(a)::double",
     {"expectation": "not try_cast((a || b) AS int) = try_cast(lower(a) AS double)"}),
    ("row_dq", "case (a)::int when 1 then true end",
     {"expectation": "case try_cast((a) AS int) when 1 then true end"}),
    ("row_dq", "to_date(a)::string = '1'::string",
     {"expectation": "try_cast(try_cast(a AS DATE) AS string) = try_cast('1' AS string)"}),
    # Where it is not clear what is cast to what, all stays as it is.
    ("row_dq", "a::int::string = date'2024-01-01'::string",
     {"expectation": "a::int::string = date'2024-01-01'::string"}),
    ("row_dq", "m['k']::int = case when a then b end::int",
     {"expectation": "m['k']::int = case when a then b end::int"}),
    ("agg_dq", "sum(sales)>99 and sum(sales)<99999", {"type": "agg_dq", "on_empty": "error"}),
    ("agg_dq", "count(distinct mode) <= 3", {"type": "agg_dq", "on": "both"}),
    ("agg_dq", "count(distinct id) == count(*)", {"type": "agg_dq"}),
    ("agg_dq", "percentile_approx(a, 0.5) between 1 and 3", {"type": "agg_dq"}),
    ("agg_dq", "stddev(a) > 10", {"type": "agg_dq"}),
    ("query_dq", "(select count(distinct a) from other) > 3",
     {"type": "query_dq", "expectation": "(select count(distinct a) from other) > 3"}),
    ("query_dq", "(select sum(a) from {table}) > 10",
     {"expectation": "(select sum(a) from {table}) > 10"}),
    ("query_dq", "(select max(a) from orders_view) > 10",
     {"expectation": "(select max(a) from {table}) > 10"}),
    ("query_dq", "(select count(*) from orders_view o join x on o.a = x.a) < 9",
     {"expectation": "(select count(*) from {table} o join x on o.a = x.a) < 9"}),
    ("query_dq", "(select count(*) from orders_view join x on orders_view.a = x.a) < 9",
     {"expectation":
      "(select count(*) from {table} AS orders_view join x on orders_view.a = x.a) < 9"}),
    ("query_dq", "({first}) > 10@first@select count(*) from order_source",
     {"expectation": "(select count(*) from order_source) > 10"}),
    ("query_dq", "({a} - ({b})) < 3@a@select count(*) from x where t = '12:30'@b@select 1",
     {"expectation": "((select count(*) from x where t = '12:30') - (select 1)) < 3"}),
    ("query_dq", "(select count(*) from x where mail like '%@%') > 1",
     {"expectation": "(select count(*) from x where mail like '%@%') > 1"}),
    ("query_dq", ("((with c as (select * from x left join y on x.a = y.a where y.b is null) "
     "select count(*) from c) < 100)"), {"type": "query_dq"}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "fields"), AS_THEY_ARE)
def test_taken_as_it_is(kind: str, text: str, fields: dict[str, Any]) -> None:
    entry, rule = only({"rule_type": kind, "expectation": text})
    assert (entry.taken, entry.rule, entry.kind) == ("taken as it is", "r", kind)
    assert entry.becomes == rule.type
    assert {name: getattr(rule, name) for name in fields} == fields


OTHERWISE: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"expectation": "row_number() over(partition by id order by 1)=1"},
     {"type": "unique_key", "keep": dq.Keep(order_by="id")}, "any may stay there; here all of"),
    ({"expectation": "row_number() over (partition by a, b order by at desc, n) <= 1"},
     {"columns": ("a", "b"), "keep": dq.Keep(order_by="at desc, n")}, "any may stay there"),
    ({"expectation": "try_cast(day as date)"}, {"expectation": "try_cast(day as date) is not null"},
     "It is no condition, so that Spark raises there"),
    ({"expectation": "is not null", "column_name": "the id"},
     {"expectation": "`the id` is not null"}, "It speaks of no column"),
    ({"expectation": "count(distinct a) over(partition by b order by 1) > 2"},
     {"expectation": "size(collect_set(a) over(partition by b order by 1)) > 2"},
     "Spark has no DISTINCT over a window"),
    ({"expectation": "a > {least}"}, {"expectation": "a > 7"},
     "{least} is filled in, which Spark-Expectations does in query_dq only."),
    ({"enable_error_drop_alert": True, "error_drop_threshold": 10}, {"type": "row_dq"},
     "There is no message of its own when 10 % of the rows fail"),
    ({"action_if_failed": None}, {"action_if_failed": "ignore"}, "is NULL, which is taken as"),
    ({"rule_type": "agg_dq", "expectation": "size(collect_list(a)) = 2 or first(b) = 1"},
     {"type": "query_dq",
      "expectation": "select (size(collect_list(a)) = 2 or first(b) = 1) from {table}"},
     "agg_dq has no such aggregate: it is asked as a query."),
    ({"rule_type": "agg_dq", "expectation": "count(*) > 0",
      "enable_for_source_dq_validation": False}, {"on": "validated"},
     "Without a row_dq rule of the table, Spark-Expectations never judges the target"),
    ({"rule_type": "query_dq", "expectation": "select count(*) from x where a is null"},
     {"expectation": "(select count(*) from x where a is null) <> 0"}, "It gives a number"),
    ({"rule_type": "query_dq", "expectation": "({q}) > 1$q$select 1", "query_dq_delimiter": "$",
      "enable_querydq_custom_output": True}, {"expectation": "(select 1) > 1"},
     "The results of its queries are not written into a table"),
    # As its own documentation and examples have it, with '$' and no delimiter.
    ({"rule_type": "query_dq", "expectation":
      "((select count(*) from ({source_f1}) a) - ({target_f1})) < 3"
      "$source_f1$select distinct a from x$target_f1$select count(*) from y where t = '1:2@3'"},
     {"expectation": "((select count(*) from (select distinct a from x) a) - "
      "(select count(*) from y where t = '1:2@3')) < 3"},
     "Without a query_dq_delimiter it is '@', and the rule raises there: its queries are taken"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "fields", "why"), OTHERWISE)
def test_means_something_else_here(row: dict[str, Any], fields: dict[str, Any], why: str) -> None:
    entry, rule = only(row, params={"least": 7})
    assert entry.taken == "means something else here"
    assert any(why in note for note in entry.notes), entry.notes
    assert {name: getattr(rule, name) for name in fields} == fields


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"expectation": "sum(a) over (partition by b order by 1)"}, "is a number, not a condition"),
    ({"expectation": "count(distinct a) over (partition by b)"}, "is a number, not a condition"),
    ({"expectation": "sum(a) > 3"}, "put the condition into a rule of type agg_dq"),
    ({"expectation": "a > 0) or (1 = 1"}, "closes nothing"),
    ({"expectation": "a > 0; drop table t"}, "ends a statement"),
    ({"expectation": "java_method('a', 'b') = 1"}, "runs arbitrary Java code"),
    ({"expectation": "a > {least}"}, "belongs to a template"),
    ({"expectation": None}, "'expectation' is missing."),
    ({"rule": " "}, "'rule' is missing."),
    ({"rule_type": "row_qd"}, "There is no rule_type 'row_qd'. Did you mean 'row_dq'?"),
    ({"rule_type": "rows"}, "There is no rule_type 'rows'."),
    ({"action_if_failed": "warn"}, "is ignore or drop or fail, not 'warn'. Spark-Expectations lea"),
    ({"rule_type": "agg_dq", "expectation": "count(*) > 0", "action_if_failed": "drop"},
     "action_if_failed of agg_dq is ignore or fail, not 'drop'."),
    ({"rule_type": "agg_dq", "expectation": "a > 18"}, "into a rule of type row_dq"),
    ({"rule_type": "agg_dq", "expectation": "max(a) > b"}, "'b' stands outside an aggregate"),
    ({"rule_type": "agg_dq", "expectation": "(select 1) > count(*)"}, "is a subquery"),
    ({"rule_type": "query_dq", "expectation": "a > 1"}, "there is no query in the expression"),
    ({"rule_type": "query_dq", "expectation": "({a}) > 1"}, "'{a}' has no value: give it by"),
    ({"rule_type": "query_dq", "expectation": "({a}) > 1@a@select 1@b"}, "a name without a query"),
    ({"rule_type": "query_dq", "expectation": "(select 1) > 1@a@select 1"},
     "The condition does not use the query 'a'."),
    ({"rule_type": "query_dq", "expectation": "({a}) > 1@a@select 1@a@select 2"},
     "There are two queries of the name 'a'."),
    ({"rule_type": "query_dq", "expectation": "({a}) > 1@a@drop table t"}, "is a statement"),
    ({"rule_type": "query_dq", "expectation": "(select count(*) from csv.`/etc/passwd`) > 1"},
     "reads files by their path"),
    ({"error_drop_threshold": "many"}, "error_drop_threshold is a whole number, not 'many'."),
    ({"table_name": "dev_{env}.orders"}, "'{env}' has no value: give it by params={'env': ...}."),
    ({"table_name": None}, "'table_name' is missing: name the asset by assets=."),
    ({"table_name": "../../etc"}, "'../../etc' is no name of a table"),
    ({"expectation": "a > 0 or " * 100_000 + "b > 0"}, "has 900,005 characters; at most 50,000"),
    ({"expectation": "(" * 40_000}, "The expression is too long"),
    ({"expectation": "cast(" * 9_000 + "a"}, "The expression is too long"),
    ({"rule_type": "query_dq", "expectation": "({a})" + "@''" * 12_000}, "has no value: give it"),
    ({"rule_type": "query_dq", "expectation": "({a})" + "@a@(" * 9_000}, "two queries of the name"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "why"), REFUSED)
def test_refused_with_the_reason(row: dict[str, Any], why: str) -> None:
    start = time.monotonic()
    entry, rule = only(row)
    assert time.monotonic() - start < 1
    assert (entry.taken, entry.becomes, rule) == ("refused", "", None)
    assert any(why in note for note in entry.notes), entry.notes


CODE = [
    {"rule_type": "query_dq", "expectation": "(select 1) > 1"},
    {"expectation": "sum(a) over (partition by b) > 1"},
    {"expectation": "a > (select max(a) from x)"},
    {"rule_type": "agg_dq", "expectation": "size(collect_list(a)) = 2 or first(b) = 1"},
]


@pytest.mark.parametrize("row", CODE)
def test_a_table_cannot_switch_on_code(row: dict[str, Any]) -> None:
    entry, rule = only(row, trusted=None)
    assert (entry.taken, rule) == ("refused", None)
    assert "trusted=True" in entry.notes[0]
    assert only(row)[1] is not None
    # Keys that windows describe need no code.
    unique = {"expectation": "count(*) over (partition by a) = 1"}
    assert only(unique, trusted=None)[1].type == "unique_key"


def test_a_file_of_the_deployment_can(tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    rule = {"rule": "r", "rule_type": "query_dq", "expectation": "(select 1) > 1"}
    file.write_text(json.dumps({"product_id": "p", "table_name": "t", "rules": [rule]}))
    assert dq.load_spark_expectations(file).report.refused == ()
    assert len(dq.load_spark_expectations(file, trusted=False).report.refused) == 1


def test_fields_of_a_rule() -> None:
    _, rule = only(
        {"action_if_failed": "drop", "tag": "Uniqueness", "priority": "high", "description": "d",
         "is_active": False}
    )  # fmt: skip
    assert (rule.action_if_failed, rule.blocking, rule.enabled) == ("drop", False, False)
    assert (rule.quality_dimension, rule.description) == ("uniqueness", "d")
    assert rule.tags == ("Uniqueness", "priority:high")
    # What it calls the source and the target makes no difference to single rows.
    _, rule = only({"enable_for_source_dq_validation": False, "action_if_failed": "fail"})
    assert (rule.on, rule.enabled, rule.blocking) == ("both", True, True)
    never = {"enable_for_source_dq_validation": False, "enable_for_target_dq_validation": False}
    entry, rule = only({"rule_type": "agg_dq", "expectation": "count(*) > 0", **never})
    assert not rule.enabled
    assert "enabled neither for the source nor for the target" in entry.notes[0]


def test_nulls_of_a_table_count_as_they_do_there() -> None:
    entry, rule = only({"is_active": None})
    assert not rule.enabled
    assert entry.notes[0] == "is_active is NULL, which counts as false."
    few = pd.DataFrame([{"rule_type": "row_dq", "rule": "r", "expectation": "a > 0",
                         "table_name": "t"}])  # fmt: skip
    [rules] = dq.load_spark_expectations(few).rule_sets
    assert rules.rules[0].enabled
    with pytest.raises(
        dq.DeclarationError, match="are not there: 'expectation' Did you mean 'expe"
    ):
        dq.load_spark_expectations(
            pd.DataFrame([{"rule_type": "a", "rule": "b", "expectations": ""}])
        )


@pytest.mark.parametrize(
    ("cell", "enabled"),
    [(1, True), (1.0, True), (0, False), ("TRUE", True), ("yes", True), ("no", False)],
)
def test_what_counts_as_true(cell: Any, enabled: bool) -> None:
    assert only({"is_active": cell})[1].enabled is enabled


def test_texts_of_a_csv_file_are_as_good() -> None:
    texts = {key: "null" if value is None else str(value).lower() for key, value in BASE.items()}
    [rules] = dq.load_spark_expectations(pd.DataFrame([texts])).rule_sets
    assert rules == load({}).rule_sets[0]


def test_names_are_kept_apart() -> None:
    rows = [{}, {"rule_type": "agg_dq", "expectation": "count(*) > 0"}, {}, {"rule": "R!"}, {}]
    loaded = load(*rows)
    assert [rule.name for rule in loaded.rule_sets[0].rules] == [
        "r", "r_agg_dq", "r_row_dq", "R!", "r_row_dq_2",
    ]  # fmt: skip
    assert loaded.report.entries[1].title == "r (agg_dq, here r_agg_dq)"


def test_tables_in_queries_are_named_as_the_caller_wants() -> None:
    row = {
        "rule_type": "query_dq",
        "expectation": "(select count(*) from dq.customers c join rates on c.a = rates.a join "
        "mine on mine.a = c.a) > {n}",
    }
    _, rule = only(
        row,
        view="mine",
        params={"n": 3},
        tables={"dq.customers": "shop/customers", "rates": {"files": "r"}, "unused": "u"},
    )
    assert rule.expectation == (
        "(select count(*) from {dq_customers} c join {rates} AS rates on c.a = rates.a join "
        "{table} AS mine on mine.a = c.a) > 3"
    )
    assert {name: one.dataset.label for name, one in rule.references.items()} == {
        "dq_customers": "asset 'shop/customers'",
        "rates": "files 'r'",
    }
    entry, rule = only({"rule_type": "query_dq", "expectation": "(select 1 from orders) = 1"})
    assert "'orders' is the table as it is published" in entry.notes[0]


def test_conditions_on_all_rows_are_judged_where_they_are_there(spark: SparkSession) -> None:
    data = spark.createDataFrame([(1, 5), (2, 0), (3, None)], "a int, b int")
    nothing = data.where("false")
    rows = [
        {"rule": "rows", "rule_type": "agg_dq", "expectation": "count(*) > 2"},
        {"rule": "sum", "rule_type": "agg_dq", "expectation": "sum(b) > 4"},
        {"rule": "share", "rule_type": "agg_dq", "expectation": "count(b) / count(*) > 0.9"},
        {"rule": "zero", "rule_type": "agg_dq", "expectation": "sum(a) / min(b) > 1"},
        {"rule": "query", "rule_type": "query_dq",
         "expectation": "({q}) = 3@q@select max(a) from orders_view"},
        {"rule": "set", "rule_type": "agg_dq",
         "expectation": "array_contains(collect_list(a), 2)"},
    ]  # fmt: skip
    [rules] = load(*rows).rule_sets
    found = {one.rule.name: one.status.value for one in dq.evaluate(data, rules)}
    # NULL fails: of 'zero' it is NULL, since min(b) is 0.
    assert found == {
        "rows": "Ok", "sum": "Ok", "share": "Error", "zero": "Error", "query": "Ok", "set": "Ok",
    }  # fmt: skip
    empty = {one.rule.name: one.status.value for one in dq.evaluate(nothing, rules)}
    assert set(empty.values()) == {"Error"}


def test_the_report_accounts_for_every_rule() -> None:
    loaded = load(
        {}, {"rule": "w", "expectation": "try_cast(a as date)"}, {"rule": "x", "rule_type": "y"},
        {"rule": "z|<b>", "product_id": "q", "actoin_if_failed": "drop"}, product_id="p",
    )  # fmt: skip
    report = loaded.report
    assert len(report) == 4
    assert report.counts == {
        "refused": 1, "means something else here": 1, "taken as it is": 1, "documentation": 0,
        "not chosen": 1,
    }  # fmt: skip
    text = str(report)
    assert text.startswith(
        "4 rules: 1 refused, 1 with another meaning here, 1 taken as they are, 1 not chosen\n"
    )
    assert "\nRefused\n  x (y)  [dev.orders; rules table, row 3]\n    There is no rule_type" in text
    assert json.loads(report.to_json()) == report.to_dict()
    assert [one["taken"] for one in report.to_dict()["rules"]] == list(report.to_pandas()["taken"])
    assert "| z\\|\\<b\\> (row\\_dq) | dev.orders |" in report.to_markdown()
    with pytest.raises(dq.DeclarationError, match="rules table, row 3, rule 'x': There is no"):
        report.require_all()
    with pytest.raises(dq.DeclarationError, match="rules table, row 3"):
        load({"rule": "a"}, {"rule": "b"}, {"rule": "x", "rule_type": "y"}, strict=True)


def test_fields_that_nobody_knows_are_named() -> None:
    entry, _ = only({"actoin_if_failed": "drop"})
    assert entry.notes == (
        (
            "'actoin_if_failed' is no field of Spark-Expectations, and has no effect. Did you mean "
            "'action_if_failed'?"
        ),
    )


def test_spark_tables_are_read_too(spark: SparkSession) -> None:
    kinds = {bool: "boolean", int: "int"}
    schema = ", ".join(f"{key} {kinds.get(type(one), 'string')}" for key, one in BASE.items())
    frame = spark.createDataFrame([tuple(BASE.values())], schema)
    assert dq.load_spark_expectations(frame).rule_sets == load({}).rule_sets
    frame.createOrReplaceTempView("se_rules")
    try:
        named = dq.load_spark_expectations(dq.Table("se_rules"), spark=spark)
        assert named.rule_sets == load({}).rule_sets
        assert named.report.entries[0].place == "table 'se_rules', row 1"
    finally:
        spark.catalog.dropTempView("se_rules")


NAMES = [
    "x'; drop table t; --",
    "`a`.b",
    "<script>",
    "${spark.app.name}",
    "\u00e4 \U0001f600",
    "a\nb",
]


def test_names_are_never_sql(spark: SparkSession) -> None:
    rows = [{"rule": name, "tag": name, "description": name} for name in NAMES]
    [rules] = load(*rows).rule_sets
    [row] = dq.failing_rows(spark.createDataFrame([(0,)], "a int"), rules).collect()
    assert [fault["rule"] for fault in row["dq_faults"]] == NAMES
    assert [fault["tags"] for fault in row["dq_faults"]] == [[name] for name in NAMES]
