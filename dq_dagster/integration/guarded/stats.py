"""What a guarded build did with its rows: on record in Dagster, as a table, and in one of yours."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import dagster as dg

from dq_dagster.evaluation.in_flight.rows import RowCounts
from dq_dagster.spark.frames.reading import absolute, is_remote
from dq_dagster.storage.records import append_records

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

STATS = "dq/stats"
ROWS_IN, ROWS_OUT = "dq/rows_in", "dq/rows_published"
DROPPED, QUARANTINED = "dq/rows_dropped", "dq/rows_quarantined"
# Of a run that fails because nothing is published.
STOPPING_RULES = "dq/rules"
# Dagster's own entries for how many rows are stored.
ROWS, PARTITION_ROWS = "dagster/row_count", "dagster/partition_row_count"
_VERSION = 1
_PAGE = 500
# With more than this, rules that found nothing are left out: see the limit on check results.
_MOST_BYTES = 16_000

BuildStatus: TypeAlias = Literal["published", "withheld"]


@dataclass(frozen=True, slots=True)
class RuleStats:
    """What one rule found: rows with faults, and its status in each phase."""

    action: str
    faults: int | None = None
    source: str | None = None
    validated: str | None = None

    def compact(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class SliceStats:
    """One build of one slice: how many rows came, and where they went."""

    run_id: str
    asset: str
    partition: str | None
    time: datetime
    status: BuildStatus
    counts: RowCounts
    duration: float
    fingerprint: str
    rules: Mapping[str, RuleStats] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """As one row of a table: numbers, texts, a time, and the rules by name."""
        rows = self.counts.source
        published = self.counts.validated if self.status == "published" else 0
        dropped = self.counts.out if self.status == "published" else 0
        return {
            "run_id": self.run_id,
            "asset": self.asset,
            "partition": self.partition,
            "time": self.time,
            "status": self.status,
            "rows_in": rows,
            "rows_good": self.counts.good,
            "rows_published": published,
            "rows_quarantined": self.counts.bad,
            "rows_dropped": dropped,
            "share_good": _share(self.counts.good, rows),
            "share_published": _share(published, rows),
            "share_quarantined": _share(self.counts.bad, rows),
            "share_dropped": _share(dropped, rows),
            "duration_seconds": round(self.duration, 3),
            "fingerprint": self.fingerprint,
            "rules": {name: one.compact() for name, one in self.rules.items()},
        }

    def metadata(self) -> dict[str, Any]:
        """What Dagster keeps: numbers to plot, and the record."""
        record = self.record()
        record["time"] = self.time.isoformat()
        if len(json.dumps(record)) > _MOST_BYTES:
            record["rules"] = {
                name: one.compact()
                for name, one in self.rules.items()
                if one.faults or {one.source, one.validated} - {None, "Ok"}
            }
        return {
            ROWS_IN: record["rows_in"],
            ROWS_OUT: record["rows_published"],
            DROPPED: record["rows_dropped"],
            QUARANTINED: record["rows_quarantined"],
            STATS: {"v": _VERSION, **record},
        }


def _share(some: int, of: int) -> float:
    return some / of if of else 0.0


_COLUMNS = (
    "run_id string, asset string, partition string, time timestamp, status string, rows_in bigint, "
    "rows_good bigint, rows_published bigint, rows_quarantined bigint, rows_dropped bigint, "
    "share_good double, share_published double, share_quarantined double, share_dropped double, "
    "duration_seconds double, fingerprint string, rules string"
)


@dataclass(frozen=True, slots=True)
class StatsTable:
    """A table of yours that gets one row for each build of a slice.

    ``target`` is a table of Spark's catalog, such as ``warehouse.dq_stats``, which is made if it is
    not there, or the path of a folder. The rows of a run are added at once: as a transaction where
    the table has those (Delta, Iceberg), else as one file that is renamed into its place.
    ``rules`` is a text in JSON.
    """

    target: str

    def append(self, session: SparkSession, stats: list[SliceStats], token: str) -> None:
        """Adds the records of one run; a retry with the same token replaces them."""
        rows = [_row(one) for one in stats]
        target = self.target
        if "/" in target or is_remote(target):
            target = absolute(target)
        append_records(session, target, rows, _COLUMNS, token)


def _row(one: SliceStats) -> tuple[Any, ...]:
    record = one.record()
    record["rules"] = json.dumps(record["rules"])
    return tuple(record.values())


def stats(instance: dg.DagsterInstance, asset: Any, *, limit: int = 1_000) -> pd.DataFrame:
    """What the builds of a guarded asset did with their rows, the newest first, as a table.

    One row for each run and slice, of builds that published and of those that did not; ``rules`` is
    a dict by rule. ``asset`` is its definition, its key, or its key as text.
    """
    import pandas as pd

    columns = [part.split()[0] for part in _COLUMNS.split(", ")]
    found = build_records(instance, _key_of(asset), limit=limit)
    rows = [{name: record.get(name) for name in columns} for record in found]
    table = pd.DataFrame(rows, columns=columns)
    table["time"] = pd.to_datetime(table["time"], utc=True)
    return table


def build_records(
    instance: dg.DagsterInstance, key: dg.AssetKey, *, limit: int, patience: int | None = None
) -> list[dict[str, Any]]:
    """What the builds of a guarded asset recorded, the newest first; none of other assets.

    ``patience``: after how many pages without any record no more of them are read.
    """
    events = _events(instance, key, limit, patience=patience)
    found = sorted(events, key=lambda one: one[0], reverse=True)
    return [record for _, record in found[:limit]]


def _key_of(asset: Any) -> dg.AssetKey:
    if isinstance(asset, dg.AssetsDefinition):
        # The quarantine is an asset of the same definition, and depends on the guarded one.
        keys = {spec.key for spec in asset.specs}
        inside = {spec.key for spec in asset.specs if {d.asset_key for d in spec.deps} & keys}
        [key] = keys - inside
        return key
    if isinstance(asset, dg.AssetSpec):
        return asset.key
    return dg.AssetKey.from_coercible(
        dg.AssetKey.from_user_string(asset) if isinstance(asset, str) else asset
    )


def _events(
    instance: dg.DagsterInstance, key: dg.AssetKey, limit: int, *, patience: int | None
) -> Iterator[tuple[float, dict[str, Any]]]:
    """Each record with its time; what was withheld is on record as an observation.

    Most observations are of checks: none is read that is older than all that is wanted.
    """
    times: list[float] = []
    for fetch in (instance.fetch_materializations, instance.fetch_observations):
        oldest = min(times) if len(times) >= limit else float("-inf")
        cursor: str | None = None
        left, pages = limit, 0
        while left > 0:
            page = fetch(key, limit=min(_PAGE, left), cursor=cursor)
            for time, record in _recorded(page.records):
                left -= 1
                times.append(time)
                yield time, record
            cursor = page.cursor
            pages += 1
            past = page.records and page.records[-1].timestamp < oldest
            if not page.has_more or past or (not times and pages == patience):
                break


def _recorded(records: Iterable[Any]) -> Iterator[tuple[float, dict[str, Any]]]:
    for one in records:
        event = one.asset_materialization or one.asset_observation
        entry = event.metadata.get(STATS) if event else None
        value: Any = getattr(entry, "value", None)
        if isinstance(value, Mapping):
            yield one.timestamp, dict(value)
