"""Stores assets as files through Spark, and loads them lazily."""

# No "from __future__ import annotations": Dagster reads the annotations of resources.
import shutil
import uuid
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field

from dq_dagster.errors import UnreadableData
from dq_dagster.spark.frames import as_spark
from dq_dagster.spark.java import ensure_java
from dq_dagster.spark.paths import absolute


class SparkIOManager(dg.ConfigurableIOManager):
    """Keeps each asset in a folder of its own below ``path``, in any format that Spark knows.

    Takes Spark and pandas DataFrames. On a local file system the new data takes the place of the
    old only when it is written completely; elsewhere Spark's own overwrite is used.
    """

    pyspark: dg.ResourceDependency[Any]
    path: str = Field(description="The folder or URI below which assets are stored.")
    format: str = Field(default="parquet", description="A format that Spark can write and read.")

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        if obj is None:
            return
        self._refuse_partitions(context)
        frame = as_spark(obj)
        target = self._target(context.asset_key)
        if "://" in target:
            frame.write.format(self.format).mode("overwrite").save(target)
        else:
            self._replace(frame, Path(target))
        context.add_output_metadata({"path": target, "dagster/column_schema": _schema(frame)})

    def load_input(self, context: dg.InputContext) -> Any:
        self._refuse_partitions(context)
        target = self._target(context.asset_key)
        if "://" not in target and not Path(target).exists():
            name = context.asset_key.to_user_string()
            raise UnreadableData(
                f"Asset '{name}' has not been materialized yet: nothing is stored at '{target}'."
            )
        frame = self._session().read.format(self.format).load(target)
        return frame.toPandas() if _wants_pandas(context) else frame

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

    def _refuse_partitions(self, context: dg.OutputContext | dg.InputContext) -> None:
        if context.has_asset_partitions:
            raise UnreadableData("SparkIOManager does not store partitioned assets.")


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
