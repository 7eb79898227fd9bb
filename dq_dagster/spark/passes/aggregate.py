"""One aggregation over the rows: a select list, and where each metric finds its results in it.

Where one rule raises, the others are answered without it.

Spark compiles an aggregation of at most 100 buffers into one loop, but past some 60 of them that is
too large for the virtual machine to compile, and takes many times as long. Above 100 Spark takes
another, steadier way. So counts are paired: two share one long, the first in the low 31 bits, which
is exact with fewer than 2^31 rows (larger tables are counted without). What still lies between 60
and 100 is padded past 100. What is missing of a column is not counted beside what is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.measured import UNDIVIDED, WHOLE, Measured, Slice
from dq_dagster.metrics.metric import Metric, RecordCount, RowMetric
from dq_dagster.metrics.states import State
from dq_dagster.spark.expressions.aggregates import aggregates
from dq_dagster.spark.expressions.predicates import usual_texts
from dq_dagster.spark.expressions.values import Aggregates
from dq_dagster.spark.frames.columns import JudgedTable
from dq_dagster.spark.frames.failures import failure_of
from dq_dagster.spark.frames.slicing import Parts, States
from dq_dagster.spark.passes.isolation import Suspicion, attempted, isolated
from dq_dagster.spark.passes.skipping import Apart, counted_apart
from dq_dagster.spark.passes.suspects import Needs, halves, quoted_texts
from dq_dagster.spark.passes.user_code import is_accepted, refusal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RowStates = dict[RowMetric, Measured]
StatesOfPart = Mapping[RowMetric, State | RuleFailure | None]

# So many parts are measured one by one if a rule raises on all of them together.
_MOST_ALONE = 50

# Counts of as many rows do not share a long, and so many buffers are one loop.
MOST_PAIRED = 2**31
MOST_IN_ONE_LOOP = 60
_STEADY = 101
# Moments and pairs take several; sums that may overflow keep a flag beside the sum.
_BUFFERS = {
    **dict.fromkeys(("avg", "mean", "regr_avgx", "regr_avgy", "try_avg", "try_sum"), 2),
    **dict.fromkeys(("std", "stddev", "stddev_pop", "stddev_samp"), 3),
    **dict.fromkeys(("var_pop", "var_samp", "variance", "regr_sxx", "regr_syy"), 3),
    **dict.fromkeys(("covar_pop", "covar_samp", "regr_sxy", "skewness"), 4),
    **dict.fromkeys(("kurtosis",), 5),
    **dict.fromkeys(("corr", "regr_r2"), 6),
    **dict.fromkeys(("regr_intercept", "regr_slope"), 7),
}
_LOW_BITS, _LANES = MOST_PAIRED - 1, 2
_MISSING = re.compile(r"(`(?:[^`]|``)+`) IS NULL")
_THERE = re.compile(r"(`(?:[^`]|``)+`) IS NOT NULL")


@dataclass(frozen=True, slots=True)
class Lane:
    """Where a count is found: the aggregate, which half of it, and whether it says the rest."""

    sql: str
    half: Literal["low", "high"] | None = None
    is_rest: bool = False

    def read(self, found: int, rows: int) -> int:
        if self.half is not None:
            found = found >> 31 if self.half == "high" else found & _LOW_BITS
        return rows - found if self.is_rest else found


def _alone(predicates: Sequence[str]) -> dict[str, Lane]:
    """For each predicate the count of the rows it is true for, in a buffer of its own."""
    return {
        predicate: Lane(_count(_counted(predicate)), is_rest=_counted(predicate) != predicate)
        for predicate in predicates
    }


def _paired(predicates: Sequence[str]) -> dict[str, Lane]:
    """For each predicate the half of a buffer that its count travels in."""
    counted = list(dict.fromkeys(map(_counted, predicates)))
    lanes: dict[str, Lane] = {}
    for start in range(0, len(counted), _LANES):
        pair = counted[start : start + _LANES]
        terms = [f"if({text}, {1 << 31 if high else 1}L, 0L)" for high, text in enumerate(pair)]
        sql = f"sum({' + '.join(terms)})"
        lanes |= {text: Lane(sql, "high" if high else "low") for high, text in enumerate(pair)}
    return {
        predicate: replace(lanes[_counted(predicate)], is_rest=_counted(predicate) != predicate)
        for predicate in predicates
    }


def _counted(predicate: str) -> str:
    """What is counted for a predicate: itself, or what is not NULL for what is."""
    missing = _MISSING.fullmatch(predicate)
    return f"{missing[1]} IS NOT NULL" if missing else predicate


def _count(predicate: str) -> str:
    there = _THERE.fullmatch(predicate)
    return f"count({there[1]})" if there else f"count(if({predicate}, 1, NULL))"


def _buffers(sql: str) -> int:
    """How many buffers Spark keeps for an aggregate."""
    return _BUFFERS.get(sql.partition("(")[0], 1)


def padding(used: int) -> list[str]:
    """Cheap aggregates that lift a query over the numbers of buffers that are slow."""
    missing = _STEADY - used if MOST_IN_ONE_LOOP < used < _STEADY else 0
    return [f"max({n})" for n in range(missing)]


_ROWS = "count(1)"


@dataclass(frozen=True, slots=True)
class Query:
    """The aggregates of some metrics, each distinct one computed once."""

    needs: Needs
    aliases: Mapping[str, str]
    lanes: Mapping[str, Lane]
    packed: bool

    @classmethod
    def of(cls, needs: Needs, *, packed: bool = True) -> Query:
        safe, unsafe, others = _distinct(needs)
        calls = _calls(needs)
        lanes = _alone([*safe, *unsafe])
        packed = packed and _used(lanes, calls) > MOST_IN_ONE_LOOP
        if packed:
            lanes |= _paired(safe)
        counts = [_ROWS, *(lane.sql for lane in lanes.values())]
        texts = dict.fromkeys([*counts, *others, *padding(_used(lanes, calls))])
        return cls(needs, {sql: f"dq_{n}" for n, sql in enumerate(texts)}, lanes, packed)

    def select_list(self) -> list[str]:
        return [f"{sql} AS {alias}" for sql, alias in self.aliases.items()]

    def steps(self) -> tuple[list[str], list[str]] | None:
        """The same in two steps, where sketches and counts of parts say what those of more do.

        The second one speaks of the aliases of the first one.
        """
        sketches = {one.sql: one for need in self.needs.values() for one in need.sketches.values()}
        counts = {_ROWS, *(lane.sql for lane in self.lanes.values())}
        if not sketches or not self.aliases.keys() <= {*sketches, *counts}:
            return None
        first, second = [], []
        for sql, alias in self.aliases.items():
            one = sketches.get(sql)
            first.append(f"{sql if one is None else one.of_values} AS {alias}")
            second.append(f"{f'sum({alias})' if one is None else one.merged(alias)} AS {alias}")
        return first, second

    def is_exact(self, rows: Iterable[Mapping[str, Any]]) -> bool:
        """Whether packed counts can be unpacked again."""
        return not self.packed or all(row[self.aliases[_ROWS]] < MOST_PAIRED for row in rows)

    def no_rows(self) -> dict[str, Any]:
        """What Spark would answer for a part without rows."""
        return {alias: 0 if sql == _ROWS else None for sql, alias in self.aliases.items()}

    def states(self, row: Mapping[str, Any]) -> dict[RowMetric, State | RuleFailure | None]:
        """Each metric's state from one row of results; None where those leave it open."""
        results = [self._results(needed, row) for needed in self.needs.values()]
        found: dict[RowMetric, State | RuleFailure | None] = {}
        for (metric, needed), mine in zip(self.needs.items(), results, strict=True):
            try:
                found[metric] = needed.state(mine)
            except RuleFailure as failure:
                found[metric] = failure
        return found

    def using(self, sql: str) -> list[RowMetric]:
        """The metrics that need that aggregate."""
        return [metric for metric, needed in self.needs.items() if sql in self._texts(needed)]

    def _texts(self, needed: Aggregates) -> list[str]:
        counts = [self.lanes[predicate].sql for predicate in needed.counts.values()]
        return [*counts, *_others(needed).values()]

    def _results(self, needed: Aggregates, row: Mapping[str, Any]) -> dict[str, Any]:
        results = {name: row[self.aliases[sql]] for name, sql in _others(needed).items()}
        counts = {name: self._count(sql, row) for name, sql in needed.counts.items()}
        return {**results, **counts}

    def _count(self, predicate: str, row: Mapping[str, Any]) -> int:
        lane = self.lanes[predicate]
        # NULL: there were no rows at all.
        return lane.read(row[self.aliases[lane.sql]] or 0, row[self.aliases[_ROWS]])


