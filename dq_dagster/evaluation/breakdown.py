"""A rule's result by group: which parts of the data it fails on, the weightiest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from dq_dagster.errors import Misfit, RuleFailure, TooManyParts
from dq_dagster.evaluation.history.baseline import Baselines
from dq_dagster.evaluation.history.history import group_key
from dq_dagster.evaluation.judge import Measurements, judged, numbers
from dq_dagster.evaluation.outcome import GroupRow, GroupTable, Outcome
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Status, impact
from dq_dagster.metrics.measured import Cut, Slice
from dq_dagster.plan.plan import passes_for
from dq_dagster.plan.request import RequestedRule

OTHERS = "Others"
# The numbers of so many groups are kept for later, the largest first.
_MOST_GROUPS = 300
# By the slice and the dimension of which they are the others.
OthersEvidence: TypeAlias = Mapping[tuple[Slice, str], Evidence]
_NO_COMMON_PAST = "Nothing to judge: together these groups have no past of their own."


@dataclass(frozen=True, slots=True)
class Group:
    """The verdict on one group, or on several put together."""

    name: str | None
    outcome: Outcome
    rows: int
    groups: int = 1

    @property
    def impact(self) -> float:
        considered = self.outcome.rows or self.rows
        return impact(self.failed, considered)

    @property
    def failed(self) -> int:
        """The failing rows; all of them where a rule counts none and does not hold."""
        if self.outcome.failed_rows is not None:
            return self.outcome.failed_rows
        fails = self.outcome.status in {Status.WARNING, Status.ERROR}
        return (self.outcome.rows or self.rows) if fails else 0

    def record(self) -> GroupRow:
        judgement = self.outcome.judgement
        return GroupRow(
            name=self.name,
            status=judgement.status,
            rows=self.rows,
            failed_rows=judgement.failed_rows,
            observed=judgement.observed,
            impact=self.impact,
            groups=self.groups,
            message=judgement.message,
        )


@dataclass(frozen=True, slots=True)
class Ranked:
    """The groups of a slice by one dimension: the weightiest are listed, the others are not."""

    groups: Mapping[Slice, Group]
    listed: Sequence[Slice]
    others: Sequence[Slice]

    @classmethod
    def of(cls, groups: Mapping[Slice, Group], *, top: int) -> Ranked:
        ranked = sorted(groups, key=lambda part: (-groups[part].impact, -groups[part].rows))
        return cls(groups, ranked[:top], ranked[top:])

    def numbers(self) -> dict[str, Mapping[str, Any]]:
        return {key: outcome.metrics for key, outcome in self._largest()}

    def statuses(self) -> dict[str, Mapping[str, Status]]:
        """What those numbers were judged."""
        return {
            key: {metric: outcome.judged_of(metric) for metric in outcome.metrics}
            for key, outcome in self._largest()
        }

    def _largest(self) -> Iterator[tuple[str, Outcome]]:
        largest = sorted(self.groups.items(), key=lambda item: -item[1].rows)[:_MOST_GROUPS]
        return ((group_key(part.group), group.outcome) for part, group in largest)


@dataclass(frozen=True, slots=True)
class Breakdown:
    """For each dimension the groups of one slice, or what is wrong."""

    dimensions: Mapping[str, Ranked | RuleFailure]

    @property
    def metrics(self) -> dict[str, dict[str, Mapping[str, Any]]]:
        """The numbers of the groups, by dimension."""
        found = self.dimensions.items()
        return {name: one.numbers() for name, one in found if isinstance(one, Ranked)}

    @property
    def statuses(self) -> dict[str, dict[str, Mapping[str, Status]]]:
        """What the numbers of the groups were judged, by dimension."""
        found = self.dimensions.items()
        return {name: one.statuses() for name, one in found if isinstance(one, Ranked)}


def breakdown(one: RequestedRule, found: Measurements, base: Slice, past: Baselines) -> Breakdown:
    """The groups of a slice by each dimension of the rule."""
    dimensions: dict[str, Ranked | RuleFailure] = {}
    for name in one.dimensions:
        try:
            parts = _parts(one, found.of(base), base, name)
            groups = {part: _group_of(one, found, part, past) for part in parts}
        except RuleFailure as failure:
            dimensions[name] = failure
        else:
            dimensions[name] = Ranked.of(groups, top=one.rule.top_dimensions)
    return Breakdown(dimensions)


def tables(
    one: RequestedRule, slices: Mapping[Slice, Breakdown], others: OthersEvidence
) -> dict[Slice, dict[str, GroupTable]]:
    """For each slice and dimension the groups to show and the others together, or what is wrong.

    ``others`` is the evidence on the rows outside the listed groups, by slice and dimension.
    """
    shown: dict[Slice, dict[str, GroupTable]] = {base: {} for base in slices}
    for base, found in slices.items():
        for dimension, ranked in found.dimensions.items():
            beside = others.get((base, dimension))
            shown[base][dimension] = (
                _table(one, ranked, beside) if isinstance(ranked, Ranked) else str(ranked)
            )
    return shown


def merged_others(
    one: RequestedRule, found: Measurements, slices: Mapping[Slice, Breakdown]
) -> dict[tuple[Slice, str], Evidence]:
    """The evidence on all groups that are not listed, where their states merge."""
    if not all(metric.mergeable for metric in one.metrics):
        return {}
    return {
        (base, name): found.of(base).evidence_of_all(one, ranked.others)
        for base, by_dimension in slices.items()
        for name, ranked in by_dimension.dimensions.items()
        if isinstance(ranked, Ranked) and ranked.others
    }


def listed_beside_others(slices: Mapping[Slice, Breakdown], dimension: str) -> list[Slice]:
    """The groups that are listed where there are others, which are the rows outside of them."""
    found = [by_dimension.dimensions.get(dimension) for by_dimension in slices.values()]
    return [
        part
        for ranked in found
        if isinstance(ranked, Ranked) and ranked.others
        for part in ranked.listed
    ]


def _table(one: RequestedRule, ranked: Ranked, others: Evidence | None) -> GroupTable:
    shown = [ranked.groups[part] for part in ranked.listed]
    if others is not None:
        try:
            shown.append(_group(one, others, OTHERS, groups=len(ranked.others)))
        except RuleFailure as failure:
            return str(failure)
    return [group.record() for group in shown]


def groups_in(one: RequestedRule, found: Measurements, base: Slice) -> Iterator[Slice]:
    """The groups of a slice, by all dimensions that it can be broken down by."""
    for dimension in one.dimensions:
        with suppress(RuleFailure):
            yield from _parts(one, found.of(base), base, dimension)


def _parts(one: RequestedRule, found: Measurements, base: Slice, dimension: str) -> Sequence[Slice]:
    if dimension in found.problems:
        raise found.problems[dimension]
    cut = Cut(base.cut.partitioned, dimension)
    if not found.counted(one, cut):
        raise TooManyParts.by([dimension])
    if not found.divided(one, cut):
        planned = _is_planned(one, cut)
        raise TooManyParts.by([dimension]) if planned else Misfit.no_groups(one.rule.type)
    return found.groups(one, base, dimension)


def _is_planned(one: RequestedRule, cut: Cut) -> bool:
    """Whether it was tried to measure all that the rule needs for the parts of that cut."""
    passes = passes_for(dict.fromkeys(one.metrics, (cut,)))
    return all(cut in step.cuts for step in passes)


def _group_of(one: RequestedRule, found: Measurements, part: Slice, past: Baselines) -> Group:
    return _group(one, past.add_to(found.evidence(one, part), part), part.group)


def _group(one: RequestedRule, evidence: Evidence, name: str | None, *, groups: int = 1) -> Group:
    rule = one.rule
    rows = 0 if one.rows is None else evidence[one.rows]
    judgement = judged(rule, evidence)
    if groups > 1 and rule.lookback is not None and judgement.status is Status.EMPTY:
        judgement = replace(judgement, message=_NO_COMMON_PAST)
    metrics = numbers(rule, one.metrics, evidence)
    return Group(name, Outcome.of(rule, judgement, metrics=metrics), rows, groups)
