"""A rule's result by group: which parts of the data it fails on, the weightiest first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dq_dagster.errors import Misfit, RuleFailure, TooManyParts
from dq_dagster.evaluation.measurements import Measurements
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.evaluation.verdict import judged
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.impact import impact
from dq_dagster.judging.status import Status
from dq_dagster.metrics.metric import RecordCount
from dq_dagster.metrics.slices import Cut, Slice
from dq_dagster.rules.rule import Rule

OTHERS = "Others"
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


def breakdown(rule: Rule, found: Measurements, base: Slice, rest: Rest) -> dict[str, Any]:
    """For each dimension the groups with most impact and the others together, or what is wrong.

    ``rest`` answers for the rows outside some groups where that can not be put together.
    """
    tables: dict[str, Any] = {}
    for dimension in rule.dimensions:
        try:
            tables[dimension] = [
                group.record() for group in _groups(rule, found, base, dimension, rest)
            ]
        except RuleFailure as failure:
            tables[dimension] = str(failure)
    return tables


def _groups(
    rule: Rule, found: Measurements, base: Slice, dimension: str, rest: Rest
) -> list[Group]:
    if dimension in found.problems:
        raise found.problems[dimension]
    cut = Cut(base.partition is not None, dimension)
    if not found.counted(rule, cut):
        raise TooManyParts.by([dimension])
    if not found.divided(rule, cut):
        raise Misfit.no_groups(rule.type)
    parts = [part for part in found.groups(rule, cut) if part.partition == base.partition]
    groups = {part: _group(rule, found.evidence(rule, part), part.group) for part in parts}
    ranked = sorted(parts, key=lambda part: (-groups[part].impact, -groups[part].rows))
    listed, others = ranked[: rule.top_dimensions], ranked[rule.top_dimensions :]
    shown = [groups[part] for part in listed]
    if others:
        mergeable = all(getattr(metric, "mergeable", False) for metric in rule.metrics())
        evidence = found.evidence_of_all(rule, others) if mergeable else rest(rule, listed)
        shown.append(_group(rule, evidence, OTHERS, groups=len(others)))
    return shown


def _group(rule: Rule, evidence: Evidence, name: str | None, *, groups: int = 1) -> Group:
    rows = evidence[RecordCount(where=rule.where)]
    return Group(name, Outcome.of(rule, judged(rule, evidence)), rows, groups)
