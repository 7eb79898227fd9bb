"""Runs aggregations, and keeps one raising rule from taking the others down.

This is the one place that catches everything Spark may raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException, QueryContextType

from dq_dagster.errors import Misfit, RuleFailure, TooManyParts
from dq_dagster.metrics.conditions import RowBreaks
from dq_dagster.metrics.measured import UNDIVIDED, WHOLE, Measured, Slice
from dq_dagster.metrics.metric import ConditionCount, RecordCount, RowMetric
from dq_dagster.metrics.states import State
from dq_dagster.spark.expressions.aggregates import Aggregates, aggregates
from dq_dagster.spark.frames.columns import Table
from dq_dagster.spark.frames.failures import told
from dq_dagster.spark.frames.slicing import Parts
from dq_dagster.spark.passes.query import Query
from dq_dagster.spark.passes.skipping import Apart, counted_apart

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

States = dict[RowMetric, Measured]
# So many parts are measured one by one if a rule raises on all of them together.
_MOST_ALONE = 50
Needs = dict[RowMetric, Aggregates]
Results = Mapping[RowMetric, State | RuleFailure | None]


def measure(parts: Parts, metrics: Sequence[RowMetric], table: Table) -> States:
    """The states of each metric, or why it has none; one Spark query if nothing raises.

    Columns that are only looked at for missing values have a second one, if files skip through it.
    """
    measured: States = {}
    # The number of rows is always counted: if not even that works, no single rule is to blame.
    needs: Needs = {RecordCount(): aggregates(RecordCount(), table)}
    for metric in metrics:
        try:
            if metric.where is not None:
                table.require_columns_of(metric.where)
            needs[metric] = aggregates(metric, table)
        except RuleFailure as failure:
            measured[metric] = Measured.failed(metric, failure)
    measured |= _refused(parts.frame, needs)
    answerable = {metric: need for metric, need in needs.items() if metric not in measured}
    if measured.keys() >= set(metrics):
        # Nobody asked for the rows alone.
        return measured
    apart = _apart(parts.frame, answerable, table)
    if apart is None:
        return measured | _run(parts, answerable)
    rows = replace(parts, frame=parts.frame.where(apart.condition))
    few = {metric: need for metric, need in answerable.items() if metric in apart.metrics}
    try:
        measured |= _collect(rows, Query.of(few))
    except TooManyParts:
        raise
    except Exception:  # noqa: BLE001 (a column that can not be read: each is told on its own)
        return measured | _run(parts, answerable)
    rest = {metric: need for metric, need in answerable.items() if metric not in few}
    return measured | _run(parts, rest)


def _apart(frame: DataFrame, needs: Needs, table: Table) -> Apart | None:
    try:
        return counted_apart(frame, needs, table)
    except Exception:  # noqa: BLE001 (whatever is wrong, the query itself will say so)
        return None


def _refused(frame: DataFrame, needs: Needs) -> States:
    """The metrics whose text from users Spark's analyzer does not accept. Reads no data."""
    doubtful = {metric: need for metric, need in needs.items() if need.fallible}
    if not doubtful or _analysis_error(frame, Query.of(doubtful).select_list()) is None:
        return {}
    refused: States = {}
    for metric, need in doubtful.items():
        error = _analysis_error(frame, Query.of({metric: need}).select_list())
        if error is not None:
            reason = _not_a_predicate(frame, metric) or told(error)
            refused[metric] = Measured.failed(metric, reason)
    return refused


def _analysis_error(frame: DataFrame, select_list: list[str]) -> Exception | None:
    try:
        # Classic Spark analyzes at once, Connect only when the schema is asked for.
        _ = frame.selectExpr(*select_list).schema
    except Exception as error:  # noqa: BLE001 (the isolation boundary)
        return error
    return None


def _not_a_predicate(frame: DataFrame, metric: RowMetric) -> RuleFailure | None:
    """Says in plain words that a predicate is neither true nor false, if that is what is wrong."""
    condition = metric.condition if isinstance(metric, ConditionCount) else None
    texts = [metric.where, condition.sql if isinstance(condition, RowBreaks) else None]
    for text in filter(None, texts):
        try:
            kind = frame.selectExpr(f"({text}) AS answer").schema["answer"].dataType.simpleString()
        except Exception as error:  # noqa: BLE001 (the isolation boundary)
            return told(error)
        if kind != "boolean":
            return Misfit(f"'{text}' is of type {kind}; a row predicate must be true or false.")
    return None


def _run(parts: Parts, needs: Needs, *, packed: bool = True) -> States:
    """Runs all in one query; if that raises, the metrics the error points to run on their own."""
    if not needs:
        return {}
    query = Query.of(needs, packed=packed)
    try:
        return _collect(parts, query)
    except TooManyParts:
        raise
    except Exception as error:  # noqa: BLE001 (the isolation boundary)
        quoted = _texts_quoted(error, query)
        suspects = {m: needs[m] for sql in quoted for m in query.using(sql)}
        if query.packed and suspects and not any(need.fallible for need in suspects.values()):
            # Of ours only packed counts can raise: there are too many rows for them.
            return _run(parts, needs, packed=False)
        rest = {metric: need for metric, need in needs.items() if metric not in suspects}
        if len(quoted) == 1 and not any(need.fallible for need in rest.values()):
            return _convicted(parts, suspects, error) | _run(parts, rest)
        if suspects and rest:
            # Not convicted yet: Spark computes equal parts of several rules once, and may quote
            # a rule that would never have come to that part by itself.
            return _run(parts, suspects) | _run(parts, rest)
        return _run_in_halves(parts, needs, error)


