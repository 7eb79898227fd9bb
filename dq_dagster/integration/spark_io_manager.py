"""Stores assets as files through Spark, and loads them lazily."""

# No "from __future__ import annotations": Dagster reads the annotations of resources.
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field

from dq_dagster.errors import Unassignable, UnreadableData
from dq_dagster.integration.partition_keys import partition_expr_of, partition_key_sql
from dq_dagster.spark.divided import Divided
from dq_dagster.spark.folder_names import asset_folder
from dq_dagster.spark.frames import all_storable, storable
from dq_dagster.spark.java import ensure_java
from dq_dagster.spark.paths import absolute


class SparkIOManager(dg.ConfigurableIOManager):
    """Keeps each asset in a folder of its own below ``path``, in any format that Spark knows.

    Takes Spark and pandas DataFrames. On a local file system the new data takes the place of the
    old only when it is written completely, and whoever reads the old data can go on with that;
    elsewhere Spark's own overwrite is used.

    A run writes only its own partitions, and loads only those that it depends on and that exist,
    as one DataFrame. A run of several partitions may return a dict of DataFrames by partition, or
    one DataFrame, whose rows are then told apart by the asset's ``partition_expr`` metadata.
    """

    pyspark: dg.ResourceDependency[Any]
    path: str = Field(description="The folder or URI below which assets are stored.")
    format: str = Field(default="parquet", description="A format that Spark can write and read.")
    keep_replaced_hours: float = Field(
        default=12,
        ge=0,
        description=(
            "How long replaced data stays on a local file system, for those who read it: it is "
            "removed by the first write after that, and by none in the first ten minutes."
        ),
    )

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        if obj is None:
            return
        if context.has_asset_partitions:
            context.add_output_metadata(self._store_partitions(context, obj))
            return
        frame = storable(obj, context.asset_key.to_user_string())
        place = self._store(context.asset_key).write_whole(frame)
        context.add_output_metadata({"path": place, "dagster/column_schema": _schema(frame)})

    def load_input(self, context: dg.InputContext) -> Any:
        if context.has_asset_partitions:
            frame = self.load_partitions(context.asset_key, context.asset_partition_keys)
        else:
            frame = self._store(context.asset_key).load_whole(self._session())
        return frame.toPandas() if _wants_pandas(context) else frame

    def load_partitions(self, asset_key: dg.AssetKey, keys: Sequence[str] | None) -> Any:
        """Those of the keys that exist as one lazy Spark DataFrame; without keys, all that do."""
        return self.load_divided(asset_key, keys).plain

    def load_divided(self, asset_key: dg.AssetKey, keys: Sequence[str] | None) -> Divided:
        """The same with a column that says which partition each row is stored in."""
        store = self._store(asset_key)
        # Behind a URI Dagster knows what exists; of a single partition Spark itself says it.
        if _is_remote(self.path) and (keys is None or len(keys) > 1):
            known = self.existing_partitions(asset_key)
            asked = known if keys is None else [key for key in keys if key in set(known)]
            if keys is not None and not asked:
                name = asset_key.to_user_string()
                raise UnreadableData.no_partition(name, keys, self._target(asset_key))
            keys = asked
        divided: Divided = store.load(self._session(), keys)
        return divided

    def existing_partitions(self, asset_key: dg.AssetKey) -> list[str]:
        """The partitions that are stored; behind a URI, those that Dagster knows of."""
        if not _is_remote(self.path):
            existing: list[str] = self._store(asset_key).existing()
            return existing
        instance = self.get_resource_context().instance
        return sorted(instance.get_materialized_partitions(asset_key) if instance else ())

    def _store_partitions(self, context: dg.OutputContext, obj: Any) -> dict[str, Any]:
        keys = [str(key) for key in context.asset_partition_keys]
        store = self._store(context.asset_key)
        name = context.asset_key.to_user_string()
        if isinstance(obj, Mapping):
            frames = _by_partition(name, obj, keys)
            frame, places = frames[keys[0]], store.write(frames)
        else:
            frame = all_storable({None: obj}, name)[None]
            if len(keys) == 1:
                places = store.write({keys[0]: frame})
            else:
                places = store.write_split(frame, _key_sql(context, frame, keys), keys)
        place = places[0] if len(keys) == 1 else self._target(context.asset_key)
        return {"path": place, "dagster/column_schema": _schema(frame)}

    def _store(self, asset_key: dg.AssetKey) -> Any:
        # Here, so that declaring resources needs no Spark.
        from dq_dagster.spark.local_partitions import LocalPartitions
        from dq_dagster.spark.remote_partitions import RemotePartitions

        name, target = asset_key.to_user_string(), self._target(asset_key)
        if _is_remote(target):
            return RemotePartitions(name, target, self.format)
        keep = self.keep_replaced_hours * 3600
        return LocalPartitions(name, Path(target), self.format, keep)

    def _session(self) -> Any:
        ensure_java()
        return getattr(self.pyspark, "spark_session", self.pyspark)

    def _target(self, key: dg.AssetKey) -> str:
        return f"{absolute(self.path).rstrip('/')}/{asset_folder(key.path)}"


def _is_remote(path: str) -> bool:
    return "://" in path


def _by_partition(asset: str, parts: Mapping[Any, Any], keys: Sequence[str]) -> dict[str, Any]:
    given = {str(key): part for key, part in parts.items()}
    unknown = [key for key in given if key not in keys]
    missing = [key for key in keys if key not in given]
    if unknown or missing:
        raise Unassignable.other_keys(asset, unknown, missing)
    return all_storable({key: given[key] for key in keys}, asset)


def _key_sql(context: dg.OutputContext, frame: Any, keys: Sequence[str]) -> str:
    name = context.asset_key.to_user_string()
    expression = partition_expr_of(name, context.definition_metadata or {})
    definition = context.asset_partitions_def
    return partition_key_sql(definition, expression, frame.schema, keys=keys, asset=name)


def _wants_pandas(context: dg.InputContext) -> bool:
    kind = context.dagster_type.typing_type
    return getattr(kind, "__module__", "").startswith("pandas")


def _schema(frame: Any) -> dg.TableSchema:
    return dg.TableSchema(
        [
            dg.TableColumn(
                name=field.name,
                type=field.dataType.simpleString(),
                constraints=dg.TableColumnConstraints(nullable=field.nullable),
            )
            for field in frame.schema.fields
        ]
    )
