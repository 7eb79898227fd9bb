"""Calling functions of users with the data; whatever they raise stays with their rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from pyspark.errors import AnalysisException, PySparkException

from dq_dagster.errors import Misfit, RuleFailure, Unmeasurable
from dq_dagster.judging.wording import presentable
from dq_dagster.metrics.measured import WHOLE, Measured, Slice
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.sources import CallContext, PythonCall, PythonMetric, QueryMetric, entry_of
from dq_dagster.spark.expressions.aggregates import transport
from dq_dagster.spark.frames.ansi import at_home, beside_its_views, home_of
from dq_dagster.spark.frames.columns import ColumnRef, Table
from dq_dagster.spark.frames.failures import told
from dq_dagster.spark.frames.slicing import Parts
from dq_dagster.spark.session.session import is_case_sensitive

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

States = dict[Metric, Measured]


def call_functions(metrics: Sequence[Metric], parts: Parts, table: Table) -> States:
    """What each function returned for each part, or a RuleFailure for each that raised."""
    return one_by_one(metrics, parts, table, _returned)


def one_by_one(
    metrics: Sequence[Metric],
    parts: Parts,
    table: Table,
    answers: Callable[[Sequence[Metric], DataFrame, Table], dict[Metric, Any]],
) -> States:
    """The states of metrics that are asked of each part by itself."""
    found: dict[Metric, dict[Slice, Any]] = {metric: {} for metric in metrics}
    for part, frame in parts.one_by_one():
        around = replace(table.other_datasets, partition=part.partition)
        if part == WHOLE and table.clashes:
            # Nobody knows which columns they look at, and one of them is not there.
            clash = next(iter(table.clashes.values()))
            found |= {metric: {**values, part: clash} for metric, values in found.items()}
            continue
        for metric, value in answers(metrics, frame, replace(table, other_datasets=around)).items():
            found[metric][part] = value
    return {metric: Measured(metric, values, parts.cuts) for metric, values in found.items()}


def _returned(metrics: Sequence[Metric], frame: DataFrame, table: Table) -> dict[Metric, Any]:
    answers: dict[Metric, Any] = {}
    values: dict[tuple[Any, str | None], Any] = {}
    for call in cast("Sequence[PythonCall | PythonMetric]", metrics):
        if isinstance(call, PythonCall):
            told_to = call.arguments
            answers[call] = answer(call.function, call.caller, call.where, frame, table, **told_to)
            continue
        # The metrics of one function share its call.
        asked = (call.function, call.where)
        if asked not in values:
            values[asked] = answer(call.function, call.label, call.where, frame, table)
        answers[call] = _returned_entry(values[asked], call)
    return answers


def _returned_entry(found: Any, metric: PythonMetric) -> Any:
    try:
        return found if isinstance(found, RuleFailure) else entry_of(found, metric)
    except RuleFailure as failure:
        return failure


def answer(
    function: Callable[..., Any],
    caller: str,
    where: str | None,
    frame: DataFrame,
    table: Table,
    **arguments: Any,
) -> Any:
    around = table.other_datasets
    context = CallContext(caller, around.asset, around.partition, table.now)
    try:
        return function(at_home(filtered(frame, where, table)), context, **arguments)
    except RuleFailure as failure:
        return failure
    except PySparkException as error:
        # Spark's text may quote rows, unlike that of the author.
        return told(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 (the isolation boundary)
        return Unmeasurable.raised(type(error).__name__, presentable(str(error)))


def filtered(frame: DataFrame, where: str | None, table: Table) -> DataFrame:
    """The rows that pass the filter; raises a RuleFailure if it names unknown columns."""
    if where is None:
        return frame
    table.require_columns_of(where)
    return frame.where(f"({where})")


_TABLE = "{table}"

Row = Mapping[str, Any]


def run_queries(metrics: Sequence[Metric], parts: Parts, table: Table) -> States:
    """The value of each metric in each part, or why it has none."""
    return one_by_one(metrics, parts, table, _answers)


def _answers(metrics: Sequence[Metric], frame: DataFrame, table: Table) -> dict[Metric, Any]:
    """Metrics of one query share its run."""
    answers: dict[tuple[str, str | None], Row | RuleFailure] = {}
    values: dict[Metric, Any] = {}
    for metric in cast("Sequence[QueryMetric]", metrics):
        asked = (metric.query, metric.where)
        if asked not in answers:
            answers[asked] = _answer(metric, frame, table)
        values[metric] = _entry(answers[asked], metric)
    return values


def _answer(metric: QueryMetric, frame: DataFrame, table: Table) -> Row | RuleFailure:
    try:
        table.require_ansi()
        return _only_row(metric, filtered(frame, metric.where, table))
    except RuleFailure as failure:
        return failure
    except AnalysisException as error:
        moved = home_of(frame.sparkSession) is not frame.sparkSession
        if moved and error.getCondition() == "UNRESOLVED_ROUTINE":
            # It may be a function that only the home session knows.
            return Unmeasurable.not_ansi()
        return told(error)
    except Exception as error:  # noqa: BLE001 (the isolation boundary)
        return told(error)


def _only_row(metric: QueryMetric, data: DataFrame) -> Row:
    # As a subquery, nothing but a query is accepted, and no more than two rows are ever fetched.
    text = f"SELECT * FROM (\n{_bound(metric.query)}\n) LIMIT 2"  # noqa: S608 (the author's own SQL)
    rows = beside_its_views(data)
    found = rows.sparkSession.sql(text, table=rows)
    names = found.columns
    exact = is_case_sensitive(data.sparkSession)
    if len({name if exact else name.lower() for name in names}) < len(names):
        raise Misfit.query_shape(metric.label, f"columns of one name among {', '.join(names)}")
    columns = [
        ColumnRef(name, f"c{n}", field.dataType)
        for n, (name, field) in enumerate(zip(names, found.schema.fields, strict=True))
    ]
    plain = [f"{transport(column)[0].format(column.sql)} AS {column.sql}" for column in columns]
    aliased = found.toDF(*(column.sql for column in columns))
    answer = aliased.selectExpr(*plain).collect()
    if len(answer) != 1:
        raise Misfit.query_shape(metric.label, "no row" if not answer else "more than one row")
    return {column.name: transport(column)[1](answer[0][column.sql]) for column in columns}


def _bound(query: str) -> str:
    """The query for PySpark, which replaces what is in braces: only the table is to be."""
    parts = [part.replace("{", "{{").replace("}", "}}") for part in query.split(_TABLE)]
    return _TABLE.join(parts)


def _entry(found: Row | RuleFailure, metric: QueryMetric) -> Any:
    if isinstance(found, RuleFailure):
        return found
    try:
        return entry_of(found, metric)
    except RuleFailure as failure:
        return failure
