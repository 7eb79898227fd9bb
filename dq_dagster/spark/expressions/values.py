"""What metrics need of a pass: aggregates, and the values of columns on their way to Python."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

from pyspark.sql import types as T

from dq_dagster.errors import Misfit, Unmeasurable
from dq_dagster.metrics.constant import Single, rounded
from dq_dagster.metrics.frequency import Grouping, Members
from dq_dagster.metrics.sources import SqlAggregate
from dq_dagster.metrics.states import Opaque, State
from dq_dagster.spark.expressions.predicates import in_set, value_or_empty
from dq_dagster.spark.frames.columns import NUMBERS, ColumnRef, JudgedTable
from dq_dagster.sql.expressions import aggregate_calls, aggregate_columns_used, restricted

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = date(1970, 1, 1)
_UNCOUNTABLE = (T.MapType, T.VariantType)

Results = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sketch:
    """A summary of values in SQL: what makes one of values, what one of several, what it tells."""

    of_values: str
    of_sketches: str
    answer: Callable[[str], str]

    @property
    def sql(self) -> str:
        """The answer of values at once."""
        return self.answer(self.of_values)

    def merged(self, column: str) -> str:
        """The answer of the sketches in a column."""
        return self.answer(f"{self.of_sketches}({column})")


@dataclass(frozen=True, slots=True)
class Aggregates:
    """What one metric needs from a pass.

    ``counts`` are predicates whose rows are counted, ``others`` are whole SQL aggregates, and
    ``sketches`` such that can be merged, all by a name that ``state`` finds their results under.
    ``fallible`` marks text from users (SQL and patterns), which may raise on dirty data. ``calls``
    are the aggregates within ``others`` where those are larger expressions. Where the results leave
    the state open (None), ``closer`` settles it, which costs more. ``over_nothing`` is run without
    any rows, for parts that have none, where only Spark knows what the state of those is.
    """

    state: Callable[[Results], State | None]
    counts: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    fallible: bool = False
    calls: tuple[str, ...] = ()
    closer: Aggregates | None = None
    over_nothing: Aggregates | None = None
    sketches: Mapping[str, Sketch] = field(default_factory=dict)


def numeric_column(table: JudgedTable, name: str, what: str) -> ColumnRef:
    """The column, or Misfit if ``what`` cannot be taken of it."""
    column = table.column(name)
    column.require(NUMBERS, what=what, wanted="a number")
    return without_void(column)


def without_void(column: ColumnRef) -> ColumnRef:
    """A column of NULLs only has no type of its own; any will do."""
    if isinstance(column.kind, T.NullType):
        return ColumnRef(column.name, f"CAST({column.sql} AS INT)", T.IntegerType())
    return column


def value_or_null(value: str, where: str | None) -> str:
    """The value where the filter holds, else NULL."""
    # Not "FILTER (WHERE ...)": Spark may compute a shared subexpression before that filter.
    return value if where is None else f"if(({where}), {value}, NULL)"


def transport(column: ColumnRef) -> tuple[str, Callable[[Any], Any]]:
    """How a value travels so that Python neither shifts, rounds nor rejects it."""
    match column.kind:
        case T.DateType():
            return "unix_date({})", lambda days: _time(
                column, days, lambda n: _EPOCH_DAY + timedelta(days=n)
            )
        case T.TimestampType():
            # In UTC: times of one zone are compared by their wall clocks, which jump.
            return "unix_micros({})", lambda micros: _time(
                column, micros, lambda n: _EPOCH + timedelta(microseconds=n)
            )
        case T.TimestampNTZType():
            return "CAST({} AS STRING)", lambda text: _time(column, text, datetime.fromisoformat)
        case T.FloatType():
            return "{}", lambda value: None if value is None else Single(value)
        case _:
            return "{}", lambda value: value


def _time(column: ColumnRef, raw: Any, convert: Callable[[Any], Any]) -> Any:
    if raw is None:
        return None
    try:
        return convert(raw)
    except (OverflowError, ValueError):
        raise Unmeasurable(
            f"Column '{column.name}' of type {column.type_name} holds a time outside the years "
            "1 to 9999, which cannot be judged."
        ) from None


@dataclass(frozen=True, slots=True)
class Counting:
    """One grouping as SQL: its key, and the column that the key becomes."""

    grouping: Grouping
    sql: str
    key: ColumnRef
    sets: tuple[Members, ...] = ()

    def against(self, members: Members) -> Counting:
        """The same, with one more set to compare with; raises Misfit if it does not fit."""
        self.inside(members)
        return replace(self, sets=tuple(dict.fromkeys([*self.sets, members])))

    def inside(self, members: Members) -> str:
        return in_set(self.key, members.values, ignore_case=members.ignore_case)


def counting(grouping: Grouping, table: JudgedTable, *, alias: str) -> Counting:
    """Raises Misfit if a column is missing, or its values cannot be counted or compared."""
    columns = [table.column(name) for name in grouping.columns]
    for column in columns:
        if isinstance(column.kind, _UNCOUNTABLE):
            what, wanted = "Counting values", "a type whose values can be compared"
            raise Misfit.wrong_type(what, column.name, column.type_name, wanted)
    blank = grouping.blank_is_empty
    values = [value_or_empty(column, blank_is_empty=blank) for column in columns]
    sql = _struct(values) if grouping.counts_empty else _key(values)
    if grouping.where is not None:
        table.require_columns_of(grouping.where)
        sql = value_or_null(sql, grouping.where)
    is_value = len(columns) == 1 and not grouping.counts_empty
    kind = columns[0].kind if is_value else T.StructType()
    return Counting(grouping, sql, ColumnRef(grouping.key, alias, kind))


def _key(values: list[str]) -> str:
    """One value as it is; several as a struct, unless all of them are empty."""
    if len(values) == 1:
        return values[0]
    any_set = " OR ".join(f"{value} IS NOT NULL" for value in values)
    return f"if({any_set}, {_struct(values)}, NULL)"


def _struct(values: list[str]) -> str:
    fields = ", ".join(f"'f{n}', {value}" for n, value in enumerate(values))
    return f"named_struct({fields})"


_FORMATS = (
    "map('timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSSXXXXX', "
    "'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
)


def answer_sql(metric: SqlAggregate, table: JudgedTable) -> str:
    """The expression as one SQL text whose result says its type and its value.

    As JSON, because the type is not known before, and because Python could not fetch each value
    as it is (years beyond 9999, intervals). It is NULL where there are no rows, so that a part
    without any, in which something is divided by their number, does not raise for the others.
    """
    counted = "1" if metric.where is None else f"if(({metric.where}), 1, NULL)"
    return f"if(count({counted}) > 0, {answer_over_nothing_sql(metric, table)}, NULL)"


def answer_over_nothing_sql(metric: SqlAggregate, table: JudgedTable) -> str:
    """The same text, which also has an answer where there are no rows: ``count(*)`` is 0 there."""
    table.require_columns(aggregate_columns_used(metric.sql))
    answer = f"({restricted(metric.sql, metric.where)})"
    fields = f"'kind', typeof({answer}), 'value', {answer}"
    return f"to_json(named_struct({fields}), {_FORMATS})"


def calls_sql(metric: SqlAggregate) -> tuple[str, ...]:
    """The aggregates that Spark computes for the expression."""
    return tuple(call.sql(metric.where) for call in aggregate_calls(metric.sql))


def answered(results: Mapping[str, Any]) -> Opaque | None:
    """The state that the text's result stands for; None where there were no rows."""
    if results["answer"] is None:
        return None
    found = json.loads(results["answer"], parse_float=Decimal)
    kind: str = found["kind"]
    value = found.get("value")
    read: Callable[[Any], Any] = _READERS.get(kind.partition("(")[0], _as_text)
    return Opaque(kind, None if value is None else read(value))


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _instant(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return moment


def _time_or_text(read: Callable[[str], Any], text: str) -> Any:
    try:
        return read(text)
    except ValueError:
        # Before year 1 or after 9999, where Python has no times.
        return text


_READERS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), int),
    "decimal": Decimal,
    "float": lambda value: Single(rounded(float(value))),
    "double": float,
    "boolean": bool,
    "date": partial(_time_or_text, date.fromisoformat),
    "timestamp": partial(_time_or_text, _instant),
    "timestamp_ntz": partial(_time_or_text, datetime.fromisoformat),
}
