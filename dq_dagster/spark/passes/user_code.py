"""Code of users, in Python and in SQL; whatever it raises stays with its rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pyspark.errors import AnalysisException, PySparkException

from dq_dagster.errors import Misfit, RuleFailure, Unmeasurable
from dq_dagster.judging.wording import presentable
from dq_dagster.metrics.conditions import RowBreaks
from dq_dagster.metrics.measured import WHOLE, Measured, Slice
from dq_dagster.metrics.metric import ConditionCount, Metric, RowMetric
from dq_dagster.metrics.sources import CallContext, PythonCall, PythonMetric, QueryMetric, entry_of
from dq_dagster.spark.expressions.values import transport
from dq_dagster.spark.frames.ansi import at_home, beside_its_views, home_of
from dq_dagster.spark.frames.columns import ColumnRef, JudgedTable
from dq_dagster.spark.frames.failures import failure_of
from dq_dagster.spark.frames.slicing import Parts, States
from dq_dagster.spark.passes.isolation import attempted, require_time
from dq_dagster.spark.session.session import is_case_sensitive

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame


def call_functions(metrics: Sequence[Metric], parts: Parts, table: JudgedTable) -> States:
    """What each function returned for each part, or a RuleFailure for each that raised."""
    return one_by_one(metrics, parts, table, _returned)


def one_by_one(
    metrics: Sequence[Metric],
    parts: Parts,
    table: JudgedTable,
    answers: Callable[[Sequence[Metric], DataFrame, JudgedTable], dict[Metric, Any]],
) -> States:
    """The states of metrics that are measured on each part by itself."""
    found: dict[Metric, dict[Slice, Any]] = {metric: {} for metric in metrics}
    for part, frame in parts.one_by_one():
        others = replace(table.other_datasets, partition=part.partition)
        if part == WHOLE and table.clashes:
            # Nobody knows which columns they read, and one of them is not there.
            clash = next(iter(table.clashes.values()))
            found |= {metric: {**values, part: clash} for metric, values in found.items()}
            continue
        for metric, value in answers(metrics, frame, replace(table, other_datasets=others)).items():
            found[metric][part] = value
    return {metric: Measured(metric, values, parts.cuts) for metric, values in found.items()}


def _returned(metrics: Sequence[Metric], frame: DataFrame, table: JudgedTable) -> dict[Metric, Any]:
    answers: dict[Metric, Any] = {}
    values: dict[tuple[Any, str | None], Any] = {}
    for call in cast("Sequence[PythonCall | PythonMetric]", metrics):
        if isinstance(call, PythonCall):
            given = call.arguments
            answers[call] = answer(call.function, call.caller, call.where, frame, table, **given)
            continue
        # The metrics of one function share its call.
        shared = (call.function, call.where)
        if shared not in values:
            values[shared] = answer(call.function, call.label, call.where, frame, table)
        answers[call] = _entry(values[shared], call)
    return answers


def answer(
    function: Callable[..., Any],
    caller: str,
    where: str | None,
    frame: DataFrame,
    table: JudgedTable,
    **arguments: Any,
) -> Any:
    others = table.other_datasets
    context = CallContext(caller, others.asset, others.partition, table.now)

    def called() -> Any:
        try:
            returned = function(at_home(filtered(frame, where, table)), context, **arguments)
        except SystemExit as error:
            raise _raised(error) from None
        # It may have made anything of jobs that were cancelled.
        require_time()
        return returned

    return attempted(called, _raised)


def _raised(error: BaseException) -> RuleFailure:
    # Spark's text may quote rows, unlike that of the author.
    if isinstance(error, RuleFailure | PySparkException):
        return failure_of(error)
    return Unmeasurable.raised(type(error).__name__, presentable(str(error)))


def filtered(frame: DataFrame, where: str | None, table: JudgedTable) -> DataFrame:
    """The rows that pass the filter; raises a RuleFailure if it names unknown columns."""
    if where is None:
        return frame
    table.require_columns_of(where)
    return frame.where(f"({where})")


_TABLE = "{table}"

Row = Mapping[str, Any]


def run_queries(metrics: Sequence[Metric], parts: Parts, table: JudgedTable) -> States:
    """The value of each metric in each part, or why it has none."""
    return one_by_one(metrics, parts, table, _answers)


def _answers(metrics: Sequence[Metric], frame: DataFrame, table: JudgedTable) -> dict[Metric, Any]:
    """Metrics of one query share its run."""
    answers: dict[tuple[str, str | None], Row | RuleFailure] = {}
    values: dict[Metric, Any] = {}
    for metric in cast("Sequence[QueryMetric]", metrics):
        shared = (metric.query, metric.where)
        if shared not in answers:
            answers[shared] = _answer(metric, frame, table)
        values[metric] = _entry(answers[shared], metric)
    return values


def _answer(metric: QueryMetric, frame: DataFrame, table: JudgedTable) -> Row | RuleFailure:
    def answered() -> Row:
        table.require_ansi()
        return _only_row(metric, filtered(frame, metric.where, table))

    def explained(error: Exception) -> RuleFailure:
        moved = home_of(frame.sparkSession) is not frame.sparkSession
        unknown = isinstance(error, AnalysisException) and error.getCondition()
        # It may be a function that only the home session knows.
        known_at_home = moved and unknown == "UNRESOLVED_ROUTINE"
        return Unmeasurable.not_ansi() if known_at_home else failure_of(error)

    return attempted(answered, explained)


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


def _entry(found: Any, metric: QueryMetric | PythonMetric) -> Any:
    """What an answer says of one metric, or the failure that says why there is none."""
    if isinstance(found, RuleFailure):
        return found
    try:
        return entry_of(found, metric)
    except RuleFailure as failure:
        return failure


def is_accepted(frame: DataFrame, columns: Sequence[str]) -> bool:
    """Whether Spark's analyzer takes all of these expressions. Reads no data."""
    return _analysis_error(frame, columns) is None


def refusal(frame: DataFrame, metric: RowMetric, columns: Sequence[str]) -> RuleFailure | None:
    """Why the analyzer does not take the expressions of a metric; None if it does."""
    error = _analysis_error(frame, columns)
    return None if error is None else _not_a_predicate(frame, metric) or failure_of(error)


def _analysis_error(frame: DataFrame, columns: Sequence[str]) -> Exception | None:
    # Classic Spark analyzes at once, Connect only when the schema is asked for.
    found = attempted(lambda: frame.selectExpr(*columns).schema, lambda error: error)
    return found if isinstance(found, Exception) else None


def _not_a_predicate(frame: DataFrame, metric: RowMetric) -> RuleFailure | None:
    """Says in plain words that a predicate is neither true nor false, if that is what is wrong."""
    condition = metric.condition if isinstance(metric, ConditionCount) else None
    texts = [metric.where, condition.sql if isinstance(condition, RowBreaks) else None]
    for text in filter(None, texts):
        kind = attempted(partial(_type_of, frame, text), failure_of)
        if isinstance(kind, RuleFailure):
            return kind
        if kind != "boolean":
            return Misfit(f"'{text}' is of type {kind}; a row predicate must be true or false.")
    return None


def _type_of(frame: DataFrame, text: str) -> str:
    return frame.selectExpr(f"({text}) AS answer").schema["answer"].dataType.simpleString()
