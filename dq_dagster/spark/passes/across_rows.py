"""Conditions that compare a row with others: windows that add a flag to each row, then counting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, cast

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.conditions import BreaksAcrossRows, Fault
from dq_dagster.metrics.measured import Cut, Measured
from dq_dagster.metrics.metric import ConditionCount, Metric, RecordCount
from dq_dagster.spark.expressions.predicates import breaks_across_rows
from dq_dagster.spark.frames.columns import JudgedTable, identifier
from dq_dagster.spark.frames.slicing import Parts, States
from dq_dagster.spark.passes.aggregate import measure_with_rows
from dq_dagster.spark.passes.isolation import in_halves, isolated, with_failures
from dq_dagster.spark.passes.user_code import refusal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def flagged(
    frame: DataFrame, condition: BreaksAcrossRows, table: JudgedTable, keys: Sequence[str]
) -> DataFrame:
    """The rows with a flag that is true for those that break the condition, never NULL.

    They are compared with rows that are alike in the keys. Raises a RuleFailure if Spark does not
    take the condition.
    """
    found = f"{breaks_across_rows(condition, table, keys)} AS {identifier(condition.flag)}"
    reason = refusal(frame, ConditionCount.of(Fault(condition, condition.where)), [found])
    if reason is not None:
        raise reason
    return frame.selectExpr("*", found)


def measure_across_rows(metrics: Sequence[Metric], parts: Parts, table: JudgedTable) -> States:
    """The counts of a pass's metrics, with a RuleFailure for each that could not be counted."""
    wanted = cast("Sequence[ConditionCount]", metrics)
    # A partition is compared within itself, the whole dataset as a whole.
    apart = [tuple(c for c in parts.cuts if c.partitioned is divided) for divided in (True, False)]
    runs = [_of_cuts(wanted, cuts, parts, table) for cuts in apart if cuts]
    return {metric: _joined(metric, [found[metric] for found in runs]) for metric in wanted}


def _of_cuts(
    metrics: Sequence[ConditionCount], cuts: tuple[Cut, ...], parts: Parts, table: JudgedTable
) -> dict[ConditionCount, Measured]:
    keys = [identifier(parts.keys[None])] if cuts[0].partitioned else []

    def counted(
        some: Mapping[ConditionCount, None],
    ) -> dict[ConditionCount, Measured | RuleFailure]:
        conditions = dict.fromkeys(cast("BreaksAcrossRows", metric.condition) for metric in some)
        wide = reduce(lambda rows, one: flagged(rows, one, table, keys), conditions, parts.frame)
        there = replace(table, schema=wide.schema)
        states = measure_with_rows(list(some), replace(parts, frame=wide, cuts=cuts), there)
        rows = states.get(RecordCount())
        if rows is not None and isinstance(rows.nothing, RuleFailure):
            raise rows.nothing
        return {metric: states[metric] for metric in some}

    found = isolated(dict.fromkeys(metrics), counted, narrow=in_halves, fail=with_failures)
    return {
        metric: Measured.failed(metric, of) if isinstance(of, RuleFailure) else of
        for metric, of in found.items()
    }


def _joined(metric: ConditionCount, runs: Sequence[Measured]) -> Measured:
    """What the partitions and the whole gave, as if it had been one run."""
    failed = [found for found in runs if not found.cuts]
    if failed or len(runs) == 1:
        return (failed or runs)[0]
    states = {part: state for found in runs for part, state in found.states.items()}
    cuts = tuple(cut for found in runs for cut in found.cuts)
    return Measured(metric, states, cuts, runs[0].nothing)
