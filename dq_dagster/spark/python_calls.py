"""Calling functions of users with the data; whatever they raise stays with their rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from pyspark.errors import PySparkException

from dq_dagster.errors import RuleFailure, Unmeasurable
from dq_dagster.judging.secrets import presentable
from dq_dagster.metrics.measured import Measured
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.python_call import CallContext, PythonCall
from dq_dagster.metrics.slices import WHOLE, Slice
from dq_dagster.metrics.sources import PythonMetric, entry_of
from dq_dagster.spark.ansi import at_home
from dq_dagster.spark.columns import Table
from dq_dagster.spark.failures import told
from dq_dagster.spark.slicing import Parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame


States = dict[Metric, Measured]


def call_functions(metrics: Sequence[Metric], parts: Parts, table: Table) -> States:
    """What each function returned for each part, or a RuleFailure for each that raised."""
    return one_by_one(metrics, parts, table, _answers)


def one_by_one(
    metrics: Sequence[Metric],
    parts: Parts,
    table: Table,
    answers: Callable[[Sequence[Metric], DataFrame, Table], dict[Metric, Any]],
) -> States:
    """The states of metrics that are asked of each part by itself."""
    found: dict[Metric, dict[Slice, Any]] = {metric: {} for metric in metrics}
    for part, frame in parts.one_by_one():
        around = replace(table.surroundings, partition=part.partition)
        if part == WHOLE and table.clashes:
            # Nobody knows which columns they look at, and one of them is not there.
            clash = next(iter(table.clashes.values()))
            found |= {metric: {**values, part: clash} for metric, values in found.items()}
            continue
        for metric, value in answers(metrics, frame, replace(table, surroundings=around)).items():
            found[metric][part] = value
    return {metric: Measured(metric, values, parts.cuts) for metric, values in found.items()}


def _answers(metrics: Sequence[Metric], frame: DataFrame, table: Table) -> dict[Metric, Any]:
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
        answers[call] = _entry(values[asked], call)
    return answers


def _entry(found: Any, metric: PythonMetric) -> Any:
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
    around = table.surroundings
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
