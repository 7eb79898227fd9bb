"""Queries of users: each is a query of Spark's own, and several are run side by side.

Spark only ever sees a text within a SELECT of ours, where nothing but a query or an expression is
accepted: no text can change anything.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pyspark.errors import AnalysisException
from pyspark.sql import is_remote
from pyspark.util import inheritable_thread_target

from dq_dagster.errors import Misfit, RuleFailure, Unmeasurable
from dq_dagster.metrics.measured import Measured, Slice
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.queries import QueryCondition, QueryNumber, QueryPart, QueryTemplate
from dq_dagster.metrics.sources import QueryMetric
from dq_dagster.metrics.states import Opaque
from dq_dagster.spark.expressions.values import transport
from dq_dagster.spark.frames.ansi import home_of, in_session, with_views_of_home
from dq_dagster.spark.frames.columns import COMPARABLE, NUMBERS, ColumnRef, JudgedTable
from dq_dagster.spark.frames.failures import failure_of
from dq_dagster.spark.frames.slicing import Parts, States
from dq_dagster.spark.passes.isolation import attempted
from dq_dagster.spark.passes.user_code import entry, filtered, on_part
from dq_dagster.spark.session.session import is_case_sensitive, is_connect
from dq_dagster.sql.queries import TABLE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# More of them would only take cores from each other.
_SIDE_BY_SIDE = 4
# What the rows and the references are called in the texts that PySpark fills in.
_ROWS, _OTHER = "rows", "other_{}"
_ANSWER = "dq_answer"

_Key = TypeVar("_Key", bound=Hashable)
_Found = TypeVar("_Found")
Unit = tuple[str | QueryTemplate | QueryNumber, str | None]


@dataclass(frozen=True, slots=True)
class QueryRun:
    """A text in which PySpark finds frames by name, and what is bound to its markers."""

    sql: str
    frames: Mapping[str, DataFrame]
    bound: Mapping[str, Any] = field(default_factory=dict)

    def frame(self) -> DataFrame:
        session = self.frames[_ROWS].sparkSession
        return session.sql(self.sql, dict(self.bound) or None, **self.frames)


def run_queries(metrics: Sequence[Metric], parts: Parts, table: JudgedTable) -> States:
    """The state of each metric in each part, or why it has none.

    Metrics of one query share its run, and all queries on all parts share a few threads.
    """
    session = attempted(lambda: with_views_of_home(parts.frame.sparkSession), failure_of)
    if isinstance(session, RuleFailure):
        return {metric: Measured.failed(metric, session) for metric in metrics}
    units: dict[Unit, list[Metric]] = {}
    for metric in metrics:
        units.setdefault(_unit(metric), []).append(metric)
    found: dict[Metric, dict[Slice, Any]] = {metric: {} for metric in metrics}
    runs: dict[tuple[Slice, Unit], Callable[[], Any]] = {}
    for part, frame in parts.one_by_one():
        here = on_part(part, table)
        for unit, alike in units.items():
            if isinstance(here, RuleFailure):
                for metric in alike:
                    found[metric][part] = here
            else:
                runs[part, unit] = _prepared(unit, alike[0], frame, here, session)
    for (part, unit), answer in side_by_side(runs, session).items():
        for metric in units[unit]:
            found[metric][part] = _state(answer, metric)
    return {metric: Measured(metric, states, parts.cuts) for metric, states in found.items()}


def side_by_side(
    runs: Mapping[_Key, Callable[[], _Found]], session: SparkSession
) -> dict[_Key, _Found]:
    """What each call returns; none of them raises. Their jobs belong to the caller's group."""
    if len(runs) <= 1:
        return {key: run() for key, run in runs.items()}
    pool = ThreadPoolExecutor(_SIDE_BY_SIDE, thread_name_prefix="dq_query")
    try:
        started = {key: pool.submit(_inheriting(run, session)) for key, run in runs.items()}
        return {key: one.result() for key, one in started.items()}
    finally:
        # Should the caller be stopped, those that wait are not even begun.
        pool.shutdown(cancel_futures=True)


