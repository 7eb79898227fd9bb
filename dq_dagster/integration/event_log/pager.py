"""The event log, read page by page: evaluations of checks with their records, materializations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import dagster as dg

from dq_dagster.integration.event_log.codec import RECORD, Record
from dq_dagster.integration.internals import Materialization, OneSlice, evaluation_page
from dq_dagster.judging.judgement import Status

# How many events one question to the event log brings.
_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class StoredEvaluation:
    """A finished evaluation of a check.

    There is no record of what somebody else stored under the check's name, nor of what a later
    version wrote: then Dagster's own word is all that is known.
    """

    at: datetime
    partition: str | None
    # Before ``on_empty``.
    status: Status
    record: Record | None
    run_id: str


def evaluations(
    instance: dg.DagsterInstance,
    key: dg.AssetCheckKey,
    *,
    first: int = _PAGE,
    most: int,
    only: OneSlice | None = None,
) -> Iterator[StoredEvaluation]:
    """The evaluations of a check, the newest first; read on only as far as they are taken.

    ``first`` is how many the first question brings, ``most`` how many there are in all.
    """
    cursor, size, left = None, min(first, most), most
    while left > 0:
        page = evaluation_page(instance, key, limit=size, cursor=cursor, only=only)
        for _, moment, run_id, evaluation in page:
            if evaluation is not None:
                yield _stored(moment, run_id, evaluation)
        if len(page) < size:
            return
        left -= size
        cursor, size = page[-1][0], min(_PAGE, left)


def _stored(moment: float, run_id: str, evaluation: dg.AssetCheckEvaluation) -> StoredEvaluation:
    entry = evaluation.metadata.get(RECORD)
    record = None if entry is None else Record.decode(entry.value)
    if record is not None:
        status = record.judged
    else:
        status = Status.OK if evaluation.passed else Status.ERROR
    return StoredEvaluation(
        datetime.fromtimestamp(moment, UTC), evaluation.partition, status, record, run_id
    )


def materialization_records(
    instance: dg.DagsterInstance, key: dg.AssetKey, numbers: Sequence[int]
) -> Iterator[dg.EventLogRecord]:
    """The materializations of an asset that have these numbers."""
    for start in range(0, len(numbers), _PAGE):
        some = list(numbers[start : start + _PAGE])
        wanted = dg.AssetRecordsFilter(asset_key=key, storage_ids=some)
        yield from instance.fetch_materializations(wanted, limit=len(some)).records


def materializations(
    instance: dg.DagsterInstance, key: dg.AssetKey, numbers: Mapping[str, int]
) -> dict[str, Materialization]:
    """The materializations of those numbers, by partition."""
    found = {
        record.storage_id: _materialization(record)
        for record in materialization_records(instance, key, sorted(numbers.values()))
    }
    return {name: found[number] for name, number in numbers.items() if number in found}


def latest_materialization(
    instance: dg.DagsterInstance, key: dg.AssetKey, built: Mapping[str, int]
) -> Materialization | None:
    """The newest materialization of the asset: of its partitions, if any are known as built."""
    if built:
        newest = max(built, key=built.__getitem__)
        return materializations(instance, key, {newest: built[newest]}).get(newest)
    records = instance.fetch_materializations(key, limit=1).records
    return _materialization(records[0]) if records else None


def _materialization(record: dg.EventLogRecord) -> Materialization:
    event = record.asset_materialization
    entry = None if event is None else event.metadata.get("path")
    path = None if entry is None else str(entry.value)
    return Materialization(record.storage_id, record.run_id, record.timestamp, path)
