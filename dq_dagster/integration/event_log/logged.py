"""Evaluations from the text that the event log stores: ten times as fast as Dagster's own objects.

``codec`` reads the record in it. Whatever looks unfamiliar is left to Dagster.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import dagster as dg

from dq_dagster.integration.event_log.codec import RECORD, Record
from dq_dagster.integration.log_storage import (
    EvaluationRow,
    LatestBuild,
    deserialized,
    rows_after,
    rows_numbered,
)
from dq_dagster.judging.judgement import Status

_WARN = "AssetCheckSeverity.WARN"


@dataclass(frozen=True, slots=True)
class LoggedEvaluation:
    """A finished evaluation of any check, and where the log has it.

    ``status`` is the one that counts: after ``on_empty``. Of checks that this library did not
    make there is no record, and Dagster's own word is all that is known. ``entries`` are plain
    data where they are text, numbers or JSON; tables are lists of rows.
    """

    number: int
    storage_id: int
    asset: str
    check: str
    partition: str | None
    run_id: str
    target: int | None
    # In seconds since 1970.
    at: float
    status: Status
    message: str
    record: Record | None
    entries: Mapping[str, Any]


def logged_after(instance: dg.DagsterInstance, number: int, limit: int) -> list[LoggedEvaluation]:
    """One page of evaluations by the numbers of their rows."""
    return [read(row) for row in rows_after(instance, number, limit)]


def logged_numbered(
    instance: dg.DagsterInstance, numbers: Iterable[int]
) -> dict[int, LoggedEvaluation]:
    """The evaluations whose rows have these numbers, by number, without those that are gone."""
    return {row.number: read(row) for row in rows_numbered(instance, numbers)}


def read(row: EvaluationRow) -> LoggedEvaluation:
    """What a row says."""
    try:
        return _read(row, json.loads(row.text))
    except (ValueError, KeyError, TypeError, AttributeError):
        return _read_by_dagster(row)


def key_in(text: str) -> tuple[str, str, str | None] | None:
    """Asset key (as databases have it), check and partition of an event; None if it has none."""
    try:
        said = json.loads(text)["dagster_event"]["event_specific_data"]
        path = said["asset_key"]["path"]
        return dg.AssetKey(path).to_string(), said["check_name"], said.get("partition")
    except (ValueError, KeyError, TypeError):
        entry = deserialized(text)
        said = getattr(getattr(entry, "dagster_event", None), "event_specific_data", None)
        if not isinstance(said, dg.AssetCheckEvaluation):
            return None
        return said.asset_key.to_string(), said.check_name, said.partition


def build_in(latest: LatestBuild) -> tuple[int, str, float] | None:
    """Number, run and time of a materialization; None if nobody can tell."""
    try:
        said = json.loads(latest.text)
        entry = said["event_log_entry"]
        return int(said["storage_id"]), str(entry["run_id"]), float(entry["timestamp"])
    except (ValueError, KeyError, TypeError):
        return None


def _read(row: EvaluationRow, event: Mapping[str, Any]) -> LoggedEvaluation:
    said = event["dagster_event"]["event_specific_data"]
    entries = {key: _plain(entry) for key, entry in said["metadata"].items()}
    record = Record.decode(entries[RECORD]) if RECORD in entries else None
    severe = (said.get("severity") or {}).get("__enum__") != _WARN
    return LoggedEvaluation(
        row.number,
        row.storage_id,
        _name_of(row.asset_key),
        row.check,
        row.partition,
        row.run_id,
        row.target,
        float(event["timestamp"]),
        _status(record, passed=bool(said["success"]), severe=severe),
        said.get("description") or "",
        record,
        entries,
    )


def _plain(entry: Mapping[str, Any]) -> Any:
    """The value of an entry; each class of Dagster calls it something else."""
    kind = entry["__class__"]
    if kind == "JsonMetadataEntryData":
        return entry["data"]
    if kind == "TableMetadataEntryData":
        return [one["data"] for one in entry["records"]]
    return next(
        (entry[name] for name in ("value", "text", "md_str", "path") if name in entry), None
    )


def _read_by_dagster(row: EvaluationRow) -> LoggedEvaluation:
    entry = deserialized(row.text)
    said: Any = getattr(getattr(entry, "dagster_event", None), "event_specific_data", None)
    if not isinstance(said, dg.AssetCheckEvaluation):
        return _read_from_columns(row)
    entries = {key: _value_of(one) for key, one in said.metadata.items()}
    record = Record.decode(entries[RECORD]) if RECORD in entries else None
    severe = said.severity is not dg.AssetCheckSeverity.WARN
    return LoggedEvaluation(
        row.number,
        row.storage_id,
        _name_of(row.asset_key),
        row.check,
        row.partition,
        row.run_id,
        row.target,
        entry.timestamp,
        _status(record, passed=said.passed, severe=severe),
        said.description or "",
        record,
        entries,
    )


def _read_from_columns(row: EvaluationRow) -> LoggedEvaluation:
    """All that is known where the event cannot be read."""
    status = Status.OK if row.passed else Status.ERROR
    return LoggedEvaluation(
        row.number,
        row.storage_id,
        _name_of(row.asset_key),
        row.check,
        row.partition,
        row.run_id,
        row.target,
        row.moment,
        status,
        "",
        None,
        {},
    )


def _value_of(entry: Any) -> Any:
    if isinstance(entry, dg.TableMetadataValue):
        return [dict(one.data) for one in entry.records]
    return entry.value


def _status(record: Record | None, *, passed: bool, severe: bool) -> Status:
    if record is not None:
        return record.status
    if passed:
        return Status.OK
    return Status.ERROR if severe else Status.WARNING


def name_of_key(key: dg.AssetKey) -> str:
    r"""As people write it; a slash within a part is "\/", so that no two assets share a name."""
    return key.to_escaped_user_string()


def key_of_name(name: str) -> dg.AssetKey:
    return dg.AssetKey.from_escaped_user_string(name)


@lru_cache(maxsize=10_000)
def _name_of(asset_key: str) -> str:
    key = dg.AssetKey.from_db_string(asset_key)
    return asset_key if key is None else name_of_key(key)
