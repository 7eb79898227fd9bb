"""Event logs for tests: evaluations as runs leave them behind, at any time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import dagster as dg
import sqlalchemy as sa
from dagster import AssetCheckEvaluation

from dq_dagster.integration.event_log.codec import RECORD, Record
from dq_dagster.judging.judgement import Status

SEVERITIES = {Status.WARNING: dg.AssetCheckSeverity.WARN}


@dataclass(frozen=True)
class Told:
    """One evaluation: of a rule of this library, unless ``ours`` is false."""

    check: str
    status: Status
    at: datetime
    partition: str | None = None
    asset: str = "orders"
    ours: bool = True
    value: float = 1.0


def at(day: str, hour: int = 12) -> datetime:
    return datetime.fromisoformat(day).replace(hour=hour, tzinfo=UTC)


def store(instance: dg.DagsterInstance, *told: Told) -> list[int]:
    """Puts them into the log by Dagster itself, each at its time; the numbers of their rows."""
    return [_stored(instance, one) for one in told]


def _stored(instance: dg.DagsterInstance, one: Told) -> int:
    record = Record(one.status, rule_type="record_count_in_range", metrics={"n": one.value})
    instance.report_runless_asset_event(
        AssetCheckEvaluation(
            asset_key=dg.AssetKey.from_user_string(one.asset),
            check_name=one.check,
            passed=one.status in {Status.OK, Status.EMPTY},
            metadata={RECORD: record.encode()} if one.ours else {},
            severity=SEVERITIES.get(one.status, dg.AssetCheckSeverity.ERROR),
            description=f"{one.check} is {one.status}.",
            partition=one.partition,
        )
    )
    return move_last(instance, one.at)


def move_last(instance: dg.DagsterInstance, moment: datetime) -> int:
    """Gives the last row another time, and a run of its own, as if it had come then."""
    with connected(instance) as connection:
        number, storage, text = connection.execute(
            sa.text(
                "SELECT id, evaluation_event_storage_id, evaluation_event "
                "FROM asset_check_executions ORDER BY id DESC LIMIT 1"
            )
        ).one()
        event: dict[str, Any] = json.loads(text)
        event["timestamp"], event["run_id"] = moment.timestamp(), f"run-{storage}"
        values = {
            "text": json.dumps(event),
            "at": moment.replace(tzinfo=None),
            "run": f"run-{storage}",
            "number": number,
            "storage": storage,
        }
        connection.execute(
            sa.text(
                "UPDATE asset_check_executions SET evaluation_event = :text, run_id = :run, "
                "evaluation_event_timestamp = :at WHERE id = :number"
            ),
            values,
        )
        connection.execute(
            sa.text(
                "UPDATE event_logs SET event = :text, run_id = :run, timestamp = :at "
                "WHERE id = :storage"
            ),
            values,
        )
    return int(number)


def connected(instance: dg.DagsterInstance) -> Any:
    storage: Any = instance.event_log_storage
    return storage.index_connection()
