"""What a guarded asset returned, as rows that know their partition, and what others hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from dq_dagster.errors import Unassignable
from dq_dagster.evaluation.in_flight.rows import Incoming
from dq_dagster.integration.checks.batches import PartitionedSource
from dq_dagster.integration.checks.readers import AssetIOManager
from dq_dagster.integration.internals import holds_one_run_only
from dq_dagster.integration.io_manager import Published, by_partition
from dq_dagster.integration.partitions.asset_partitions import AssetPartitions
from dq_dagster.integration.partitions.keys import partition_key_sql
from dq_dagster.integration.step_context import StepContext
from dq_dagster.spark.frames.columns import identifier
from dq_dagster.spark.frames.divided import AlikePartitions, Divided
from dq_dagster.spark.frames.frames import (
    HIDDEN_KEY,
    ROW,
    all_storable,
    as_spark,
    storable,
    to_pandas,
    union,
)
from dq_dagster.storage.files import schema_text

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame


def incoming_rows(
    value: Any, name: str, asset: AssetPartitions | None, keys: Sequence[str] | None
) -> list[Incoming]:
    """The rows that were returned, those of one schema together.

    Raises UnreadableData or Unassignable if they cannot be stored as the asset's rows.
    """
    if keys is None or asset is None:
        return [Incoming(storable(value, name))]
    if isinstance(value, Mapping):
        return _of_partitions(by_partition(name, value, keys))
    frame = all_storable({None: value}, name)[None]
    if len(keys) == 1:
        return _of_partitions({keys[0]: frame})
    if asset.expression is None:
        raise Unassignable.no_expression(name)
    key = partition_key_sql(asset.definition, asset.expression, frame.schema, keys=keys, asset=name)
    keyed = frame.selectExpr("*", f"{key} AS {identifier(HIDDEN_KEY)}")
    return [Incoming(keyed, tuple(keys), key)]


def _of_partitions(frames: Mapping[str, DataFrame]) -> list[Incoming]:
    by_schema: dict[str, dict[str, DataFrame]] = {}
    for key, frame in frames.items():
        keyed = frame.withColumn(HIDDEN_KEY, F.lit(key))
        by_schema.setdefault(schema_text(frame), {})[key] = keyed
    return [Incoming(union(list(some.values())), tuple(some)) for some in by_schema.values()]


def stored_others(
    context: StepContext, asset: AssetPartitions | None, keys: Sequence[str] | None
) -> list[AlikePartitions]:
    """What is stored of the partitions that the run does not build; nothing if there are none."""
    if asset is None or holds_one_run_only(context, asset.key):
        return []
    others = [key for key in asset.existing if key not in (keys or ())]
    if not others:
        return []
    stored = PartitionedSource(context, AssetIOManager(), asset).read(others)
    if isinstance(stored, Mapping):
        stored = Divided.of_frames(stored)
    frame = stored.frame if isinstance(stored, Divided) else as_spark(stored)
    return [AlikePartitions(frozenset(others), frame)]


def numbered(value: Any) -> Any:
    """Pandas DataFrames with the place of each row, so that they can be divided as they are."""
    if isinstance(value, Mapping):
        return {key: numbered(part) for key, part in value.items()}
    return value.assign(**{ROW: range(len(value))}) if is_pandas(value) else value


def is_pandas(value: Any) -> bool:
    import pandas as pd

    if isinstance(value, Mapping):
        return bool(value) and all(map(is_pandas, value.values()))
    return isinstance(value, pd.DataFrame)


def as_pandas(value: Any) -> Any:
    """What is handed over, for whoever stores pandas DataFrames."""
    if isinstance(value, Mapping):
        return {key: as_pandas(part) for key, part in value.items()}
    return value if value is None or isinstance(value, Published) else to_pandas(value)


def without(value: Any, out: Mapping[str | None, set[int]]) -> Any:
    """What was returned, as pandas DataFrames, without the rows at these places.

    Those are places in the frame of a partition where there is one for each, else in all of it.
    """
    if isinstance(value, Mapping):
        return {key: _remaining(part, out.get(str(key), set())) for key, part in value.items()}
    return _remaining(value, set().union(*out.values()))


def _remaining(frame: pd.DataFrame, left_out: set[int]) -> pd.DataFrame:
    return frame.iloc[[n for n in range(len(frame)) if n not in left_out]]
