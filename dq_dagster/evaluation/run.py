"""Evaluating rules on data: plan, measure, judge. Nothing is saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import DeclarationError
from dq_dagster.evaluation.breakdown import breakdown
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.evaluation.result import Evaluation
from dq_dagster.evaluation.verdict import judged
from dq_dagster.judging.evidence import Evidence
from dq_dagster.metrics.metric import RecordCount
from dq_dagster.metrics.slices import WHOLE, Slice
from dq_dagster.plan import Plan, make_plan
from dq_dagster.rules.rule import Rule
from dq_dagster.ruleset import RuleSet

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

    from dq_dagster.evaluation.dataset import Dataset
    from dq_dagster.evaluation.measurements import Measurements

_NO_ASSET = "data"


def evaluate(
    data: DataFrame | pd.DataFrame,
    rules: RuleSet | Sequence[Rule | Mapping[str, Any]],
    *,
    partition_by: str | None = None,
    partitions: Sequence[str] | None = None,
    now: datetime | None = None,
    references: Mapping[str, Any] | None = None,
    recorded: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Evaluation:
    """Judges rules on a Spark or pandas DataFrame and says what came out. Nothing is saved.

    ``partition_by`` is a column or an SQL expression whose text form is a row's partition; rules
    are then judged by their ``scope``, on each of ``partitions`` (by default all that occur) and
    on the whole dataset. ``now`` is the time that ages are counted from; without a zone it is
    meant in UTC. ``references`` holds the data of other assets that rules look at, by asset key;
    ``recorded`` the values of metrics that are not measured now, by metric key; ``metadata`` that
    of the asset's latest materialization. Those of other assets are in mappings under their keys.
    """
    rule_set = _rule_set(rules)
    if partitions is not None and partition_by is None:
        raise DeclarationError.of("partitions need partition_by: what makes a row's partition.")
    plan = make_plan(rule_set.enabled_rules, partitioned=partition_by is not None)
    # Here, so that declaring rules needs no Spark.
    from dq_dagster.evaluation.dataset import Dataset
    from dq_dagster.spark.surroundings import Surroundings

    around = Surroundings(
        asset=rule_set.asset_name,
        references={} if references is None else references,
        recorded={} if recorded is None else recorded,
        metadata=metadata,
    )
    dataset = Dataset.of(
        data, plan.rules, partition_by=partition_by, now=_moment(now), around=around
    )
    if partitions is not None and not _needs_whole(plan):
        dataset = dataset.only(partitions)
    found = dataset.measure(plan, partitions)
    outcomes = [
        _outcome(rule, part, found, dataset)
        for rule in plan.rules
        for part in _slices(rule, found.partitions, partitioned=plan.partitioned)
    ]
    return Evaluation(tuple(outcomes), plan)


def explain(rules: RuleSet | Sequence[Rule | Mapping[str, Any]]) -> Plan:
    """How the rules would be answered; printing it shows rules, metrics and passes."""
    return make_plan(_rule_set(rules).enabled_rules)


def _rule_set(rules: RuleSet | Sequence[Rule | Mapping[str, Any]]) -> RuleSet:
    if isinstance(rules, RuleSet):
        return rules
    if isinstance(rules, Rule | Mapping):
        # As a sequence it would fall into its fields, each of which is no rule.
        raise DeclarationError.of("a list of rules is needed: put the rule between [ and ].")
    return RuleSet(asset=_NO_ASSET, rules=tuple(rules))


def _moment(now: datetime | None) -> datetime:
    if now is None:
        return datetime.now(UTC)
    return now.replace(tzinfo=UTC) if now.tzinfo is None else now


def _needs_whole(plan: Plan) -> bool:
    return any(rule.scope != "partitions" for rule in plan.rules)


def _slices(rule: Rule, keys: Sequence[str], *, partitioned: bool) -> Iterator[Slice]:
    if not partitioned:
        yield WHOLE
        return
    if rule.scope != "whole_dataset":
        yield from (Slice(key) for key in keys)
    if rule.scope != "partitions":
        yield WHOLE


def _outcome(rule: Rule, part: Slice, found: Measurements, dataset: Dataset) -> Outcome:
    evidence = found.evidence(rule, part)
    judgement = judged(rule, evidence)
    if rule.dimensions:
        tables = breakdown(rule, found, part, lambda one, groups: _rest(one, groups, dataset))
        judgement = replace(judgement, details={**judgement.details, "dimensions": tables})
    numbers = _numbers(rule, evidence)
    return Outcome.of(rule, judgement, partition=part.partition, metrics=numbers)


def _rest(rule: Rule, groups: Sequence[Slice], dataset: Dataset) -> Evidence:
    """The evidence on the rows outside these groups, measured anew."""
    alone = rule.model_copy(update={"dimensions": ()})
    rows = RecordCount(where=rule.where)
    found = dataset.without(groups).measure(make_plan([alone], also=[rows]))
    evidence = found.evidence(alone, WHOLE)
    return replace(evidence, values={**evidence.values, rows: found.metrics[rows].value()})


def _numbers(rule: Rule, evidence: Evidence) -> dict[str, int | float]:
    """The measured numbers by metric key: the history that later checks learn from."""
    measured = {metric.key: evidence.values.get(metric) for metric in rule.metrics()}
    return {
        key: value if isinstance(value, int) else float(value)
        for key, value in measured.items()
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    }