def _others(needed: Aggregates) -> dict[str, str]:
    """All SQL aggregates that are not counts, by the names of their results."""
    if not needed.sketches:
        return dict(needed.others)
    return {**needed.others, **{name: one.sql for name, one in needed.sketches.items()}}


def _distinct(needs: Needs) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    """The distinct predicates of ours, those with text from users, and the other aggregates."""
    safe = dict.fromkeys(p for n in needs.values() if not n.fallible for p in n.counts.values())
    unsafe = dict.fromkeys(p for n in needs.values() if n.fallible for p in n.counts.values())
    others = dict.fromkeys(sql for n in needs.values() for sql in _others(n).values())
    return list(safe), [p for p in unsafe if p not in safe], list(others)


def _used(lanes: Mapping[str, Lane], calls: Iterable[str]) -> int:
    """How many buffers Spark keeps for all of these, and for the number of rows."""
    counts = (lane.sql for lane in lanes.values())
    return sum(map(_buffers, dict.fromkeys([_ROWS, *counts, *calls])))


def _calls(needs: Needs) -> Sequence[str]:
    """The distinct aggregates other than counts that Spark keeps buffers for."""
    calls = (call for n in needs.values() for call in (n.calls or _others(n).values()))
    return list(dict.fromkeys(calls))


