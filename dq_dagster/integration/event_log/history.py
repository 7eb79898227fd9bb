"""The past of rules, from the event log: one reader, paged and bounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import dagster as dg
from dagster import AssetCheckEvaluation

from dq_dagster.errors import NotOnRecord
from dq_dagster.evaluation.history.history import Recorded
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.integration.checks.request import RequestedChecks
from dq_dagster.integration.event_log import codec as record_codec
from dq_dagster.integration.event_log import metadata
from dq_dagster.integration.event_log.states import written
from dq_dagster.integration.internals import Materialization, Of, checks_on_record, evaluation_pages
from dq_dagster.integration.partitions.asset_partitions import AssetPartitions
from dq_dagster.judging.evidence import number_of
from dq_dagster.judging.judgement import Status
from dq_dagster.rules.base.rule import Rule

# The first page answers the usual question: some thirty values, and a few runs in between.
_FIRST_PAGE = 100
MOST_EVALUATIONS = 20_000


@dataclass(frozen=True)
class EventLogHistory:
    """What earlier runs recorded for the rules of one asset; each check is read once.

    ``latest`` is the newest materialization as of before the data was read, whatever is built
    meanwhile: that may be in the data or not. ``by_build``: the data changes only when Dagster
    builds it, so that two evaluations after one build are of the same data.
    """

    instance: dg.DagsterInstance
    key: dg.AssetKey
    asked: RequestedChecks
    asset: AssetPartitions | None
    latest: Materialization | None = None
    by_build: bool = True
    _known: dict[tuple[str, bool], Past] = field(default_factory=dict)

    def of(self, rule: Rule, *, by_partition: bool) -> Iterable[Recorded]:
        name = self.asked.checks[rule.name, by_partition]
        if (name, by_partition) not in self._known:
            check_key = dg.AssetCheckKey(self.key, name)
            only = self._only(by_partition=by_partition)
            self._known[name, by_partition] = Past(self.instance, check_key, only)
        known = self._known[name, by_partition]
        return (one for one in known if (one.partition is not None) is by_partition)

    def _only(self, *, by_partition: bool) -> Of | None:
        """Where one partition is judged by its own past, that of others need not be read."""
        if not by_partition:
            return Of()
        keys = self.asked.partitions
        alone = len(keys) == 1 and self.time_of(keys[0]) is None
        return Of(keys[0]) if alone else None

    def time_of(self, partition: str) -> datetime | None:
        return None if self.asset is None else self.asset.time_of(partition)

    def series_of(self, partition: str) -> str:
        return "" if self.asset is None else self.asset.series_of(partition)

    def states_of(self, outcome: Outcome) -> dict[str, Any]:
        """What is to be kept of an outcome, for answers that are put together later."""
        if outcome.states is None or self.asset is None:
            return {}
        return written(outcome.states, self.asset.built, origin=self.asset.origin)

    def data_of(self, partition: str | None) -> str | None:
        """The state of the data that is judged now."""
        if not self.by_build:
            return None
        if partition is None:
            return None if self.latest is None else str(self.latest.storage_id)
        number = None if self.asset is None else self.asset.built.get(partition)
        return None if number is None else str(number)


class Past:
    """The evaluations of one check, the newest first, read page by page and never twice."""

    def __init__(
        self, instance: dg.DagsterInstance, key: dg.AssetCheckKey, only: Of | None
    ) -> None:
        self._pages = evaluation_pages(
            instance, key, first=_FIRST_PAGE, most=MOST_EVALUATIONS, only=only
        )
        self._read: list[Recorded] = []

    def __iter__(self) -> Iterator[Recorded]:
        place = 0
        while True:
            while place < len(self._read):
                yield self._read[place]
                place += 1
            page = next(self._pages, None)
            if page is None:
                return
            self._read += [recorded(moment, evaluation) for moment, evaluation in page]


def recorded(moment: float, evaluation: AssetCheckEvaluation) -> Recorded:
    """What an event holds of the past."""
    entries = {name: entry.value for name, entry in evaluation.metadata.items()}
    values = record_codec.values_in(entries)
    return Recorded(
        at=datetime.fromtimestamp(moment, UTC),
        metrics=values.metrics,
        status=_status(entries, evaluation),
        partition=evaluation.partition,
        data=_text(entries.get(metadata.DATA)),
        groups=values.groups,
        statuses=values.statuses,
        group_statuses=values.group_statuses,
        observed=values.observed,
    )


def _status(entries: Mapping[str, Any], evaluation: AssetCheckEvaluation) -> Status:
    """Results that somebody else recorded under the check's name have no status of ours."""
    if entries.get(metadata.WAS_EMPTY):
        return Status.EMPTY
    word = _text(entries.get(metadata.STATUS))
    if word in set(Status):
        return Status(word)
    return Status.OK if evaluation.passed else Status.ERROR


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


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
