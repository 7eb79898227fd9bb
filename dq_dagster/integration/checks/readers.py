"""Where checks get an asset's data from."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import dagster as dg

from dq_dagster.errors import DeclarationError
from dq_dagster.integration.internals import (
    io_manager_of,
    load_asset_value,
)
from dq_dagster.integration.step_context import StepContext
from dq_dagster.rules.fields.declared import DeclaredReader
from dq_dagster.spark.frames.divided import Divided
from dq_dagster.spark.frames.reading import absolute

SPARK_RESOURCE = "pyspark"
# The parameter of a function that can read some partitions only.
_PARTITIONS = "partitions"


class Reader(Protocol):
    """Something that reads an asset's data inside a check's step."""

    @property
    def required_resource_keys(self) -> frozenset[str]:
        """The Dagster resources it needs."""

    def read(self, context: StepContext, key: dg.AssetKey) -> Any:
        """The data: a Spark or pandas DataFrame, or a dict of them by partition."""


@runtime_checkable
class PartitionReader(Reader, Protocol):
    """A reader that can read some partitions and leave the others alone."""

    def read_partitions(
        self, context: StepContext, key: dg.AssetKey, partitions: Sequence[str]
    ) -> Any:
        """The data of these partitions: one DataFrame, or several by partition."""


@dataclass(frozen=True, slots=True)
class AssetIOManager:
    """Reads what the asset's own IO manager stored."""

    required_resource_keys: frozenset[str] = frozenset()

    def read(self, context: StepContext, key: dg.AssetKey) -> Any:
        return load_asset_value(context, key)

    def read_partitions(
        self, context: StepContext, key: dg.AssetKey, partitions: Sequence[str]
    ) -> Any:
        manager = io_manager_of(context, key)
        if isinstance(manager, DividingIOManager):
            return manager.load_divided(key, partitions)
        return load_asset_value(context, key, partitions)


@runtime_checkable
class DividingIOManager(Protocol):
    """An IO manager that knows which partition each row is stored in."""

    def load_divided(self, asset_key: dg.AssetKey, keys: Sequence[str] | None) -> Divided:
        """Those of the partitions that exist."""

    def stored_partitions(self, asset_key: dg.AssetKey, keys: Sequence[str]) -> Collection[str]:
        """Those of the keys that could be loaded, known without reading their rows."""


@dataclass(frozen=True, slots=True)
class Table:
    """Reads a table of Spark's catalog, such as ``dq.Table("warehouse.orders")``."""

    name: str
    spark: str = field(default=SPARK_RESOURCE, kw_only=True)

    @property
    def required_resource_keys(self) -> frozenset[str]:
        return frozenset({self.spark})

    def read(self, context: StepContext, key: dg.AssetKey) -> Any:
        return session_of(context, self.spark).table(self.name)


@dataclass(frozen=True, slots=True)
class Files:
    """Reads files in any format that Spark knows."""

    path: str
    format: str = field(default="parquet", kw_only=True)
    options: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    spark: str = field(default=SPARK_RESOURCE, kw_only=True)

    @property
    def required_resource_keys(self) -> frozenset[str]:
        return frozenset({self.spark})

    def read(self, context: StepContext, key: dg.AssetKey) -> Any:
        reader = session_of(context, self.spark).read.format(self.format)
        return reader.options(**self.options).load(absolute(self.path))


@dataclass(frozen=True, slots=True)
class Function:
    """Reads by calling a function with ``context`` and the resources its parameters name."""

    function: Callable[..., Any]

    @property
    def required_resource_keys(self) -> frozenset[str]:
        return frozenset(inspect.signature(self.function).parameters) - {"context", _PARTITIONS}

    def read(self, context: StepContext, key: dg.AssetKey) -> Any:
        return self._call(context, None)

    def _call(self, context: StepContext, partitions: Sequence[str] | None) -> Any:
        given = {"context": context, _PARTITIONS: partitions}
        named = inspect.signature(self.function).parameters
        resources = {name: getattr(context.resources, name) for name in self.required_resource_keys}
        return self.function(**resources, **{k: v for k, v in given.items() if k in named})


class PartitionFunction(Function):
    """The same for a function with a parameter ``partitions``: the keys to read, None for all."""

    def read_partitions(
        self, context: StepContext, key: dg.AssetKey, partitions: Sequence[str]
    ) -> Any:
        return self._call(context, partitions)


def reader_of(declared: Any) -> Reader:
    """The reader that a rule set declares: nothing, a reader, or a function."""
    if declared is None:
        return AssetIOManager()
    if isinstance(declared, DeclaredReader):
        return _from_file(declared)
    if hasattr(declared, "read") and hasattr(declared, "required_resource_keys"):
        reader: Reader = declared
        return reader
    if callable(declared):
        selective = _PARTITIONS in inspect.signature(declared).parameters
        return PartitionFunction(declared) if selective else Function(declared)
    raise DeclarationError.of(
        f"{declared!r} is not a reader: give dq.Table(...), dq.Files(...) or a function."
    )


def _from_file(declared: DeclaredReader) -> Table | Files:
    if declared.table is not None:
        return Table(declared.table, spark=declared.spark)
    return Files(
        declared.files or "",
        format=declared.format,
        options=dict(declared.options),
        spark=declared.spark,
    )


def name_of(declared: Any) -> str:
    """A text that stays the same as long as a rule set reads its data the same way."""
    if isinstance(declared, DeclaredReader):
        declared = _from_file(declared)
    if declared is None or isinstance(declared, Table | Files):
        return str(declared)
    named = declared if hasattr(declared, "__qualname__") else type(declared)
    return f"{named.__module__}.{named.__qualname__}"


def session_of(context: StepContext, key: str) -> Any:
    resource = getattr(context.resources, key)
    return getattr(resource, "spark_session", resource)
