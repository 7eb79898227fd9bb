"""Running the passes of a plan: each metric gets a value, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.frequency import FrequencyMetric, Grouping
from dq_dagster.metrics.median import ColumnMedian
from dq_dagster.metrics.metric import Metric, RowMetric
from dq_dagster.plan import Kind, Pass
from dq_dagster.spark.failures import told, without_quoting_rows
from dq_dagster.spark.frequencies import Counting, count_values, counting
from dq_dagster.spark.measuring import measure
from dq_dagster.spark.medians import MedianSql, median_sql, medians

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from dq_dagster.spark.columns import Table

Values = dict[Metric, Any]
_Task = TypeVar("_Task")
_Key = TypeVar("_Key")


def run(step: Pass, frame: DataFrame, table: Table) -> Values:
    """The values of a pass's metrics, with a RuleFailure for each that could not be measured."""
    with without_quoting_rows():
        return _RUNNERS[step.kind](step.metrics, frame, table)


def _aggregate(metrics: Sequence[Metric], frame: DataFrame, table: Table) -> Values:
    wanted = cast("Sequence[RowMetric]", metrics)
    states = measure(frame, wanted, table)
    return {metric: _value(metric.value, states[metric]) for metric in wanted}


def _count_values(metrics: Sequence[Metric], frame: DataFrame, table: Table) -> Values:
    wanted = cast("Sequence[FrequencyMetric]", metrics)
    found: dict[Metric, Any] = {}
    tasks: dict[Grouping, Counting] = {}
    for metric in wanted:
        try:
            tasks[metric.grouping] = _with(metric, tasks.get(metric.grouping), table, len(tasks))
        except RuleFailure as failure:
            found[metric] = failure
    counted = _isolated(tasks, lambda some: count_values(frame, some))
    return {
        metric: found.get(metric) or _value(metric.value, counted[metric.grouping])
        for metric in wanted
    }


def _with(metric: FrequencyMetric, known: Counting | None, table: Table, n: int) -> Counting:
    """The counting that serves this metric too; a set that does not fit spoils no other."""
    task = known or counting(metric.grouping, table, alias=f"k{n}")
    return task if metric.members is None else task.against(metric.members)


def _medians(metrics: Sequence[Metric], frame: DataFrame, table: Table) -> Values:
    tasks: dict[ColumnMedian, MedianSql] = {}
    found: dict[Metric, Any] = {}
    for metric in cast("Sequence[ColumnMedian]", metrics):
        try:
            tasks[metric] = median_sql(metric, table)
        except RuleFailure as failure:
            found[metric] = failure
    return found | _isolated(tasks, lambda some: medians(frame, some))


_RUNNERS: dict[Kind, Callable[[Sequence[Metric], DataFrame, Table], Values]] = {
    Kind.AGGREGATE: _aggregate,
    Kind.COUNT_VALUES: _count_values,
    Kind.MEDIANS: _medians,
}


def _isolated(
    tasks: dict[_Key, _Task], answer: Callable[[Sequence[_Task]], dict[_Key, Any]]
) -> dict[_Key, Any]:
    """All tasks together; if that raises, in halves, until the culprit stands alone."""
    if not tasks:
        return {}
    try:
        return answer(list(tasks.values()))
    except Exception as error:  # noqa: BLE001 (the isolation boundary)
        if len(tasks) == 1:
            return dict.fromkeys(tasks, told(error))
    items = list(tasks.items())
    middle = len(items) // 2
    return _isolated(dict(items[:middle]), answer) | _isolated(dict(items[middle:]), answer)


def _value(read: Callable[[Any], Any], state: Any) -> Any:
    if isinstance(state, RuleFailure):
        return state
    try:
        return read(state)
    except RuleFailure as failure:
        return failure
