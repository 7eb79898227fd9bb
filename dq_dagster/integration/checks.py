"""Rule sets as asset checks: one step per asset answers all of its checks together."""

# No "from __future__ import annotations": Dagster reads the annotation of a step's context.
from collections import Counter
from collections.abc import Iterator, Sequence

import dagster as dg

from dq_dagster.errors import DeclarationError, Problem
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.evaluation.run import evaluate
from dq_dagster.integration.dagster_internals import is_partitioned
from dq_dagster.integration.declared_schema import with_declared_schema
from dq_dagster.integration.failures import told
from dq_dagster.integration.other_assets import OtherAssets, other_assets
from dq_dagster.integration.readers import Reader, reader_of
from dq_dagster.integration.records import latest_metadata, recorded_values
from dq_dagster.integration.results import check_result, check_spec
from dq_dagster.judging.judgement import Judgement
from dq_dagster.plan import make_plan
from dq_dagster.rules.rule import Rule
from dq_dagster.ruleset import RuleSet


def build_asset_checks(rule_sets: RuleSet | Sequence[RuleSet]) -> list[dg.AssetChecksDefinition]:
    """Dagster checks for rule sets: each enabled rule becomes one, each asset one step."""
    every = [rule_sets] if isinstance(rule_sets, RuleSet) else list(rule_sets)
    _require_one_per_asset(every)
    _refuse_what_is_not_built(every)
    return [_checks_of(rule_set) for rule_set in every if rule_set.enabled_rules]


def _require_one_per_asset(rule_sets: Sequence[RuleSet]) -> None:
    counts = Counter(rule_set.asset_name for rule_set in rule_sets)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        message = "there are several rule sets; put their rules together into one."
        raise DeclarationError([Problem(message, asset=name) for name in twice])


def _refuse_what_is_not_built(rule_sets: Sequence[RuleSet]) -> None:
    """A field that would silently have no effect is worse than none."""
    problems = []
    for rule_set in rule_sets:
        for rule in rule_set.enabled_rules:
            if rule.run != "with_build":
                message = f"run: {rule.run} is not built yet; checks run with the build."
                problems.append(Problem(message, rule=rule.name, asset=rule_set.asset_name))
    if problems:
        raise DeclarationError(problems)


def _checks_of(rule_set: RuleSet) -> dg.AssetChecksDefinition:
    key = dg.AssetKey(rule_set.asset_path)
    reader = reader_of(rule_set.reader)

    @dg.multi_asset_check(
        name=f"dq__{'__'.join(key.to_python_identifier().split('/'))}",
        description=f"Data-quality rules of {rule_set.asset_name}.",
        specs=[check_spec(rule, key) for rule in rule_set.enabled_rules],
        required_resource_keys=set(reader.required_resource_keys),
        can_subset=True,
        compute_kind="spark",
    )
    def checks(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        selected = {check.name for check in context.selected_asset_check_keys}
        asked = with_declared_schema(rule_set, context).only(selected)
        # All results are made before the first is given away: none may be left without.
        yield from [check_result(o, key) for o in _outcomes(asked, key, reader, context)]

    return checks


def _outcomes(
    rule_set: RuleSet,
    key: dg.AssetKey,
    reader: Reader,
    context: dg.AssetCheckExecutionContext,
) -> list[Outcome]:
    """Exactly one outcome a rule, also if the data can not be read or the engine breaks."""
    name = key.to_user_string()
    rules = rule_set.enabled_rules
    plan = make_plan(rules)
    context.log.info("%s: %s", name, plan.headline())
    try:
        _refuse_partitions(rules, key, context)
        outcomes = list(
            evaluate(
                reader.read(context, key),
                rule_set,
                references=OtherAssets(context, other_assets(rules, key)),
                recorded=recorded_values(context, key, rules),
                metadata=latest_metadata(context, key, rules),
            )
        )
    except Exception as error:  # noqa: BLE001 (each check needs a result, whatever broke)
        judgement = Judgement.error(told(error, name))
        outcomes = [Outcome.of(rule, judgement) for rule in rules]
    counts = Counter(outcome.status for outcome in outcomes)
    context.log.info("%s: %s", name, ", ".join(f"{n} {status}" for status, n in counts.items()))
    return outcomes


def _refuse_partitions(
    rules: Sequence[Rule], key: dg.AssetKey, context: dg.AssetCheckExecutionContext
) -> None:
    # To judge all partitions together where each was meant would be a wrong answer.
    if is_partitioned(context, key) and any(rule.scope != "whole_dataset" for rule in rules):
        raise DeclarationError.of(
            "rules of a partitioned asset can only be judged on the whole dataset: "
            "set scope to whole_dataset."
        )
