"""The longest text of a column, also inside structs, arrays and maps. Can not raise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pyspark.sql import types as T

from dq_dagster.errors import Misfit
from dq_dagster.metrics.metric import ColumnMax
from dq_dagster.metrics.recency import ColumnNewest, InLastWhile
from dq_dagster.metrics.schema import ITEMS, KEYS, VALUES, LongestText
from dq_dagster.metrics.states import Extreme
from dq_dagster.spark.expressions.aggregates import Aggregates, aggregates
from dq_dagster.spark.expressions.predicates import predicate
from dq_dagster.spark.frames.columns import ColumnRef, Table, find_field, identifier

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


@aggregates.register
def _(metric: LongestText, table: Table) -> Aggregates:
    column = table.column(metric.path[0])
    length = _Lengths(table.case_sensitive).of(column, metric.path[1:], depth=0)
    return Aggregates(
        lambda results: Extreme("max", results["length"]), others={"length": f"max({length})"}
    )


@dataclass(frozen=True, slots=True)
class _Lengths:
    """The SQL of the longest text that a path leads to, within one row."""

    case_sensitive: bool

    def of(self, part: ColumnRef, path: Sequence[str], depth: int) -> str:
        if not path:
            part.require((T.StringType,), what="A length in characters", wanted="a string")
            return f"length({part.sql})"
        name, *rest = path
        below = f"{part.name}.{name}"
        match part.kind:
            case T.StructType():
                field = self._field(part.kind, name, below)
                step = ColumnRef(below, f"{part.sql}.{identifier(field.name)}", field.dataType)
                return self.of(step, rest, depth)
            case T.ArrayType() if name == ITEMS:
                return self._longest(part.sql, part.kind.elementType, below, rest, depth)
            case T.MapType() if name == KEYS:
                keys = f"map_keys({part.sql})"
                return self._longest(keys, part.kind.keyType, below, rest, depth)
            case T.MapType() if name == VALUES:
                values = f"map_values({part.sql})"
                return self._longest(values, part.kind.valueType, below, rest, depth)
        raise Misfit.no_column(below, [])

    def _longest(
        self, array: str, kind: T.DataType, name: str, path: Sequence[str], depth: int
    ) -> str:
        item = f"x{depth}"
        inner = self.of(ColumnRef(name, item, kind), path, depth + 1)
        return f"array_max(transform({array}, {item} -> {inner}))"

    def _field(self, kind: T.StructType, name: str, path: str) -> T.StructField:
        if "${" in name:
            raise Misfit.substituted_name(path)
        found = find_field(kind, name, path, case_sensitive=self.case_sensitive)
        if found is None:
            raise Misfit.no_column(path, kind.names)
        return found
