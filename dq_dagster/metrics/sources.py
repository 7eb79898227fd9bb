"""Metrics that are no measure of the rows: queries, functions, and what is on record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from dq_dagster.errors import Misfit
from dq_dagster.metrics.datasets import AssetData
from dq_dagster.metrics.metric import Metric

_SCALARS = (bool, int, float, Decimal, str, date)


@dataclass(frozen=True, slots=True)
class EntryMetric(Metric):
    """One of the values that a query or a function gives, or its only one."""

    label: str
    entry: str | None

    @property
    def name(self) -> str:
        return self.label if self.entry is None else f"{self.label}.{self.entry}"


@dataclass(frozen=True, slots=True)
class QueryMetric(EntryMetric):
    """A column of the only row of a query over the data, which the query calls ``{table}``."""

    query: str


@dataclass(frozen=True, slots=True)
class PythonMetric(EntryMetric):
    """What a function returns when it is called with the data."""

    function: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class MetadataMetric(Metric):
    """An entry of the metadata of an asset's latest materialization."""

    entry: str
    asset: str | None = None

    @property
    def name(self) -> str:
        return f"metadata:{self.entry}" + (f" of asset '{self.asset}'" if self.asset else "")


@dataclass(frozen=True, slots=True)
class RecordedMetric(Metric):
    """The value of a metric that was recorded last, for an asset or for the judged one."""

    metric: Metric
    asset: str | None = None

    @property
    def name(self) -> str:
        return f"recorded {self.metric.key}" + (f" of asset '{self.asset}'" if self.asset else "")


@dataclass(frozen=True, slots=True)
class MetricElsewhere(Metric):
    """A metric of another asset, measured on that asset's data."""

    metric: Metric
    dataset: AssetData

    @property
    def name(self) -> str:
        return f"{self.metric.key} of {self.dataset.label}"


def entry_of(found: Any, metric: EntryMetric) -> Any:
    """The value that the metric means, of a single value or of several by name."""
    if not isinstance(found, Mapping):
        if metric.entry is not None:
            raise Misfit.no_entries(metric.label, metric.entry)
        return scalar(found, metric.label)
    if metric.entry is None and len(found) == 1:
        return scalar(next(iter(found.values())), metric.label)
    if metric.entry not in found:
        raise Misfit.which_entry(metric.label, metric.entry, [str(name) for name in found])
    return scalar(found[metric.entry], metric.name)


def scalar(value: Any, label: str) -> Any:
    """A number, a text, a time or nothing; raises Misfit for anything else."""
    # NumPy's numbers are not Python's.
    boxed = type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0
    plain = value.item() if boxed else value
    if plain is not None and not isinstance(plain, _SCALARS):
        raise Misfit.no_scalar(label, type(value).__name__)
    return plain
