"""Quarantined rows that are judged once more, together with what is stored: a build without code.

A run with the tag ``dq/replay`` does not call the function of the asset. Its rows are those that
are stored, which stay there, and those that were left out, repaired if somebody says how. By the
rules as they are now, the latter are published or stay in quarantine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

import dagster as dg

from dq_dagster.errors import NothingStored, NotReplayable
from dq_dagster.integration.guarded.incoming import is_pandas
from dq_dagster.integration.guarded.one_build import require_one_build
from dq_dagster.integration.guarded.quarantine import (
    LEFT_OUT,
    OWN_COLUMNS,
    STATE,
    WITHHELD,
    masked_columns,
)
from dq_dagster.integration.guarded.returned import Returned
from dq_dagster.integration.internals import asset_metadata, io_manager_of, load_asset_value
from dq_dagster.integration.io_manager import SparkIOManager
from dq_dagster.spark.frames.beside import beside_stored
from dq_dagster.spark.frames.frames import all_as_spark, counted, has_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from dq_dagster.integration.guarded.step import GuardedRun

REPLAY_TAG = "dq/replay"
Repair: TypeAlias = "Callable[[DataFrame], DataFrame]"

_repair: ContextVar[Any] = ContextVar("dq_dagster_repair", default=None)


@contextmanager
def repairing(repair: Repair | None) -> Iterator[None]:
    """Within it, runs of this process that replay rows repair them so."""
    token = _repair.set(repair)
    try:
        yield
    finally:
        _repair.reset(token)


def replayed_rows(run: GuardedRun) -> Returned | None:
    """What a run is to judge that replays quarantined rows; None if it is an ordinary one."""
    if REPLAY_TAG not in run.context.run.tags:
        return None
    kept = run.guarded.quarantine
    if kept is None:
        raise NotReplayable.no_quarantine(run.name)
    repair: Repair | None = _repair.get()
    metadata = asset_metadata(run.context, run.key)
    masked = masked_columns(kept, run.guarded.checked.rule_set, metadata)
    refuse_masked(kept.name, masked, repair)
    before = kept.store(io_manager_of(run.context, run.key))
    if before is not None:
        # Both are read as they are to be, if a process was killed that had begun to publish them.
        before.finish_publishing()
    stored = _stored(run, run.key)
    found: dict[str | None, DataFrame] = {}
    rows: dict[str | None, tuple[int, int]] = {}
    for key, bad in _stored(run, kept.key).items():
        if key not in stored:
            raise NothingStored.of_partitions(run.name, [str(key)], "")
        both = all_as_spark({"stored": stored[key], "bad": bad})
        known = _counted(run, key, **both, is_repaired=repair is not None)
        rows |= {} if known is None else {key: known}
        found[key] = united(both["stored"], both["bad"], run.name, key, repair)
    as_pandas = any(is_pandas(value) for value in stored.values())
    value = found if run.keys is not None else found[None]
    return Returned(value, as_pandas=as_pandas, is_replay=True, replayed=rows)


def _counted(
    run: GuardedRun, key: str | None, stored: DataFrame, bad: DataFrame, *, is_repaired: bool
) -> tuple[int, int] | None:
    """How many rows are stored, and how many were left out, if that has to be known.

    Raises if they are not of one build.
    """
    is_atomic = run.destination.is_atomic
    if is_atomic and not is_repaired:
        return None
    rows = counted(stored), counted(left_out(bad))
    if not is_atomic:
        require_one_build(run, key, rows[0], bad)
    return rows


def _stored(run: GuardedRun, key: dg.AssetKey) -> dict[str | None, Any]:
    """What is stored of an asset, by the partitions of the run."""
    kept = run.guarded.quarantine
    manager = io_manager_of(run.context, run.key)
    if kept is not None and key == kept.key:
        store = kept.store(manager)
    else:
        store = manager.store(key) if isinstance(manager, SparkIOManager) else None
    if store is None:
        value = load_asset_value(run.context, key, run.keys)
        return dict(value) if isinstance(value, Mapping) and run.keys else {None: value}
    if run.keys is None:
        return {None: store.load_whole(run.session)}
    return {one: store.load(run.session, [one]).plain for one in run.keys}


def refuse_masked(quarantine: str, masked: Collection[str], repair: Repair | None) -> None:
    if masked and repair is None:
        raise NotReplayable.masked(quarantine, sorted(masked))


def united(
    stored: DataFrame, bad: DataFrame, asset: str, key: str | None, repair: Repair | None
) -> DataFrame:
    """The stored rows, and beside them those that were left out, with the columns of the former."""
    if has_rows(bad.where(f"{STATE} = '{WITHHELD}'")):
        raise NotReplayable.withheld(asset, key)
    rows = left_out(bad)
    if repair is not None:
        rows = repair(rows)
        _require_columns(rows, stored, asset)
    return beside_stored(stored, rows.drop(*OWN_COLUMNS))


def left_out(bad: DataFrame) -> DataFrame:
    return bad.where(f"{STATE} = '{LEFT_OUT}'")


def _require_columns(rows: DataFrame, stored: DataFrame, asset: str) -> None:
    """Raises if repaired rows are not like those of the table: Spark would make all of them so."""
    there = {one.name.lower(): one.dataType.simpleString() for one in rows.schema.fields}
    for one in stored.schema.fields:
        given, kind = there.get(one.name.lower()), one.dataType.simpleString()
        if given is None:
            raise NotReplayable.without_column(asset, one.name)
        if given != kind:
            raise NotReplayable.other_type(asset, one.name, stored=kind, given=given)


def require_all_rows(
    replayed: Mapping[str | None, tuple[int, int]], rows: Mapping[str | None, int], asset: str
) -> None:
    """Raises if a repair lost or doubled rows.

    ``replayed`` are, by slice, the rows that were stored and those that it was given, ``rows`` all
    that were written.
    """
    for key, (stored, given) in replayed.items():
        if rows[key] != stored + given:
            raise NotReplayable.other_rows(asset, given, rows[key] - stored)
