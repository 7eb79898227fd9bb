"""Plans: which metrics answer a request, and in how few passes over the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import Any, TypeVar

from dq_dagster.judging.wording import plural
from dq_dagster.metrics.frequency import FrequencyMetric, Grouping
from dq_dagster.metrics.measured import UNDIVIDED, Cut, finest
from dq_dagster.metrics.metric import (
    Burden,
    ColumnMedian,
    ConditionCount,
    Metric,
    RecordCount,
    RowMetric,
)
from dq_dagster.metrics.sources import (
    FileBytes,
    FileCount,
    Lookup,
    MetricElsewhere,
    PythonCall,
    PythonMetric,
    QueryMetric,
    ReferenceMembership,
)
from dq_dagster.plan.request import CheckRequest, RequestedRule
from dq_dagster.rules.base.rule import Rule
from dq_dagster.ruleset import RuleSet, as_rule_set

_Item = TypeVar("_Item")
Wanted = dict[Metric, tuple[Cut, ...]]

# One pass serves this many aggregation buffers; past that Spark slows down more than a further
# pass costs. Those further passes are small, since small ones are compiled best.
_ONE_PASS = 260
_SMALL_PASS = 60
# Each grouping multiplies the rows that are shuffled; past this a pass of its own is cheaper.
_MOST_GROUPINGS = 8
_MOST_MEDIANS = 20
# Each reference is one more join of the rows.
_MOST_LOOKUPS = 8


class Kind(Enum):
    """The kinds of passes."""

    AGGREGATE = "one aggregation over the rows"
    COUNT_VALUES = "one count of values, and of their counts"
    LOOKUPS = "one join with reference values, then one aggregation"
    QUERIES = "queries of users, one job each"
    FILES = "one look at the sizes of the files"
    ELSEWHERE = "passes over the data of other assets"
    PYTHON = "functions of Python, one call each"
    MEDIANS = "two aggregations: a bracket around each median, then its middle"


# What looks at the data as a whole, by jobs of its own.
_ONE_BY_ONE: dict[Kind, tuple[type[Metric], ...]] = {
    Kind.FILES: (FileBytes, FileCount),
    Kind.QUERIES: (QueryMetric,),
    Kind.ELSEWHERE: (MetricElsewhere,),
    Kind.PYTHON: (PythonCall, PythonMetric),
}


@dataclass(frozen=True, slots=True)
class Pass:
    """Metrics that are answered together, for the parts of each cut."""

    kind: Kind
    metrics: tuple[Metric, ...]
    cuts: tuple[Cut, ...] = (UNDIVIDED,)


@dataclass(frozen=True, slots=True)
class Others:
    """Groups that are not listed and whose states do not merge: measured once more, together.

    Which groups those are is known when the listed ones have been judged.
    """

    rule: RequestedRule
    dimension: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Which metrics answer the rules, and which passes measure them."""

    request: CheckRequest
    metrics: tuple[Metric, ...]
    passes: tuple[Pass, ...]
    others: tuple[Others, ...] = ()

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(one.rule for one in self.request.rules)

    def __str__(self) -> str:
        parts = self._rules(), self._passes(), self._others()
        return "\n".join(chain([self.headline()], *parts))

    def headline(self) -> str:
        """Such as "12 rules -> 15 metrics -> 1 Spark pass"."""
        passes = "1 Spark pass" if len(self.passes) == 1 else f"{len(self.passes)} Spark passes"
        rules = plural(len(self.request.rules), "rule")
        return f"{rules} -> {plural(len(self.metrics), 'metric')} -> {passes}"

    def _rules(self) -> Iterable[str]:
        yield "Rules"
        for one in self.request.rules:
            keys = dict.fromkeys(metric.key for metric in one.metrics)
            yield f"  {one.rule.name}: {', '.join(keys)}"

    def _passes(self) -> Iterable[str]:
        measured = {metric for step in self.passes for metric in step.metrics}
        outside = [metric.key for metric in self.metrics if metric not in measured]
        if outside:
            yield f"Without a pass: {', '.join(outside)}"
        for number, step in enumerate(self.passes, 1):
            parts = "" if step.cuts == (UNDIVIDED,) else f", {', '.join(map(str, step.cuts))}"
            yield f"Pass {number}: {step.kind.value}{parts}; {plural(len(step.metrics), 'metric')}"
            yield from (f"  {metric.key}" for metric in step.metrics)

    def _others(self) -> Iterable[str]:
        for one in self.others:
            yield (
                f"Afterwards, if groups of '{one.dimension}' are put together as Others: "
                f"{one.rule.rule.name} on their rows"
            )


