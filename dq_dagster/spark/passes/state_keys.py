"""Under which keys the states of metrics are kept, so that only like is merged with like."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from pyspark.sql import types as T

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.metric import Metric
from dq_dagster.spark.frames.ansi import ANSI, home_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dq_dagster.spark.frames.columns import JudgedTable

_LONGEST_NAME = 80
_DIGITS = 12
_TEXTS = (T.StringType, T.BinaryType)


@dataclass(frozen=True, slots=True)
class StateKeys:
    """The keys of the states of one table's metrics.

    A state speaks of rows as they were read: it depends on the types of the columns that the
    metric reads, on the session's zone, on whether rows were computed under ANSI, and on what
    a metric means in this version. All of that is in the key, so that states that would not add
    up never meet.
    """

    table: JudgedTable
    circumstances: tuple[str, ...]

    @classmethod
    def of(cls, table: JudgedTable, session: SparkSession) -> StateKeys:
        zone = session.conf.get("spark.sql.session.timeZone") or "UTC"
        ansi = f"ansi {home_of(session).conf.get(ANSI)}"
        return cls(table, (_package_version(), session.version, zone, ansi))

    def key(self, metric: Metric) -> str | None:
        """The key of a metric's states; None if they are not to be kept."""
        if metric.kept_as is None or not metric.lasting:
            return None
        columns = metric.columns
        try:
            names = self.table.schema.names if columns is None else columns
            kinds = [(name, self.table.column(name).kind) for name in names]
        except RuleFailure:
            return None
        if metric.shows_a_value and any(
            isinstance(kind, _TEXTS) for _, kind in (kinds if columns is None else kinds[:1])
        ):
            # The values of rows stay where they are.
            return None
        types = [(name, kind.json()) for name, kind in kinds]
        whole = repr((self.circumstances, metric, types)).encode()
        name = metric.key if len(metric.key) <= _LONGEST_NAME else f"{metric.key[:_LONGEST_NAME]}…"
        return f"{name} #{hashlib.sha256(whole).hexdigest()[:_DIGITS]}"


@cache
def _package_version() -> str:
    try:
        return version("dq_dagster")
    except PackageNotFoundError:
        return "unknown"
