"""Metrics that users write, in SQL and Python, and those that come from beside the rows."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, ClassVar

from dq_dagster.errors import Misfit
from dq_dagster.metrics.conditions import Condition, PassKind
from dq_dagster.metrics.metric import Burden, Metric, RowMetric
from dq_dagster.metrics.states import Opaque
from dq_dagster.sql.expressions import aggregate_calls, aggregate_columns_used


@dataclass(frozen=True, slots=True)
class OtherDataset(ABC):
    """A dataset beside the one that is judged."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What messages call it, such as "asset 'customers'"."""


@dataclass(frozen=True, slots=True)
class AssetData(OtherDataset):
    """What an asset holds, by the asset's key as text."""

    asset: str

    @property
    def label(self) -> str:
        return f"asset '{self.asset}'"


@dataclass(frozen=True, slots=True)
class TableData(OtherDataset):
    """A table of the catalog of the Spark session that the data belongs to."""

    name: str

    @property
    def label(self) -> str:
        return f"table '{self.name}'"


@dataclass(frozen=True, slots=True)
class FileData(OtherDataset):
    """Files in any format that Spark knows."""

    path: str
    format: str = "parquet"
    options: tuple[tuple[str, str], ...] = ()

    @property
    def label(self) -> str:
        return f"files '{self.path}'"


@dataclass(frozen=True, slots=True)
class Lookup:
    """The values of some columns, together, and the columns of a dataset to find them in."""

    columns: tuple[str, ...]
    blank_is_empty: bool
    dataset: OtherDataset
    reference_columns: tuple[str, ...]

    @property
    def key(self) -> str:
        blank = " (blank is empty)" if self.blank_is_empty else ""
        there = ",".join(self.reference_columns)
        return f"{','.join(self.columns)} ({there} of {self.dataset.label}){blank}"

    @property
    def flag(self) -> str:
        """The column that says whether a row's values were found; no table has it by chance."""
        return f"dq_found_{hashlib.sha256(repr(self).encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class ReferenceMembership(Condition):
    """The row's values are (or are not) among the reference's; false where all are empty."""

    lookup: Lookup
    member: bool
    kind: ClassVar[PassKind] = PassKind.LOOKUPS

    @property
    def key(self) -> str:
        return f"{'in' if self.member else 'not_in'}_reference:{self.lookup.key}"

    @property
    def columns(self) -> tuple[str, ...]:
        return self.lookup.columns

    @property
    def unit(self) -> Lookup:
        return self.lookup

    @property
    def lasting(self) -> bool:
        return False


_TRUTH = frozenset({"boolean", "void"})
_SCALARS = (bool, int, float, Decimal, str, date)


@dataclass(frozen=True, slots=True)
class SqlAggregate(RowMetric):
    """The value of an expression over aggregates, such as ``sum(amount) / count(*)``."""

    sql: str
    mergeable: ClassVar[bool] = False
    slots: ClassVar[int] = 2

    @property
    def name(self) -> str:
        return f"sql:{self.sql}"

    @property
    def columns(self) -> tuple[str, ...]:
        return self._with_filter(*aggregate_columns_used(self.sql))

    @property
    def burdens(self) -> frozenset[Burden]:
        calls = aggregate_calls(self.sql)
        distinct = {call.distinct_values(self.where) for call in calls}
        bulky = {call.sql(self.where) for call in calls if call.is_bulky}
        return frozenset(
            [
                *(Burden(f"DISTINCT {values}") for values in distinct if values),
                *(Burden(text, may_share=True) for text in bulky),
            ]
        )

    def value(self, state: Opaque) -> Any:
        return state.value


@dataclass(frozen=True, slots=True)
class SqlCondition(SqlAggregate):
    """Whether an expression over aggregates is true; None where Spark does not know (NULL).

    The aggregates in it are metrics of their own, so that it takes nothing but their results.
    """

    slots: ClassVar[int] = 0

    @property
    def name(self) -> str:
        return f"holds:{self.sql}"

    def value(self, state: Opaque) -> bool | None:
        return truth(state, self.sql)


def truth(state: Opaque, sql: str) -> bool | None:
    """What Spark answered to a condition; raises Misfit if it is none."""
    if state.kind not in _TRUTH:
        raise Misfit.not_a_condition(sql, state.kind)
    answer: bool | None = state.value
    return answer


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

    @property
    def kind(self) -> PassKind:
        return PassKind.QUERIES


@dataclass(frozen=True, slots=True)
class PythonMetric(EntryMetric):
    """What a function returns when it is called with the data."""

    function: Callable[..., Any]

    @property
    def kind(self) -> PassKind:
        return PassKind.PYTHON


@dataclass(frozen=True, slots=True)
class MetadataMetric(Metric):
    """An entry of the metadata of an asset's latest materialization."""

    from_log: ClassVar[bool] = True

    entry: str
    asset: str | None = None

    @property
    def name(self) -> str:
        return f"metadata:{self.entry}" + (f" of asset '{self.asset}'" if self.asset else "")


@dataclass(frozen=True, slots=True)
class RecordedMetric(Metric):
    """The value of a metric that was recorded last, for an asset or for the judged one."""

    from_log: ClassVar[bool] = True

    metric: Metric
    asset: str | None = None

    @property
    def name(self) -> str:
        return f"recorded {self.metric.key}" + (f" of asset '{self.asset}'" if self.asset else "")


@dataclass(frozen=True, slots=True)
class OtherAssetMetric(Metric):
    """A metric of another asset, measured on that asset's data."""

    metric: Metric
    dataset: AssetData

    @property
    def name(self) -> str:
        return f"{self.metric.key} of {self.dataset.label}"

    @property
    def kind(self) -> PassKind:
        return PassKind.OTHER_ASSETS


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


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a function gets beside the data."""

    caller: str
    """The name of the rule or metric that the function is called for."""
    asset: str
    """The key of the asset that the data belongs to."""
    partition: str | None
    """The partition that the data is; None if it is the whole dataset."""
    now: datetime
    """The time that ages are counted from."""


@dataclass(frozen=True, slots=True)
class PythonCall(Metric):
    """What a function returns when it is called with the data, for one rule."""

    caller: str
    function: Callable[..., Any]
    # The caller's name is unique, and arguments from YAML may be lists, which have no hash.
    arguments: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        return f"python:{self.caller}"

    @property
    def kind(self) -> PassKind:
        return PassKind.PYTHON


@dataclass(frozen=True, slots=True)
class FileMetric(Metric):
    """A metric of the files that the rows are read from."""

    @property
    def kind(self) -> PassKind:
        return PassKind.FILES


@dataclass(frozen=True, slots=True)
class FileBytes(FileMetric):
    """The bytes that the files take, all together."""

    @property
    def name(self) -> str:
        return "file_size"


@dataclass(frozen=True, slots=True)
class FileCount(FileMetric):
    """The number of files."""

    @property
    def name(self) -> str:
        return "file_count"
