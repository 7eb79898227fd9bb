"""The tables of Dagster's event log, read as they lie; the contract test of internals watches them.

Dagster itself asks for evaluations check by check, and makes objects of all that it finds: to know
what became of thousands of checks, the rows are read page by page, as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import dagster as dg
import sqlalchemy as sa
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus
from dagster._core.storage.event_log.schema import (
    AssetCheckExecutionsTable,
    AssetKeyTable,
    SqlEventLogStorageTable,
)
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage
from dagster._serdes import deserialize_value
from dagster_shared.serdes.errors import DeserializationError

from dq_dagster.errors import UnreadableLog

_FINISHED = [
    AssetCheckExecutionRecordStatus.SUCCEEDED.value,
    AssetCheckExecutionRecordStatus.FAILED.value,
]
_EVALUATION = dg.DagsterEventType.ASSET_CHECK_EVALUATION.value
_MATERIALIZATION = dg.DagsterEventType.ASSET_MATERIALIZATION.value
_ROWS, _EVENTS, _ASSETS = AssetCheckExecutionsTable.c, SqlEventLogStorageTable.c, AssetKeyTable.c
# What one statement may name: SQLite once took no more than 999 values.
_AT_ONCE = 900


@dataclass(frozen=True, slots=True)
class EvaluationRow:
    """A finished evaluation as it is stored; ``text`` is the event, in JSON.

    ``number`` is the row's own: it was given when the evaluation was planned. ``storage_id`` is
    that of the event, and so another one whenever the row changes.
    """

    number: int
    asset_key: str
    check: str
    partition: str | None
    run_id: str
    storage_id: int
    target: int | None
    # What stands beside the text, for texts that nobody can read any more.
    passed: bool
    moment: float
    text: str


@dataclass(frozen=True, slots=True)
class EvaluationEvent:
    """One event of an evaluation; ``moment`` is the time as the database writes it."""

    storage_id: int
    run_id: str
    moment: str


@dataclass(frozen=True, slots=True)
class LatestBuild:
    """What the log has of an asset's newest materialization; ``moment`` is as it is written."""

    asset_key: str
    moment: str
    text: str = ""


@contextmanager
def _connected(instance: dg.DagsterInstance) -> Iterator[sa.Connection]:
    storage = _storage(instance)
    with storage.index_connection() as connection:
        yield connection


def _storage(instance: dg.DagsterInstance) -> SqlEventLogStorage:
    storage: Any = instance.event_log_storage
    # With storages that are configured apart, Dagster wraps them in one.
    storage = getattr(storage, "event_log_storage", storage)
    if not isinstance(storage, SqlEventLogStorage):
        raise UnreadableLog.of(type(storage).__name__)
    return storage


def place_of(instance: dg.DagsterInstance) -> str:
    """Which database the log is in, without its password."""
    with _connected(instance) as connection:
        return connection.engine.url.render_as_string(hide_password=True)


def rows_after(instance: dg.DagsterInstance, number: int, limit: int) -> list[EvaluationRow]:
    """Finished evaluations by their rows' numbers, from the one after this."""
    query = _selected().where(_ROWS.id > number).order_by(_ROWS.id).limit(limit)
    with _connected(instance) as connection:
        return [_row(one) for one in connection.execute(query)]


def last_row(instance: dg.DagsterInstance) -> int:
    """The largest number of a row, planned ones included; 0 if there is none."""
    with _connected(instance) as connection:
        return connection.execute(sa.select(sa.func.max(_ROWS.id))).scalar() or 0


def rows_numbered(instance: dg.DagsterInstance, numbers: Iterable[int]) -> list[EvaluationRow]:
    """The finished evaluations that have these numbers."""
    found: list[EvaluationRow] = []
    with _connected(instance) as connection:
        for some in _in_parts(numbers):
            query = _selected().where(_ROWS.id.in_(some))
            found += [_row(one) for one in connection.execute(query)]
    return found


def rows_of_run(
    instance: dg.DagsterInstance, run_id: str, asset_key: str, checks: Sequence[str]
) -> list[EvaluationRow]:
    """The finished evaluations of some checks of an asset in one run."""
    found: list[EvaluationRow] = []
    with _connected(instance) as connection:
        for some in _in_parts(checks):
            query = _selected().where(
                _ROWS.asset_key == asset_key, _ROWS.check_name.in_(some), _ROWS.run_id == run_id
            )
            found += [_row(one) for one in connection.execute(query)]
    return found


def versions_of_check(instance: dg.DagsterInstance, asset_key: str, check: str) -> dict[int, int]:
    """The finished evaluations of a check: the storage id of each row, by its number."""
    return _versions(instance, sa.and_(_ROWS.asset_key == asset_key, _ROWS.check_name == check))


def versions_between(instance: dg.DagsterInstance, first: int, last: int) -> dict[int, int]:
    """The same of all rows whose numbers lie between these two, both included."""
    return _versions(instance, _ROWS.id.between(first, last))


def owners_of(
    instance: dg.DagsterInstance, numbers: Iterable[int]
) -> dict[int, tuple[str, str, int]]:
    """Asset, check and storage id of finished evaluations, by the numbers of their rows."""
    found: dict[int, tuple[str, str, int]] = {}
    with _connected(instance) as connection:
        for some in _in_parts(numbers):
            query = sa.select(
                _ROWS.id, _ROWS.asset_key, _ROWS.check_name, _ROWS.evaluation_event_storage_id
            ).where(_ROWS.id.in_(some), _finished())
            for number, asset, check, storage_id in connection.execute(query):
                found[number] = (asset, check, storage_id or 0)
    return found


