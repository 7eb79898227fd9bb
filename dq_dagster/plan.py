"""Rules to metrics to passes: what has to be measured, and in how many looks at the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from dq_dagster.judging.wording import plural
from dq_dagster.metrics.metric import ConditionCount, Metric, RowMetric
from dq_dagster.rules.rule import Rule

# One pass serves this many aggregation buffers; past that Spark slows down more than a further
# pass costs. Those further passes are small, since small ones are compiled best.
_ONE_PASS = 260
_SMALL_PASS = 60


@dataclass(frozen=True, slots=True)
class Pass:
    """Metrics that one Spark aggregation answers together."""

    metrics: tuple[RowMetric, ...]


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
            yield f"  {rule.name}: {', '.join(metric.key for metric in rule.metrics())}"

    def _passes(self) -> Iterable[str]:
        outside = [metric.key for metric in self.metrics if not isinstance(metric, RowMetric)]
        if outside:
            yield f"Without a pass: {', '.join(outside)}"
        for number, step in enumerate(self.passes, 1):
            yield f"Pass {number}: one aggregation over the rows, {len(step.metrics)} metrics"
            yield from (f"  {metric.key}" for metric in step.metrics)


def make_plan(rules: Sequence[Rule]) -> Plan:
    """The distinct metrics of all rules, and the fewest passes that stay fast."""
    metrics = tuple(dict.fromkeys(metric for rule in rules for metric in rule.metrics()))
    row_metrics = [metric for metric in metrics if isinstance(metric, RowMetric)]
    return Plan(tuple(rules), metrics, tuple(_passes(row_metrics)))


def _passes(metrics: Sequence[RowMetric]) -> list[Pass]:
    if not metrics:
        return []
    if sum(map(_buffers, metrics)) <= _ONE_PASS:
        return [Pass(tuple(metrics))]
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
    return [Pass(tuple(step)) for step in passes]


def _buffers(metric: RowMetric) -> float:
    # Counts of built-in conditions travel in pairs.
    paired = isinstance(metric, ConditionCount) and metric.where is None
    return 0.5 if paired else metric.slots
