"""Dagster stores results one by one: the worst come first, and the log says how far it is."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.storage.event_log import SqliteEventLogStorage  # noqa: TID251 (to break it)
from pyspark.sql import SparkSession

import dq_dagster as dq
from dq_dagster.integration.checks.build import _progress
from tests.integration.calendar import Shop, day, orders_asset
from tests.integration.shelf import asset_of, run, status_of

STATUSES = ("Error", "Warning", "Empty", "Ok")
AMOUNTS: Mapping[str, Sequence[float | None]] = {
    day(1): [1.0],
    day(2): [None],
    day(3): [100.0],
    day(4): [2.0],
    day(5): [15.0],
    day(6): [200.0],
}
RULES = [
    dq.ColumnMaxInRange(name=name, columns="amount", soft_max=10, max=50, blocking=False)
    for name in ("b", "a")
]
# Those of one status in the order of the rules, and of their partitions.
EXPECTED = [
    *(("b", day(n), "Error") for n in (3, 6)),
    *(("a", day(n), "Error") for n in (3, 6)),
    ("b", day(5), "Warning"),
    ("a", day(5), "Warning"),
    ("b", day(2), "Empty"),
    ("a", day(2), "Empty"),
    *(("b", day(n), "Ok") for n in (1, 4)),
    *(("a", day(n), "Ok") for n in (1, 4)),
]


def said(one: dg.AssetCheckEvaluation) -> tuple[str, str | None, str]:
    return one.check_name, one.partition, status_of(one)


def test_the_worst_results_are_stored_first(spark: SparkSession) -> None:
    shop = Shop(orders_asset(spark, AMOUNTS), RULES)
    found = shop.build(day(1), day(6)).get_asset_check_evaluations()
    assert [said(one) for one in found] == EXPECTED


def test_without_partitions_as_well(spark: SparkSession) -> None:
    rules: list[dq.Rule] = [
        dq.RecordCountInRange(name="fine", min=1),
        dq.ColumnMaxInRange(name="empty", columns="amount", max=1),
        dq.RecordCountInRange(name="soft", soft_min=5),
        dq.RecordCountInRange(name="wrong", min=5, blocking=False),
    ]
    frame = spark.createDataFrame([(None,)], "amount double")
    found = run([asset_of(frame)], dq.RuleSet(asset="orders", rules=rules))
    words = [said(one)[::2] for one in found.get_asset_check_evaluations()]
    assert words == [("wrong", "Error"), ("soft", "Warning"), ("empty", "Empty"), ("fine", "Ok")]


class CancelledHalfWay(SqliteEventLogStorage):
    """A storage in whose middle somebody cancels the run."""

    left = 0

    @classmethod
    def from_config_value(cls, inst_data: Any, config_value: Any) -> "CancelledHalfWay":
        return cls(inst_data=inst_data, **config_value)

    def store_event(self, event: Any) -> None:
        super().store_event(event)
        if event.dagster_event_type == dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            CancelledHalfWay.left -= 1
            if not CancelledHalfWay.left:
                # As Dagster cancels a run: it says so, and raises within it.
                run = self._instance.get_run_by_id(event.run_id)
                assert run is not None
                self._instance.report_run_canceling(run)
                raise dg.DagsterExecutionInterruptedError


@pytest.mark.parametrize("stored", [1, 5, 7])
def test_a_cancelled_run_keeps_the_worst_results(
    spark: SparkSession, tmp_path: Path, stored: int
) -> None:
    CancelledHalfWay.left = stored
    storage = {
        "module": __name__,
        "class": CancelledHalfWay.__name__,
        "config": {"base_dir": str(tmp_path / "events")},
    }
    overrides = {"event_log_storage": storage}
    with dg.instance_for_test(overrides=overrides, temp_dir=str(tmp_path)) as instance:
        shop = Shop(orders_asset(spark, AMOUNTS), RULES, instance=instance)
        result = shop.build(day(1), day(6))
        cancelled = instance.get_run_by_id(result.run_id)
        assert cancelled is not None
        assert cancelled.status == dg.DagsterRunStatus.CANCELED
        kept = [one for name in ("b", "a") for one in evaluations(instance, name)]
    assert sorted(kept) == sorted(EXPECTED[:stored])


def evaluations(instance: dg.DagsterInstance, name: str) -> list[tuple[str, str | None, str]]:
    """What is stored of a check, but for what was only planned."""
    key = dg.AssetCheckKey(dg.AssetKey("orders"), name)
    records = instance.event_log_storage.get_asset_check_execution_history(key, limit=100)
    found: list[Any] = [record.evaluation for record in records]
    return [said(one) for one in found if isinstance(one, dg.AssetCheckEvaluation)]


def test_the_log_says_how_far_it_is(spark: SparkSession) -> None:
    days = 31
    amounts = {day(n): [1.0] for n in range(1, days + 1)}
    rules = [dq.RecordCountInRange(name=f"rows_{n}", min=1) for n in range(17)]
    shop = Shop(orders_asset(spark, amounts), rules)
    result = shop.build(day(1), day(days))
    assert result.success
    lines = [
        entry.user_message
        for entry in shop.instance.all_logs(result.run_id)
        if entry.user_message.startswith("orders: ")
    ]
    assert "orders: 527 results are to be stored, the worst first." in lines
    [line] = [line for line in lines if "are stored" in line]
    assert re.fullmatch(
        r"orders: 500 of 527 results are stored \(\d+ per second, about \d+ seconds? to go\)\.",
        line,
    )
    few = shop.build(day(1))
    assert not [
        entry for entry in shop.instance.all_logs(few.run_id) if "stored" in entry.user_message
    ]


@pytest.mark.parametrize(
    ("stored", "total", "seconds", "words"),
    [
        (
            500,
            40_000,
            20.0,
            "500 of 40,000 results are stored (25 per second, about 26 minutes to go).",
        ),
        (
            39_500,
            40_000,
            0.0,
            "39,500 of 40,000 results are stored (39,500,000 per second, about 1 second to go).",
        ),
    ],
)
def test_how_far_it_is(stored: int, total: int, seconds: float, words: str) -> None:
    assert _progress(stored, total, seconds) == words
