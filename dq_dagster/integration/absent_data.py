"""Why there is no data where an asset's IO manager looks for it, as far as Dagster knows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import dagster as dg

from dq_dagster.errors import MissingPartitions, NothingStored
from dq_dagster.integration.dagster_internals import (
    Materialization,
    latest_materialization,
    materializations,
    storage_ids,
)
from dq_dagster.spark.folder_names import PARTITION_COLUMN, WHOLE_FOLDER
from dq_dagster.spark.paths import is_remote


def absent(asset: str, latest: Materialization | None, *, external: bool) -> NothingStored | None:
    """What is the case of an asset without data; None if it is just not built yet."""
    if latest is None:
        return NothingStored.external(asset) if external else None
    return NothingStored.gone(asset) if _was_stored(latest) else NothingStored.unreturned(asset)


def absent_whole(
    instance: dg.DagsterInstance, key: dg.AssetKey, *, external: bool
) -> NothingStored | None:
    """The same, by what Dagster has on record."""
    latest = latest_materialization(instance, key, {})
    return absent(key.to_user_string(), latest, external=external)


def absent_partitions(
    instance: dg.DagsterInstance, key: dg.AssetKey, keys: Sequence[str]
) -> MissingPartitions | None:
    """What is the case of partitions without data; None if none of them was ever built."""
    built = storage_ids(instance, key) if keys else {}
    numbers = {name: built[name] for name in keys if name in built}
    if not numbers:
        return None
    latest = materializations(instance, key, numbers)
    unreturned = [name for name, one in latest.items() if not _was_stored(one)]
    return MissingPartitions.lost(
        key.to_user_string(), list(numbers), built=len(built), unreturned=unreturned
    )


def _was_stored(latest: Materialization) -> bool:
    """Whether an IO manager stored the data, by what the materialization says.

    An asset that stores its data itself may name a path as well: that is there still, or is of
    another kind than ours.
    """
    path = latest.path or ""
    ours = f"/{WHOLE_FOLDER}" in path or f"/{PARTITION_COLUMN}=" in path
    return ours or (bool(path) and not is_remote(path) and not Path(path).exists())
