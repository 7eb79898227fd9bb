"""The measured numbers that are worth keeping."""

from __future__ import annotations

from decimal import Decimal

from dq_dagster.judging.evidence import Evidence
from dq_dagster.rules.rule import Rule


def numbers(rule: Rule, evidence: Evidence) -> dict[str, int | float]:
    """The measured numbers by metric key: the history that later checks learn from."""
    measured = {
        metric.key: evidence.values.get(metric) for metric in rule.observed_metrics(evidence)
    }
    return {
        key: value if isinstance(value, int) else float(value)
        for key, value in measured.items()
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    }
