"""Metrics in Dagster: recorded by one run, read by a later one; metadata; other assets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dagster as dg
import pandas as pd
from pyspark.sql import SparkSession

import dq_dagster as dq
from tests.integration.shelf import asset_of, by_name, record_of, run, status_of

ORDERS = pd.DataFrame({"id": [1, 2, 3], "amount": [1.0, 2.0, 6.0]})
CUSTOMERS = pd.DataFrame({"id": [1, 2, 3, 4]})


def messages(
    rules: Sequence[Any],
    *,
    instance: dg.DagsterInstance | None = None,
    orders: Any = ORDERS,
    others: Sequence[dg.AssetsDefinition] = (),
    rule_sets: Sequence[dq.RuleSet] = (),
    **settings: Any,
) -> dict[str, str]:
    rule_set = dq.RuleSet(asset="orders", rules=rules, **settings)
    result = run([asset_of(orders), *others], [rule_set, *rule_sets], instance=instance)
    return {
        name: f"{status_of(found)}: {found.description}" for name, found in by_name(result).items()
    }


def later(metric: Any, name: str = "later", **fields: Any) -> dq.Rule:
    return dq.MetricInRange(
        name=name, metric=metric, max=5, auto_compute=False, blocking=False, **fields
    )


def test_a_value_that_an_earlier_run_recorded(spark: SparkSession) -> None:
    with dg.instance_for_test() as instance:
        measured = dq.ColumnAvgInRange(name="now", columns="amount", max=100)
        rules = [measured, later("column_avg:amount")]
        empty = "Empty: Nothing to judge: metric 'column_avg:amount' has no value on record."
        # The first run reads the record before it has written to it.
        assert messages(rules, instance=instance)["later"] == empty
        changed = ORDERS.assign(amount=[10.0, 10.0, 10.0])
        found = messages(rules, instance=instance, orders=changed)
        assert found["now"].startswith("Ok: The average of 'amount' is 10, ")
        assert found["later"] == ("Ok: Metric 'column_avg:amount' is 3, as expected (at most 5).")
        # The newest value counts, whichever check recorded it.
        found = messages(rules, instance=instance)
        assert found["later"] == (
            "Error: Metric 'column_avg:amount' is 10, above the maximum of 5."
        )
        filtered = [later("column_avg:amount", where="id > 1")]
        assert messages(filtered, instance=instance)["later"].startswith("Empty: ")


def test_a_run_that_breaks_hides_no_record(spark: SparkSession) -> None:
    with dg.instance_for_test() as instance:
        counted = dq.RecordCountInRange(name="now", min=1, blocking=False)
        messages([counted], instance=instance)
        messages([counted], instance=instance, orders=None)
        found = messages([counted, later("record_count")], instance=instance)
        assert found["later"] == "Ok: Metric 'record_count' is 3, as expected (at most 5)."


def test_metadata_of_the_latest_materialization(spark: SparkSession) -> None:
    @dg.asset
    def orders() -> dg.Output[Any]:
        told: dict[str, Any] = {"dagster/row_count": 3, "note": "secret", "table": [1]}
        return dg.Output(ORDERS, metadata=told)

    @dg.asset
    def customers() -> dg.Output[Any]:
        return dg.Output(None, metadata={"rows": 9})

    @dg.asset
    def never() -> None: ...

    def entry(name: str, key: str, **fields: Any) -> dq.Rule:
        source = dq.MetricSource(metadata=key, **fields)
        return dq.MetricInRange(name=name, metric=source, max=5, blocking=False)

    rules: list[Any] = [
        entry("rows", "dagster/row_count"),
        entry("typo", "dagster/row_cont"),
        entry("text", "note"),
        entry("list", "table"),
        entry("never", "rows", asset="never"),
        dq.CompareMetrics(
            name="both",
            metric="record_count",
            operator="<",
            other=dq.MetricSource(metadata="rows"),
            other_asset="customers",
        ),
    ]
    with dg.instance_for_test() as instance:
        dg.materialize_to_memory([customers], instance=instance)
        checks = dq.build_asset_checks(dq.RuleSet(asset="orders", rules=rules))
        result = dg.materialize_to_memory(
            [orders, *checks], instance=instance, raise_on_error=False
        )
    found = {name: str(e.description) for name, e in by_name(result).items()}
    assert found["rows"] == "Metric 'metadata:dagster/row_count' is 3, as expected (at most 5)."
    assert "Did you mean 'dagster/row_count'?" in found["typo"]
    assert found["text"].startswith("Metric 'metadata:note' is a text, which cannot be compared")
    assert found["list"].startswith("Metric 'metadata:table' is neither a number, a text nor")
    assert found["never"] == "Nothing to judge: metric 'metadata:rows' has no value."
    assert found["both"] == (
        "Metric 'record_count' is 3, less than metric 'metadata:rows' of asset 'customers', which "
        "is 9."
    )
    assert "secret" not in str(found)


def test_metrics_of_another_asset(spark: SparkSession) -> None:
    compared = {"metric": "record_count", "operator": "<", "other": "record_count"}
    rules: list[Any] = [
        {"type": "compare_metrics", "name": "now", "other_asset": "customers", **compared},
        {
            "type": "compare_metrics",
            "name": "later",
            "other_asset": "customers",
            "auto_compute": False,
            "blocking": False,
            **compared,
        },
    ]
    theirs = dq.RuleSet(asset="customers", rules=[dq.RecordCountInRange(min=1)])
    with dg.instance_for_test() as instance:
        found, again = (
            messages(
                rules,
                instance=instance,
                others=[asset_of(CUSTOMERS, "customers")],
                rule_sets=[theirs],
            )
            for _ in range(2)
        )
        words = (
            "Ok: Metric 'record_count' is 3, less than metric 'record_count' of asset 'customers', "
            "which is 4."
        )
        assert found["now"] == again["now"] == again["later"] == words


def test_declared_metrics_and_what_functions_are_told(spark: SparkSession) -> None:
    def told(data: Any, context: dq.CallContext) -> tuple[str, str]:
        return "Ok", f"{context.caller} of {context.asset}."

    def share(data: Any, context: dq.CallContext) -> dict[str, float]:
        return {"low": 0.25, "high": 0.75}

    metrics = {
        "spread": {"query": "select max(amount) - min(amount) from {table}"},
        "shares": share,
    }
    rules: list[Any] = [
        dq.MetricInRange(name="spread", metric="spread", max=5),
        dq.MetricInRange(name="high", metric="shares.high", max=5),
        dq.PythonRule(name="python", function=told),
    ]
    with dg.instance_for_test() as instance:
        rule_set = dq.RuleSet(asset="orders", metrics=metrics, rules=rules)
        result = run([asset_of(ORDERS)], rule_set, instance=instance)
        found = by_name(result)
        assert found["python"].description == "python of orders."
        assert record_of(found["spread"]).metrics == {"spread": 5.0}
        assert record_of(found["high"]).metrics == {"shares.high": 0.75}
        again = messages([later("shares.high")], metrics=metrics, instance=instance)
        assert again["later"].startswith("Empty")
        both = [*rules, later("shares.high")]
        again = messages(both, metrics=metrics, instance=instance)
        assert again["later"] == "Ok: Metric 'shares.high' is 0.75, as expected (at most 5)."
