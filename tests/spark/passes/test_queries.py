"""Conditions on queries, on Spark: what they read, what they cost, and that they only read."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import dq_dagster as dq
from dq_dagster.metrics.conditions import PassKind
from dq_dagster.spark.passes.queries import side_by_side

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Counter = Callable[[Callable[[], object]], int]
Rule = dict[str, Any]


def query(text: str, **fields: Any) -> Rule:
    return {"type": "query_dq", "expectation": text, **fields}


def named(*rules: Rule) -> list[Rule]:
    return [{"name": f"r{n}", **rule} for n, rule in enumerate(rules)]


@pytest.fixture(scope="module")
def orders(spark: SparkSession) -> DataFrame:
    rows = [
        (1, "10.50", "new", date(2024, 1, 1), "ann"),
        (2, "20.25", "paid", date(2024, 1, 2), "bo"),
        (3, None, "paid", date(2024, 2, 1), "canary"),
    ]
    plain = spark.createDataFrame(rows, "id int, a string, status string, day date, name string")
    return plain.selectExpr("id", "cast(a as decimal(10,2)) amount", "status", "day", "name")


@pytest.fixture(scope="module")
def customers() -> pd.DataFrame:
    return pd.DataFrame({"name": ["ann", "bo"]})


def test_a_comparison_and_a_whole_query(orders: DataFrame, customers: pd.DataFrame) -> None:
    beside = {"references": {"customers": {"asset": "customers"}}}
    rules = named(
        query("(select sum(amount) from {table}) > 30"),
        query("(select count(*) from {table}) <= (select count(*) from {customers})", **beside),
        query("select count(*) = 0 from {table} left anti join {customers} using (name)", **beside),
        query("(select max(o.name) from {table} o) = 'canary'"),
        query("exists (select 1 from {customers} where name = 'bo')", **beside),
        query("(select amount from {table} where id = 3) > 1"),
        query("(select amount from {table} where id = 3) > 1", null_is="pass"),
    )
    found = dq.evaluate(orders, rules, references={"customers": customers})
    assert [(str(one.status), one.observed) for one in found] == [
        ("Ok", Decimal("30.75")),
        (
            "Error",
            {"(select count(*) from {table})": 3, "(select count(*) from {customers})": 2},
        ),
        ("Error", None),
        ("Ok", "canary"),
        ("Ok", None),
        ("Error", None),
        ("Ok", None),
    ]
    assert found["r1"].message == (
        "'(select count(*) from {table}) <= (select count(*) from {customers})' does not hold: "
        "(select count(*) from {table}) = 3, (select count(*) from {customers}) = 2."
    )
    # A text may be one of a row: it is neither shown nor kept.
    assert not [one for one in found if "canary" in one.message.replace("= 'canary'", "")]
    assert "canary" not in str([one.metrics for one in found])


@pytest.mark.parametrize("where", [None, "id > 1"])
def test_tables_files_and_views_beside_the_rows(
    spark: SparkSession, orders: DataFrame, tmp_path: Path, where: str | None
) -> None:
    spark.sql("SELECT 2 AS goal").createOrReplaceTempView("goals")
    (tmp_path / "rates.csv").write_text("day;rate\n2024-01-01;5\n2024-01-02;7\n")
    files = {"files": str(tmp_path / "rates.csv"), "format": "csv",
             "options": {"sep": ";", "header": "true", "inferSchema": "true"}}  # fmt: skip
    rules = [
        query("(select count(*) from {table} t) = (select max(goal) from {goals})",
              references={"goals": {"table": "goals"}}),
        query("(select count(t.id) from {table} t) = (select goal from goals)"),
        query("select sum(rate) = 7 from {table} join {rates} using (day)",
              references={"rates": files}),
        query("select count(*) = 2 from {me}", references={"me": {"asset": "data"}}),
        query("(select max(x) from {no}) = 1", references={"no": {"table": "no_such_table"}}),
        query("(select max(x) from {no}) = 1", references={"no": {"asset": "unknown"}}),
    ]  # fmt: skip
    given = [rule | ({"where": where} if where else {}) for rule in named(*rules)]
    found = [*dq.evaluate(orders, given)]
    expected = ["Ok", "Ok", "Ok"] if where else ["Error", "Error", "Error"]
    assert [str(one.status) for one in found] == [*expected, "Error", "Error", "Error"]
    assert [one.details.get("error") for one in found[:4]] == [None] * 4
    assert "The reference table 'no_such_table' could not be read" in found[4].message
    assert "The reference asset 'unknown' is not at hand" in found[5].message


VALUES: dict[str, Any] = {
    "n": 2,
    "f": 20.25,
    "dec": Decimal("20.25"),
    "text": "paid",
    "quoted": "it's; drop table {x} :y -- \\",
    "yes": True,
    "day": date(2024, 1, 2),
    "at": datetime(2024, 1, 1, 23),  # noqa: DTZ001 (meant in the session's zone)
    "vast": 2**70,
    "tiny": 1e-30,
    "ids": [1, 2, -5],
    "names": ["ann", "it's"],
    "of": {"column": "amount"},
    "strange": {"column": "a`b {x} :y; --"},
}


# How many of the rows pass.
PREDICATES = {
    "id = :n": 1,
    "{of} = :f": 1,
    "{of} = :dec": 1,
    "status = :text": 2,
    "status = :quoted": 0,
    "quoted = :quoted": 3,
    "(id > 1) = :yes": 2,
    "day = :day": 1,
    "day > :at": 2,
    "id < :vast": 3,
    "id > :tiny": 3,
    "id in :ids": 2,
    "id not in :ids": 1,
    "name in :names": 1,
    "`a``b {x} :y; --` = 1": 3,
    "{strange} = 1": 3,
    "status <> '{of} :n'": 3,
}


# A limit makes it a query of its own.
@pytest.mark.parametrize("limit", ["", " limit 1"])
def test_values_mean_the_same_bound_and_as_literals(orders: DataFrame, limit: str) -> None:
    data = orders.selectExpr("*", f"'{_escaped(VALUES['quoted'])}' quoted", "1 `a``b {x} :y; --`")
    rules = []
    for number, (predicate, rows) in enumerate(PREDICATES.items()):
        outside_quotes = re.sub(r"`[^`]*`|'[^']*'", "", predicate)
        rules.append(
            dq.QueryExpectation(
                name=f"r{number}",
                expectation=f"(select count(*) from {{table}} where {predicate}{limit}) = {rows}",
                parameters={
                    name: VALUES[name] for name in re.findall(r"[:{](\w+)", outside_quotes)
                },
            )
        )
    kinds = {metric.kind for rule in rules for metric in rule.metrics()}
    assert (PassKind.QUERIES in kinds) is bool(limit)
    found = dq.evaluate(data, rules)
    assert [one.observed for one in found] == list(PREDICATES.values())
    assert [one.message for one in found if one.status != "Ok"] == []


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def test_what_is_wrong_stays_with_its_rule(orders: DataFrame) -> None:
    texts = {
        "select id > 0 from {table}": "and it gives more than one row.",
        "select true from {table} where false": "and it gives no row.",
        "select true, false": "and it gives 2 columns.",
        "select count(t.id) from {table} t": "and it gives a column of type bigint.",
        "select max(name) from {table}": "'select max(name) from {table}' is of type string; an",
        "(select count(*) from {table} t)": "is of type bigint; an expectation must be true",
        "(select name from {table}) = 'x'": "Spark raised SCALAR_SUBQUERY_TOO_MANY_ROWS while",
        "(select id, name from {table}) = 1": "Spark does not accept this rule: ",
        "(select sum(amuont) from {table}) > 1": "Did you mean 'amount'?",
        "(select sum(t.amuont) from {table} t) > 1": "Spark does not accept this rule: ",
        "(select max(cast(t.name as int)) from {table} t) > 1": "Spark raised CAST_INVALID_INPUT",
        "(select sum(1 / (id - 2)) from {table}) > 1": "Spark raised DIVIDE_BY_ZERO",
        "select true from no_such_table": "Spark does not accept this rule: ",
        "select selec from": "Spark does not accept this rule: ",
    }
    fine = [query("(select count(t.id) from {table} t) = 3"), query("select true")]
    found = [*dq.evaluate(orders, named(*map(query, texts), *fine))]
    for outcome, words in zip(found, texts.values(), strict=False):
        assert outcome.status == "Error"
        assert words in outcome.message
        assert "canary" not in outcome.message
    assert [str(one.status) for one in found[len(texts) :]] == ["Ok", "Ok"]


def test_each_partition_the_whole_and_no_rows(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, "a"), (2, "a"), (5, "b")], "id int, part string")
    rules = named(
        query("(select sum(t.id) from {table} t) > 4", scope="both"),
        query("(select sum(id) from {table}) > 4", scope="both"),
        query("select count(*) = 0 from {table} t", scope="both", where="id < 0"),
        query("(select max(t.id) from {table} t) > 0", scope="both", where="id < 0"),
    )
    found = dq.evaluate(frame, rules, partition_by="part", partitions=["a", "b", "c"])
    statuses = {(o.rule.name, o.partition): (str(o.status), o.observed) for o in found}
    for name in ("r0", "r1"):
        assert [statuses[name, part] for part in ("a", "b", "c", None)] == [
            ("Error", 3), ("Ok", 5), ("Empty", None), ("Ok", 8)
        ]  # fmt: skip
    for part in ("a", "b", "c", None):
        assert statuses["r2", part] == ("Ok", 0)
        assert statuses["r3", part] == ("Empty", None)


def test_groups_are_known_of_aggregates_only(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, "a"), (2, "a"), (5, "b")], "id int, part string")
    fused, own = dq.evaluate(
        frame,
        named(
            query("(select sum(id) from {table}) > 4", dimensions="part"),
            query("(select sum(t.id) from {table} t) > 4", dimensions="part"),
        ),
    )
    groups = fused.details["dimensions"]["part"]
    assert {one["group"]: one["status"] for one in groups} == {"a": "Error", "b": "Ok"}
    assert "cannot be broken down" in own.details["dimensions"]["part"]


def test_queries_over_the_same_rows_take_no_job(orders: DataFrame, count_jobs: Counter) -> None:
    plain: list[Rule] = [{"type": "column_not_empty", "columns": "id", "name": "id"}]
    more = named(
        *(query(f"(select sum(id) from {{table}} where id > {n}) > 0") for n in range(10)),
        query(
            "select max(id) > :n from {table} where status in :s", parameters={"n": 1, "s": ["a"]}
        ),
        query("(select min(id) from {table}) < (select avg(amount) from {table})", where="id > 1"),
    )
    found: list[dq.Outcome] = []
    alone = count_jobs(lambda: dq.evaluate(orders, plain))
    assert count_jobs(lambda: found.extend(dq.evaluate(orders, [*plain, *more]))) == alone
    assert not [one.message for one in found if "error" in one.details]


def test_other_queries_take_as_many_jobs_as_alone(orders: DataFrame, count_jobs: Counter) -> None:
    rules = named(
        *(query(f"select count(*) > {n} from {{table}} t where t.id > {n}") for n in range(6))
    )
    rows = count_jobs(lambda: dq.evaluate(orders, [dq.RecordCountInRange(min=1)]))
    one = count_jobs(lambda: dq.evaluate(orders, rules[:1])) - rows
    assert one > 0
    assert count_jobs(lambda: dq.evaluate(orders, rules)) == rows + 6 * one


def test_equal_subqueries_are_computed_once(orders: DataFrame, count_jobs: Counter) -> None:
    text = "(select sum(t.id) from {table} t) > 1"
    once = count_jobs(lambda: dq.evaluate(orders, [query(text)]))
    assert count_jobs(lambda: dq.evaluate(orders, [query(f"{text} and {text}")])) == once


def test_queries_are_run_side_by_side_in_the_callers_group(spark: SparkSession) -> None:
    together = threading.Barrier(4, timeout=60)
    groups: list[Any] = []

    def run(number: int) -> Callable[[], int]:
        def ran() -> int:
            together.wait()
            groups.append(spark.sparkContext.getLocalProperty("spark.jobGroup.id"))
            return number

        return ran

    spark.sparkContext.setLocalProperty("spark.jobGroup.id", "callers")
    try:
        found = side_by_side({n: run(n) for n in range(8)}, spark)
    finally:
        nothing: Any = None
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", nothing)
    assert found == {n: n for n in range(8)}
    assert groups == ["callers"] * 8
    assert not [t for t in threading.enumerate() if t.name.startswith("dq_query")]


@pytest.fixture
def without_ansi(spark: SparkSession) -> Iterator[SparkSession]:
    spark.conf.set("spark.sql.ansi.enabled", "false")
    yield spark
    spark.conf.set("spark.sql.ansi.enabled", "true")


def test_sessions_without_ansi_get_the_same_answers(
    without_ansi: SparkSession, customers: pd.DataFrame
) -> None:
    without_ansi.sql("SELECT 2 AS goal").createOrReplaceTempView("goals")
    frame = without_ansi.sql("SELECT * FROM VALUES (1, 'ann'), (2, 'x') AS t(id, name)")
    rules = named(
        query("(select count(t.id) from {table} t) = (select goal from goals)"),
        query("(select count(t.id) from {table} t) = (select count(*) from {customers})",
              references={"customers": {"asset": "customers"}}),
        query("(select max(goal) from {goals}) = :n", references={"goals": {"table": "goals"}},
              parameters={"n": 2}),
        query("(select sum(cast(t.name as int)) from {table} t) is null"),
    )  # fmt: skip
    found = dq.evaluate(frame, rules, references={"customers": customers})
    assert [str(one.status) for one in found] == ["Ok", "Ok", "Ok", "Error"]
    assert "CAST_INVALID_INPUT" in found["r3"].message


def test_nothing_is_written_and_no_view_is_left(spark: SparkSession, orders: DataFrame) -> None:
    spark.sql("CREATE TABLE IF NOT EXISTS kept (id INT) USING parquet")
    before = [row.tableName for row in spark.sql("SHOW TABLES").collect()]
    # Past the check of their form: not even then is there a place for a statement.
    texts = ["insert into kept values (1)", "drop table kept", "delete from kept",
             "with a as (select 1) insert into kept select * from a",
             "true) ; drop table kept; select (true"]  # fmt: skip
    rules = [
        dq.QueryExpectation(name=f"r{n}", expectation="(select count(t.id) from {table} t) = 3")
        .model_copy(update={"expectation": text})
        for n, text in enumerate(texts)
    ]  # fmt: skip
    found = dq.evaluate(orders, [*rules, dq.RecordCountInRange(name="rows", min=3)])
    assert [str(one.status) for one in found] == ["Error"] * len(texts) + ["Ok"]
    assert [row.tableName for row in spark.sql("SHOW TABLES").collect()] == before
    assert spark.table("kept").count() == 0
    spark.sql("DROP TABLE kept")
