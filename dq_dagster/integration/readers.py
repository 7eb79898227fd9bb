"""Where checks get an asset's data from."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import dagster as dg

from dq_dagster.errors import DeclarationError
from dq_dagster.integration.dagster_internals import load_asset_value
from dq_dagster.spark.paths import absolute

SPARK_RESOURCE = "pyspark"


class Reader(Protocol):
    """Something that reads an asset's data inside a check's step."""

    @property
    def required_resource_keys(self) -> frozenset[str]:
        """The Dagster resources it needs."""

    def read(self, context: dg.AssetCheckExecutionContext, key: dg.AssetKey) -> Any:
        """The data: a Spark or pandas DataFrame, or a dict of them by partition."""


@dataclass(frozen=True, slots=True)
class AssetIOManager:
    """Reads what the asset's own IO manager stored."""

    required_resource_keys: frozenset[str] = frozenset()

    def read(self, context: dg.AssetCheckExecutionContext, key: dg.AssetKey) -> Any:
        return load_asset_value(context, key)


@dataclass(frozen=True, slots=True)
class Table:
    """Reads a table of Spark's catalog, such as ``dq.Table("warehouse.orders")``."""

    name: str
    spark: str = field(default=SPARK_RESOURCE, kw_only=True)

    @property
    def required_resource_keys(self) -> frozenset[str]:
        return frozenset({self.spark})

    def read(self, context: dg.AssetCheckExecutionContext, key: dg.AssetKey) -> Any:
        return _session(context, self.spark).table(self.name)


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

    def read(self, context: dg.AssetCheckExecutionContext, key: dg.AssetKey) -> Any:
        reader = _session(context, self.spark).read.format(self.format)
        return reader.options(**self.options).load(absolute(self.path))


@dataclass(frozen=True, slots=True)
class Function:
    """Reads by calling a function with ``context`` and the resources its parameters name."""

    function: Callable[..., Any]

    @property
    def required_resource_keys(self) -> frozenset[str]:
        return frozenset(inspect.signature(self.function).parameters) - {"context"}

    def read(self, context: dg.AssetCheckExecutionContext, key: dg.AssetKey) -> Any:
        arguments = {name: getattr(context.resources, name) for name in self.required_resource_keys}
        if "context" in inspect.signature(self.function).parameters:
            arguments["context"] = context
        return self.function(**arguments)


def reader_of(declared: Any) -> Reader:
    """The reader that a rule set declares: nothing, a reader, or a function."""
    if declared is None:
        return AssetIOManager()
    if hasattr(declared, "read") and hasattr(declared, "required_resource_keys"):
        reader: Reader = declared
        return reader
    if callable(declared):
        return Function(declared)
    raise DeclarationError.of(
        f"{declared!r} is not a reader: give dq.Table(...), dq.Files(...) or a function."
    )


def _session(context: dg.AssetCheckExecutionContext, key: str) -> Any:
    resource = getattr(context.resources, key)
    return getattr(resource, "spark_session", resource)