def _inheriting(run: Callable[[], _Found], session: SparkSession) -> Callable[[], _Found]:
    """The call with the job group, the tags and the deadline of this thread, in any other."""
    run = partial(copy_context().run, run)
    if is_connect(session) is not is_remote():
        # A session of Spark Connect beside classic Spark: PySpark knows no way.
        return run
    # For each call anew: Spark writes into the properties of a thread while a query runs, and two
    # threads with the same ones would overwrite each other's settings.
    inheriting: Callable[[], _Found] = inheritable_thread_target(session)(run)
    return inheriting


def _unit(metric: Metric) -> Unit:
    match metric:
        case QueryMetric():
            return metric.query, metric.where
        case QueryNumber():
            return metric, metric.where
        case QueryCondition() | QueryPart():
            return metric.template, metric.where
    raise TypeError(f"No query for {type(metric).__name__}.")


def _state(found: Any, metric: Metric) -> Any:
    """What the answer of a query says of one of its metrics."""
    if isinstance(found, RuleFailure):
        return found
    match metric:
        case QueryMetric():
            return entry(found, metric)
        case QueryPart():
            return found.get(metric.subquery, Unmeasurable.no_value(metric.subquery))
    return found[_ANSWER]


def _prepared(
    unit: Unit, metric: Metric, frame: DataFrame, table: JudgedTable, session: SparkSession
) -> Callable[[], Any]:
    """The run of a query, which may be called in any thread; what it reads is found here and now.

    Data of other assets is loaded by code that may not expect threads.
    """
    query, where = unit

    def explained(error: Exception) -> RuleFailure:
        moved = home_of(frame.sparkSession) is not frame.sparkSession
        unknown = isinstance(error, AnalysisException) and error.getCondition()
        # It may be a function that only the home session knows.
        known_at_home = moved and unknown == "UNRESOLVED_ROUTINE"
        return Unmeasurable.not_ansi() if known_at_home else failure_of(error)

    def ready() -> Callable[[], Any]:
        table.require_ansi()
        rows = in_session(filtered(frame, where, table), session)
        if isinstance(query, str):
            plain = cast("QueryMetric", metric)
            return lambda: _only_row(plain, rows)
        template = query.template if isinstance(query, QueryNumber) else query
        frames = {_ROWS: rows, **_others(template, frame, table, session)}
        answer = _number if isinstance(query, QueryNumber) else _condition
        return lambda: answer(template, frames)

    prepared = attempted(ready, explained)
    if isinstance(prepared, RuleFailure):
        failure = prepared
        return lambda: failure
    run = prepared
    return lambda: attempted(run, explained)


def _others(
    template: QueryTemplate, frame: DataFrame, table: JudgedTable, session: SparkSession
) -> dict[str, DataFrame]:
    """The references by what the text calls them."""
    home = home_of(frame.sparkSession)
    found = [
        table.other_datasets.frame_of(dataset, frame, home) for _, dataset in template.references
    ]
    return {_OTHER.format(n): in_session(other, session) for n, other in enumerate(found)}


def _only_row(metric: QueryMetric, rows: DataFrame) -> Mapping[str, Any]:
    # As a subquery, nothing but a query is accepted, and no more than two rows are ever fetched.
    text = f"SELECT * FROM (\n{_only_table(metric.query)}\n) LIMIT 2"  # noqa: S608 (the author's own SQL)
    found = QueryRun(text, {_ROWS: rows}).frame()
    names = found.columns
    exact = is_case_sensitive(rows.sparkSession)
    if len({name if exact else name.lower() for name in names}) < len(names):
        raise Misfit.query_shape(metric.label, f"columns of one name among {', '.join(names)}")
    answer = _fetched(found)
    if len(answer) != 1:
        raise Misfit.query_shape(metric.label, "no row" if not answer else "more than one row")
    return dict(zip(names, answer[0], strict=True))


def _only_table(query: str) -> str:
    """The query for PySpark, which replaces what is in braces: only the table is to be."""
    return f"{{{_ROWS}}}".join(map(_literally, query.split(TABLE)))