def explain(rules: RuleSet | Sequence[Rule | Mapping[str, Any]]) -> Plan:
    """How the rules would be answered; printing it shows rules, metrics and passes."""
    return make_plan(CheckRequest.of(as_rule_set(rules).enabled_rules))


def make_plan(request: CheckRequest) -> Plan:
    """The distinct metrics of all rules, and the fewest passes that stay fast."""
    wanted = wanted_by(request)
    if request.partitioned:
        wanted = by_partition(wanted)
    others = tuple(
        Others(one, dimension)
        for one in request.rules
        if not all(metric.mergeable for metric in one.metrics)
        for dimension in one.dimensions
    )
    return Plan(request, tuple(wanted), passes_for(wanted), others)


def by_partition(wanted: Wanted) -> Wanted:
    """With the rows of each partition, so that all states that merge are measured by partition.

    That tells which partitions there are, and a sum of the whole is then that of its partitions,
    whether they were all looked at now or not.
    """
    rows = dict.fromkeys([*wanted.get(RecordCount(), ()), Cut(partitioned=True)])
    return {**wanted, RecordCount(): tuple(rows)}


def passes_for(wanted: Wanted) -> tuple[Pass, ...]:
    """The fewest passes that stay fast; metrics that need none are left out."""
    lookups = {m: cuts for m, cuts in wanted.items() if lookup_of(m) is not None}
    rows = {m: c for m, c in wanted.items() if isinstance(m, RowMetric) and m not in lookups}
    passes = [
        *_aggregations(rows),
        *_lookups(lookups),
        *_value_counts({m: c for m, c in wanted.items() if isinstance(m, FrequencyMetric)}),
        *_medians({m: c for m, c in wanted.items() if isinstance(m, ColumnMedian)}),
        *(
            step
            for kind, types in _ONE_BY_ONE.items()
            for step in _together(kind, {m: c for m, c in wanted.items() if isinstance(m, types)})
        ),
    ]
    return tuple(passes)


def _together(kind: Kind, wanted: Wanted) -> list[Pass]:
    """Metrics that see the data as a whole, or partition by partition."""
    undivided = {m: tuple(c for c in cuts if c.dimension is None) for m, cuts in wanted.items()}
    return [Pass(kind, tuple(metrics), cuts) for cuts, metrics in _alike(undivided).items()]


def _apart(metrics: Sequence[RowMetric]) -> list[list[RowMetric]]:
    """Metrics that slow down their neighbours away from the others, each with its like."""
    light = [metric for metric in metrics if not metric.burdens]
    heavy: list[tuple[frozenset[Burden], list[RowMetric]]] = []
    # The most burdened first: their parts then find their place beside them.
    for metric in sorted(metrics, key=lambda metric: -len(metric.burdens)):
        if metric.burdens:
            home = next((some for kept, some in heavy if _fit(metric.burdens, kept)), None)
            if home is None:
                heavy.append((metric.burdens, home := []))
            home.append(metric)
    return [some for some in (light, *(some for _, some in heavy)) if some]


def _fit(some: frozenset[Burden], others: frozenset[Burden]) -> bool:
    return some <= others or all(burden.sociable for burden in some | others)


def wanted_by(request: CheckRequest) -> Wanted:
    """Each distinct metric with the cuts that its rules are judged on."""
    wanted: dict[Metric, dict[Cut, None]] = {}
    for one in request.rules:
        cuts = dict.fromkeys(one.cuts())
        for metric in one.needs:
            wanted.setdefault(metric, {}).update(cuts)
    return {metric: tuple(cuts) for metric, cuts in wanted.items()}


