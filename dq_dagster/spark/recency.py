"""How new rows are, in SQL that can not raise, whatever the calendar."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pyspark.sql import types as T

from dq_dagster.metrics.metric import ColumnMax
from dq_dagster.metrics.recency import ColumnNewest, InLastWhile
from dq_dagster.spark.aggregates import Aggregates, aggregates
from dq_dagster.spark.columns import ColumnRef, Table
from dq_dagster.spark.predicates import predicate

_TIMES = (T.DateType, T.TimestampType, T.TimestampNTZType, T.NullType)
_WANTED = "a date or a timestamp"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# Wall clocks near the ends of Spark's calendar have no instant in some zones; these all have.
_FIRST, _LAST = "TIMESTAMP_NTZ'-100000-01-01'", "TIMESTAMP_NTZ'+100000-01-01'"


@aggregates.register
def _(metric: ColumnNewest, table: Table) -> Aggregates:
    table.column(metric.column).require(_TIMES, what="An age", wanted=_WANTED)
    return aggregates.dispatch(ColumnMax)(metric, table)


@predicate.register
def _(condition: InLastWhile, table: Table) -> str:
    column = table.column(condition.column)
    column.require(_TIMES, what="A number of new rows", wanted=_WANTED)
    if isinstance(column.kind, T.NullType):
        return "false"
    until = (table.now - _EPOCH) // _MICROSECOND
    since = until - int(condition.seconds * 1_000_000)
    moment, after, up_to = _comparable(column, since, until)
    return f"({column.sql} IS NOT NULL AND {moment} > {after} AND {moment} <= {up_to})"


def _comparable(column: ColumnRef, since: int, until: int) -> tuple[str, str, str]:
    """The column and the ends of the window, as values of one type."""
    after, up_to = f"timestamp_micros({since}L)", f"timestamp_micros({until}L)"
    if isinstance(column.kind, T.DateType):
        # A midnight lies after an instant if its date does, and up to it likewise. Casting the
        # column instead would raise on dates that no timestamp can hold.
        return column.sql, f"CAST({after} AS DATE)", f"CAST({up_to} AS DATE)"
    if isinstance(column.kind, T.TimestampNTZType):
        within = f"least(greatest({column.sql}, {_FIRST}), {_LAST})"
        return f"CAST({within} AS TIMESTAMP)", after, up_to
    return column.sql, after, up_to
