"""Stores assets as files through Spark, and loads them lazily."""

# No "from __future__ import annotations": Dagster reads the annotations of resources.
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import dagster as dg
from pydantic import Field

from dq_dagster.errors import MissingPartitions, NothingStored, Unassignable, UnreadableData
from dq_dagster.integration.checks.failures import absent_partitions, absent_whole
from dq_dagster.integration.internals import add_partition_metadata, is_external
from dq_dagster.integration.partitions.keys import partition_expr_of, partition_key_sql
from dq_dagster.spark.frames.divided import Divided
from dq_dagster.spark.frames.frames import all_storable, is_frame, storable
from dq_dagster.spark.frames.reading import absolute, is_remote
from dq_dagster.spark.session.java import ensure_java
from dq_dagster.spark.session.session import current_session, is_started
from dq_dagster.storage.folders import asset_folder
from dq_dagster.storage.run_values import RunValue
from dq_dagster.storage.store import Store, Stored, store_at


class SparkIOManager(dg.ConfigurableIOManager):
    """Keeps each asset in a folder of its own below ``path``, in any format that Spark knows.

    Takes Spark and pandas DataFrames. On a local file system the new data takes the place of the
    old only when it is written completely, and whoever reads the old data can go on with that;
    on object stores Spark's own overwrite is used.

    A run writes only its own partitions, and loads only those that it depends on and that exist,
    as one DataFrame. A run of several partitions may return a dict of DataFrames by partition, or
    one DataFrame, whose rows are then assigned by the asset's ``partition_expr`` metadata.
    A partition whose files are gone is not left out: loading it raises.

    The metadata ``path`` of a materialization, and of each of its partitions, names a folder that
    holds exactly the rows that were stored, also for those who read it without this library. A
    rebuild has a path of its own; the old one stays for ``keep_replaced_hours``.

    What is passed between the ops of a graph, as in ``graph_asset``, belongs to no asset: it is
    kept below ``.dq_runs``, in a folder of the run, the step and the output, DataFrames as files,
    anything else pickled. The run, and runs that go on where it failed, find it there. On a local
    file system the folders of runs that wrote nothing for ``keep_runs_days`` are removed by the
    next run that writes one; behind a URI, let the store expire what is below ``.dq_runs``.
    """

    pyspark: dg.ResourceDependency[Any] = None  # type: ignore[assignment]
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

    keep_runs_days: float = Field(
        default=7,
        gt=0,
        description=(
            "How long values stay on a local file system that ops pass on to each other, for runs "
            "that are started again from where they failed."
        ),
    )

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        if not context.has_asset_key:
            context.add_output_metadata(self._store_run_value(context, obj))
            return
        if obj is None:
            return
        if isinstance(obj, Published):
            obj.add_metadata(context)
            return
        if context.has_asset_partitions:
            context.add_output_metadata(self._store_partitions(context, obj))
            return
        frame = storable(obj, context.asset_key.to_user_string())
        stored = self.store(context.asset_key).write_whole(frame)
        context.add_output_metadata({"path": stored.place, **_schema(stored)})

    def load_input(self, context: dg.InputContext) -> Any:
        upstream = context.upstream_output
        if context.has_asset_key:
            load = self._load_some if context.has_asset_partitions else self._load_whole
            value = load(context)
        elif upstream is not None and upstream.has_asset_key:
            value = self._load_own(upstream)
        elif upstream is not None:
            value = self._run_value(upstream).load(self.session())
        else:
            raise NothingStored.no_source(context.name)
        return value.toPandas() if _wants_pandas(context) and is_frame(value) else value

    def _load_own(self, output: dg.OutputContext) -> Any:
        """What another op of the same graph gave out as an asset."""
        if output.has_asset_partitions:
            return self.load_partitions(output.asset_key, output.asset_partition_keys)
        return self.store(output.asset_key).load_whole(self.session())

    def _store_run_value(self, context: dg.OutputContext, obj: Any) -> dict[str, Any]:
        place = self._run_value(context).write(self.session(), obj)
        return {} if place is None else {"path": place}

    def _run_value(self, output: dg.OutputContext) -> RunValue:
        parts = [str(part) for part in output.get_identifier()]
        keep = self.keep_runs_days * 24 * 3600
        return RunValue(absolute(self.path).rstrip("/"), tuple(parts), self.format, keep)

    def _load_whole(self, context: dg.InputContext) -> Any:
        try:
            return self.store(context.asset_key).load_whole(self.session())
        except NothingStored as error:
            raise _absence(context) or error from None

    def _load_some(self, context: dg.InputContext) -> Any:
        keys = context.asset_partition_keys
        try:
            divided = self.load_divided(context.asset_key, keys)
        except NothingStored as error:
            raise _absence(context, keys) or error from None
        missing = [key for key in keys if key not in (divided.partitions or ())]
        absence = _absence(context, missing)
        if isinstance(absence, MissingPartitions) and absence.gone:
            raise absence
        return divided.plain

    def load_partitions(self, asset_key: dg.AssetKey, keys: Sequence[str] | None) -> Any:
        """Those of the keys that exist as one lazy Spark DataFrame; without keys, all that do."""
        return self.load_divided(asset_key, keys).plain

    def load_divided(self, asset_key: dg.AssetKey, keys: Sequence[str] | None) -> Divided:
        """The same with a column that says which partition each row is stored in."""
        store = self.store(asset_key)
        # Behind a URI Dagster knows what exists; of a single partition Spark itself says it.
        if is_remote(self.path) and (keys is None or len(keys) > 1):
            known = self.existing_partitions(asset_key)
            there = known if keys is None else [key for key in keys if key in set(known)]
            if keys is not None and not there:
                name = asset_key.to_user_string()
                raise NothingStored.of_partitions(name, keys, self._target(asset_key))
            keys = there
        return store.load(self.session(), keys)

    def existing_partitions(self, asset_key: dg.AssetKey) -> list[str]:
        """The partitions that are stored; behind a URI, those that Dagster knows of."""
        existing = self.store(asset_key).existing()
        if existing is not None:
            return existing
        instance = self.get_resource_context().instance
        return sorted(instance.get_materialized_partitions(asset_key) if instance else ())

    def stored_partitions(self, asset_key: dg.AssetKey, keys: Sequence[str]) -> Collection[str]:
        """Those of the keys that can be loaded, whatever Dagster knows of them."""
        return self.store(asset_key).stored_among(self.session(), keys)

    def _store_partitions(self, context: dg.OutputContext, obj: Any) -> dict[str, Any]:
        keys = [str(key) for key in context.asset_partition_keys]
        store = self.store(context.asset_key)
        name = context.asset_key.to_user_string()
        if isinstance(obj, Mapping):
            stored = store.write(by_partition(name, obj, keys))
        else:
            frame = all_storable({None: obj}, name)[None]
            if len(keys) == 1:
                stored = store.write({keys[0]: frame})
            else:
                stored = store.write_split(frame, _key_sql(context, frame, keys), keys)
        if len(keys) == 1:
            return {"path": stored.place, **_schema(stored)}
        add_partition_metadata(context, {key: {"path": stored.places[key]} for key in keys})
        return _schema(stored)

    def store(self, asset_key: dg.AssetKey) -> Store:
        """Where the data of an asset lies."""
        name, target = asset_key.to_user_string(), self._target(asset_key)
        return store_at(target, name, self.format, self.keep_replaced_hours * 3600)

    def session(self) -> Any:
        """The Spark session that it works with: where none is given, that of the process."""
        if self.pyspark is None:
            return current_session()
        if not is_started():
            ensure_java()
        return getattr(self.pyspark, "spark_session", self.pyspark)

    def _target(self, key: dg.AssetKey) -> str:
        return f"{absolute(self.path).rstrip('/')}/{asset_folder(key.path)}"


