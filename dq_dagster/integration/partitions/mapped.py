"""Which partitions of an asset depend on some of another's."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import dagster as dg

from dq_dagster.integration.internals import partition_loading_context


def downstream_keys(
    instance: dg.DagsterInstance,
    keys: Collection[str],
    *,
    above: dg.PartitionsDefinition[Any] | None,
    below: dg.PartitionsDefinition[Any] | None,
    mapping: dg.PartitionMapping | None,
) -> set[str] | None:
    """The partitions made of any of these; None if nobody can tell, so that it may be all."""
    if above is None or below is None:
        return None
    mapping = mapping or _usual_mapping(above, below)
    if mapping is None or isinstance(mapping, dg.AllPartitionMapping):
        return None
    try:
        with partition_loading_context(dynamic_partitions_store=instance):
            existing = [key for key in keys if above.has_partition_key(key)]
            found = mapping.get_downstream_partitions_for_partitions(
                above.subset_with_partition_keys(existing), above, below
            )
            return set(found.get_partition_keys())
    except dg.DagsterError:
        return None


def _usual_mapping(
    above: dg.PartitionsDefinition[Any], below: dg.PartitionsDefinition[Any]
) -> dg.PartitionMapping | None:
    """What Dagster takes where nothing is said; None: each depends on all."""
    windows = dg.TimeWindowPartitionsDefinition
    if isinstance(above, windows) and isinstance(below, windows):
        return dg.TimeWindowPartitionMapping()
    return dg.IdentityPartitionMapping() if above == below else None
