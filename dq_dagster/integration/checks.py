"""Rule sets as asset checks: one step per asset answers all of its checks together."""

# No "from __future__ import annotations": Dagster reads the annotation of a step's context.
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from dq_dagster.errors import DeclarationError, Problem
from dq_dagster.integration.asset_partitions import declared_partitions
from dq_dagster.integration.check_run import CheckRun
from dq_dagster.integration.progress import with_progress
from dq_dagster.integration.readers import reader_of
from dq_dagster.integration.results import check_specs
from dq_dagster.ruleset import RuleSet
from dq_dagster.spark.java import use_packaged_java

AnyAsset = dg.AssetsDefinition | dg.AssetSpec


def build_asset_checks(
    rule_sets: RuleSet | Sequence[RuleSet], *, assets: Sequence[AnyAsset] = ()
) -> list[dg.AssetChecksDefinition]:
    """Dagster checks for rule sets: each enabled rule becomes one, each asset one step.

    A rule of a partitioned asset becomes a check of its partitions, of the whole dataset, or (with
    scope ``both``) one of each. ``assets`` are the definitions in which rule sets that name their
    asset by its key, as those of YAML files do, find its partitions.
    """
    every = [rule_sets] if isinstance(rule_sets, RuleSet) else list(rule_sets)
    _require_one_per_asset(every)
    _refuse_what_is_not_built(every)
    # Here already, because the assets of the same process may be the first to start Spark.
    use_packaged_java()
    return [_checks_of(rule_set, assets) for rule_set in every if rule_set.enabled_rules]


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


def _checks_of(rule_set: RuleSet, assets: Sequence[Any]) -> dg.AssetChecksDefinition:
    key = dg.AssetKey(rule_set.asset_path)
    reader = reader_of(rule_set.reader)
    partitions_def = declared_partitions(rule_set.asset, assets)

    @dg.multi_asset_check(
        name=f"dq__{'__'.join(key.to_python_identifier().split('/'))}",
        description=f"Data-quality rules of {rule_set.asset_name}.",
        specs=[
            spec
            for rule in rule_set.enabled_rules
            for spec in check_specs(rule, key, partitions_def)
        ],
        required_resource_keys=set(reader.required_resource_keys),
        can_subset=True,
        compute_kind="spark",
    )
    def checks(context: dg.AssetCheckExecutionContext) -> Iterator[Any]:
        run = CheckRun(context, rule_set, reader, knows_partitions=partitions_def is not None)
        # All results are made before the first is given away: none may be left without.
        yield from with_progress(list(run.events()), run.name, context.log)
        run.require_partitions()

    return checks
