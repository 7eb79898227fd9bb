"""Plans: which metrics answer a request, and in how few passes over the data."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

from dq_dagster.judging.wording import plural
from dq_dagster.metrics.conditions import Fault, PassKind
from dq_dagster.metrics.measured import BY_PARTITION, UNDIVIDED, Cut, finest
from dq_dagster.metrics.metric import Burden, ConditionCount, Metric, RecordCount
from dq_dagster.plan.request import CheckRequest, RequestedRule
from dq_dagster.plan.unions import in_one
from dq_dagster.rules.base.rule import Rule
from dq_dagster.ruleset import RuleSet, as_rule_set

_Item = TypeVar("_Item")
Wanted = dict[Metric, tuple[Cut, ...]]

# One pass serves this many aggregation buffers; past that Spark slows down more than a further
# pass costs. Those further passes are small, since small ones are compiled best.
_ONE_PASS = 260
_SMALL_PASS = 60
# Past so many buffers, counts of faults are screened where so many are alike.
_MOST_UNSCREENED = 60
_LEAST_SCREENED = 4
_MOST_UNITS = {
    # What is held of each grouping while it is counted adds up.
    PassKind.COUNT_VALUES: 20,
    # Each reference is one more join of the rows.
    PassKind.LOOKUPS: 8,
    PassKind.MEDIANS: 20,
    # Each window may sort the rows once more.
    PassKind.ACROSS_ROWS: 8,
}


@dataclass(frozen=True, slots=True)
class Screen:
    """A count of the rows that have any of many faults: where it finds none, there is none each."""

    any: ConditionCount
    each: tuple[ConditionCount, ...]


@dataclass(frozen=True, slots=True)
class Pass:
    """Metrics that are answered together, for the parts of each cut.

    What ``screens`` stand for is counted among the rows that they find, if they find any.
    """

    kind: PassKind
    metrics: tuple[Metric, ...]
    cuts: tuple[Cut, ...] = (UNDIVIDED,)
    screens: tuple[Screen, ...] = ()


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
    others: tuple[Others, ...] = ()
    metrics: tuple[Metric, ...] = ()
    passes: tuple[Pass, ...] = ()
    # What is known of the data, or on record, without a pass.
    without_pass: tuple[Metric, ...] = ()

    def measuring(self, wanted: Wanted) -> Plan:
        """The same request, answered by these metrics."""
        return replace(self, metrics=tuple(wanted)).with_passes(passes_for(wanted))

    def with_passes(self, passes: Sequence[Pass]) -> Plan:
        """The same metrics, measured by these passes."""
        measured = {metric for step in passes for metric in step.metrics}
        rest = tuple(metric for metric in self.metrics if metric not in measured)
        return replace(self, passes=tuple(passes), without_pass=rest)

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
        if self.without_pass:
            yield f"Without a pass: {', '.join(metric.key for metric in self.without_pass)}"
        for number, step in enumerate(self.passes, 1):
            parts = "" if step.cuts == (UNDIVIDED,) else f", {', '.join(map(str, step.cuts))}"
            yield f"Pass {number}: {step.kind.value}{parts}; {plural(len(step.metrics), 'metric')}"
            if step.screens:
                screened = plural(sum(len(one.each) for one in step.screens), "metric")
                first = plural(len(step.screens), "count")
                yield f"  ({screened} only among the rows that {first} of any such fault finds)"
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
    return Plan(request, others).measuring(wanted)


def by_partition(wanted: Wanted) -> Wanted:
    """With the rows of each partition, so that all states that merge are measured by partition.

    That tells which partitions there are, and a sum of the whole is then that of its partitions,
    whether they were all read now or not.
    """
    rows = dict.fromkeys([*wanted.get(RecordCount(), ()), BY_PARTITION])
    return {**wanted, RecordCount(): tuple(rows)}


def wanted_by(request: CheckRequest) -> Wanted:
    """Each distinct metric with the cuts that its rules are judged on."""
    wanted: dict[Metric, dict[Cut, None]] = {}
    for one in request.rules:
        cuts = dict.fromkeys(one.cuts())
        for metric in one.needs:
            wanted.setdefault(metric, {}).update(cuts)
    return {metric: tuple(cuts) for metric, cuts in wanted.items()}


def passes_for(wanted: Wanted) -> tuple[Pass, ...]:
    """The fewest passes that stay fast; metrics that need none are left out."""
    by_kind: dict[PassKind | None, Wanted] = {}
    for metric, cuts in wanted.items():
        by_kind.setdefault(metric.kind, {})[metric] = cuts
    return tuple(
        step
        for kind in PassKind
        if kind in by_kind
        for step in _PLANNERS.get(kind, _together)(kind, by_kind[kind])
    )


def _together(kind: PassKind, wanted: Wanted) -> list[Pass]:
    """Metrics that see the data as a whole, or partition by partition, by jobs of their own."""
    undivided = {m: tuple(c for c in cuts if c.dimension is None) for m, cuts in wanted.items()}
    return [Pass(kind, tuple(metrics), cuts) for cuts, metrics in _alike(undivided).items()]


def _aggregations(kind: PassKind, wanted: Wanted) -> list[Pass]:
    """States merge, so the finest cuts are measured and the others put together from them."""
    # If the rows are divided by partition for some metric, one pass serves the others as well.
    partitioned = any(cut.partitioned for cuts in wanted.values() for cut in cuts)
    burdens, buffers = {}, {}
    for metric in wanted:
        burdens[metric], buffers[metric] = metric.burdens, metric.buffers
    by_cuts: dict[tuple[Cut, ...], list[Metric]] = {}
    for metric, cuts in wanted.items():
        measured = finest([*cuts, Cut(partitioned)]) if metric.mergeable else cuts
        by_cuts.setdefault(measured, []).append(metric)
    return [
        step
        for cuts, metrics in by_cuts.items()
        for some in _apart(metrics, burdens)
        for step in _aggregation(Pass(kind, tuple(some), cuts), buffers)
    ]


def _aggregation(step: Pass, buffers: Mapping[Metric, float]) -> list[Pass]:
    """The pass, with screens if its metrics are very many, and in several if it is too large."""
    many = sum(buffers[metric] for metric in step.metrics) > _MOST_UNSCREENED
    screens: dict[Metric, Screen] = {one.any: one for one in _screens(step.metrics)} if many else {}
    screened = {metric for screen in screens.values() for metric in screen.each}
    first = [*(metric for metric in step.metrics if metric not in screened), *screens]
    weights = {**buffers, **{metric: metric.buffers for metric in screens}}
    found: list[Pass] = []
    for some in _split(first, weights):
        mine = tuple(screens[metric] for metric in some if metric in screens)
        plain = [metric for metric in some if metric not in screens]
        each = chain.from_iterable(screen.each for screen in mine)
        found.append(replace(step, metrics=(*plain, *each), screens=mine))
    return found


def unscreened(step: Pass, metrics: Sequence[Metric]) -> list[Pass]:
    """Some metrics of a pass with screens, in as many passes as they need by themselves."""
    buffers = {metric: metric.buffers for metric in metrics}
    passes = _split(metrics, buffers) if metrics else []
    return [replace(step, metrics=tuple(some), screens=()) for some in passes]


def _screens(metrics: Iterable[Metric]) -> list[Screen]:
    counts = {
        Fault(metric.condition, metric.where): metric
        for metric in metrics
        if isinstance(metric, ConditionCount) and metric.mergeable
    }
    return [
        Screen(ConditionCount.of(any_), tuple(counts[fault] for fault in each))
        for any_, each in in_one(counts, _LEAST_SCREENED)
    ]


def _apart(
    metrics: Sequence[Metric], burdens: Mapping[Metric, frozenset[Burden]]
) -> list[list[Metric]]:
    """Metrics that slow down their neighbours away from the others, each with its like."""
    light = [metric for metric in metrics if not burdens[metric]]
    heavy: list[tuple[frozenset[Burden], list[Metric]]] = []
    # The most burdened first: their parts then find their place beside them.
    for metric in sorted(metrics, key=lambda metric: -len(burdens[metric])):
        if burdens[metric]:
            place = next((some for kept, some in heavy if _fit(burdens[metric], kept)), None)
            if place is None:
                heavy.append((burdens[metric], place := []))
            place.append(metric)
    return [some for some in (light, *(some for _, some in heavy)) if some]


def _fit(some: frozenset[Burden], others: frozenset[Burden]) -> bool:
    return some <= others or all(burden.may_share for burden in some | others)


def _split(metrics: Sequence[Metric], buffers: Mapping[Metric, float]) -> list[Sequence[Metric]]:
    if sum(buffers[metric] for metric in metrics) <= _ONE_PASS:
        return [metrics]
    # Metrics of one column stay together: passes then read different columns, and all of them
    # together little more than a single one would.
    passes: list[list[Metric]] = [[]]
    room = float(_SMALL_PASS)
    for metric in sorted(metrics, key=lambda metric: (metric.columns or ("",))[:1]):
        if passes[-1] and room < buffers[metric]:
            passes.append([])
            room = _SMALL_PASS
        passes[-1].append(metric)
        room -= buffers[metric]
    return list(passes)


def _by_unit(kind: PassKind, wanted: Wanted) -> list[Pass]:
    """Metrics that share what is counted or joined; where states do not merge, every cut is."""
    units: dict[Hashable, list[Metric]] = {}
    cuts: dict[Hashable, tuple[Cut, ...]] = {}
    for metric, its_cuts in wanted.items():
        unit = metric.unit
        units.setdefault(unit, []).append(metric)
        all_cuts = (*cuts.get(unit, ()), *its_cuts)
        cuts[unit] = finest(all_cuts) if metric.mergeable else tuple(dict.fromkeys(all_cuts))
    return [
        Pass(kind, tuple(chain.from_iterable(units[unit] for unit in batch)), same)
        for same, alike in _alike(cuts).items()
        for batch in _batches(alike, _MOST_UNITS[kind])
    ]


_PLANNERS: Mapping[PassKind, Callable[[PassKind, Wanted], list[Pass]]] = {
    PassKind.AGGREGATE: _aggregations,
    PassKind.LOOKUPS: _by_unit,
    PassKind.COUNT_VALUES: _by_unit,
    PassKind.MEDIANS: _by_unit,
    PassKind.ACROSS_ROWS: _by_unit,
}


def _alike(cuts: Mapping[_Item, tuple[Cut, ...]]) -> dict[tuple[Cut, ...], list[_Item]]:
    """Those with the same cuts together."""
    found: dict[tuple[Cut, ...], list[_Item]] = {}
    for item, its_cuts in cuts.items():
        ordered = sorted(its_cuts, key=lambda cut: (cut.partitioned, cut.dimension or ""))
        found.setdefault(tuple(ordered), []).append(item)
    return found


def _batches(items: Sequence[_Item], size: int) -> list[Sequence[_Item]]:
    return [items[start : start + size] for start in range(0, len(items), size)]
