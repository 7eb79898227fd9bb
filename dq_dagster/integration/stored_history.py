"""All that the event log holds of one check, without the definitions of its asset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any

import dagster as dg
from dagster import AssetCheckEvaluation

from dq_dagster.errors import NotOnRecord
from dq_dagster.evaluation.history import Recorded
from dq_dagster.integration import metadata
from dq_dagster.integration.dagster_internals import checks_on_record, evaluation_pages
from dq_dagster.integration.history import MOST_EVALUATIONS, recorded

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
    times = _by_partition(evaluations, metadata.TIME)
    return StoredHistory(
        tuple(recorded(moment, evaluation) for moment, evaluation in found),
        {partition: datetime.fromisoformat(text) for partition, text in times.items()},
        _by_partition(evaluations, metadata.SERIES),
        _observed_keys(evaluations),
    )


def _unknown(key: dg.AssetCheckKey, known: Iterable[dg.AssetCheckKey]) -> NotOnRecord:
    asset = key.asset_key.to_user_string()
    by_asset: dict[str, list[str]] = {}
    for one in known:
        by_asset.setdefault(one.asset_key.to_user_string(), []).append(one.name)
    if asset not in by_asset:
        return NotOnRecord.asset(asset, list(by_asset))
    return NotOnRecord.check(key.name, asset, by_asset[asset])


def _by_partition(evaluations: Iterable[AssetCheckEvaluation], name: str) -> dict[str, str]:
    """An entry of the metadata by partition, as it was recorded last."""
    found: dict[str, str] = {}
    for evaluation in evaluations:
        entry = evaluation.metadata.get(name)
        if entry is not None and evaluation.partition is not None:
            found.setdefault(evaluation.partition, str(entry.value))
    return found


def _observed_keys(evaluations: Iterable[AssetCheckEvaluation]) -> tuple[str, ...]:
    """The keys whose number was the observed value whenever there was one; else all of them."""
    every: dict[str, bool] = {}
    for evaluation in evaluations:
        numbers: Any = _value(evaluation, metadata.METRICS) or {}
        observed: Any = _value(evaluation, metadata.OBSERVED)
        values = list(observed.values()) if isinstance(observed, Mapping) else [observed]
        known = any(isinstance(value, int | float) for value in values)
        for key, number in numbers.items():
            every[key] = every.get(key, True) and (not known or number in values)
    return tuple(key for key, is_observed in every.items() if is_observed) or tuple(every)


def _value(evaluation: AssetCheckEvaluation, name: str) -> Any:
    entry = evaluation.metadata.get(name)
    return None if entry is None else entry.value
