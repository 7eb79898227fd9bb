"""What was measured, by metric and slice, as evidence for rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, TypeAlias

from dq_dagster.errors import RuleFailure
from dq_dagster.judging.evidence import Evidence
from dq_dagster.metrics.measured import Measured
from dq_dagster.metrics.metric import Metric, RecordCount
from dq_dagster.metrics.slices import Cut, Slice
from dq_dagster.plan import metrics_of
from dq_dagster.rules.rule import Rule

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
    # The groups by partition, of each count of rows and each cut that was asked about.
    _groups: dict[tuple[Metric, Cut], _ByPartition] = field(
        init=False, default_factory=dict, compare=False, repr=False
    )

    def evidence(self, rule: Rule, part: Slice) -> Evidence:
        """What a rule needs to be judged on one slice."""
        here = self.of(part)
        return here._evidence({m: here.metrics[m].value(part) for m in metrics_of(rule)})  # noqa: SLF001 (its like)

    def of(self, part: Slice) -> Measurements:
        """Those that speak of a slice, and of the groups in it."""
        return self.apart.get(part.partition, self)

    def evidence_of_all(self, rule: Rule, parts: Sequence[Slice]) -> Evidence:
        """The same for several groups together; only for metrics whose states merge."""
        return self._evidence({m: self.metrics[m].value_of(parts) for m in metrics_of(rule)})

    def counted(self, rule: Rule, cut: Cut) -> bool:
        """Whether the rows of each part of that cut were counted."""
        return self.metrics[RecordCount(where=rule.where)].covers(cut)

    def divided(self, rule: Rule, cut: Cut) -> bool:
        """Whether all that a rule needs was measured for the parts of that cut."""
        return all(self.metrics[metric].covers(cut) for metric in metrics_of(rule))

    def groups(self, rule: Rule, base: Slice, dimension: str) -> Sequence[Slice]:
        """The groups of a slice that have rows, in the order of their names."""
        asked = RecordCount(where=rule.where), Cut(base.cut.partitioned, dimension)
        if asked not in self._groups:
            # Once for all partitions: each of them looking for its own would go through all.
            self._groups[asked] = _by_partition(self.metrics[asked[0]], asked[1])
        return self._groups[asked].get(base.partition, ())

    def _evidence(self, values: Mapping[Metric, Any]) -> Evidence:
        return Evidence(values, self.zone, self.now)


def _by_partition(rows: Measured, cut: Cut) -> _ByPartition:
    found = [part for part in rows.slices(cut) if rows.value(part)]
    grouped: dict[str | None, list[Slice]] = {}
    for part in sorted(found, key=lambda part: (part.group is None, part.group or "")):
        grouped.setdefault(part.partition, []).append(part)
    return grouped
