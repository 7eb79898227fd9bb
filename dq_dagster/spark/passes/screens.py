"""Very many counts of faults: first of the rows that have any of them, then among those rows.

Many rules about one column ask nearly the same of each value. Usually no row breaks any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.conditions import Fault
from dq_dagster.metrics.measured import Measured, Slice
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.states import Tally
from dq_dagster.plan.plan import Pass, Screen, unscreened
from dq_dagster.spark.expressions.predicates import fault_sql
from dq_dagster.spark.frames.slicing import States

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from dq_dagster.spark.frames.columns import JudgedTable

_NONE = Tally(0)


def measure_screened(
    step: Pass,
    frame: DataFrame,
    table: JudgedTable,
    measure: Callable[[Sequence[Pass], DataFrame], States],
) -> States:
    """The states of all metrics of a pass with screens; ``measure`` runs passes without any."""
    screened = {metric for screen in step.screens for metric in screen.each}
    first = [metric for metric in step.metrics if metric not in screened]
    every = tuple(dict.fromkeys([*first, *(screen.any for screen in step.screens)]))
    found = measure([replace(step, metrics=every, screens=())], frame)
    states: States = {metric: found[metric] for metric in first}
    open_: list[Screen] = []
    unknown: list[Metric] = []
    for screen in step.screens:
        rows = found[screen.any]
        if _has_failed(rows):
            # Why that is depends on the rule.
            unknown += screen.each
        elif set(rows.states.values()) <= {_NONE}:
            states |= {m: _counted(m, rows, rows.states) for m in screen.each}
        else:
            open_.append(screen)
    states |= measure(unscreened(step, unknown), frame)
    if open_:
        faults = (Fault(one.any.condition, one.any.where) for one in open_)
        some = frame.where(" OR ".join(fault_sql(fault, table) for fault in faults))
        among = measure(unscreened(step, [m for one in open_ for m in one.each]), some)
        for screen in open_:
            states |= {m: _everywhere(among[m], found[screen.any]) for m in screen.each}
    return states


def _has_failed(rows: Measured) -> bool:
    return any(isinstance(one, RuleFailure) for one in (rows.nothing, *rows.states.values()))


def _everywhere(some: Measured, all_rows: Measured) -> Measured:
    """What was counted among some rows: in parts that have none of those it is nothing."""
    if isinstance(some.nothing, RuleFailure):
        return some
    states = {part: some.states.get(part, _NONE) for part in all_rows.states}
    return _counted(some.metric, all_rows, states)


def _counted(metric: Metric, rows: Measured, states: Mapping[Slice, Any]) -> Measured:
    """A metric in the parts in which rows were counted."""
    return Measured(metric, states, rows.cuts, rows.nothing)