def _literally(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _slots(template: QueryTemplate, frames: Mapping[str, DataFrame]) -> dict[str, str]:
    """What stands in the place of each name, in a text that PySpark fills in."""
    names = [TABLE, *(f"{{{name}}}" for name, _ in template.references)]
    braced = [f"{{{name}}}" for name in frames]
    slots = dict(zip(names, braced, strict=True))
    return slots | {slot: _literally(sql) for slot, sql in template.marked.items()}


def _whole(template: QueryTemplate, frames: Mapping[str, DataFrame]) -> DataFrame:
    """What a whole query gives; as a subquery, nothing but a query is accepted."""
    filled = template.read.filled(_slots(template, frames), literally=_literally)
    text = f"SELECT * FROM (\n{filled}\n) LIMIT 2"  # noqa: S608 (the author's own SQL)
    return QueryRun(text, frames, template.bound).frame()


def _number(template: QueryTemplate, frames: Mapping[str, DataFrame]) -> Mapping[str, Any]:
    """The value of a query that gives one; raises Misfit if it gives more or less."""
    found = _whole(template, frames)
    if len(found.schema.fields) != 1:
        raise Misfit.query_number(f"{len(found.schema.fields)} columns")
    if not isinstance(found.schema.fields[0].dataType, NUMBERS):
        raise Misfit.query_number(f"a column of type {found.schema.fields[0].dataType.typeName()}")
    rows = _fetched(found)
    if len(rows) != 1:
        raise Misfit.query_number("no row" if not rows else "more than one row")
    return {_ANSWER: rows[0][0]}


def _condition(template: QueryTemplate, frames: Mapping[str, DataFrame]) -> Mapping[str, Any]:
    """The answer as a state, and the values of its subqueries by their text."""
    query = template.read
    if query.is_query:
        return {_ANSWER: _only_answer(_whole(template, frames))}
    slots = _slots(template, frames)
    filled = query.filled(slots, literally=_literally)
    # Beside the answer, each value once more: Spark computes equal subqueries once.
    values = {
        one.text: query.filled(slots, one.start, one.stop, _literally) for one in query.values
    }
    columns = [filled, *values.values()]
    text = "SELECT " + ", ".join(f"(\n{sql}\n) AS c{n}" for n, sql in enumerate(columns))
    found = QueryRun(text, frames, template.bound).frame()
    kind, *kinds = found.schema.fields
    simple = [n for n, one in enumerate(kinds, 1) if isinstance(one.dataType, COMPARABLE)]
    answer, *fetched = _fetched(found.select("c0", *(f"c{n}" for n in simple)))[0]
    texts = list(values)
    by_text = {texts[n - 1]: value for n, value in zip(simple, fetched, strict=True)}
    return {**by_text, _ANSWER: Opaque(kind.dataType.simpleString(), answer)}


def _only_answer(found: DataFrame) -> Opaque:
    """What a whole query says; raises Misfit unless it is one row with one condition."""
    kinds = [one.dataType.simpleString() for one in found.schema.fields]
    if len(kinds) != 1:
        raise Misfit.query_answer(f"{len(kinds)} columns")
    if kinds[0] not in {"boolean", "void"}:
        raise Misfit.query_answer(f"a column of type {kinds[0]}")
    rows = _fetched(found)
    if len(rows) != 1:
        raise Misfit.query_answer("no row" if not rows else "more than one row")
    return Opaque(kinds[0], rows[0][0])


def _fetched(found: DataFrame) -> list[list[Any]]:
    """The rows of a result, with each value as Python has it."""
    columns = [
        ColumnRef(field.name, f"c{n}", field.dataType)
        for n, field in enumerate(found.schema.fields)
    ]
    ways = [transport(column) for column in columns]
    plain = [
        f"{sql.format(column.sql)} AS {column.sql}"
        for (sql, _), column in zip(ways, columns, strict=True)
    ]
    rows = found.toDF(*(column.sql for column in columns)).selectExpr(*plain).collect()
    return [[read(value) for (_, read), value in zip(ways, row, strict=True)] for row in rows]
