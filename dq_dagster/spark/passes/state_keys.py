"""Under which keys the states of metrics are kept, so that only like is merged with like."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from pyspark.sql import types as T

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.conditions import RowBreaks, ValueCondition
from dq_dagster.metrics.metric import (
    ColumnMax,
    ColumnMetric,
    ColumnMin,
    ConditionCount,
    Metric,
    RecordCount,
    RowMetric,
)
from dq_dagster.metrics.schema import LongestText
from dq_dagster.spark.frames.ansi import ANSI, home_of
from dq_dagster.sql.expressions import columns_used

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dq_dagster.spark.frames.columns import Table

_LONGEST_NAME = 80
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class StateKeys:
    """The keys of the states of one table's metrics.

    A state speaks of rows as they were read: it depends on the types of the columns that the
    metric looks at, on the session's zone, on whether rows were computed under ANSI, and on what
    a metric means in this version. All of that is in the key, so that states that would not add
    up never meet.
    """

    table: Table
    circumstances: tuple[str, ...]

    @classmethod
    def of(cls, table: Table, session: SparkSession) -> StateKeys:
        zone = session.conf.get("spark.sql.session.timeZone") or "UTC"
        ansi = f"ansi {home_of(session).conf.get(ANSI)}"
        return cls(table, (_package_version(), session.version, zone, ansi))

    def key(self, metric: Metric) -> str | None:
        """The key of a metric's states; None if they are not to be kept."""
        if not isinstance(metric, RowMetric) or metric.kept_as is None or not metric.lasting:
            return None
        try:
            types = self._types(_columns_of(metric))
        except RuleFailure:
            return None
        if isinstance(metric, ColumnMin | ColumnMax) and self._is_text(metric.column):
            # The values of rows stay where they are.
            return None
        whole = repr((self.circumstances, metric, types)).encode()
        name = metric.key if len(metric.key) <= _LONGEST_NAME else f"{metric.key[:_LONGEST_NAME]}…"
        return f"{name} #{hashlib.sha256(whole).hexdigest()[:_DIGITS]}"

    def _types(self, columns: Sequence[str] | None) -> list[tuple[str, str]]:
        names = self.table.schema.names if columns is None else columns
        return [(name, self.table.column(name).kind.json()) for name in names]

    def _is_text(self, column: str) -> bool:
        return isinstance(self.table.column(column).kind, T.StringType | T.BinaryType)


def _columns_of(metric: RowMetric) -> tuple[str, ...] | None:
    """The columns that a metric looks at; None if that is not known."""
    filtered = () if metric.where is None else columns_used(metric.where)
    match metric:
        case RecordCount():
            return filtered
        case ColumnMetric(column=column):
            return (column, *filtered)
        case LongestText(path=path):
            return (path[0], *filtered)
        case ConditionCount(condition=ValueCondition(column=column)):
            return (column, *filtered)
        case ConditionCount(condition=RowBreaks(sql=sql)):
            return (*columns_used(sql), *filtered)
    return None


@cache
def _package_version() -> str:
    try:
        return version("dq_dagster")
    except PackageNotFoundError:
        return "unknown"
