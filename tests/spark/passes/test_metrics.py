"""Metrics from queries, functions, records and other assets, on Spark."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import dq_dagster as dq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Counter = Callable[[Callable[[], object]], int]
CALLS: list[str] = []


def counted(data: DataFrame, context: dq.CallContext) -> dict[str, Any]:
    CALLS.append(context.caller)
    return {"rows": data.count(), "name": "secret", "list": [1]}


def one_number(data: DataFrame, context: dq.CallContext) -> float:
    return 2.5


def refuses(data: DataFrame, context: dq.CallContext) -> float:
    raise LookupError("no table of rates")


@pytest.fixture(scope="module")
def orders(spark: SparkSession) -> DataFrame:
    return spark.sql(
        "SELECT * FROM VALUES (1, 10.50BD, 'new', TIMESTAMP'2024-03-10 12:00:00Z'), "
        "(2, 20.25BD, 'paid', TIMESTAMP'2024-03-11 12:00:00Z'), "
        "(3, NULL, 'paid', NULL) AS t(id, amount, status, at)"
    )


def observed(data: DataFrame, metrics: dict[str, Any], names: list[str], **given: Any) -> Any:
    """What each metric is, or what is said about it if it is none."""
    rules = [
        {"type": "metric_in_set", "name": f"r{n}", "metric": name, "values": [0, "x", True]}
        for n, name in enumerate(names)
    ]
    rule_set = dq.RuleSet(asset="orders", metrics=metrics, rules=rules)
    found = dq.evaluate(data, rule_set, **given)
    return {
        name: outcome.message if outcome.observed is None else outcome.observed
        for name, outcome in zip(names, found, strict=True)
    }


def test_queries(spark: SparkSession, orders: DataFrame) -> None:
    spark.sql("SELECT 100 AS goal").createOrReplaceTempView("goals")
    metrics: dict[str, Any] = {
        "paid": {"query": "select count_if(status = 'paid') / count(*) from {table}"},
        "many": {
            "query": """
                select sum(amount) as total, max(status) as last, max(at) as at, true as yes,
                       date(max(at)) as day, cast(1.5 as float) as f, null as nothing
                from {table}
            """
        },
        "joined": {"query": "with t as (select * from {table}) select goal from t, goals limit 1"},
        # Only the table's braces mean something.
        "braces": {"query": "select count_if(status rlike 'a{1}') as `{x}` from {table}"},
    }
    names = ["paid", "many.total", "many.last", "many.yes", "many.f", "joined", "braces"]
    assert observed(orders, metrics, names) == {
        "paid": pytest.approx(2 / 3),
        "many.total": Decimal("30.75"),
        "many.last": "paid",
        "many.yes": True,
        "many.f": 1.5,
        "joined": 100,
        "braces": 2,
    }
    on_time = [
        dq.MetricInRange(name=column, metric=f"many.{column}", min="2024-03-11", max="2024-03-12")
        for column in ("at", "day", "nothing")
    ]
    at, day, nothing = dq.evaluate(
        orders, dq.RuleSet(asset="orders", metrics=metrics, rules=on_time)
    )
    assert isinstance(at.observed, datetime)
    assert at.observed.isoformat() == "2024-03-11T08:00:00-04:00"
    assert (at.status, day.status, day.observed) == ("Ok", "Ok", date(2024, 3, 11))
    assert nothing.status == "Empty"


def test_what_is_wrong_with_a_query_stays_with_its_rules(orders: DataFrame) -> None:
    queries = {
        "none": "select 1 as x from {table} where false",
        "rows": "select id from {table}",
        "twice": "select 1 as a, 2 as A from {table} limit 1",
        "column": "select sum(idd) from {table}",
        "cast": "select sum(cast(status as int)) from {table}",
        "nested": "select array(1) as x from {table} limit 1",
        "two": "select 1 as a, 2 as b from {table} limit 1",
        "fine": "select 7 from {table} limit 1",
    }
    metrics = {name: {"query": query} for name, query in queries.items()}
    said = observed(orders, metrics, [*queries, "two.c", "two.b"])
    assert said["none"] == "The query of metric 'none' must give one row, and it gives no row."
    assert said["rows"].endswith("must give one row, and it gives more than one row.")
    assert "columns of one name among a, A" in said["twice"]
    assert said["column"].startswith("Spark does not accept this rule: ")
    assert said["cast"].startswith("Spark raised CAST_INVALID_INPUT")
    assert said["nested"] == (
        "Metric 'nested' is neither a number, a text nor a time, but of type list."
    )
    assert said["two"] == "Metric 'two' has 2 values; name one of them: 'two.a', 'two.b'."
    assert said["two.c"] == "Metric 'two' has no value 'c'; there is 'two.a', 'two.b'."
    assert (said["two.b"], said["fine"]) == (2, 7)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("selec 1 from {table}", "syntax error: '1' stands where an operator"),
        ("insert into {table} values (1)", "a statement that changes something"),
        ("drop table {table}", "a statement that changes something"),
        ("select 1 from {table} -- of ours", "'--' starts or ends a comment"),
    ],
)
def test_what_is_no_query_is_refused_before_anything_runs(query: str, reason: str) -> None:
    with pytest.raises(dq.DeclarationError, match=reason):
        dq.RuleSet(asset="orders", metrics={"m": {"query": query}}, rules=[])


def test_a_filter_and_one_run_a_query(orders: DataFrame, count_jobs: Counter) -> None:
    source = {"name": "q", "query": "select count(*) as n, max(id) as m from {table}"}
    rule = {"type": "metric_in_range", "min": 1, "metric": {**source, "column": "n"}}
    filtered = {**rule, "name": "some", "where": "status = 'paid'"}
    both = [rule, {**rule, "name": "m", "metric": {**source, "column": "m"}}]
    assert [o.observed for o in dq.evaluate(orders, [*both, filtered])] == [3, 3, 2]
    one = count_jobs(lambda: dq.evaluate(orders, [rule], samples=False))
    assert count_jobs(lambda: dq.evaluate(orders, both, samples=False)) == one


def test_functions(orders: DataFrame) -> None:
    metrics: dict[str, Any] = {"many": counted, "one": one_number, "refused": refuses}
    CALLS.clear()
    names = ["many.rows", "many.name", "many.list", "many", "many.none", "one", "one.x", "refused"]
    assert observed(orders, metrics, names) == {
        "many.rows": 3,
        "many.name": "secret",
        "many.list": (
            "Metric 'many.list' is neither a number, a text nor a time, but of type list."
        ),
        "many": (
            "Metric 'many' has 3 values; name one of them: 'many.rows', 'many.name', 'many.list'."
        ),
        "many.none": (
            "Metric 'many' has no value 'none'; there is 'many.rows', 'many.name', 'many.list'."
        ),
        "one": 2.5,
        "one.x": "Metric 'one' is a single value, so there is no 'one.x'.",
        "refused": "The function raised LookupError: no table of rates.",
    }
    assert CALLS == ["many"]


def test_what_is_on_record(orders: DataFrame) -> None:
    rules: list[Any] = [
        dq.MetricInRange(name="old", metric="record_count", max=5, auto_compute=False),
        dq.MetricInRange(name="none", metric="column_avg:id", max=5, auto_compute=False),
        dq.MetricInRange(name="rows", metric=dq.MetricSource(metadata="dagster/row_count"), max=5),
        dq.MetricInRange(name="typo", metric=dq.MetricSource(metadata="row_count"), max=5),
        dq.MetricInRange(
            name="theirs", metric=dq.MetricSource(metadata="rows", asset="customers"), max=5
        ),
        dq.CompareMetrics(
            name="both",
            metric="record_count",
            operator="<",
            other="record_count",
            other_asset="customers",
            auto_compute=False,
        ),
    ]
    found = dq.evaluate(
        orders,
        rules,
        recorded={"record_count": 9, "customers": {"record_count": 12}},
        metadata={"dagster/row_count": 3, "customers": {"rows": 4}},
    )
    assert {o.rule.name: (o.status.value, o.observed) for o in found} == {
        "old": ("Error", 9),
        "none": ("Empty", None),
        "rows": ("Ok", 3),
        "typo": ("Error", None),
        "theirs": ("Ok", 4),
        "both": ("Ok", {"record_count": 9, "record_count of customers": 12}),
    }
    assert "Did you mean 'dagster/row_count'?" in found["typo"].message
    [absent] = dq.evaluate(orders, [rules[2]])
    assert absent.message == (
        "The metadata of the asset is not at hand: give it by metadata={...}."
    )


class Unreachable(dict[str, Any]):
    """A record that cannot be read."""

    def get(self, key: str, default: Any = None) -> Any:
        raise OSError("disk of canary failed")


def test_a_record_that_cannot_be_read_fails_its_rules_only(orders: DataFrame) -> None:
    rules: list[Any] = [
        dq.MetricInRange(name="old", metric="record_count", max=5, auto_compute=False),
        dq.MetricInRange(name="new", metric="record_count", max=5),
    ]
    old, new = dq.evaluate(orders, rules, recorded=Unreachable())
    assert (old.status, new.status) == ("Error", "Ok")
    assert old.message == (
        "What is on record of 'recorded record_count' could not be read: OSError was raised."
    )


def test_metrics_of_other_assets(orders: DataFrame) -> None:
    customers = pd.DataFrame({"id": [1, 2, 3, 4], "amount": [1.0, 2.0, 3.0, 4.0]})

    def compared(name: str, metric: Any, operator: Any, other: Any, asset: str) -> dq.Rule:
        return dq.CompareMetrics(
            name=name, metric=metric, operator=operator, other=other, other_asset=asset
        )

    total = dq.MetricSource(query="select sum(amount) from {table}", name="total")
    rules: list[Any] = [
        compared("rows", "record_count", "<", "record_count", "customers"),
        compared("columns", "column_count", "=", "column_count", "customers"),
        compared("distinct", "distinct_count:status", "<=", "unique_count:id", "customers"),
        compared("median", "column_max:id", ">", "column_median:amount", "customers"),
        compared("query", total, ">", total, "customers"),
        compared("python", "record_count", "=", one_number, "customers"),
        compared("self", "column_min:id", "<", "column_max:id", "data"),
        compared("nowhere", "record_count", "<", "record_count", "nowhere"),
        compared("misfit", "record_count", "<", "column_avg:idd", "customers"),
    ]
    rules.append(
        dq.CompareMetrics(
            name="filtered", metric="record_count", operator="<", other="column_max:id",
            where="status = 'paid'",
        )
    )  # fmt: skip
    found = dq.evaluate(orders, rules, references={"customers": customers})
    assert {o.rule.name: (o.status.value, list((o.observed or {}).values())) for o in found} == {
        "rows": ("Ok", [3, 4]),
        "columns": ("Error", [4, 2]),
        "distinct": ("Ok", [2, 4]),
        "median": ("Ok", [3, 2.5]),
        "query": ("Ok", [Decimal("30.75"), 10.0]),
        "python": ("Error", [3, 2.5]),
        "self": ("Ok", [1, 3]),
        "nowhere": ("Error", []),
        "misfit": ("Error", []),
        "filtered": ("Ok", [2, 3]),
    }
    assert "The reference asset 'nowhere' is not at hand" in found["nowhere"].message
    assert "Column 'idd' is not in the table." in found["misfit"].message


def test_an_aggregate_in_sql_is_a_metric(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, 10.0), (2, 20.0), (3, None)], "id int, amount double")
    rule_set = dq.RuleSet(
        asset="orders",
        metrics={"mean": {"sql": "sum(amount) / count(*)"}},
        rules=[
            dq.MetricInRange(name="named", metric="mean", max=9),
            dq.MetricInRange(
                name="some", metric=dq.MetricSource(sql="max(amount)"), where="id = 1", max=10
            ),
            dq.MetricInRange(name="raises", metric=dq.MetricSource(sql="sum(1 / (id - 2))"), max=1),
        ],
    )
    evaluation = dq.evaluate(frame, rule_set)
    assert [str(outcome.status) for outcome in evaluation] == ["Error", "Ok", "Error"]
    assert [evaluation["named"].observed, evaluation["some"].observed] == [10.0, 10.0]
    with pytest.raises(dq.DeclarationError, match="aggregate"):
        dq.RuleSet(
            asset="a", rules=[{"type": "metric_in_range", "metric": {"sql": "amount"}, "max": 1}]
        )


def test_queries_and_functions_see_one_partition_at_a_time(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, "a"), (2, "a"), (5, "b")], "id int, part string")
    rules = [
        dq.MetricInRange(
            name="query",
            metric=dq.MetricSource(query="select max(id) from {table}"),
            max=4,
            scope="both",
        ),
        dq.PythonRule(name="python", function=_where_it_is, scope="both"),
        dq.ColumnValuesInReference(
            name="known", columns="id", reference=dq.Reference(asset="ids"), scope="both"
        ),
    ]
    ids = spark.createDataFrame([(1,), (2,)], "id int")
    evaluation = dq.evaluate(frame, rules, partition_by="part", references={"ids": ids})
    found = {(o.rule.name, o.partition): (str(o.status), o.observed) for o in evaluation}
    assert found == {
        ("query", "a"): ("Ok", 2), ("query", "b"): ("Error", 5), ("query", None): ("Error", 5),
        ("python", "a"): ("Ok", 2), ("python", "b"): ("Ok", 1), ("python", None): ("Ok", 3),
        ("known", "a"): ("Ok", 0), ("known", "b"): ("Error", 1), ("known", None): ("Error", 1),
    }  # fmt: skip
    assert evaluation["python", "a"].message == "Here is a."


def _where_it_is(data: DataFrame, context: dq.CallContext) -> tuple[str, int, str]:
    return "Ok", data.count(), f"Here is {context.partition}."


def test_what_sees_no_groups_says_so(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, "a")], "id int, part string")
    rule = dq.PythonRule(name="python", function=_where_it_is, dimensions=["part"])
    [outcome] = dq.evaluate(frame, [rule])
    assert "cannot be broken down" in outcome.details["dimensions"]["part"]
