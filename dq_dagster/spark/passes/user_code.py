"""Functions of users, and what Spark says of their SQL; whatever raises stays with its rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pyspark.errors import PySparkException

from dq_dagster.errors import Misfit, RuleFailure, Unmeasurable
from dq_dagster.judging.wording import presentable
from dq_dagster.metrics.conditions import RowBreaks
from dq_dagster.metrics.measured import WHOLE, Measured, Slice
from dq_dagster.metrics.metric import ConditionCount, Metric, RowMetric
from dq_dagster.metrics.sources import (
    CallContext,
    EntryMetric,
    PythonCall,
    PythonMetric,
    entry_of,
)
from dq_dagster.spark.frames.ansi import at_home
from dq_dagster.spark.frames.columns import JudgedTable
from dq_dagster.spark.frames.failures import failure_of
from dq_dagster.spark.frames.slicing import Parts, States
from dq_dagster.spark.passes.isolation import attempted, require_time

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
        here = on_part(part, table)
        of_all = answers(metrics, frame, here) if isinstance(here, JudgedTable) else {}
        for metric in metrics:
            found[metric][part] = of_all.get(metric, here)
    return {metric: Measured(metric, values, parts.cuts) for metric, values in found.items()}


def on_part(part: Slice, table: JudgedTable) -> JudgedTable | RuleFailure:
    """The table as code of users sees it on one part, or why it sees nothing."""
    if part == WHOLE and table.clashes:
        # Nobody knows which columns they read, and one of them is not there.
        return next(iter(table.clashes.values()))
    others = replace(table.other_datasets, partition=part.partition)
    return replace(table, other_datasets=others)


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
        answers[call] = entry(values[shared], call)
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


def entry(found: Any, metric: EntryMetric) -> Any:
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
