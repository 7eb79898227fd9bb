"""One aggregation over the table: a select list, and where each metric finds its results in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.metric import RowMetric
from dq_dagster.metrics.states import State
from dq_dagster.spark.aggregates import Aggregates
from dq_dagster.spark.packing import MOST_ROWS, SMOOTH, Lane, alone, buffers, padding, paired

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
