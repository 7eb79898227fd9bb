"""Evidence in, outcome out: one rule judged on one slice. The past is part of the evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from dq_dagster.errors import RuleFailure, Unmeasurable
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.judging.evidence import Evidence, number_of
from dq_dagster.judging.judgement import Judgement
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.value_codec import NoValue
from dq_dagster.plan.request import RequestedRule
from dq_dagster.rules.base.rule import Rule

_Found = TypeVar("_Found")
_TEXTS = (str, bytes, bytearray)
_SCALARS = (bool, int, float, Decimal, date, time, timedelta)


def judge(one: RequestedRule, evidence: Evidence, *, partition: str | None) -> Outcome:
    """The outcome of a rule on a slice, with the values that later evaluations learn from."""
    judgement = judged(one.rule, evidence)
    metrics = values(one.rule, one.metrics, evidence)
    observed = _observed(one.rule, judgement, metrics)
    return Outcome.of(
        one.rule, judgement, partition=partition, metrics=metrics, observed_metrics=observed
    )


def judged(rule: Rule, evidence: Evidence) -> Judgement:
    """The rule's judgement, or the Error that says why it has none."""
    try:
        return rule.judge(evidence)
    except RuleFailure as failure:
        return Judgement.error(failure)
    except Exception as error:  # noqa: BLE001 (one broken rule must not take the others down)
        return Judgement.error(Unmeasurable.broken(error))


def attempted(read: Callable[[], _Found], what: str) -> _Found | RuleFailure:
    """What is on record, or the failure that says why it could not be read."""
    try:
        return read()
    except RuleFailure as failure:
        return failure
    except Exception as error:  # noqa: BLE001 (as above: only the rule that needs it fails)
        return Unmeasurable.no_record(what, type(error).__name__)


def values(rule: Rule, metrics: Sequence[Metric], evidence: Evidence) -> dict[str, Any]:
    """The measured values by metric key, each as it is; None where there was nothing to measure.

    A rule that compares with its past names all of its metrics: what was measured anew, be it
    without any value, takes the place of what was there before.
    """
    chosen = rule.observed_metrics(evidence)
    observed = set(metrics if chosen is None else chosen)
    found: dict[str, Any] = {}
    for metric in metrics:
        value = evidence.values.get(metric)
        if metric not in observed or isinstance(value, RuleFailure):
            if rule.lookback is not None:
                found[metric.key] = NoValue.ABSENT
        elif isinstance(value, _TEXTS):
            # A text is what a row holds, unless its metric was written to say something in words.
            found[metric.key] = value if rule.records_text(metric) else NoValue.WITHHELD
        elif value is None or isinstance(value, _SCALARS):
            found[metric.key] = value
    return found


def numbers(rule: Rule, metrics: Sequence[Metric], evidence: Evidence) -> dict[str, Any]:
    """Of these, what groups are compared by: no texts and no times."""
    found = values(rule, metrics, evidence).items()
    return {key: value for key, value in found if _is_number(value)}


def _observed(rule: Rule, judgement: Judgement, metrics: Mapping[str, Any]) -> dict[str, Any]:
    """What the verdict is about by key: the value of a metric, or a number made of several."""
    found: dict[str, Any] = {}
    for key, value in rule.observed_values(judgement).items():
        number = None if number_of(value) is None else value
        found[key] = metrics.get(key, number)
    return found


def _is_number(value: Any) -> bool:
    return value is None or value is NoValue.ABSENT or number_of(value) is not None