def measure(metrics: Sequence[Metric], parts: Parts, table: JudgedTable) -> States:
    """The states of each metric, or why it has none; one Spark query if nothing raises."""
    found = measure_with_rows(cast("Sequence[RowMetric]", metrics), parts, table)
    return {metric: found[metric] for metric in cast("Sequence[RowMetric]", metrics)}


def measure_with_rows(metrics: Sequence[RowMetric], parts: Parts, table: JudgedTable) -> RowStates:
    """The same, with the number of rows: if not even that is known, no single rule is to blame.

    Columns that are only read for missing values have a second query, if files skip through it.
    """
    table = replace(table, usual_texts=usual_texts(metrics, table))
    measured: RowStates = {}
    needs: dict[RowMetric, Aggregates] = {RecordCount(): aggregates(RecordCount(), table)}
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
        # Nobody wants the rows alone.
        return measured
    if not parts.is_small:
        apart = attempted(lambda: counted_apart(parts.frame, answerable, table), lambda _: None)
        if apart is not None:
            return measured | _in_two(parts, answerable, apart)
    return measured | _run(parts, answerable)


def _in_two(parts: Parts, needs: Needs, apart: Apart) -> RowStates:
    """What is counted apart, with all others if that raises, and beside it the rest."""
    few = {metric: needs[metric] for metric in apart.metrics}
    rest = {metric: need for metric, need in needs.items() if metric not in few}
    if (known := apart.measured(parts.cuts)) is not None:
        return known | _run(parts, rest)
    from dq_dagster.spark.passes.queries import side_by_side

    rows = replace(parts, frame=parts.frame.where(apart.condition))
    runs: dict[str, Callable[[], RowStates]] = {
        "few": lambda: attempted(lambda: _collect(rows, Query.of(few)), lambda _: {}),
        "rest": lambda: _run(parts, rest),
    }
    found = side_by_side(runs, parts.frame.sparkSession)
    return found["rest"] | (found["few"] or _run(parts, few))


def _refused(frame: DataFrame, needs: Needs) -> RowStates:
    """The metrics whose text from users Spark's analyzer does not accept. Reads no data."""
    doubtful = {metric: need for metric, need in needs.items() if need.fallible}
    if not doubtful or is_accepted(frame, Query.of(doubtful).select_list()):
        return {}
    alone = {m: Query.of({m: need}).select_list() for m, need in doubtful.items()}
    refused = {metric: refusal(frame, metric, columns) for metric, columns in alone.items()}
    return {m: Measured.failed(m, reason) for m, reason in refused.items() if reason is not None}


def _run(parts: Parts, needs: Needs, *, packed: bool = True) -> RowStates:
    """All in one query; if that raises, the metrics the error points to run on their own."""
    return isolated(
        needs,
        lambda some: _collect(parts, Query.of(some, packed=packed)),
        narrow=lambda some, error: _suspicion(parts, some, error, packed=packed),
        fail=lambda some, error: _part_by_part(parts, some, error),
    )


