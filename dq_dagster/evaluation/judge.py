"""Measurements in, outcomes out: rules judged on slices, with the past as evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar

from dq_dagster.errors import RuleFailure, Unmeasurable
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.judging.evidence import Evidence, number_of
from dq_dagster.judging.judgement import Judgement
from dq_dagster.metrics.measured import Cut, Measured, Slice, values_on
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.value_codec import NoValue
from dq_dagster.plan.request import RequestedRule
from dq_dagster.rules.base.rule import Rule

_ByPartition: TypeAlias = Mapping[str | None, Sequence[Slice]]
_Found = TypeVar("_Found")
_TEXTS = (str, bytes, bytearray)
_SCALARS = (bool, int, float, Decimal, date, time, timedelta)


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


def judge(one: RequestedRule, evidence: Evidence, *, partition: str | None) -> Outcome:
    """The outcome of a rule on a slice, with the values that later evaluations learn from."""
    judgement = judged(one.rule, evidence)
    metrics = values(one.rule, one.metrics, evidence)
    observed = _observed(one.rule, judgement, metrics)
    return Outcome.of(
        one.rule, judgement, partition=partition, metrics=metrics, observed_metrics=observed
    )


def judge_slices(
    one: RequestedRule, found: Measurements, parts: Sequence[Slice]
) -> dict[Slice, Outcome]:
    """The outcomes of a rule that needs no past and has no groups."""
    return {part: judge(one, found.evidence(one, part), partition=part.partition) for part in parts}


def judged(rule: Rule, evidence: Evidence) -> Judgement:
    """The rule's judgement, or the Error that says why it has none."""
    try:
        return rule.judge(evidence)
    except RuleFailure as failure:
        return Judgement.error(failure)
    except Exception as error:  # noqa: BLE001 (one broken rule must not take the others down)
        return Judgement.error(Unmeasurable.broken(error))


def or_failure(read: Callable[[], _Found], what: str) -> _Found | RuleFailure:
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
