"""Rule sets as asset checks: one step per asset answers all of its checks together."""

# No "from __future__ import annotations": Dagster reads the annotation of a step's context.
import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import dagster as dg

from dq_dagster.errors import (
    DeclarationError,
    Problem,
)
from dq_dagster.integration.checks.loading import LoadedChecks, keys_of, place_of, watch
from dq_dagster.integration.checks.readers import reader_of
from dq_dagster.integration.checks.results import check_specs
from dq_dagster.integration.checks.run_modes import WITH_BUILD, by_run_mode, gives_way
from dq_dagster.integration.checks.step import CheckedAsset, CheckRun
from dq_dagster.integration.partitions.asset_partitions import (
    declared_partitions,
)
from dq_dagster.judging.ranges import duration
from dq_dagster.rules.base.rule import Rule
from dq_dagster.rules.fields.constraints import RunMode
from dq_dagster.ruleset import RuleSet, merged
from dq_dagster.spark.session.java import use_packaged_java

AnyAsset = dg.AssetsDefinition | dg.AssetSpec | dg.SourceAsset | dg.AssetKey | str


def build_asset_checks(
    rule_sets: RuleSet | Iterable[RuleSet], *, assets: AnyAsset | Iterable[AnyAsset] = ()
) -> list[dg.AssetChecksDefinition]:
    """Dagster checks for rule sets: each enabled rule becomes one, each asset one step.

    A rule of a partitioned asset becomes a check of its partitions, of the whole dataset, or (with
    scope ``both``) one of each. Several rule sets of one asset become one step; rules that do not
    run with the build have steps of their own. ``assets`` are the definitions in which rule sets
    that name their asset by its key, as those of YAML files do, find its partitions; where they are
    given, an asset that is not among them is refused.
    """
    every = merged(_rule_sets(rule_sets))
    listed = _listed(assets)
    known = {key for asset in listed for key in keys_of(asset)}
    if known:
        _refuse_unknown_assets(every, known)
    # Here already, because the assets of the same process may be the first to start Spark.
    use_packaged_java()
    return [
        checks_of(of_mode, listed, mode=mode)
        for rule_set in every
        for mode, of_mode in by_run_mode(rule_set)
    ]


def _rule_sets(given: Any) -> list[RuleSet]:
    """What was given, as a list; raises DeclarationError that says what to give instead."""
    if isinstance(given, RuleSet):
        return [given]
    if isinstance(given, str | PurePath):
        raise DeclarationError.of(
            f"rule sets are needed, not '{given}': read those of a file or folder by "
            f"dq.build_asset_checks(dq.load_rules('{given}'))."
        )
    if isinstance(given, Rule | Mapping) or not isinstance(given, Iterable):
        raise DeclarationError.of(f"rule sets are needed, not {_described(given)}.")
    every = list(given)
    for one in every:
        if not isinstance(one, RuleSet):
            raise DeclarationError.of(f"a list of rule sets is needed, not of {_described(one)}.")
    return every


def _described(given: Any) -> str:
    if isinstance(given, Rule) or (isinstance(given, Mapping) and "type" in given):
        return "rules: say which asset they are of, as in dq.RuleSet(asset=..., rules=[...])"
    if isinstance(given, Mapping):
        return "dicts: write dq.RuleSet(asset=..., rules=[...])"
    return f"{type(given).__module__}.{type(given).__qualname__}"


def _listed(assets: Any) -> list[Any]:
    if isinstance(assets, dg.AssetsDefinition | dg.AssetSpec | dg.SourceAsset | dg.AssetKey):
        return [assets]
    if isinstance(assets, str) or not isinstance(assets, Iterable):
        raise DeclarationError.of(f"assets= takes a list of assets, not {assets!r}.")
    return list(assets)


def _refuse_unknown_assets(rule_sets: Sequence[RuleSet], known: set[dg.AssetKey]) -> None:
    names = [key.to_user_string() for key in known]
    problems = [
        Problem.unknown_asset(one.asset_name, names, place=place_of(one))
        for one in rule_sets
        # A definition is there on purpose, wherever its asset comes from.
        if not hasattr(one.asset, "key") and dg.AssetKey(one.asset_path) not in known
    ]
    if problems:
        raise DeclarationError(problems)


def checks_of(
    rule_set: RuleSet,
    assets: Sequence[Any] = (),
    *,
    step: str = "",
    mode: RunMode = WITH_BUILD,
) -> dg.AssetChecksDefinition:
    """The step of one rule set; ``step`` tells it from others of the asset that read other data.

    All of its rules are of one ``mode``.
    """
    key = dg.AssetKey(rule_set.asset_path)
    step = "__".join(filter(None, [step, "" if mode == WITH_BUILD else mode]))
    name = "__".join(["dq", *key.to_python_identifier().split("/"), *filter(None, [step])])
    reader = reader_of(rule_set.reader)
    partitions_def = declared_partitions(rule_set.asset, assets)
    checked = CheckedAsset.of(rule_set, reader, partitions_def)

    @dg.multi_asset_check(
        name=name,
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
        if mode != WITH_BUILD and gives_way(context, key, mode):
            return
        run = CheckRun(context, checked)
        yield from with_progress(run.events(), checked.name, context.log)
        run.require_partitions()

    given = frozenset(key for asset in assets for key in keys_of(asset))
    watch(checks, LoadedChecks(key, rule_set, partitions_def, given, step))
    return checks


# With Dagster's SQLite, half a minute apart.
_EVERY = 500
_NO_RESULTS = (dg.Output, dg.AssetObservation)


def with_progress(events: Sequence[Any], asset: str, log: logging.Logger) -> Iterator[Any]:
    """The events, and a line in the log now and then if there are many results among them.

    Whoever takes an event has stored it by the time that the next one is asked for.
    """
    total = sum(not isinstance(event, _NO_RESULTS) for event in events)
    if total > _EVERY:
        log.info("%s: %s results are to be stored, the worst first.", asset, f"{total:,}")
    start, stored = time.monotonic(), 0
    for event in events:
        yield event
        if isinstance(event, _NO_RESULTS):
            continue
        stored += 1
        if stored % _EVERY == 0 and stored < total:
            log.info("%s: %s", asset, _progress(stored, total, time.monotonic() - start))


def _progress(stored: int, total: int, seconds: float) -> str:
    """Such as "500 of 2,000 results are stored (25 per second, about 1 minute to go)"."""
    rate = stored / max(seconds, 0.001)
    left = duration(max(1, round((total - stored) / rate)), units=1)
    return (
        f"{stored:,} of {total:,} results are stored ({rate:,.0f} per second, about {left} to go)."
    )