def events_after(
    instance: dg.DagsterInstance, storage_id: int, limit: int
) -> list[EvaluationEvent]:
    """The evaluations that came after this event, in their order, without what they say."""
    query = sa.select(_EVENTS.id, _EVENTS.run_id, _EVENTS.timestamp).where(
        _EVENTS.dagster_event_type == _EVALUATION, _EVENTS.id > storage_id
    )
    with _connected(instance) as connection:
        found = connection.execute(query.order_by(_EVENTS.id).limit(limit)).all()
    return [_event(one) for one in found]


def last_events(
    instance: dg.DagsterInstance, limit: int, *, until: int | None = None
) -> list[EvaluationEvent]:
    """The newest evaluations in their order; ``until``: those up to this one."""
    query = sa.select(_EVENTS.id, _EVENTS.run_id, _EVENTS.timestamp).where(
        _EVENTS.dagster_event_type == _EVALUATION
    )
    if until is not None:
        query = query.where(_EVENTS.id <= until)
    with _connected(instance) as connection:
        found = connection.execute(query.order_by(_EVENTS.id.desc()).limit(limit)).all()
    return [_event(one) for one in reversed(found)]


def events_numbered(
    instance: dg.DagsterInstance, storage_ids: Iterable[int]
) -> list[EvaluationEvent]:
    """Those of these evaluations that the log still has."""
    found: list[EvaluationEvent] = []
    with _connected(instance) as connection:
        for some in _in_parts(storage_ids):
            query = sa.select(_EVENTS.id, _EVENTS.run_id, _EVENTS.timestamp).where(
                _EVENTS.id.in_(some), _EVENTS.dagster_event_type == _EVALUATION
            )
            rows = connection.execute(query)
            found += [_event(one) for one in rows]
    return found


def texts_of_events(
    instance: dg.DagsterInstance, storage_ids: Iterable[int]
) -> list[tuple[str, str]]:
    """The run of each of these events, and what it says, in JSON."""
    found: list[tuple[str, str]] = []
    with _connected(instance) as connection:
        for some in _in_parts(storage_ids):
            query = sa.select(_EVENTS.run_id, _EVENTS.event).where(_EVENTS.id.in_(some))
            found += [(run_id, text) for run_id, text in connection.execute(query)]
    return found


def runs_of_events(instance: dg.DagsterInstance, storage_ids: Iterable[int]) -> dict[int, str]:
    """The run of each of these events, whatever they are."""
    found: dict[int, str] = {}
    with _connected(instance) as connection:
        for some in _in_parts(storage_ids):
            query = sa.select(_EVENTS.id, _EVENTS.run_id).where(_EVENTS.id.in_(some))
            found |= dict(connection.execute(query).tuples().all())
    return found


def latest_builds(instance: dg.DagsterInstance, known: Mapping[str, str]) -> list[LatestBuild]:
    """The newest materialization of every asset; its text only where that is not ``known``.

    ``known`` has the moments of earlier answers by asset key.
    """
    moments = sa.select(_ASSETS.asset_key, _ASSETS.last_materialization_timestamp).where(
        _ASSETS.last_materialization_timestamp.is_not(None),
        # Wiped assets keep the time of what they had.
        _ASSETS.last_materialization.is_not(None),
    )
    with _connected(instance) as connection:
        found = {key: _written(moment) for key, moment in connection.execute(moments)}
        changed = [key for key, moment in found.items() if known.get(key) != moment]
        texts: dict[str, str] = {}
        for some in _in_parts(changed):
            query = sa.select(_ASSETS.asset_key, _ASSETS.last_materialization)
            rows = connection.execute(query.where(_ASSETS.asset_key.in_(some)))
            texts |= {key: text or "" for key, text in rows}
    return [LatestBuild(key, moment, texts.get(key, "")) for key, moment in found.items()]


def deserialized(text: str) -> Any:
    """An event as Dagster's own object, whatever version wrote it; None if it is none."""
    try:
        return deserialize_value(text)
    except (DeserializationError, ValueError):
        return None


def _selected() -> sa.Select[Any]:
    return sa.select(
        _ROWS.id,
        _ROWS.asset_key,
        _ROWS.check_name,
        _ROWS.partition,
        _ROWS.run_id,
        _ROWS.evaluation_event_storage_id,
        _ROWS.materialization_event_storage_id,
        _ROWS.execution_status,
        _ROWS.evaluation_event_timestamp,
        _ROWS.evaluation_event,
    ).where(_finished())


def _finished() -> sa.ColumnElement[bool]:
    return _ROWS.execution_status.in_(_FINISHED)


def _row(one: Any) -> EvaluationRow:
    number, asset, check, partition, run_id, storage_id, target, status, moment, text = one
    return EvaluationRow(
        number,
        asset,
        check,
        partition,
        run_id or "",
        storage_id or 0,
        target,
        status == _FINISHED[0],
        moment.replace(tzinfo=UTC).timestamp() if moment else 0.0,
        text or "",
    )


def _event(one: Any) -> EvaluationEvent:
    storage_id, run_id, moment = one
    return EvaluationEvent(storage_id, run_id, _written(moment))


def _versions(instance: dg.DagsterInstance, wanted: sa.ColumnElement[bool]) -> dict[int, int]:
    query = sa.select(_ROWS.id, _ROWS.evaluation_event_storage_id).where(wanted, _finished())
    with _connected(instance) as connection:
        return {number: storage_id or 0 for number, storage_id in connection.execute(query)}


def _written(moment: Any) -> str:
    return moment.isoformat() if isinstance(moment, datetime) else str(moment)


def _in_parts(values: Iterable[Any]) -> Iterator[list[Any]]:
    every = list(values)
    for start in range(0, len(every), _AT_ONCE):
        yield every[start : start + _AT_ONCE]
