"""An outcome as a Dagster check result."""

from __future__ import annotations

import dagster as dg

from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.integration import metadata
from dq_dagster.integration.other_assets import asset_key as key_of
from dq_dagster.integration.other_assets import other_assets
from dq_dagster.judging.status import Status
from dq_dagster.rules.rule import Rule

_LONGEST_MESSAGE = 2_000


def check_result(outcome: Outcome, asset_key: dg.AssetKey) -> dg.AssetCheckResult:
    severity = dg.AssetCheckSeverity.ERROR
    if outcome.status is Status.WARNING:
        severity = dg.AssetCheckSeverity.WARN
    return dg.AssetCheckResult(
        passed=outcome.ok,
        asset_key=asset_key,
        check_name=outcome.rule.check_name,
        severity=severity,
        description=_shortened(outcome.message),
        metadata=metadata.of_outcome(outcome),
    )


def check_spec(rule: Rule, asset_key: dg.AssetKey) -> dg.AssetCheckSpec:
    entries = {
        metadata.RULE_TYPE: rule.type,
        metadata.QUALITY_DIMENSION: rule.quality_dimension,
        metadata.TAGS: list(rule.tags),
        metadata.OWNERS: list(rule.owners),
    }
    return dg.AssetCheckSpec(
        name=rule.check_name,
        asset=asset_key,
        # Where one run builds both, what a rule looks at is there before the check.
        additional_deps=[key_of(name) for name in other_assets([rule], asset_key)],
        description=rule.summary(),
        blocking=rule.blocking,
        metadata={key: value for key, value in entries.items() if value},
    )


def _shortened(message: str) -> str:
    if len(message) <= _LONGEST_MESSAGE:
        return message
    return f"{message[: _LONGEST_MESSAGE - 1]}…"
