"""A rule's result by group: which parts of the data it fails on, the weightiest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from dq_dagster.errors import Misfit, RuleFailure, TooManyParts
from dq_dagster.evaluation.history import group_key
from dq_dagster.evaluation.looking_back import LookingBack
from dq_dagster.evaluation.measurements import Measurements
from dq_dagster.evaluation.numbers import numbers
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.evaluation.verdict import judged
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.impact import impact
from dq_dagster.judging.status import Status
from dq_dagster.metrics.metric import RecordCount
from dq_dagster.metrics.slices import Cut, Slice
from dq_dagster.rules.rule import Rule

OTHERS = "Others"
# The numbers of so many groups are kept for later, the largest first.
_MOST_GROUPS = 300
_NO_COMMON_PAST = "Nothing to judge: together these groups have no past of their own."
Rest = Callable[[Rule, Sequence[Slice]], Evidence]


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

    def record(self) -> dict[str, Any]:
        return {
            "group": self.name,
            "status": self.outcome.status,
            "rows": self.rows,
            "failed_rows": self.outcome.failed_rows,
            "observed": self.outcome.observed,
            "impact": self.impact,
            "groups": self.groups,
            "message": self.outcome.message,
        }


@dataclass(frozen=True, slots=True)
class Breakdown:
    """For each dimension the groups to show, or what is wrong, and the numbers of its groups."""

    tables: dict[str, Any]
    metrics: dict[str, dict[str, Mapping[str, int | float]]]


def breakdown(
    rule: Rule, found: Measurements, base: Slice, rest: Rest, past: LookingBack
) -> Breakdown:
    """For each dimension the groups with most impact and the others together, or what is wrong.

    ``rest`` answers for the rows outside some groups where that can not be put together.
    """
    result = Breakdown({}, {})
    for dimension in rule.dimensions:
        try:
            parts = _parts(rule, found, base, dimension)
            groups = {part: _group_of(rule, found, part, past) for part in parts}
            listed = _listed(rule, found, groups, rest)
        except RuleFailure as failure:
            result.tables[dimension] = str(failure)
        else:
            result.tables[dimension] = [group.record() for group in listed]
            result.metrics[dimension] = _numbers(groups)
    return result


def groups_in(rule: Rule, found: Measurements, base: Slice) -> Iterator[Slice]:
    """The groups of a slice, by all dimensions that it can be broken down by."""
    for dimension in rule.dimensions:
        with suppress(RuleFailure):
            yield from _parts(rule, found, base, dimension)


def _parts(rule: Rule, found: Measurements, base: Slice, dimension: str) -> list[Slice]:
    if dimension in found.problems:
        raise found.problems[dimension]
    cut = Cut(base.partition is not None, dimension)
    if not found.counted(rule, cut):
        raise TooManyParts.by([dimension])
    if not found.divided(rule, cut):
        raise Misfit.no_groups(rule.type)
    return [part for part in found.groups(rule, cut) if part.partition == base.partition]


def _listed(
    rule: Rule, found: Measurements, groups: Mapping[Slice, Group], rest: Rest
) -> list[Group]:
    ranked = sorted(groups, key=lambda part: (-groups[part].impact, -groups[part].rows))
    listed, others = ranked[: rule.top_dimensions], ranked[rule.top_dimensions :]
    shown = [groups[part] for part in listed]
    if others:
        mergeable = all(getattr(metric, "mergeable", False) for metric in rule.metrics())
        evidence = found.evidence_of_all(rule, others) if mergeable else rest(rule, listed)
        shown.append(_group(rule, evidence, OTHERS, groups=len(others)))
    return shown


def _group_of(rule: Rule, found: Measurements, part: Slice, past: LookingBack) -> Group:
    return _group(rule, past.add_to(found.evidence(rule, part), part), part.group)


def _group(rule: Rule, evidence: Evidence, name: str | None, *, groups: int = 1) -> Group:
    rows = evidence[RecordCount(where=rule.where)]
    judgement = judged(rule, evidence)
    if groups > 1 and rule.lookback is not None and judgement.status is Status.EMPTY:
        judgement = replace(judgement, message=_NO_COMMON_PAST)
    outcome = Outcome.of(rule, judgement, metrics=numbers(rule, evidence))
    return Group(name, outcome, rows, groups)


def _numbers(groups: Mapping[Slice, Group]) -> dict[str, Mapping[str, int | float]]:
    largest = sorted(groups.items(), key=lambda item: -item[1].rows)[:_MOST_GROUPS]
    return {group_key(part.group): group.outcome.metrics for part, group in largest}
