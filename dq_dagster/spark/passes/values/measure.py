"""How often values occur and which one is in the middle, by blocks or by SQL.

Blocks answer all of it in one pass over the rows where the workers can; the rest is left to SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.frequency import Frequencies, FrequencyMetric, Grouping
from dq_dagster.metrics.measured import UNDIVIDED, Measured, Slice
from dq_dagster.metrics.metric import ColumnMedian, Metric
from dq_dagster.spark.expressions.bins import MedianSql, median_sql
from dq_dagster.spark.expressions.values import Counting, counting
from dq_dagster.spark.frames.columns import JudgedTable
from dq_dagster.spark.frames.slicing import Parts, States
from dq_dagster.spark.passes.blocks.keys import BlockKey, block_key
from dq_dagster.spark.passes.blocks.middles import has_ranks
from dq_dagster.spark.passes.blocks.values import values_in_blocks
from dq_dagster.spark.passes.blocks.workers import has_blocks, in_blocks
from dq_dagster.spark.passes.isolation import in_halves, isolated, with_failures
from dq_dagster.spark.passes.queries import side_by_side
from dq_dagster.spark.passes.values.frequencies import count_values
from dq_dagster.spark.passes.values.glance import Glance, glance
from dq_dagster.spark.passes.values.medians import medians
from dq_dagster.spark.passes.values.uniques import count_unique, divides_by_partition_at_most

# Metrics of one grouping share its counts; a median stands for itself.
_Unit = Grouping | ColumnMedian
_Task = Counting | MedianSql
_Found = dict[Any, dict[Slice, Any] | RuleFailure]


def measure_values(metrics: Sequence[Metric], parts: Parts, table: JudgedTable) -> States:
    """The frequencies or the median that each metric is read off."""
    wanted = cast("Sequence[FrequencyMetric | ColumnMedian]", metrics)
    failures: dict[Metric, RuleFailure] = {}
    tasks: dict[_Unit, _Task] = {}
    for metric in wanted:
        try:
            tasks[_unit(metric)] = _with(metric, tasks.get(_unit(metric)), table, len(tasks))
        except RuleFailure as failure:
            failures[metric] = failure
    found: _Found = isolated(
        tasks, lambda some: _found(parts, some, table), narrow=in_halves, fail=with_failures
    )
    return {metric: _measured(metric, failures, found, parts) for metric in wanted}


def _unit(metric: FrequencyMetric | ColumnMedian) -> _Unit:
    return metric if isinstance(metric, ColumnMedian) else metric.grouping


def _with(
    metric: FrequencyMetric | ColumnMedian, known: _Task | None, table: JudgedTable, n: int
) -> _Task:
    """What serves this metric too; a set that does not fit spoils no other."""
    if isinstance(metric, ColumnMedian):
        return median_sql(metric, table)
    task = cast("Counting", known or counting(metric.grouping, table, alias=f"k{n}"))
    return task if metric.members is None else task.against(metric.members)


def _measured(
    metric: FrequencyMetric | ColumnMedian,
    failures: Mapping[Metric, RuleFailure],
    found: _Found,
    parts: Parts,
) -> Measured:
    nothing = None if isinstance(metric, ColumnMedian) else Frequencies(())
    failure = failures.get(metric)
    return parts.measured(metric, failure or found[_unit(metric)], nothing)


def _found(parts: Parts, tasks: Mapping[_Unit, _Task], table: JudgedTable) -> _Found:
    """In blocks what those can answer; beside it, by SQL, what they cannot."""
    # Starting a worker, or a further query, takes longer than all else that is done for a few rows.
    keys = {} if parts.is_small else _keys(tasks, table)
    seen = Glance() if parts.is_small else _glance(parts, tasks, keys)
    undivided = parts.cuts == (UNDIVIDED,)
    # What lies around the middle of a sample is counted where it is, and soon: nothing is moved.
    apart = {*seen.few, *seen.middles} if undivided else ()
    mine = {} if parts.is_small else _of_blocks(tasks, keys, apart)
    if mine and not has_blocks(parts.frame.sparkSession):
        mine = {}
    if undivided or not mine:
        # They are soonest counted where they are; of many parts that would be once more for each.
        keys = {grouping: key for grouping, key in keys.items() if grouping not in seen.few}
    by_sql = {unit: task for unit, task in tasks.items() if unit not in mine}
    runs: dict[str, Callable[[], _Found]] = {}
    if mine:
        runs["blocks"] = partial(_in_blocks, parts, mine, keys, seen)
    if by_sql:
        runs["sql"] = partial(_by_sql, parts, by_sql, keys, seen)
    found: _Found = {}
    for some in side_by_side(runs, parts.frame.sparkSession).values():
        found |= some
    rest = {unit: task for unit, task in mine.items() if unit not in found}
    return found | _by_sql(parts, rest, keys, seen) if rest else found


def _of_blocks(
    tasks: Mapping[_Unit, _Task], keys: Mapping[Grouping, BlockKey], apart: Collection[Hashable]
) -> dict[_Unit, _Task]:
    """What blocks know how to answer, without what is better left apart."""
    return {
        unit: task
        for unit, task in tasks.items()
        if unit not in apart
        and (
            has_ranks(task)
            if isinstance(task, MedianSql)
            else task.grouping in keys and not task.sets
        )
    }


def _glance(
    parts: Parts, tasks: Mapping[_Unit, _Task], keys: Mapping[Grouping, BlockKey]
) -> Glance:
    medians = [task for task in tasks.values() if isinstance(task, MedianSql)]
    return glance(parts, {grouping: key[0] for grouping, key in keys.items()}, medians)


def _keys(tasks: Mapping[_Unit, _Task], table: JudgedTable) -> dict[Grouping, BlockKey]:
    """The keys of those groupings of which only the number of values matters."""
    found = {}
    for task in tasks.values():
        if isinstance(task, Counting) and not task.sets:
            key = block_key(task.grouping, table)
            if key is not None:
                found[task.grouping] = key
    return found


def _in_blocks(
    parts: Parts,
    tasks: Mapping[_Unit, _Task],
    keys: Mapping[Grouping, BlockKey],
    seen: Glance,
) -> _Found:
    wanted = [task for task in tasks.values() if isinstance(task, MedianSql)]
    mine = {grouping: key for grouping, key in keys.items() if grouping in tasks}
    return dict(in_blocks(lambda: values_in_blocks(parts, mine, wanted, seen.rising)))


def _by_sql(
    parts: Parts,
    tasks: Mapping[_Unit, _Task],
    keys: Mapping[Grouping, BlockKey],
    seen: Glance,
) -> _Found:
    plain = divides_by_partition_at_most(parts)
    mine = {grouping: key for grouping, key in keys.items() if plain and grouping in tasks}
    ranked = [task for task in tasks.values() if isinstance(task, MedianSql)]
    counted = [
        task for task in tasks.values() if isinstance(task, Counting) and task.grouping not in mine
    ]
    runs: dict[str, Callable[[], _Found]] = {}
    if mine:
        runs["uniques"] = lambda: dict(count_unique(parts, mine))
    if counted:
        runs["counts"] = lambda: dict(count_values(parts, counted))
    if ranked:
        runs["medians"] = lambda: dict(medians(parts, ranked, seen.middles))
    found: _Found = {}
    for some in side_by_side(runs, parts.frame.sparkSession).values():
        found |= some
    rest = [
        task for unit, task in tasks.items() if isinstance(task, Counting) and unit not in found
    ]
    return found | dict(count_values(parts, rest)) if rest else found
