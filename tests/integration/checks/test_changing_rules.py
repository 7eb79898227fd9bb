"""Rules that are switched off, and rules that become others under the same name."""

from __future__ import annotations

import dagster as dg
import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from dq_dagster.integration.event_log.codec import Record
from tests.integration.shelf import asset_of, by_name, record_of, run

ROWS = [(1, "a@b.c"), (2, None), (3, "d@e.f")]
SCHEMA = "id int, email string"


def recorded(instance: dg.DagsterInstance, check: str = "emails") -> list[Record]:
    """What Dagster keeps of each evaluation of a check, the oldest first."""
    key = dg.AssetCheckKey(dg.AssetKey("orders"), check)
    history = instance.event_log_storage.get_asset_check_execution_history(key, limit=10)
    events = [record.event.dagster_event for record in reversed(history) if record.event]
    found = [event.asset_check_evaluation_data for event in events if event]
    return [record_of(one) for one in found]


def test_a_disabled_rule_is_ignored_when_evaluated(spark: SparkSession) -> None:
    frame = spark.createDataFrame(ROWS, SCHEMA)
    rules = [dq.RecordCountInRange(min=1), dq.ColumnNotEmpty(columns="nowhere", enabled=False)]
    result = dq.evaluate(frame, rules)
    assert [outcome.rule.name for outcome in result] == ["record_count_in_range"]
    assert result.plan.headline() == "1 rule -> 1 metric -> 1 Spark pass"
    assert dq.explain(rules).rules == result.plan.rules


def test_a_disabled_rule_must_be_free_of_mistakes_all_the_same() -> None:
    rule = {"type": "column_not_empty", "colums": "id", "enabled": False}
    with pytest.raises(dq.DeclarationError, match="Did you mean 'columns'"):
        dq.RuleSet(asset="orders", rules=[rule])


def test_history_goes_on_after_a_rule_was_switched_off(spark: SparkSession) -> None:
    asset = asset_of(spark.createDataFrame(ROWS, SCHEMA))
    with dg.DagsterInstance.ephemeral() as instance:
        for enabled in (True, False, True):
            rule = dq.ColumnNotEmpty(name="emails", columns="email", enabled=enabled)
            rows = dq.RecordCountInRange(name="rows", min=1)
            result = run([asset], dq.RuleSet(asset="orders", rules=[rule, rows]), instance=instance)
            assert ("emails" in by_name(result)) is enabled
        assert [one.metrics["count_empty:email"] for one in recorded(instance)] == [1, 1]
        assert len(recorded(instance, "rows")) == 3


@pytest.mark.parametrize(
    ("before", "after", "metric", "value"),
    [
        (
            dq.ColumnNotEmpty(name="emails", columns="email"),
            dq.ColumnEmpty(name="emails", columns="email"),
            "count_empty:email",
            1,
        ),
        (
            dq.ColumnUnique(name="emails", columns="email"),
            dq.UniqueKey(name="emails", columns="email"),
            "unique_count:email",
            2,
        ),
    ],
)
def test_a_rule_of_another_type_keeps_its_check_and_its_history(
    spark: SparkSession, before: dq.Rule, after: dq.Rule, metric: str, value: int
) -> None:
    asset = asset_of(spark.createDataFrame(ROWS, SCHEMA))
    with dg.DagsterInstance.ephemeral() as instance:
        for rule in (before, after):
            run([asset], dq.RuleSet(asset="orders", rules=[rule]), instance=instance)
        history = recorded(instance)
    assert [one.rule_type for one in history] == [before.type, after.type]
    assert [one.metrics[metric] for one in history] == [value, value]
