"""A guarded asset as it is declared, and its rules as they are in flight.

The limit on dropped rows is a rule of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import dagster as dg

from dq_dagster.errors import DeclarationError, RuleFailure
from dq_dagster.evaluation.in_flight.phases import DROPPED
from dq_dagster.integration.checks.step import CheckedAsset
from dq_dagster.integration.guarded.quarantine import Quarantine
from dq_dagster.integration.guarded.stats import StatsTable
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.wording import are
from dq_dagster.metrics.metric import Metric, RecordCount
from dq_dagster.rules.base.rule import Rule
from dq_dagster.rules.fields.threshold import EitherThreshold, leniency, on_bad_rows

NAME = "error_drop_threshold"


class DroppedRows(Rule):
    """At most ``threshold`` of the rows are dropped in flight.

    Observed: the number of rows that were.
    """

    type: Literal["error_drop_threshold"] = "error_drop_threshold"
    threshold: EitherThreshold

    observes_first_metric = True

    @classmethod
    def limited(cls, threshold: Any) -> DroppedRows | None:
        """The rule for a limit as people give it; None if there is none."""
        if threshold is None:
            return None
        if threshold == "all" or isinstance(threshold, bool):
            raise DeclarationError.of(
                "error_drop_threshold is a share such as 0.1, a number of rows such as 100, or "
                "bounds such as {soft_max: 0.01, max: 0.1}."
            )
        return cls(name=NAME, threshold=threshold, action_if_failed="fail", on="source")

    def metrics(self) -> tuple[Metric, ...]:
        return DROPPED, RecordCount()

    def judge(self, evidence: Evidence) -> Judgement:
        if isinstance(evidence.values.get(DROPPED), RuleFailure):
            return Judgement.of_nothing("rows are dropped only while the asset is built")
        dropped, rows = evidence.each(self.metrics())
        return on_bad_rows(self.threshold, dropped, rows).judgement(f"{are(dropped)} dropped")

    def demand(self) -> str:
        return f"Few rows are dropped{leniency(self.threshold)}."


def in_flight(rule: Rule) -> Rule:
    """The rule as its check shows it: in flight, the action says whether an Error fails the run."""
    return rule.model_copy(update={"blocking": rule.action_if_failed == "fail"})


@dataclass(frozen=True, slots=True)
class GuardedAsset:
    """What is known of a guarded asset when it is defined."""

    checked: CheckedAsset
    partitions_def: dg.PartitionsDefinition[Any] | None
    quarantine: Quarantine | None
    stats: StatsTable | None
    dropped: DroppedRows | None
    staging: str | None

    @property
    def check_rules(self) -> tuple[Rule, ...]:
        """Those that become checks, as they are in flight."""
        more = () if self.dropped is None else (self.dropped,)
        return tuple(in_flight(rule) for rule in (*self.checked.rule_set.enabled_rules, *more))
