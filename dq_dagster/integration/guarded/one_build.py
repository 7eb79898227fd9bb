"""Whether table and quarantine are of the same build, where they do not change together.

With IO managers of others and on object stores they are two writes. A process that is killed in
between leaves them apart, and rows may be in both. A replay releases none of those: it finds out by
what Dagster knows of the table, by the run that each row in quarantine names, and by what the
replay before it said that it was about to write.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import dagster as dg

from dq_dagster.errors import NotReplayable
from dq_dagster.integration.event_log.pager import latest_materialization, materializations
from dq_dagster.integration.guarded.quarantine import RUN_ID, STATE, WITHHELD
from dq_dagster.integration.internals import Materialization, storage_ids
from dq_dagster.judging.wording import plural
from dq_dagster.spark.passes.faults import counted_by

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from dq_dagster.integration.guarded.build_record import Build
    from dq_dagster.integration.guarded.returned import Returned
    from dq_dagster.integration.guarded.step import GuardedRun

# How many rows the table has, and will have once the replay has written it.
ROWS_BEFORE, ROWS_AFTER = "dq/rows_before_replay", "dq/rows_after_replay"
# Of what was observed since the table was last written.
_MOST_OBSERVATIONS = 25


def announced(run: GuardedRun, build: Build, returned: Returned) -> Iterator[dg.AssetObservation]:
    """What a replay is about to write, to be recorded before it does."""
    if not returned.is_replay or run.destination.is_atomic:
        return
    for key, (stored, _) in returned.replayed.items():
        rows = build.counts[key].validated
        if rows > stored:
            yield dg.AssetObservation(
                run.key,
                partition=key,
                description=f"A replay is about to add {plural(rows - stored, 'row')} from the "
                "quarantine.",
                metadata={ROWS_BEFORE: stored, ROWS_AFTER: rows},
            )


def require_one_build(run: GuardedRun, partition: str | None, stored: int, bad: DataFrame) -> None:
    """Raises if rows in quarantine may be in the table already, or belong to another one.

    ``stored`` is how many rows the table has.
    """
    latest = _latest(run, partition)
    # What people report by hand has no run.
    if latest is None or not latest.run_id:
        return
    runs = counted_by(bad.where(f"{STATE} <> '{WITHHELD}'"), RUN_ID)
    others = sorted(str(one) for one in runs if one != latest.run_id)
    if others:
        raise NotReplayable.of_another_build(
            run.name, partition, table=latest.run_id, quarantine=others[0]
        )
    if stored in _announced_since(run, partition, latest):
        raise NotReplayable.interrupted(run.name, partition)


def _latest(run: GuardedRun, partition: str | None) -> Materialization | None:
    instance = run.context.instance
    if partition is None:
        return latest_materialization(instance, run.key, {})
    numbers = storage_ids(instance, run.key)
    if partition not in numbers:
        return None
    return materializations(instance, run.key, {partition: numbers[partition]}).get(partition)


def _announced_since(
    run: GuardedRun, partition: str | None, latest: Materialization
) -> Iterator[Any]:
    """How many rows the table has if a replay wrote it of which Dagster knows no more."""
    wanted = dg.AssetRecordsFilter(
        run.key,
        asset_partitions=None if partition is None else [partition],
        after_storage_id=latest.storage_id,
    )
    found = run.context.instance.fetch_observations(wanted, limit=_MOST_OBSERVATIONS)
    for one in found.records:
        event = one.asset_observation
        entry = None if event is None else event.metadata.get(ROWS_AFTER)
        if entry is not None:
            yield entry.value
