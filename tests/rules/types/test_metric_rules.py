"""Declaring and judging rules about metrics, without Spark."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import dq_dagster as dq
from dq_dagster.judging.evidence import Evidence
from tests.rules.base.test_declarations import problems
from tests.rules.types import functions

RANGE: dict[str, Any] = {"type": "metric_in_range", "name": "n", "min": 1}
COMPARED: dict[str, Any] = {
    "type": "compare_metrics",
    "name": "n",
    "metric": "record_count",
    "operator": "<",
}


def a_number(data: Any, context: Any) -> int:
    return 3


@pytest.mark.parametrize(
    ("metric", "key"),
    [
        ("record_count", "record_count"),
        ("column_count", "column_count"),
        ("column_avg:amount", "column_avg:amount"),
        ("column_min:a:b", "column_min:a:b"),
        ("column_median:x", "column_median:x"),
        ("empty_count:x", "count_empty:x"),
        ("unique_count:x", "unique_count:x"),
        ("distinct_count:x", "distinct_count:x"),
        ({"measure": "column_sum:x"}, "column_sum:x"),
        ({"query": "select 1 from {table}"}, "select 1 from {table}"),
        ({"name": "q", "query": "select 1 from {table}", "column": "a"}, "q.a"),
        ({"python": "tests.rules.types.functions:fine"}, "tests.rules.types.functions:fine"),
        (functions.fine, "tests.rules.types.functions:fine"),
        ({"metadata": "dagster/row_count"}, "metadata:dagster/row_count"),
        (
            {"metadata": "rows", "asset": "customers"},
            "metadata:rows of asset 'customers'",
        ),
        ("named", "column_avg:x"),
        ("asked.share", "asked.share"),
        ("called", "called"),
    ],
)
def test_what_a_metric_is_recorded_as(metric: Any, key: str) -> None:
    rule_set = dq.RuleSet(
        asset="orders",
        metrics={
            "named": "column_avg:x",
            "asked": {"query": "select 1 as share from {table}"},
            "called": a_number,
        },
        rules=[{**RANGE, "metric": metric}],
    )
    assert [found.key for found in rule_set.rules[0].metrics()] == [key]
    later = dq.RuleSet(
        asset="orders",
        metrics=rule_set.metrics,
        rules=[{**RANGE, "metric": metric, "auto_compute": False}],
    )
    assert [found.key for found in later.rules[0].metrics()] == [f"recorded {key}"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "field 'metric' is missing."),
        ({"metric": "column_avg"}, "'column_avg' needs a column, such as column_avg:amount."),
        ({"metric": "column_avg:"}, "'column_avg' needs a column, such as column_avg:amount."),
        ({"metric": "colum_avg:x"}, "unknown measure 'colum_avg'. Did you mean 'column_avg'?"),
        ({"metric": "record_count:x"}, "'record_count' is of the whole table and takes no column."),
        ({"metric": "select 1"}, "'select 1' is neither a measure nor the name of a metric."),
        ({"metric": "shares"}, "unknown metric 'shares'. Did you mean 'share'?"),
        ({"metric": "average.x"}, "metric 'average' has no parts, so 'average.x' means nothing."),
        (
            {"metric": {}},
            "one of measure, sql, query, python, metadata is needed, not none of them.",
        ),
        (
            {"metric": {"measure": "record_count", "metadata": "x"}},
            "one of measure, sql, query, python, metadata is needed, not measure and metadata.",
        ),
        (
            {"metric": {"query": "select 1"}},
            "the query must read the data, which it calls {table}.",
        ),
        (
            {"metric": {"query": "select transform(a) using 'sh' from {table}"}},
            "'using ...' runs a program for the rows",
        ),
        (
            {"metric": {"query": "insert into t select 1 from {table}"}},
            "is a statement that changes something",
        ),
        ({"metric": {"qery": "x"}}, "unknown field 'metric.qery'. Did you mean 'query'?"),
        ({"metric": {"measure": "record_count", "column": "x"}}, "'column' goes with query and"),
        ({"metric": {"measure": "record_count", "asset": "x"}}, "'asset' goes with metadata only."),
        (
            {"metric": {"python": "tests.rules.types.functions:only_data"}},
            "is called as (data, context)",
        ),
        ({"metric": {"python": "nope:nope"}}, "module 'nope' cannot be imported"),
        (
            {"metric": {"metadata": "x"}, "where": "a > 1"},
            "'metadata:x' is not about rows, so a row filter means nothing.",
        ),
        ({"metric": "of_columns", "where": "a > 1"}, "'of_columns' is not about rows"),
    ],
)
def test_what_is_wrong_is_reported(fields: dict[str, Any], said: str) -> None:
    metrics = {
        "share": {"query": "select 1 from {table}"},
        "average": "column_avg:x",
        "of_columns": "column_count",
    }
    with pytest.raises(dq.DeclarationError) as caught:
        dq.RuleSet(asset="orders", metrics=metrics, rules=[{**RANGE, **fields}])
    [problem] = [str(found) for found in caught.value.problems]
    assert said in problem
    assert problem.startswith("rule 'n', asset 'orders': ")


def test_every_problem_of_declared_metrics_is_reported() -> None:
    with pytest.raises(dq.DeclarationError) as caught:
        dq.RuleSet(
            asset="orders",
            metrics={
                "a": "colum_avg:x",
                "b": {"qery": "select"},
                "record_count": "column_avg:x",
                "c.d": "column_avg:x",
                "fine": "column_avg:x",
            },
            rules=[],
        )
    assert [str(problem) for problem in caught.value.problems] == [
        ("asset 'orders': metric 'a': unknown measure 'colum_avg'. Did you mean 'column_avg'?"),
        "asset 'orders': metric 'b': unknown field 'qery'. Did you mean 'query'?",
        (
            "asset 'orders': metric 'record_count': field 'name': 'record_count' is a measure "
            "already."
        ),
        "asset 'orders': metric 'c.d': field 'name': string should match pattern '^\\w+$'.",
    ]


def test_both_metrics_of_a_comparison_are_checked() -> None:
    [problem] = problems(**COMPARED, other="nope")
    assert "unknown metric 'nope'." in problem
    [problem] = problems(**{**COMPARED, "operator": "=="}, other="record_count")
    assert "'<', '<=', '=', '!=', '>=' or '>'" in problem


def judged(rule: dict[str, Any], *values: Any) -> tuple[str, Any, str]:
    [found] = dq.RuleSet(asset="orders", rules=[rule]).rules
    evidence = dict(zip(found.metrics(), values, strict=True))
    judgement = found.judge(Evidence(evidence))
    return judgement.status.value, judgement.observed, judgement.message


@pytest.mark.parametrize(
    ("fields", "value", "status", "message"),
    [
        ({"min": 1}, 3, "Ok", "Metric 'record_count' is 3, as expected (at least 1)."),
        ({"min": 5}, 3, "Error", "Metric 'record_count' is 3, below the minimum of 5."),
        ({"soft_max": 1}, Decimal("1.5"), "Warning", "is 1.5, above the soft maximum of 1."),
        ({"min": 1}, None, "Empty", "Nothing to judge: metric 'record_count' has no value."),
        (
            {"min": 1, "auto_compute": False},
            None,
            "Empty",
            "Nothing to judge: metric 'record_count' has no value on record.",
        ),
        ({"min": 1}, float("nan"), "Error", "is NaN (not a number), which fits no range."),
        ({"min": "2024-01-01"}, 3, "Misfit", "is a number, which cannot be compared with the"),
        ({"min": 1}, "secret", "Misfit", "is a text, which cannot be compared with the bound 1"),
        ({"min": "a"}, "secret", "Ok", "is a text of 6 characters, as expected (at least 'a')."),
    ],
)
def test_a_metric_in_a_range(fields: dict[str, Any], value: Any, status: str, message: str) -> None:
    rule = {"type": "metric_in_range", "metric": "record_count", **fields}
    if status == "Misfit":
        with pytest.raises(dq.DqError) as caught:
            judged(rule, value)
        said = str(caught.value)
    else:
        found, _, said = judged(rule, value)
        assert found == status
    assert message in said
    assert "secret" not in said


@pytest.mark.parametrize(
    ("values", "value", "status", "message"),
    [
        ([1, 2], 2, "Ok", "Metric 'm' is 2, one of the 2 allowed values."),
        ([1, 2], 3, "Error", "Metric 'm' is 3, not one of the 2 allowed values."),
        ([7], 3, "Error", "Metric 'm' is 3, not the only allowed value."),
        (["a"], "secret", "Error", "is a text of 6 characters, not the only allowed value."),
        ([1], float("nan"), "Error", "Metric 'm' is NaN (not a number), not the only"),
        ([1], None, "Empty", "Nothing to judge: metric 'm' has no value."),
    ],
)
def test_a_metric_in_a_set(values: list[Any], value: Any, status: str, message: str) -> None:
    source = {"name": "m", "query": "select 1 from {table}"}
    found, observed, said = judged(
        {"type": "metric_in_set", "metric": source, "values": values}, value
    )
    assert found == status
    assert message in said
    assert observed is value


@pytest.mark.parametrize(
    ("operator", "values", "status", "message"),
    [
        (
            "<",
            (3, 5),
            "Ok",
            "Metric 'record_count' is 3, less than metric 'column_sum:x' of asset 'c', which is 5.",
        ),
        (
            ">=",
            (3, 5),
            "Error",
            "Metric 'record_count' is 3, not at least metric 'column_sum:x' of asset 'c', which",
        ),
        ("=", (None, 5), "Empty", "Nothing to judge: metric 'record_count' has no value."),
        ("=", (5, None), "Empty", "Nothing to judge: metric 'column_sum:x' of asset 'c' has no"),
        ("!=", (float("nan"), 5), "Error", "(NaN is not a number and cannot be compared)."),
        ("=", ("secret", "secret"), "Ok", "is a text of 6 characters, equal to metric"),
    ],
)
def test_comparing(operator: str, values: tuple[Any, Any], status: str, message: str) -> None:
    rule = {**COMPARED, "operator": operator, "other": "column_sum:x", "other_asset": "c"}
    found, observed, said = judged(rule, *values)
    assert found == status
    assert message in said
    assert "secret" not in said
    if status != "Empty":
        assert (
            observed == dict(zip(("record_count", "column_sum:x of c"), values, strict=True))
            or values[0] != values[0]
        )


def test_names_demands_and_other_assets() -> None:
    range_of = dq.MetricInRange(metric="column_avg:amount", min=1)
    assert range_of.name.startswith("metric_in_range_column_avg_amount")
    assert range_of.demand() == "Metric 'column_avg:amount' is at least 1."
    in_set = dq.MetricInSet(metric="record_count", values=[1, 2])
    assert in_set.name == "metric_in_set_record_count"
    assert in_set.demand() == "Metric 'record_count' is one of '1' and '2'."
    compared = dq.CompareMetrics(
        metric="record_count", operator="<=", other="record_count", other_asset="db/customers"
    )
    assert compared.demand() == (
        "Metric 'record_count' is at most metric 'record_count' of asset 'db/customers'."
    )
    assert compared.other_assets == ("db/customers",)
    on_record = compared.model_copy(update={"auto_compute": False})
    assert on_record.other_assets == ()


def test_measures_share_the_passes_of_other_rules() -> None:
    plan = dq.explain(
        [
            dq.ColumnAvgInRange(columns="x", min=1),
            dq.MetricInRange(metric="column_avg:x", min=1),
            dq.MetricInSet(metric="record_count", values=[1]),
            dq.CompareMetrics(metric="column_avg:x", operator="<", other="column_max:x"),
            dq.MetricInRange(metric={"metadata": "rows"}, min=1),  # type: ignore[arg-type]
        ]
    )
    assert len(plan.passes) == 1
    assert "Without a pass: metadata:rows" in str(plan)


def test_yaml(tmp_path: Path) -> None:
    file = tmp_path / "orders.yaml"
    file.write_text(
        "asset: orders\n"
        "metrics:\n"
        '  paid: {query: "select count_if(paid) as share from {table}"}\n'
        "  customers: distinct_count:customer\n"
        "rules:\n"
        "  - {type: metric_in_range, metric: paid.share, min: 0.5}\n"
        "  - {type: compare_metrics, metric: customers, operator: <=, other: record_count}\n"
    )
    [rules] = dq.load_rules(file)
    assert [rule.name for rule in rules.rules][1] == "compare_metrics_customers_record_count"
    file.write_text(
        "asset: orders\n"
        "metrics:\n"
        "  paid: colum_avg:x\n"
        "rules:\n"
        "  - {type: metric_in_range, metric: unpaid, min: 0.5, name: n}\n"
    )
    with pytest.raises(dq.DeclarationError) as caught:
        dq.load_rules(file)
    assert [str(problem) for problem in caught.value.problems] == [
        (
            "orders.yaml:2, asset 'orders': metric 'paid': unknown measure 'colum_avg'. "
            "Did you mean 'column_avg'?"
        ),
        (
            "orders.yaml:5, rule 'n', asset 'orders': unknown metric 'unpaid'. Known metrics: "
            "record_count, column_count, column_min, column_max, column_avg, column_sum, "
            "column_stddev, column_median, empty_count, unique_count, distinct_count."
        ),
    ]


def test_the_schema_knows_metrics() -> None:
    schema = dq.json_schema()
    declared = schema["$defs"]["rule_set"]["properties"]["metrics"]["additionalProperties"]
    assert {"$ref": "#/$defs/MetricSource"} in declared["oneOf"]
    assert "query" in schema["$defs"]["MetricSource"]["properties"]
