"""A rule's result by group: which parts of the data it fails on, the weightiest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from dq_dagster.errors import Misfit, RuleFailure, TooManyParts
from dq_dagster.evaluation.history.baseline import LookingBack
from dq_dagster.evaluation.history.history import group_key
from dq_dagster.evaluation.measurements import Measurements, judged, numbers
from dq_dagster.evaluation.outcome import GroupRow, GroupTable, Outcome
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Status, impact
from dq_dagster.metrics.measured import Cut, Slice
from dq_dagster.metrics.metric import RecordCount
from dq_dagster.plan.plan import passes_for
from dq_dagster.rules.base.rule import Rule

OTHERS = "Others"
# The numbers of so many groups are kept for later, the largest first.
_MOST_GROUPS = 300
_NO_COMMON_PAST = "Nothing to judge: together these groups have no past of their own."
# From the groups that are listed, to what is left of each slice without them.
Rest = Callable[[Sequence[Slice]], Mapping[Slice, Evidence]]


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


def breakdown(rule: Rule, found: Measurements, base: Slice, past: LookingBack) -> Breakdown:
    """The groups of a slice by each dimension of the rule."""
    dimensions: dict[str, Ranked | RuleFailure] = {}
    for name in rule.dimensions:
        try:
            parts = _parts(rule, found.of(base), base, name)
            groups = {part: _group_of(rule, found, part, past) for part in parts}
        except RuleFailure as failure:
            dimensions[name] = failure
        else:
            dimensions[name] = Ranked.of(groups, top=rule.top_dimensions)
    return Breakdown(dimensions)


def tables(
    rule: Rule, found: Measurements, slices: Mapping[Slice, Breakdown], rest: Rest
) -> dict[Slice, dict[str, GroupTable]]:
    """For each slice and dimension the groups to show and the others together, or what is wrong.

    ``rest`` is asked about the others where that can not be put together: once a dimension, for
    all slices, since it looks at the data anew.
    """
    shown: dict[Slice, dict[str, GroupTable]] = {base: {} for base in slices}
    for dimension in rule.dimensions:
        by_slice = {base: one.dimensions[dimension] for base, one in slices.items()}
        ranked = {base: one for base, one in by_slice.items() if isinstance(one, Ranked)}
        others = _evidence_of_others(rule, found, ranked, rest)
        for base, one in by_slice.items():
            shown[base][dimension] = (
                _table(rule, one, others.get(base)) if isinstance(one, Ranked) else str(one)
            )
    return shown


def _evidence_of_others(
    rule: Rule, found: Measurements, slices: Mapping[Slice, Ranked], rest: Rest
) -> Mapping[Slice, Evidence]:
    cut_off = {base: ranked for base, ranked in slices.items() if ranked.others}
    if all(getattr(metric, "mergeable", False) for metric in rule.metrics()):
        return {
            base: found.of(base).evidence_of_all(rule, ranked.others)
            for base, ranked in cut_off.items()
        }
    return rest([part for ranked in cut_off.values() for part in ranked.listed])


def _table(rule: Rule, ranked: Ranked, others: Evidence | None) -> GroupTable:
    shown = [ranked.groups[part] for part in ranked.listed]
    if others is not None:
        try:
            shown.append(_group(rule, others, OTHERS, groups=len(ranked.others)))
        except RuleFailure as failure:
            return str(failure)
    return [group.record() for group in shown]


def groups_in(rule: Rule, found: Measurements, base: Slice) -> Iterator[Slice]:
    """The groups of a slice, by all dimensions that it can be broken down by."""
    for dimension in rule.dimensions:
        with suppress(RuleFailure):
            yield from _parts(rule, found.of(base), base, dimension)


def _parts(rule: Rule, found: Measurements, base: Slice, dimension: str) -> Sequence[Slice]:
    if dimension in found.problems:
        raise found.problems[dimension]
    cut = Cut(base.cut.partitioned, dimension)
    if not found.counted(rule, cut):
        raise TooManyParts.by([dimension])
    if not found.divided(rule, cut):
        raise TooManyParts.by([dimension]) if _planned(rule, cut) else Misfit.no_groups(rule.type)
    return found.groups(rule, base, dimension)


def _planned(rule: Rule, cut: Cut) -> bool:
    """Whether it was tried to measure all that the rule needs for the parts of that cut."""
    passes = passes_for(dict.fromkeys(rule.metrics(), (cut,)))
    return all(cut in step.cuts for step in passes)


def _group_of(rule: Rule, found: Measurements, part: Slice, past: LookingBack) -> Group:
    return _group(rule, past.add_to(found.evidence(rule, part), part), part.group)


def _group(rule: Rule, evidence: Evidence, name: str | None, *, groups: int = 1) -> Group:
    rows = evidence[RecordCount(where=rule.where)]
    judgement = judged(rule, evidence)
    if groups > 1 and rule.lookback is not None and judgement.status is Status.EMPTY:
        judgement = replace(judgement, message=_NO_COMMON_PAST)
    outcome = Outcome.of(rule, judgement, metrics=numbers(rule, evidence))
    return Group(name, outcome, rows, groups)
