"""The past of rules, from the event log: what runs judge by, and what backtests try out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import dagster as dg

from dq_dagster.errors import NotOnRecord
from dq_dagster.evaluation.history.history import Recorded
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.integration.event_log.codec import Record, StatesRecord
from dq_dagster.integration.event_log.pager import StoredEvaluation, evaluations
from dq_dagster.integration.internals import Materialization, OneSlice, checks_on_record
from dq_dagster.integration.partitions.asset_partitions import AssetPartitions
from dq_dagster.judging.evidence import number_of
from dq_dagster.rules.base.rule import Rule

# The first page answers the usual question: some thirty values, and a few runs in between.
_FIRST_PAGE = 100
MOST_EVALUATIONS = 20_000


@dataclass(frozen=True)
class EventLogHistory:
    """What earlier runs recorded for the rules of one asset; each check is read once.

    ``checks`` has the check of a rule by the rule's name, and whether on a partition;
    ``partitions`` are those that are judged. ``latest`` is the newest materialization as of before
    the data was read, whatever is built meanwhile: that may be in the data or not. ``by_build``:
    the data changes only when Dagster builds it, so that two evaluations after one build are of
    the same data.
    """

    instance: dg.DagsterInstance
    key: dg.AssetKey
    checks: Mapping[tuple[str, bool], str]
    partitions: tuple[str, ...]
    asset: AssetPartitions | None
    latest: Materialization | None = None
    by_build: bool = True
    _known: dict[tuple[str, bool], Past] = field(default_factory=dict)

    def of(self, rule: Rule, *, by_partition: bool) -> Iterable[Recorded]:
        name = self.checks[rule.name, by_partition]
        if (name, by_partition) not in self._known:
            stored = evaluations(
                self.instance,
                dg.AssetCheckKey(self.key, name),
                first=_FIRST_PAGE,
                most=MOST_EVALUATIONS,
                only=self._only(by_partition=by_partition),
            )
            self._known[name, by_partition] = Past(stored)
        known = self._known[name, by_partition]
        return (one for one in known if (one.partition is not None) is by_partition)

    def _only(self, *, by_partition: bool) -> OneSlice | None:
        """Where one partition is judged by its own past, that of others need not be read."""
        if not by_partition:
            return OneSlice()
        keys = self.partitions
        alone = len(keys) == 1 and self.time_of(keys[0]) is None
        return OneSlice(keys[0]) if alone else None

    def time_of(self, partition: str) -> datetime | None:
        return None if self.asset is None else self.asset.time_of(partition)

    def earlier(self, partition: str, periods: int) -> datetime | None:
        return None if self.asset is None else self.asset.earlier(partition, periods)

    def series_of(self, partition: str) -> str:
        return "" if self.asset is None else self.asset.series_of(partition)

    def data_of(self, partition: str | None) -> str | None:
        """The state of the data that is judged now."""
        if not self.by_build:
            return None
        if partition is None:
            return None if self.latest is None else str(self.latest.storage_id)
        number = None if self.asset is None else self.asset.built.get(partition)
        return None if number is None else str(number)

    def record_of(self, outcome: Outcome) -> Record:
        """What is to be kept of an outcome on the data that is judged now."""
        data, asset, partition = self.data_of(outcome.partition), self.asset, outcome.partition
        if asset is None:
            return Record.of(outcome, data=data)
        time = None if partition is None else asset.time_of(partition)
        series = "" if time is None or partition is None else asset.series_of(partition)
        states = None
        if outcome.states is not None:
            states = StatesRecord.of(outcome.states, asset.built, origin=asset.origin)
        return Record.of(outcome, data=data, time=time, series=series, states=states)


class Past:
    """The evaluations of one check, the newest first, read as far as needed and never twice."""

    def __init__(self, stored: Iterator[StoredEvaluation]) -> None:
        self._stored = stored
        self._read: list[Recorded] = []

    def __iter__(self) -> Iterator[Recorded]:
        place = 0
        while True:
            while place < len(self._read):
                yield self._read[place]
                place += 1
            following = next(self._stored, None)
            if following is None:
                return
            self._read.append(_recorded(following))


def _recorded(stored: StoredEvaluation) -> Recorded:
    """An evaluation as a point of the past."""
    record = stored.record
    if record is None:
        return Recorded(stored.at, {}, stored.status, stored.partition)
    return Recorded(
        stored.at,
        {**record.metrics, **record.derived},
        stored.status,
        stored.partition,
        record.data,
        record.groups,
        record.statuses,
        record.group_statuses,
        record.observed,
    )


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
    found = list(evaluations(instance, key, most=MOST_EVALUATIONS))
    if not found:
        raise _unknown(key, checks_on_record(instance))
    times: dict[str, datetime] = {}
    series: dict[str, str] = {}
    judged: set[str] = set()
    for one in found:
        if one.record is None:
            continue
        values = {**one.record.metrics, **one.record.derived}
        judged |= {key for key in one.record.observed if number_of(values.get(key)) is not None}
        if one.partition is not None and one.record.time is not None:
            # The newest come first, and count.
            times.setdefault(one.partition, one.record.time)
            series.setdefault(one.partition, one.record.series)
    return StoredHistory(tuple(map(_recorded, found)), times, series, tuple(sorted(judged)))


def _unknown(key: dg.AssetCheckKey, known: Iterable[dg.AssetCheckKey]) -> NotOnRecord:
    asset = key.asset_key.to_user_string()
    by_asset: dict[str, list[str]] = {}
    for one in known:
        by_asset.setdefault(one.asset_key.to_user_string(), []).append(one.name)
    if asset not in by_asset:
        return NotOnRecord.asset(asset, list(by_asset))
    return NotOnRecord.check(key.name, asset, by_asset[asset])