@dataclass(frozen=True, slots=True)
class Published:
    """Rows that are stored already, by a step that had to see to it itself.

    ``earlier`` says how many of them were stored before, by partition.
    """

    stored: Stored
    earlier: Mapping[str | None, int] = field(default_factory=dict)

    def add_metadata(self, context: dg.OutputContext) -> None:
        """What the materialization says of where the rows are."""
        places = self.stored.places
        if len(places) == 1:
            context.add_output_metadata({"path": self.stored.place, **_schema(self.stored)})
            return
        add_partition_metadata(context, {str(k): {"path": at} for k, at in places.items()})
        context.add_output_metadata(_schema(self.stored))

    def metadata(self, partition: str | None) -> dict[str, Any]:
        """The same for a materialization that the step reports itself."""
        return {"path": self.stored.places[partition], **_schema(self.stored)}


def _absence(context: dg.InputContext, keys: Sequence[str] | None = None) -> UnreadableData | None:
    """Why an asset, or some of its partitions, is not stored; None if it was never built."""
    # Without an instance, as in tests of the IO manager alone, nobody knows.
    with suppress(dg.DagsterInvariantViolationError):
        instance = context.instance
        if keys is not None:
            return absent_partitions(instance, context.asset_key, keys)
        external = is_external(context, context.asset_key)
        return absent_whole(instance, context.asset_key, external=external)
    return None


def by_partition(asset: str, parts: Mapping[Any, Any], keys: Sequence[str]) -> dict[str, Any]:
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


def _schema(stored: Stored) -> dict[str, Any]:
    columns = [
        dg.TableColumn(
            name=field.name,
            type=field.dataType.simpleString(),
            constraints=dg.TableColumnConstraints(nullable=field.nullable),
        )
        for field in stored.schema.fields
    ]
    return {"dagster/column_schema": dg.TableSchema(columns)}
