"""Evaluating rules on data: plan, measure, judge. Nothing is saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import RuleFailure, Unmeasurable
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.evaluation.result import Evaluation
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.metrics.metric import ColumnCount, Metric
from dq_dagster.plan import Plan, make_plan
from dq_dagster.rules.rule import Rule
from dq_dagster.ruleset import RuleSet

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

_NO_ASSET = "data"


def evaluate(
    data: DataFrame | pd.DataFrame,
    rules: RuleSet | Sequence[Rule | Mapping[str, Any]],
    *,
    now: datetime | None = None,
) -> Evaluation:
    """Judges rules on a Spark or pandas DataFrame and says what came out. Nothing is saved.

    ``now`` is the time that ages are counted from; without a zone it is meant in UTC.
    """
    rule_set = _rule_set(rules)
    plan = make_plan(rule_set.enabled_rules)
    evidence = _gather(data, plan, _moment(now))
    return Evaluation(tuple(_outcome(rule, evidence) for rule in plan.rules), plan)


def explain(rules: RuleSet | Sequence[Rule | Mapping[str, Any]]) -> Plan:
    """How the rules would be answered; printing it shows rules, metrics and passes."""
    return make_plan(_rule_set(rules).enabled_rules)


def _rule_set(rules: RuleSet | Sequence[Rule | Mapping[str, Any]]) -> RuleSet:
    return rules if isinstance(rules, RuleSet) else RuleSet(asset=_NO_ASSET, rules=tuple(rules))


def _moment(now: datetime | None) -> datetime:
    if now is None:
        return datetime.now(UTC)
    return now.replace(tzinfo=UTC) if now.tzinfo is None else now


def _gather(data: Any, plan: Plan, now: datetime) -> Evidence:
    # Here, so that declaring rules needs no Spark.
    from dq_dagster.spark.columns import Table
    from dq_dagster.spark.frames import as_spark
    from dq_dagster.spark.session import session_zone
    from dq_dagster.spark.steps import run

    frame = as_spark(data)
    table = Table(frame.schema, now)
    values: dict[Metric, Any] = {ColumnCount(): len(frame.columns)}
    for step in plan.passes:
        values |= run(step, frame, table)
    return Evidence(values, session_zone(frame.sparkSession), now)


def _outcome(rule: Rule, evidence: Evidence) -> Outcome:
    try:
        judgement = rule.judge(evidence)
    except RuleFailure as failure:
        judgement = Judgement.error(failure)
    except Exception as error:  # noqa: BLE001 (one broken rule must not take the others down)
        judgement = Judgement.error(Unmeasurable.broken(error))
    return Outcome.of(rule, judgement, metrics=_numbers(rule, evidence))


def _numbers(rule: Rule, evidence: Evidence) -> dict[str, int | float]:
    """The measured numbers by metric key: the history that later checks learn from."""
    measured = {metric.key: evidence.values.get(metric) for metric in rule.metrics()}
    return {
        key: value if isinstance(value, int) else float(value)
        for key, value in measured.items()
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    }
