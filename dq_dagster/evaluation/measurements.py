"""What was measured, by metric and slice, as evidence for rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import TypeAlias

from dq_dagster.errors import RuleFailure
from dq_dagster.judging.evidence import Evidence
from dq_dagster.metrics.measured import Cut, Measured, Slice, values_on
from dq_dagster.metrics.metric import Metric
from dq_dagster.plan.request import RequestedRule

_ByPartition: TypeAlias = Mapping[str | None, Sequence[Slice]]


@dataclass(frozen=True, slots=True)
class Measurements:
    """The states of all metrics of a plan, and what else judging depends on."""

    metrics: Mapping[Metric, Measured]
    zone: tzinfo
    now: datetime
    partitions: tuple[str, ...] = ()
    problems: Mapping[str, RuleFailure] = field(default_factory=dict)
    # What was measured of partitions that have columns of their own.
    apart: Mapping[str | None, Measurements] = field(default_factory=dict)
    # The groups by partition, of each count of rows and each cut that was needed.
    _groups: dict[tuple[Metric, Cut], _ByPartition] = field(
        init=False, default_factory=dict, compare=False, repr=False
    )

    def evidence(self, one: RequestedRule, part: Slice) -> Evidence:
        """What a rule needs to be judged on one slice."""
        here = self.of(part)
        found = values_on(part, [here.metrics[metric] for metric in one.needs])
        return Evidence(found, here.zone, here.now)

    def of(self, part: Slice) -> Measurements:
        """Those that speak of a slice, and of the groups in it."""
        return self.apart.get(part.partition, self)

    def evidence_of_all(self, one: RequestedRule, parts: Sequence[Slice]) -> Evidence:
        """The same for several groups together; only for metrics whose states merge."""
        found = {metric: self.metrics[metric].value_of(parts) for metric in one.needs}
        return Evidence(found, self.zone, self.now)

    def counted(self, one: RequestedRule, cut: Cut) -> bool:
        """Whether the rows of each part of that cut were counted."""
        return one.rows is not None and self.metrics[one.rows].covers(cut)

    def divided(self, one: RequestedRule, cut: Cut) -> bool:
        """Whether all that a rule needs was measured for the parts of that cut."""
        return all(self.metrics[metric].covers(cut) for metric in one.needs)

    def groups(self, one: RequestedRule, base: Slice, dimension: str) -> Sequence[Slice]:
        """The groups of a slice that have rows, in the order of their names."""
        if one.rows is None:
            return ()
        wanted = one.rows, Cut(base.cut.partitioned, dimension)
        if wanted not in self._groups:
            # Once for all partitions: each of them looking for its own would go through all.
            self._groups[wanted] = _by_partition(self.metrics[wanted[0]], wanted[1])
        return self._groups[wanted].get(base.partition, ())


def _by_partition(rows: Measured, cut: Cut) -> _ByPartition:
    found = [part for part in rows.slices(cut) if rows.value(part)]
    grouped: dict[str | None, list[Slice]] = {}
    for part in sorted(found, key=lambda part: (part.group is None, part.group or "")):
        grouped.setdefault(part.partition, []).append(part)
    return grouped