def _run_in_halves(parts: Parts, needs: Needs, error: Exception) -> States:
    """The error points to no rule: the rows are counted alone, the rest is run in halves."""
    if len(needs) == 1:
        return _convicted(parts, needs, error)
    rows: Needs = {metric: need for metric, need in needs.items() if metric == RecordCount()}
    if rows:
        counted = _run(parts, rows)
        if isinstance(counted[RecordCount()].nothing, RuleFailure):
            # Not even the rows can be counted: the data or Spark itself is broken.
            return _failed(needs, error)
        rest = {metric: need for metric, need in needs.items() if metric not in rows}
        return counted | _run(parts, rest)
    one, other = _halves(needs)
    return _run(parts, one) | _run(parts, other)


def _convicted(parts: Parts, needs: Needs, error: Exception) -> States:
    """What raises on one part of the data may have an answer on the others."""
    if parts.cuts == (UNDIVIDED,):
        return _failed(needs, error)
    slices = _parts_with_rows(parts)
    if slices is None or len(slices) > _MOST_ALONE:
        return _failed(needs, error)
    found: States = {}
    for metric, need in needs.items():
        alone = {part: _run(parts.only(part), {metric: need})[metric] for part in slices}
        states = {part: {metric: of.states.get(WHOLE, of.nothing)} for part, of in alone.items()}
        found |= _measured(parts, Query.of({metric: need}), states)
    return found


def _parts_with_rows(parts: Parts) -> list[Slice] | None:
    """The parts that have rows; None if not even their keys can be computed."""
    try:
        return list(parts.aggregate(["count(1) AS n"]))
    except TooManyParts:
        raise
    except Exception:  # noqa: BLE001 (the isolation boundary)
        return None


def _failed(metrics: Iterable[RowMetric], error: Exception) -> States:
    return {metric: Measured.failed(metric, told(error)) for metric in metrics}


def _halves(needs: Needs) -> tuple[Needs, Needs]:
    """What can not raise by itself apart from text of users; within each, column by column."""
    safe = {metric: need for metric, need in needs.items() if not need.fallible}
    unsafe = {metric: need for metric, need in needs.items() if need.fallible}
    if safe and unsafe:
        return safe, unsafe
    ordered = sorted(needs.items(), key=lambda item: item[0].subject)
    middle = len(ordered) // 2
    return dict(ordered[:middle]), dict(ordered[middle:])


def _collect(parts: Parts, query: Query) -> States:
    rows = parts.aggregate(query.select_list())
    if not query.is_exact(rows.values()):
        query = Query.of(query.needs, packed=False)
        rows = parts.aggregate(query.select_list())
    states = {part: query.states(row) for part, row in rows.items()}
    return _measured(parts, query, states) | _run(parts, _left_open(query, states.values()))


def _measured(parts: Parts, query: Query, states: Mapping[Slice, Results]) -> States:
    """The states of each metric; those of parts without rows are what Spark says of no rows."""
    nothing = query.states(query.no_rows()) | _over_nothing(parts, query.needs, states)
    return {
        metric: Measured(
            metric,
            {
                part: nothing[metric] if of[metric] is None else of[metric]
                for part, of in states.items()
            },
            parts.cuts,
            nothing[metric],
        )
        for metric in query.needs
    }


def _over_nothing(
    parts: Parts, needs: Mapping[RowMetric, Aggregates], states: Mapping[Slice, Results]
) -> dict[RowMetric, State | RuleFailure | None]:
    """The states of no rows that only Spark knows, if any part has none: one small query."""
    is_lacking = parts.lacks_any(states)
    asked = {
        metric: need.over_nothing
        for metric, need in needs.items()
        if need.over_nothing is not None
        and (is_lacking or any(of[metric] is None for of in states.values()))
    }
    found = _run(parts.without_rows(), asked)
    return {metric: found[metric].states.get(WHOLE, found[metric].nothing) for metric in asked}


def _left_open(query: Query, states: Iterable[Results]) -> Needs:
    """A closer look for each metric whose state the results do not tell somewhere."""
    metrics = {metric for found in states for metric, state in found.items() if state is None}
    return {m: n.closer for m, n in query.needs.items() if m in metrics and n.closer is not None}


def _texts_quoted(error: Exception, query: Query) -> list[str]:
    """The aggregates that hold the words Spark quotes, at the place it quotes them from."""
    contexts = error.getQueryContext() if isinstance(error, PySparkException) else []
    places = [
        (context.startIndex(), context.fragment())
        for context in contexts
        if context.contextType() == QueryContextType.SQL
    ]
    return [
        sql
        for sql in query.aliases
        if any(sql.startswith(words, start) for start, words in places if words)
    ]