def _aggregations(wanted: Mapping[RowMetric, tuple[Cut, ...]]) -> list[Pass]:
    """States merge, so the finest cuts are measured and the others put together from them."""
    # If the rows are divided by partition for some metric, one pass serves the others as well.
    partitioned = any(cut.partitioned for cuts in wanted.values() for cut in cuts)
    by_cuts: dict[tuple[Cut, ...], list[RowMetric]] = {}
    for metric, cuts in wanted.items():
        measured = finest([*cuts, Cut(partitioned)]) if metric.mergeable else cuts
        by_cuts.setdefault(measured, []).append(metric)
    return [
        step
        for cuts, metrics in by_cuts.items()
        for some in _apart(metrics)
        for step in _split(some, cuts)
    ]


def _split(metrics: Sequence[RowMetric], cuts: tuple[Cut, ...]) -> list[Pass]:
    if sum(map(_buffers, metrics)) <= _ONE_PASS:
        return [Pass(Kind.AGGREGATE, tuple(metrics), cuts)]
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
    return [Pass(Kind.AGGREGATE, tuple(step), cuts) for step in passes]


def _value_counts(wanted: Mapping[FrequencyMetric, tuple[Cut, ...]]) -> list[Pass]:
    """Frequencies do not merge: every cut is measured."""
    by_grouping: dict[Grouping, list[FrequencyMetric]] = {}
    cuts: dict[Grouping, dict[Cut, None]] = {}
    for metric, its_cuts in wanted.items():
        by_grouping.setdefault(metric.grouping, []).append(metric)
        cuts.setdefault(metric.grouping, {}).update(dict.fromkeys(its_cuts))
    # Comparing with a set makes Spark sort all values it counts: those of large columns, where
    # it is only asked how many are unique, are counted apart as long as the rows are undivided.
    apart = {
        grouping
        for grouping, metrics in by_grouping.items()
        if any(metric.members for metric in metrics) and list(cuts[grouping]) == [UNDIVIDED]
    }
    return [
        Pass(Kind.COUNT_VALUES, tuple(chain.from_iterable(by_grouping[g] for g in batch)), same)
        for some in (cuts.keys() - apart, apart)
        for same, groupings in _alike({g: tuple(c) for g, c in cuts.items() if g in some}).items()
        for batch in _batches(groupings, max(1, _MOST_GROUPINGS // len(same)))
    ]


def lookup_of(metric: Metric) -> Lookup | None:
    """What a metric looks up in another dataset, if that is what it does."""
    condition = metric.condition if isinstance(metric, ConditionCount) else None
    return condition.lookup if isinstance(condition, ReferenceMembership) else None


def _lookups(wanted: Wanted) -> list[Pass]:
    by_lookup: dict[Lookup, list[Metric]] = {}
    cuts: dict[Lookup, tuple[Cut, ...]] = {}
    for metric, its_cuts in wanted.items():
        lookup = lookup_of(metric)
        if lookup is not None:
            by_lookup.setdefault(lookup, []).append(metric)
            cuts[lookup] = finest([*cuts.get(lookup, ()), *its_cuts])
    return [
        Pass(Kind.LOOKUPS, tuple(chain.from_iterable(by_lookup[one] for one in batch)), same)
        for same, lookups in _alike(cuts).items()
        for batch in _batches(lookups, _MOST_LOOKUPS)
    ]


def _medians(wanted: Mapping[ColumnMedian, tuple[Cut, ...]]) -> list[Pass]:
    return [
        Pass(Kind.MEDIANS, tuple(batch), cuts)
        for cuts, metrics in _alike(wanted).items()
        for batch in _batches(metrics, _MOST_MEDIANS)
    ]


def _alike(cuts: Mapping[_Item, tuple[Cut, ...]]) -> dict[tuple[Cut, ...], list[_Item]]:
    """Those with the same cuts together."""
    found: dict[tuple[Cut, ...], list[_Item]] = {}
    for item, its_cuts in cuts.items():
        ordered = sorted(its_cuts, key=lambda cut: (cut.partitioned, cut.dimension or ""))
        found.setdefault(tuple(ordered), []).append(item)
    return found


def _batches(items: Sequence[_Item], size: int) -> list[Sequence[_Item]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _buffers(metric: RowMetric) -> float:
    # Counts of built-in conditions travel in pairs.
    paired = isinstance(metric, ConditionCount) and metric.where is None
    return 0.5 if paired else metric.slots
