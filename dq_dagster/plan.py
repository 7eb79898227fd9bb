"""Rules to metrics to passes: what has to be measured, and in how many looks at the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import TypeVar

from dq_dagster.judging.wording import plural
from dq_dagster.metrics.frequency import FrequencyMetric, Grouping
from dq_dagster.metrics.median import ColumnMedian
from dq_dagster.metrics.metric import ConditionCount, Metric, RowMetric
from dq_dagster.rules.rule import Rule

_Item = TypeVar("_Item")

# One pass serves this many aggregation buffers; past that Spark slows down more than a further
# pass costs. Those further passes are small, since small ones are compiled best.
_ONE_PASS = 260
_SMALL_PASS = 60
# Each grouping multiplies the rows that are shuffled; past this a pass of its own is cheaper.
_MOST_GROUPINGS = 8
_MOST_MEDIANS = 20


class Kind(Enum):
    """The ways to look at the rows."""

    AGGREGATE = "one aggregation over the rows"
    COUNT_VALUES = "one count of values, and of their counts"
    MEDIANS = "two aggregations: a bracket around each median, then its middle"


@dataclass(frozen=True, slots=True)
class Pass:
    """Metrics that are answered together."""

    kind: Kind
    metrics: tuple[Metric, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Which metrics answer the rules, and which passes measure them."""

    rules: tuple[Rule, ...]
    metrics: tuple[Metric, ...]
    passes: tuple[Pass, ...]

    def __str__(self) -> str:
        return "\n".join(chain([self.headline()], self._rules(), self._passes()))

    def headline(self) -> str:
        """Such as "12 rules -> 15 metrics -> 1 Spark pass"."""
        passes = "1 Spark pass" if len(self.passes) == 1 else f"{len(self.passes)} Spark passes"
        rules, metrics = plural(len(self.rules), "rule"), plural(len(self.metrics), "metric")
        return f"{rules} -> {metrics} -> {passes}"

    def _rules(self) -> Iterable[str]:
        yield "Rules"
        for rule in self.rules:
            keys = dict.fromkeys(metric.key for metric in rule.metrics())
            yield f"  {rule.name}: {', '.join(keys)}"

    def _passes(self) -> Iterable[str]:
        measured = {metric for step in self.passes for metric in step.metrics}
        outside = [metric.key for metric in self.metrics if metric not in measured]
        if outside:
            yield f"Without a pass: {', '.join(outside)}"
        for number, step in enumerate(self.passes, 1):
            yield f"Pass {number}: {step.kind.value}; {plural(len(step.metrics), 'metric')}"
            yield from (f"  {metric.key}" for metric in step.metrics)


def make_plan(rules: Sequence[Rule]) -> Plan:
    """The distinct metrics of all rules, and the fewest passes that stay fast."""
    metrics = tuple(dict.fromkeys(metric for rule in rules for metric in rule.metrics()))
    passes = [
        *_aggregations([metric for metric in metrics if isinstance(metric, RowMetric)]),
        *_value_counts([metric for metric in metrics if isinstance(metric, FrequencyMetric)]),
        *_medians([metric for metric in metrics if isinstance(metric, ColumnMedian)]),
    ]
    return Plan(tuple(rules), metrics, tuple(passes))


def _aggregations(metrics: Sequence[RowMetric]) -> list[Pass]:
    if not metrics:
        return []
    if sum(map(_buffers, metrics)) <= _ONE_PASS:
        return [Pass(Kind.AGGREGATE, tuple(metrics))]
    # Metrics of one column stay together: passes then read different columns, and all of them
    # together little more than a single one would.
    passes: list[list[RowMetric]] = [[]]
    room = float(_SMALL_PASS)
    for metric in sorted(metrics, key=lambda metric: metric.subject):
        if passes[-1] and room < _buffers(metric):
            passes.append([])
            room = _SMALL_PASS
        passes[-1].append(metric)
        room -= _buffers(metric)
    return [Pass(Kind.AGGREGATE, tuple(step)) for step in passes]


def _value_counts(metrics: Sequence[FrequencyMetric]) -> list[Pass]:
    by_grouping: dict[Grouping, list[FrequencyMetric]] = {}
    for metric in metrics:
        by_grouping.setdefault(metric.grouping, []).append(metric)
    return [
        Pass(Kind.COUNT_VALUES, tuple(chain.from_iterable(group)))
        for group in _batches(list(by_grouping.values()), _MOST_GROUPINGS)
    ]


def _medians(metrics: Sequence[ColumnMedian]) -> list[Pass]:
    return [Pass(Kind.MEDIANS, tuple(batch)) for batch in _batches(metrics, _MOST_MEDIANS)]


def _batches(items: Sequence[_Item], size: int) -> list[Sequence[_Item]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _buffers(metric: RowMetric) -> float:
    # Counts of built-in conditions travel in pairs.
    paired = isinstance(metric, ConditionCount) and metric.where is None
    return 0.5 if paired else metric.slots
