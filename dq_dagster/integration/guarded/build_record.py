"""What came out of one build of a guarded asset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from dq_dagster.evaluation.in_flight.phases import JudgedInFlight
from dq_dagster.evaluation.in_flight.rows import RowCounts, RowsInFlight
from dq_dagster.integration.guarded.stats import BuildStatus, RuleStats, SliceStats

_MOST_REASONS = 3


@dataclass(frozen=True, slots=True)
class Build:
    """The rows, what the rules said of them, and how many went where."""

    asset: str
    run_id: str
    time: datetime
    fingerprint: str
    rows: RowsInFlight
    counts: Mapping[str | None, RowCounts]
    judged: Sequence[JudgedInFlight]
    # How many rows break each rule, by the rule's name and the slice.
    by_rule: Mapping[tuple[str, str | None], int]
    seconds: float = 0.0

    @property
    def stopping(self) -> list[JudgedInFlight]:
        """The outcomes because of which nothing is published."""
        return [one for one in self.judged if one.stops]

    @property
    def stopping_rules(self) -> list[str]:
        return list(dict.fromkeys(one.outcome.rule.name for one in self.stopping))

    @property
    def broken_rules(self) -> set[str]:
        """The rules that some row breaks."""
        return {name for (name, _), count in self.by_rule.items() if count}

    @property
    def total(self) -> RowCounts:
        return sum(self.counts.values(), RowCounts())

    @property
    def written(self) -> dict[str | None, int]:
        """How many rows came, by slice."""
        return {key: counts.source for key, counts in self.counts.items()}

    def quarantined(self, earlier: Mapping[str | None, int]) -> dict[str | None, int]:
        """How many rows of each slice are in quarantine, with those of earlier builds."""
        return {key: counts.bad + earlier.get(key, 0) for key, counts in self.counts.items()}

    def reason(self) -> str:
        """Which rules stopped it, in their own words."""
        stopping = self.stopping
        said = [
            f"{one.outcome.rule.name}{_of(one.outcome.partition)}: {one.outcome.message}"
            for one in stopping[:_MOST_REASONS]
        ]
        if len(stopping) > _MOST_REASONS:
            said.append(f"And {len(stopping) - _MOST_REASONS:,} more.")
        return " ".join(said)

    def stats(self, status: BuildStatus) -> list[SliceStats]:
        """One record a slice."""
        return [
            SliceStats(
                self.run_id,
                self.asset,
                key,
                self.time,
                status,
                counts,
                self.seconds,
                self.fingerprint,
                self._rules(key),
            )
            for key, counts in self.counts.items()
        ]

    def _rules(self, key: str | None) -> dict[str, RuleStats]:
        found: dict[str, RuleStats] = {}
        for one in self.judged:
            rule = one.outcome.rule
            if one.outcome.partition not in {key, None} or rule.name in found:
                continue
            phases = {phase: outcome.status.value for phase, outcome in one.by_phase.items()}
            faults = self.by_rule.get((rule.name, key), 0) if rule.counts_rows else None
            if rule.name in self.rows.failures:
                faults = None
            found[rule.name] = RuleStats(rule.action_if_failed, faults, **phases)
        return found


def _of(partition: str | None) -> str:
    return "" if partition is None else f" ({partition})"
