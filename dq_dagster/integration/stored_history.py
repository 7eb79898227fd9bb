"""All that the event log holds of one check, without the definitions of its asset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

import dagster as dg
from dagster import AssetCheckEvaluation

from dq_dagster.errors import NotOnRecord
from dq_dagster.evaluation.history import Recorded
from dq_dagster.integration import metadata
from dq_dagster.integration.dagster_internals import checks_on_record, evaluation_pages
from dq_dagster.integration.history import MOST_EVALUATIONS, recorded
from dq_dagster.judging.past import number_of

_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class StoredHistory:
    """What a check recorded, the newest first, and what is known of its partitions.

    ``observed`` are the keys of the numbers that were judged, rather than measured beside.
    """

    records: tuple[Recorded, ...]
    times: Mapping[str, datetime] = field(default_factory=dict)
    series: Mapping[str, str] = field(default_factory=dict)
    observed: tuple[str, ...] = ()


def stored_history(instance: dg.DagsterInstance, key: dg.AssetCheckKey) -> StoredHistory:
    """Raises NotOnRecord, with the checks that there are, if the check was never evaluated."""
    pages = evaluation_pages(instance, key, first=_PAGE, most=MOST_EVALUATIONS)
    found = list(chain.from_iterable(pages))
    if not found:
        raise _unknown(key, checks_on_record(instance))
    evaluations = [evaluation for _, evaluation in found]
    records = tuple(recorded(moment, evaluation) for moment, evaluation in found)
    times = _by_partition(evaluations, metadata.TIME)
    return StoredHistory(
        records,
        {partition: datetime.fromisoformat(text) for partition, text in times.items()},
        _by_partition(evaluations, metadata.SERIES),
        _observed(records),
    )


def _unknown(key: dg.AssetCheckKey, known: Iterable[dg.AssetCheckKey]) -> NotOnRecord:
    asset = key.asset_key.to_user_string()
    by_asset: dict[str, list[str]] = {}
    for one in known:
        by_asset.setdefault(one.asset_key.to_user_string(), []).append(one.name)
    if asset not in by_asset:
        return NotOnRecord.asset(asset, list(by_asset))
    return NotOnRecord.check(key.name, asset, by_asset[asset])


def _observed(records: Iterable[Recorded]) -> tuple[str, ...]:
    """What was judged, as far as it ever was a number, in alphabetical order."""
    found = {
        key
        for record in records
        for key in record.observed
        if number_of(record.metrics.get(key)) is not None
    }
    return tuple(sorted(found))


def _by_partition(evaluations: Iterable[AssetCheckEvaluation], name: str) -> dict[str, str]:
    """An entry of the metadata by partition, as it was recorded last."""
    found: dict[str, str] = {}
    for evaluation in evaluations:
        entry = evaluation.metadata.get(name)
        if entry is not None and evaluation.partition is not None:
            found.setdefault(evaluation.partition, str(entry.value))
    return found
