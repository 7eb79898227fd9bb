"""Running the passes of a plan: each metric gets its states, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from dq_dagster.errors import RuleFailure, TooManyParts
from dq_dagster.metrics.frequency import Frequencies, FrequencyMetric, Grouping
from dq_dagster.metrics.measured import Cut, Measured, Slice
from dq_dagster.metrics.metric import ColumnMedian, Metric, RowMetric
from dq_dagster.plan.plan import Kind, Pass
from dq_dagster.spark.expressions import estimates, recency  # noqa: F401
from dq_dagster.spark.expressions.predicates import usual_texts
from dq_dagster.spark.frames.failures import told, without_quoting_rows
from dq_dagster.spark.frames.slicing import UNSLICED, Division, Parts
from dq_dagster.spark.passes.aggregate import measure
from dq_dagster.spark.passes.files import measure_files
from dq_dagster.spark.passes.frequencies import Counting, count_values, counting
from dq_dagster.spark.passes.lookups import count_lookups
from dq_dagster.spark.passes.medians import MedianSql, median_sql, medians
from dq_dagster.spark.passes.other_assets import measure_elsewhere
from dq_dagster.spark.passes.user_code import call_functions, run_queries

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from dq_dagster.spark.frames.columns import Table

Cuts = tuple[Cut, ...]
States = dict[Metric, Measured]
_Task = TypeVar("_Task")
_Key = TypeVar("_Key")


def run(
    step: Pass,
    frame: DataFrame,
    table: Table,
    division: Division = UNSLICED,
    home: DataFrame | None = None,
) -> States:
    """The states of a pass's metrics, with a RuleFailure for each that could not be measured.

    ``home`` are the same rows in the session they came from: only there Spark knows their files.
    """
    rows = frame if home is None or step.kind is not Kind.FILES else home

    def answer(cuts: Cuts) -> States:
        return _RUNNERS[step.kind](step.metrics, Parts.of(rows, cuts, division), table)

    with without_quoting_rows():
        try:
            return _by_cuts(answer, division.usable(step.cuts))
        except TooManyParts as failure:
            return {metric: Measured.failed(metric, failure) for metric in step.metrics}


def _by_cuts(answer: Callable[[Cuts], States], cuts: Cuts) -> States:
    """All cuts at once; if they make too many parts, each alone, without those that still do.

    A dimension with too many groups is left out by itself: others keep theirs.
    """
    try:
        return answer(cuts)
    except TooManyParts:
        grouped = [cut for cut in cuts if cut.dimension is not None]
        if not grouped:
            raise
    plain = tuple(cut for cut in cuts if cut.dimension is None)
    found = [answer(plain)] if plain else []
    for cut in grouped if len(cuts) > 1 else ():
        with suppress(TooManyParts):
            found.append(answer((cut,)))
    return _joined(found or [answer((Cut(grouped[0].partitioned),))])


def _joined(looks: Sequence[States]) -> States:
    """What several looks by different cuts found, as if it had been one."""
    return {metric: _of_all_cuts([found[metric] for found in looks]) for metric in looks[0]}


def _of_all_cuts(looks: Sequence[Measured]) -> Measured:
    for found in looks:
        if not found.cuts:
            # It failed, or is the same for every part.
            return found
    first = looks[0]
    states = {part: state for found in looks for part, state in found.states.items()}
    cuts = tuple(cut for found in looks for cut in found.cuts)
    return Measured(first.metric, states, cuts, first.nothing)


def _aggregate(metrics: Sequence[Metric], parts: Parts, table: Table) -> States:
    wanted = cast("Sequence[RowMetric]", metrics)
    found = measure(parts, wanted, replace(table, usual_texts=usual_texts(wanted, table)))
    return {metric: found[metric] for metric in wanted}


def _count_values(metrics: Sequence[Metric], parts: Parts, table: Table) -> States:
    wanted = cast("Sequence[FrequencyMetric]", metrics)
    found: States = {}
    tasks: dict[Grouping, Counting] = {}
    for metric in wanted:
        try:
            tasks[metric.grouping] = _with(metric, tasks.get(metric.grouping), table, len(tasks))
        except RuleFailure as failure:
            found[metric] = Measured.failed(metric, failure)
    counted = _isolated(tasks, lambda some: count_values(parts, some))
    return {
        metric: found.get(metric)
        or _measured(metric, counted[metric.grouping], parts, Frequencies(()))
        for metric in wanted
    }


def _with(metric: FrequencyMetric, known: Counting | None, table: Table, n: int) -> Counting:
    """The counting that serves this metric too; a set that does not fit spoils no other."""
    task = known or counting(metric.grouping, table, alias=f"k{n}")
    return task if metric.members is None else task.against(metric.members)


def _medians(metrics: Sequence[Metric], parts: Parts, table: Table) -> States:
    tasks: dict[ColumnMedian, MedianSql] = {}
    found: States = {}
    for metric in cast("Sequence[ColumnMedian]", metrics):
        try:
            tasks[metric] = median_sql(metric, table)
        except RuleFailure as failure:
            found[metric] = Measured.failed(metric, failure)
    answers = _isolated(tasks, lambda some: medians(parts, some))
    return found | {metric: _measured(metric, answers[metric], parts, None) for metric in tasks}


def _measured(
    metric: Metric, states: dict[Slice, Any] | RuleFailure, parts: Parts, nothing: Any
) -> Measured:
    if isinstance(states, RuleFailure):
        return Measured.failed(metric, states)
    return Measured(metric, states, parts.cuts, nothing)


_RUNNERS: dict[Kind, Callable[[Sequence[Metric], Parts, Table], States]] = {
    Kind.AGGREGATE: _aggregate,
    Kind.COUNT_VALUES: _count_values,
    Kind.LOOKUPS: count_lookups,
    Kind.MEDIANS: _medians,
    Kind.FILES: measure_files,
    Kind.PYTHON: call_functions,
    Kind.QUERIES: run_queries,
    Kind.ELSEWHERE: measure_elsewhere,
}


def _isolated(
    tasks: dict[_Key, _Task], answer: Callable[[Sequence[_Task]], dict[_Key, dict[Slice, Any]]]
) -> dict[_Key, dict[Slice, Any] | RuleFailure]:
    """All tasks together; if that raises, in halves, until the culprit stands alone."""
    if not tasks:
        return {}
    try:
        return dict(answer(list(tasks.values())))
    except TooManyParts:
        raise
    except Exception as error:  # noqa: BLE001 (the isolation boundary)
        if len(tasks) == 1:
            return dict.fromkeys(tasks, told(error))
    items = list(tasks.items())
    middle = len(items) // 2
    return _isolated(dict(items[:middle]), answer) | _isolated(dict(items[middle:]), answer)
