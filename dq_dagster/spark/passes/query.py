"""One aggregation over the table: a select list, and where each metric finds its results in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.metric import RowMetric
from dq_dagster.metrics.states import State
from dq_dagster.spark.expressions.aggregates import Aggregates

MOST_ROWS = 2**31
SMOOTH = 60
_STEADY = 101
# Moments and pairs of columns take several; sums that may overflow keep a flag beside the sum.
_BUFFERS = {
    **dict.fromkeys(("avg", "mean", "regr_avgx", "regr_avgy", "try_avg", "try_sum"), 2),
    **dict.fromkeys(("std", "stddev", "stddev_pop", "stddev_samp"), 3),
    **dict.fromkeys(("var_pop", "var_samp", "variance", "regr_sxx", "regr_syy"), 3),
    **dict.fromkeys(("covar_pop", "covar_samp", "regr_sxy", "skewness"), 4),
    **dict.fromkeys(("kurtosis",), 5),
    **dict.fromkeys(("corr", "regr_r2"), 6),
    **dict.fromkeys(("regr_intercept", "regr_slope"), 7),
}
_LOW_BITS = MOST_ROWS - 1
_LANES = 2
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


def alone(predicates: Sequence[str]) -> dict[str, Lane]:
    """For each predicate the count of the rows it is true for, in a buffer of its own."""
    return {
        predicate: Lane(_count(_counted(predicate)), is_rest=_counted(predicate) != predicate)
        for predicate in predicates
    }


def paired(predicates: Sequence[str]) -> dict[str, Lane]:
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


def buffers(sql: str) -> int:
    """How many buffers Spark keeps for an aggregate."""
    return _BUFFERS.get(sql.partition("(")[0], 1)


def padding(used: int) -> list[str]:
    """Cheap aggregates that lift a query over the numbers of buffers that are slow."""
    missing = _STEADY - used if SMOOTH < used < _STEADY else 0
    return [f"max({n})" for n in range(missing)]


Needs = Mapping[RowMetric, Aggregates]

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
        lanes = alone([*safe, *unsafe])
        packed = packed and _used(lanes, calls) > SMOOTH
        if packed:
            lanes |= paired(safe)
        counts = [_ROWS, *(lane.sql for lane in lanes.values())]
        texts = dict.fromkeys([*counts, *others, *padding(_used(lanes, calls))])
        return cls(needs, {sql: f"dq_{n}" for n, sql in enumerate(texts)}, lanes, packed)

    def select_list(self) -> list[str]:
        return [f"{sql} AS {alias}" for sql, alias in self.aliases.items()]

    def is_exact(self, rows: Iterable[Mapping[str, Any]]) -> bool:
        """Whether packed counts can be told apart again."""
        return not self.packed or all(row[self.aliases[_ROWS]] < MOST_ROWS for row in rows)

    def no_rows(self) -> dict[str, Any]:
        """What Spark would answer for a part without rows."""
        return {alias: 0 if sql == _ROWS else None for sql, alias in self.aliases.items()}

    def states(self, row: Mapping[str, Any]) -> dict[RowMetric, State | RuleFailure | None]:
        """Each metric's state from one row of results; None where those leave it open."""
        return {metric: self._state(needed, row) for metric, needed in self.needs.items()}

    def using(self, sql: str) -> list[RowMetric]:
        """The metrics that need that aggregate."""
        return [metric for metric, needed in self.needs.items() if sql in self._texts(needed)]

    def _texts(self, needed: Aggregates) -> list[str]:
        counts = [self.lanes[predicate].sql for predicate in needed.counts.values()]
        return [*counts, *needed.others.values()]

    def _state(self, needed: Aggregates, row: Mapping[str, Any]) -> State | RuleFailure | None:
        results = {name: row[self.aliases[sql]] for name, sql in needed.others.items()}
        for name, predicate in needed.counts.items():
            results[name] = self._count(predicate, row)
        try:
            return needed.state(results)
        except RuleFailure as failure:
            return failure

    def _count(self, predicate: str, row: Mapping[str, Any]) -> int:
        lane = self.lanes[predicate]
        # NULL: there were no rows at all.
        return lane.read(row[self.aliases[lane.sql]] or 0, row[self.aliases[_ROWS]])


def _distinct(needs: Needs) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    """The distinct predicates of ours, those with text from users, and the other aggregates."""
    safe = dict.fromkeys(p for n in needs.values() if not n.fallible for p in n.counts.values())
    unsafe = dict.fromkeys(p for n in needs.values() if n.fallible for p in n.counts.values())
    others = dict.fromkeys(sql for n in needs.values() for sql in n.others.values())
    return list(safe), [p for p in unsafe if p not in safe], list(others)


def _used(lanes: Mapping[str, Lane], calls: Iterable[str]) -> int:
    """How many buffers Spark keeps for all of these, and for the number of rows."""
    counts = (lane.sql for lane in lanes.values())
    return sum(map(buffers, dict.fromkeys([_ROWS, *counts, *calls])))


def _calls(needs: Needs) -> Sequence[str]:
    """The distinct aggregates other than counts that Spark keeps buffers for."""
    calls = (call for n in needs.values() for call in (n.calls or n.others.values()))
    return list(dict.fromkeys(calls))
