"""What is kept of a measurement: the values that later checks learn from or take as they are."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

from dq_dagster.errors import RuleFailure
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.past import number_of
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.value_codec import NoValue
from dq_dagster.rules.rule import Rule

_TEXTS = (str, bytes, bytearray)
_SCALARS = (bool, int, float, Decimal, date, time, timedelta)


def values(rule: Rule, evidence: Evidence) -> dict[str, Any]:
    """The measured values by metric key, each as it is; None where there was nothing to measure.

    A rule that compares with its past names all of its metrics: what was measured anew, be it
    without any value, takes the place of what was there before.
    """
    observed = set(rule.observed_metrics(evidence))
    found: dict[str, Any] = {}
    for metric in rule.metrics():
        value = evidence.values.get(metric)
        if metric not in observed or isinstance(value, RuleFailure):
            if rule.lookback is not None:
                found[metric.key] = NoValue.ABSENT
        elif isinstance(value, _TEXTS):
            found[metric.key] = _text(rule, metric, value)
        elif value is None or isinstance(value, _SCALARS):
            found[metric.key] = value
    return found


def numbers(rule: Rule, evidence: Evidence) -> dict[str, Any]:
    """Of these, what groups are compared by: no texts and no times."""
    found = values(rule, evidence).items()
    return {key: value for key, value in found if _is_number(value)}


def observed(rule: Rule, judgement: Judgement, metrics: Mapping[str, Any]) -> dict[str, Any]:
    """What the verdict is about by key: the value of a metric, or a number made of several."""
    found: dict[str, Any] = {}
    for key, value in rule.observed_values(judgement).items():
        number = None if number_of(value) is None else value
        found[key] = metrics.get(key, number)
    return found


def _is_number(value: Any) -> bool:
    return value is None or value is NoValue.ABSENT or number_of(value) is not None


def _text(rule: Rule, metric: Metric, value: Any) -> Any:
    """A text is what a row holds, unless its metric was written to say something in words."""
    return value if rule.records_text(metric) else NoValue.WITHHELD
