"""Rules that judge a metric by its past, made from rules that judge it otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.sources import EntryMetric
from dq_dagster.rules.base.change_detection import ChangeDetection
from dq_dagster.rules.base.rule import Rule
from dq_dagster.rules.catalogue import rule_types


class RecordedNumberTypical(ChangeDetection, Rule):
    """Change detection on a metric of which no more is known than the key of its numbers.

    It cannot be declared: it stands in for a rule where history is tried out.
    """

    type: Literal["recorded_number_typical"] = "recorded_number_typical"
    key: str
    """The key under which the metric's numbers are recorded."""

    named_after: ClassVar[tuple[str, ...]] = ("key",)
    observes_first_metric = True

    def metrics(self) -> tuple[Metric, ...]:
        return (EntryMetric(self.key, None),)

    def judge(self, evidence: Evidence) -> Judgement:
        [metric] = self.metrics()
        return self.judge_value(evidence[metric], metric, evidence, what=f"'{self.key}'")

    def demand(self) -> str:
        return f"'{self.key}' is {self.expectation()}."


def as_typical(rule: Rule, parameters: Mapping[str, Any]) -> Rule | None:
    """The rule with these parameters of change detection; None if its metrics have no such rule.

    A rule that expects a range has a twin that compares with the past, and the same history.
    """
    fields = set(type(rule).model_fields)
    if fields >= set(ChangeDetection.model_fields):
        if not fields >= set(parameters):
            return None
        checked = recorded_number(rule.name, rule, parameters)
        return rule.model_copy(update={name: getattr(checked, name) for name in parameters})
    kind = rule_types().get(f"{rule.type.removesuffix('_in_range')}_typical")
    if kind is None:
        return None
    shared = (rule.model_fields_set & set(kind.model_fields)) - {"type", "name"}
    said = {name: getattr(rule, name) for name in shared}
    return kind(**{**said, "name": rule.name, **parameters})


def recorded_number(key: str, rule: Rule | None, parameters: Mapping[str, Any]) -> Rule:
    """Change detection on the numbers of that key, with the rule's parameters where it has them."""
    own = {
        name: getattr(rule, name) for name in ChangeDetection.model_fields if hasattr(rule, name)
    }
    named = {"name": "backtest" if rule is None else rule.name}
    return RecordedNumberTypical(key=key, **{**own, **named, **parameters})