def _suspicion(
    parts: Parts, needs: Needs, error: Exception, *, packed: bool
) -> Suspicion[RowMetric, Aggregates, Measured]:
    query = Query.of(needs, packed=packed)
    quoted = quoted_texts(error, query.aliases)
    suspects = {m: needs[m] for sql in quoted for m in query.using(sql)}
    if query.packed and suspects and not any(need.fallible for need in suspects.values()):
        # Of ours only packed counts can raise: there are too many rows for them.
        return Suspicion(known=_run(parts, needs, packed=False))
    rest = {metric: need for metric, need in needs.items() if metric not in suspects}
    if len(quoted) == 1 and not any(need.fallible for need in rest.values()):
        return Suspicion(broken=suspects, groups=[rest])
    if suspects and rest:
        # Not yet proven: Spark computes equal parts of several rules once, and may quote a rule
        # that would never have come to that part by itself.
        return Suspicion(groups=[suspects, rest])
    return _suspicion_without_words(parts, needs, error)


def _suspicion_without_words(
    parts: Parts, needs: Needs, error: Exception
) -> Suspicion[RowMetric, Aggregates, Measured]:
    """The error points to no rule: the rows are counted alone, the rest is run in halves."""
    if len(needs) == 1:
        return Suspicion(broken=needs)
    rows = RecordCount()
    if rows not in needs:
        return Suspicion(groups=halves(needs))
    counted = _run(parts, {rows: needs[rows]})
    if isinstance(counted[rows].nothing, RuleFailure):
        # Not even the rows can be counted: the data or Spark itself is broken.
        return Suspicion(known=_failed(needs, error))
    rest = {metric: need for metric, need in needs.items() if metric != rows}
    return Suspicion(known=counted, groups=[rest])


def _part_by_part(parts: Parts, needs: Needs, error: Exception) -> RowStates:
    """What raises on one part of the data may have an answer on the others."""
    if parts.cuts == (UNDIVIDED,):
        return _failed(needs, error)
    # If not even the keys of the parts can be computed, there is nothing to go through.
    slices = attempted(lambda: list(parts.aggregate(["count(1) AS n"])), lambda _: None)
    if slices is None or len(slices) > _MOST_ALONE:
        return _failed(needs, error)
    found: RowStates = {}
    for metric, need in needs.items():
        alone = {part: _run(parts.only(part), {metric: need})[metric] for part in slices}
        states = {part: {metric: of.states.get(WHOLE, of.nothing)} for part, of in alone.items()}
        found |= _measured(parts, Query.of({metric: need}), states)
    return found


def _failed(metrics: Iterable[RowMetric], error: Exception) -> RowStates:
    failure = failure_of(error)
    return {metric: Measured.failed(metric, failure) for metric in metrics}


def _collect(parts: Parts, query: Query) -> RowStates:
    rows = parts.aggregate(query.select_list(), query.steps())
    if not query.is_exact(rows.values()):
        query = Query.of(query.needs, packed=False)
        rows = parts.aggregate(query.select_list(), query.steps())
    states = {part: query.states(row) for part, row in rows.items()}
    closer = _left_open(query, states.values())
    measured = _measured(parts, query, states)
    return measured | _run(parts, closer) if closer else measured


def _measured(parts: Parts, query: Query, states: Mapping[Slice, StatesOfPart]) -> RowStates:
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
    parts: Parts, needs: Needs, states: Mapping[Slice, StatesOfPart]
) -> dict[RowMetric, State | RuleFailure | None]:
    """The states of no rows that only Spark knows, if any part has none: one small query."""
    unsaid = {m: need.over_nothing for m, need in needs.items() if need.over_nothing is not None}
    if unsaid and not parts.lacks_any(states):
        unsaid = {m: n for m, n in unsaid.items() if any(of[m] is None for of in states.values())}
    if not unsaid:
        return {}
    found = _run(parts.without_rows(), unsaid)
    return {metric: found[metric].states.get(WHOLE, found[metric].nothing) for metric in unsaid}


def _left_open(query: Query, states: Iterable[StatesOfPart]) -> dict[RowMetric, Aggregates]:
    """Closer aggregates for each metric whose state the results leave open somewhere."""
    metrics = {metric for found in states for metric, state in found.items() if state is None}
    return {m: n.closer for m, n in query.needs.items() if m in metrics and n.closer is not None}
