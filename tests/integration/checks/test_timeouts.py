"""A rule set with a timeout in a Dagster run: each check has its result, the slow ones an Error."""

from __future__ import annotations

import time
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from tests.integration.shelf import asset_of, by_name, check, record_of, run

ENDLESS = "SELECT sum(sqrt(id)) FROM range(10000000000000)"
LATE = "The timeout of 5 seconds was over before this rule was answered."


def endless(data: Any, context: Any) -> bool:
    return bool(data.sparkSession.sql(ENDLESS).collect())


RULES = [
    dq.PythonRule(name="slow", function=endless, blocking=False),
    dq.RecordCountInRange(name="rows", min=1),
    dq.ColumnUnique(name="unique", columns="id"),
]


@pytest.fixture(scope="module", autouse=True)
def warm(spark: SparkSession) -> None:
    """A Spark that has just started takes seconds for anything."""
    dq.evaluate(spark.range(3), RULES[1:])


def test_every_check_has_a_result(spark: SparkSession) -> None:
    start = time.monotonic()
    found = check(spark, [(1,), (2,)], "id int", RULES, timeout="5 s")
    assert time.monotonic() - start < 20
    assert {name: one.passed for name, one in found.items()} == {
        "slow": False, "rows": True, "unique": True,
    }  # fmt: skip
    assert found["slow"].description == LATE
    assert found["slow"].severity is dg.AssetCheckSeverity.ERROR
    record = record_of(found["slow"])
    assert (record.status, record.error) == (dq.Status.ERROR, "TimedOut")
    assert not spark.sparkContext.statusTracker().getActiveJobsIds()
    assert not spark.sparkContext.getJobTags()


def test_partitions_and_the_whole_dataset(spark: SparkSession) -> None:
    days = dg.StaticPartitionsDefinition(["a", "b"])

    @dg.asset(partitions_def=days, metadata={"partition_expr": "day"})
    def orders() -> None: ...

    rules = [rule.model_copy(update={"scope": "both"}) for rule in RULES]
    frame = spark.createDataFrame([(1, "a"), (2, "b")], "id int, day string")
    rule_set = dq.RuleSet(asset=orders, rules=rules, reader=lambda context: frame, timeout=5)
    checks = dq.build_asset_checks(rule_set)
    with dg.DagsterInstance.ephemeral() as instance:
        for key in ("a", "b"):
            dg.materialize([orders], partition_key=key, instance=instance)
        result = dg.materialize(
            [orders, *checks], partition_key="a", instance=instance, raise_on_error=False
        )
        found = result.get_asset_check_evaluations()
    said = {(one.check_name, one.partition): one for one in found}
    assert {key: one.passed for key, one in said.items()} == {
        ("slow", "a"): False, ("slow__dataset", None): False,
        ("rows", "a"): True, ("rows__dataset", None): True,
        ("unique", "a"): True, ("unique__dataset", None): True,
    }  # fmt: skip
    assert said["slow", "a"].description == said["slow__dataset", None].description == LATE


def test_reading_counts_and_what_comes_after_is_not_begun(spark: SparkSession) -> None:
    def slowly(context: Any) -> Any:
        time.sleep(1.2)
        return spark.range(3)

    rule_set = dq.RuleSet(asset="orders", rules=RULES, reader=slowly, timeout=1)
    found = by_name(run([asset_of(None)], rule_set))
    late = "The timeout of 1 second was over before this rule was answered."
    assert {name: one.description for name, one in found.items()} == dict.fromkeys(
        ["slow", "rows", "unique"], late
    )


def test_a_reader_that_breaks_late_is_late(spark: SparkSession) -> None:
    def breaks(context: Any) -> Any:
        time.sleep(1.2)
        raise OSError("no such host")

    rule_set = dq.RuleSet(asset="orders", rules=RULES[1:2], reader=breaks, timeout=1)
    [one] = by_name(run([asset_of(None)], rule_set)).values()
    assert one.description == "The timeout of 1 second was over before this rule was answered."
