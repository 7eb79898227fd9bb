"""Stores assets as files through Spark, and loads them lazily."""

# No "from __future__ import annotations": Dagster reads the annotations of resources.
import shutil
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field

from dq_dagster.errors import Unassignable, UnreadableData
from dq_dagster.integration.partition_keys import partition_expr_of, partition_key_sql
from dq_dagster.spark.frames import as_spark
from dq_dagster.spark.java import ensure_java
from dq_dagster.spark.paths import absolute


class SparkIOManager(dg.ConfigurableIOManager):
    """Keeps each asset in a folder of its own below ``path``, in any format that Spark knows.

    Takes Spark and pandas DataFrames. On a local file system the new data takes the place of the
    old only when it is written completely; elsewhere Spark's own overwrite is used.

    A run writes only its own partitions, and loads only those that it depends on and that exist,
    as one DataFrame. A run of several partitions may return a dict of DataFrames by partition, or
    one DataFrame, whose rows are then told apart by the asset's ``partition_expr`` metadata.
    """

    pyspark: dg.ResourceDependency[Any]
    path: str = Field(description="The folder or URI below which assets are stored.")
    format: str = Field(default="parquet", description="A format that Spark can write and read.")

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        if obj is None:
            return
        if context.has_asset_partitions:
            context.add_output_metadata(self._store_partitions(context, obj))
            return
        frame = as_spark(obj)
        target = self._target(context.asset_key)
        if "://" in target:
            frame.write.format(self.format).mode("overwrite").save(target)
        else:
            self._replace(frame, Path(target))
        context.add_output_metadata({"path": target, "dagster/column_schema": _schema(frame)})

    def load_input(self, context: dg.InputContext) -> Any:
        if context.has_asset_partitions:
            frame = self.load_partitions(context.asset_key, context.asset_partition_keys)
        else:
            frame = self._load_whole(context.asset_key)
        return frame.toPandas() if _wants_pandas(context) else frame

    def load_partitions(self, asset_key: dg.AssetKey, keys: Sequence[str] | None) -> Any:
        """Those of the keys that exist as one lazy Spark DataFrame; without keys, all that do."""
        store = self._partitions(asset_key)
        if not _is_remote(self.path):
            return store.load(self._session(), keys)
        # Of a single partition Spark itself says whether it is there.
        if keys is None or len(keys) > 1:
            known = self.existing_partitions(asset_key)
            asked = known if keys is None else [key for key in keys if key in set(known)]
            if keys is not None and not asked:
                name = asset_key.to_user_string()
                raise UnreadableData.no_partition(name, keys, self._target(asset_key))
            keys = asked
        return store.load(self._session(), keys)

    def existing_partitions(self, asset_key: dg.AssetKey) -> list[str]:
        """The partitions that are stored; behind a URI, those that Dagster knows of."""
        if not _is_remote(self.path):
            existing: list[str] = self._partitions(asset_key).existing()
            return existing
        instance = self.get_resource_context().instance
        return sorted(instance.get_materialized_partitions(asset_key) if instance else ())

    def _store_partitions(self, context: dg.OutputContext, obj: Any) -> dict[str, Any]:
        keys = [str(key) for key in context.asset_partition_keys]
        store = self._partitions(context.asset_key)
        place = store.place_of(keys[0]) if len(keys) == 1 else self._target(context.asset_key)
        if isinstance(obj, Mapping):
            frames = _by_partition(context.asset_key.to_user_string(), obj, keys)
            store.write(frames)
            return {"path": place, "dagster/column_schema": _schema(frames[keys[0]])}
        frame = as_spark(obj)
        if len(keys) == 1:
            store.write({keys[0]: frame})
        else:
            store.write_split(frame, _key_sql(context, frame, keys), keys)
        return {"path": place, "dagster/column_schema": _schema(frame)}

    def _load_whole(self, asset_key: dg.AssetKey) -> Any:
        target = self._target(asset_key)
        if not _is_remote(target) and not Path(target).exists():
            name = asset_key.to_user_string()
            raise UnreadableData(
                f"Asset '{name}' has not been materialized yet: nothing is stored at '{target}'."
            )
        return self._session().read.format(self.format).load(target)

    def _partitions(self, asset_key: dg.AssetKey) -> Any:
        # Here, so that declaring resources needs no Spark.
        from dq_dagster.spark.local_partitions import LocalPartitions
        from dq_dagster.spark.remote_partitions import RemotePartitions

        name, target = asset_key.to_user_string(), self._target(asset_key)
        if _is_remote(target):
            return RemotePartitions(name, target, self.format)
        return LocalPartitions(name, Path(target), self.format)

    def _session(self) -> Any:
        ensure_java()
        return getattr(self.pyspark, "spark_session", self.pyspark)

    def _target(self, key: dg.AssetKey) -> str:
        return "/".join([absolute(self.path).rstrip("/"), *key.path])

    def _replace(self, frame: Any, target: Path) -> None:
        """Writes beside the old data, then swaps: a failed write leaves the old data alone."""
        target.parent.mkdir(parents=True, exist_ok=True)
        attempt = uuid.uuid4().hex
        fresh = target.with_name(f".{target.name}.{attempt}.new")
        stale = target.with_name(f".{target.name}.{attempt}.old")
        try:
            frame.write.format(self.format).save(str(fresh))
            if target.exists():
                target.rename(stale)
            fresh.rename(target)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
            shutil.rmtree(stale, ignore_errors=True)


def _is_remote(path: str) -> bool:
    return "://" in path


def _by_partition(asset: str, parts: Mapping[Any, Any], keys: Sequence[str]) -> dict[str, Any]:
    given = {str(key): part for key, part in parts.items()}
    unknown = [key for key in given if key not in keys]
    missing = [key for key in keys if key not in given]
    if unknown or missing:
        raise Unassignable.other_keys(asset, unknown, missing)
    return {key: as_spark(given[key]) for key in keys}


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
