"""An event log as months of checks leave it behind, written straight into its tables.

Of every second asset each evaluation is of a daily partition, which was built that day; the others
have none. What an evaluation says is a text of Dagster's own, with other numbers put in.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
import sqlalchemy as sa
from dagster import AssetCheckEvaluation

from dq_dagster.integration.event_log.codec import RECORD, Record
from dq_dagster.judging.judgement import Status

SECONDS_A_DAY = 86_400
_AT_ONCE = 5_000
_STATUSES = [Status.OK] * 94 + [Status.WARNING] * 3 + [Status.ERROR] * 2 + [Status.EMPTY]


@dataclass(frozen=True)
class LogSize:
    """How many assets, checks of each, and evaluations of each check, one a day up to ``end``."""

    assets: int = 200
    checks: int = 10
    evaluations: int = 500
    end: datetime = datetime(2026, 3, 1, tzinfo=UTC)

    @property
    def in_all(self) -> int:
        return self.assets * self.checks * self.evaluations


def asset_name(number: int) -> str:
    return f"table_{number:03}"


def check_name(number: int) -> str:
    return f"rule_{number:02}"


def definitions(size: LogSize) -> dg.Definitions:
    """The code location that such a log would be of: a chain of tables in every ten."""
    specs = [
        dg.AssetSpec(
            asset_name(n),
            group_name=f"project_{n // 10:02}",
            deps=[asset_name(n - 1)] if n % 10 else [],
            owners=[f"team:team_{n % 7}"],
        )
        for n in range(size.assets)
    ]
    checks = [_checks_of(n, size) for n in range(size.assets)]
    return dg.Definitions(assets=specs, asset_checks=checks)


def _checks_of(asset: int, size: LogSize) -> dg.AssetChecksDefinition:
    @dg.multi_asset_check(
        name=f"checks_of_{asset}",
        specs=[
            dg.AssetCheckSpec(
                check_name(n),
                asset=asset_name(asset),
                metadata={
                    "dq/type": "record_count_in_range",
                    "dq/quality_dimension": ("validity", "completeness")[n % 2],
                },
            )
            for n in range(size.checks)
        ],
    )
    def checks() -> Iterator[Any]:
        yield from ()

    return checks


def write_log(instance: dg.DagsterInstance, size: LogSize) -> None:
    """All evaluations, in the order in which they would have come."""
    template = _template(instance)
    storage: Any = instance.event_log_storage
    chance = random.Random(7)  # noqa: S311 (numbers of a benchmark)
    number = 0
    rows: list[dict[str, Any]] = []
    with storage.index_connection() as connection:
        connection.execute(sa.text("DELETE FROM asset_check_executions"))
        for step in range(size.evaluations):
            day = size.end - timedelta(days=size.evaluations - step)
            for asset in range(size.assets):
                for check in range(size.checks):
                    number += 1
                    place = _Place(number, asset, check, day)
                    rows.append(_row(template, place, chance))
                    if len(rows) == _AT_ONCE:
                        _insert(connection, rows)
                        rows.clear()
        if rows:
            _insert(connection, rows)
        if connection.dialect.name == "postgresql":
            for table in ("event_logs", "asset_check_executions"):
                connection.execute(
                    sa.text(
                        f"SELECT setval('{table}_id_seq', (SELECT max(id) FROM {table}))"  # noqa: S608 (two tables)
                    )
                )


def _template(instance: dg.DagsterInstance) -> dict[str, Any]:
    """What Dagster itself stores of an evaluation."""
    record = Record(
        Status.OK,
        rule_type="record_count_in_range",
        metrics={"record_count": 1},
        observed=("record_count",),
        bounds={"min": 100, "max": 2_000, "soft_min": 200},
        rows=1,
        failed_rows=0,
        data="1",
    )
    instance.report_runless_asset_event(
        AssetCheckEvaluation(
            asset_key=dg.AssetKey("template"),
            check_name="template",
            passed=True,
            metadata={
                "dq/observed": 1,
                "dq/expected": "between 100 and 2,000 rows",
                "dq/rows": 1,
                RECORD: record.encode(),
            },
            description="There are 1,000 rows (100 to 2,000 expected).",
        )
    )
    storage: Any = instance.event_log_storage
    with storage.index_connection() as connection:
        text = connection.execute(
            sa.text("SELECT evaluation_event FROM asset_check_executions")
        ).scalar_one()
    found: dict[str, Any] = json.loads(text)
    return found


@dataclass(frozen=True, slots=True)
class _Place:
    """Which evaluation of the log it is."""

    number: int
    asset: int
    check: int
    day: datetime


def _row(template: dict[str, Any], place: _Place, chance: random.Random) -> dict[str, Any]:
    number, asset, check, day = place.number, place.asset, place.check, place.day
    status = chance.choice(_STATUSES)
    at = day + timedelta(seconds=3_600 + asset * 60 + check)
    run = f"00000000-0000-4000-8000-{day.toordinal():06}{asset:06}"
    partition = day.date().isoformat() if asset % 2 else None
    value = chance.randrange(150, 1_900)
    passed = status in {Status.OK, Status.EMPTY}
    said = template["dagster_event"]["event_specific_data"]
    said["asset_key"]["path"] = [asset_name(asset)]
    said["check_name"], said["partition"] = check_name(check), partition
    said["success"] = passed
    said["severity"] = {"__enum__": f"AssetCheckSeverity.{_severity(status)}"}
    entries = said["metadata"]
    entries["dq/observed"]["value"] = entries["dq/rows"]["value"] = value
    record = entries[RECORD]["data"]
    record["status"], record["observed"]["record_count"] = status.value, value
    record["rows"] = value
    template["timestamp"], template["run_id"] = at.timestamp(), run
    moment = at.replace(tzinfo=None)
    return {
        "id": number,
        "asset_key": f'["{asset_name(asset)}"]',
        "check_name": check_name(check),
        "partition": partition,
        "run_id": run,
        "status": "SUCCEEDED" if passed else "FAILED",
        "event": json.dumps(template),
        "moment": moment,
    }


def _severity(status: Status) -> str:
    return "WARN" if status is Status.WARNING else "ERROR"


_CHECKS = sa.table(
    "asset_check_executions",
    *map(
        sa.column,
        (
            "id",
            "asset_key",
            "check_name",
            "partition",
            "run_id",
            "execution_status",
            "evaluation_event",
            "evaluation_event_timestamp",
            "evaluation_event_storage_id",
        ),
    ),
)
_EVENTS = sa.table(
    "event_logs", *map(sa.column, ("id", "run_id", "event", "dagster_event_type", "timestamp"))
)


def _insert(connection: Any, rows: list[dict[str, Any]]) -> None:
    """By statements that drivers send in batches: row by row, Postgres takes minutes."""
    checks = [
        {
            **{
                name: row[name] for name in ("id", "asset_key", "check_name", "partition", "run_id")
            },
            "execution_status": row["status"],
            "evaluation_event": row["event"],
            "evaluation_event_timestamp": row["moment"],
            "evaluation_event_storage_id": row["id"] + 1,
        }
        for row in rows
    ]
    events = [
        {
            "id": row["id"] + 1,
            "run_id": row["run_id"],
            "event": row["event"],
            "dagster_event_type": "ASSET_CHECK_EVALUATION",
            "timestamp": row["moment"],
        }
        for row in rows
    ]
    connection.execute(_CHECKS.insert(), checks)
    connection.execute(_EVENTS.insert(), events)
