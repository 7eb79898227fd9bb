"""Guarded assets as Dagster definitions: one step builds, judges and publishes."""

# No "from __future__ import annotations": Dagster reads the annotation of a step's context.
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import dagster as dg

from dq_dagster.errors import DeclarationError, Problem
from dq_dagster.integration.checks.readers import AssetIOManager
from dq_dagster.integration.checks.results import check_specs
from dq_dagster.integration.checks.run_modes import WITH_BUILD
from dq_dagster.integration.checks.step import CheckedAsset
from dq_dagster.integration.guarded.plain_op import PlainOp
from dq_dagster.integration.guarded.quarantine import Quarantine
from dq_dagster.integration.guarded.replay import GUARDED
from dq_dagster.integration.guarded.replayed import replayed_rows
from dq_dagster.integration.guarded.returned import GuardedContext, returned_events
from dq_dagster.integration.guarded.rules import DroppedRows, GuardedAsset
from dq_dagster.integration.guarded.stats import StatsTable
from dq_dagster.integration.guarded.step import ASSET, QUARANTINE, GuardedRun
from dq_dagster.integration.internals import IO_MANAGER_KEY
from dq_dagster.integration.partitions.asset_partitions import asset_key
from dq_dagster.rules.base.rule import Rule
from dq_dagster.ruleset import RuleSet
from dq_dagster.spark.session.java import use_packaged_java

Rules = RuleSet | Sequence[Rule | Mapping[str, Any]]


def guarded_asset(
    *,
    rules: Rules,
    quarantine: Quarantine | bool = True,
    stats: StatsTable | None = None,
    error_drop_threshold: Any = None,
    staging: str | None = None,
    **asset: Any,
) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """Declares an asset whose bad rows never reach the table.

    The function returns the rows as a Spark or pandas DataFrame. They are computed once, judged by
    the rules, and published only if no rule with ``action_if_failed: fail`` is broken, without the
    rows that break a rule with ``drop``. Rows that break any rule are kept in the asset
    ``<name>_quarantine``. Each rule is a check of the asset, judged in the same step.

    ``rules`` is a list of rules or a rule set of this asset. ``quarantine`` is False for none, or a
    ``dq.Quarantine``. With ``stats``, a record of each run is added to a table of yours.
    ``error_drop_threshold`` limits the rows that are dropped: a share such as 0.1, a number such as
    100, or bounds such as ``{soft_max: 0.01, max: 0.1}``; more than ``soft_max`` is a Warning, more
    than ``max`` publishes nothing. ``staging`` is a folder for rows on their way, for IO managers
    other than ``dq.SparkIOManager``. All other arguments are those of ``dg.asset``.
    """

    def decorate(function: Callable[..., Any]) -> dg.AssetsDefinition:
        return guard(
            dg.asset(**asset)(function),
            rules=rules,
            quarantine=quarantine,
            stats=stats,
            error_drop_threshold=error_drop_threshold,
            staging=staging,
        )

    return decorate


def guard(
    asset: dg.AssetsDefinition,
    *,
    rules: Rules,
    quarantine: Quarantine | bool = True,
    stats: StatsTable | None = None,
    error_drop_threshold: Any = None,
    staging: str | None = None,
) -> dg.AssetsDefinition:
    """The same asset, guarded by rules; the arguments are those of ``guarded_asset``.

    Use the definition that is returned in the place of the one that was given.
    """
    op = PlainOp.of(asset)
    spec = op.spec
    rule_set = _rule_set(rules, spec)
    _refuse_other_runs(rule_set)
    checked = CheckedAsset.of(rule_set, AssetIOManager(), spec.partitions_def)
    kept = _quarantine(quarantine, spec)
    dropped = DroppedRows.limited(error_drop_threshold)
    guarded = GuardedAsset(checked, spec.partitions_def, kept, stats, dropped, staging)
    use_packaged_java()
    return _definition(asset, op, guarded)


def _rule_set(rules: Any, spec: dg.AssetSpec) -> RuleSet:
    if isinstance(rules, RuleSet):
        if dg.AssetKey(rules.asset_path) != spec.key:
            raise DeclarationError.of(
                f"the rule set is of asset '{rules.asset_name}', but the asset to guard is "
                f"'{spec.key.to_user_string()}'."
            )
        rule_set = rules.model_copy(update={"asset": spec})
    elif isinstance(rules, Sequence) and not isinstance(rules, str):
        rule_set = RuleSet(asset=spec, rules=rules)
    else:
        raise DeclarationError.of(
            f"rules= takes a list of rules, or a rule set, not {type(rules).__name__}."
        )
    if rule_set.reader is not None:
        raise DeclarationError.of(
            f"the rule set of '{rule_set.asset_name}' has a reader, but a guarded asset is judged "
            "on the rows that it returns: leave the reader out."
        )
    return rule_set


def _refuse_other_runs(rule_set: RuleSet) -> None:
    """In flight there is no later: a field without effect would be worse than none."""
    problems = [
        Problem(
            f"run: {rule.run} cannot be in flight, where rules are judged with the build. Give the "
            "rule to dq.build_asset_checks(dq.RuleSet(asset=..., rules=[...])), beside the guarded "
            "asset.",
            rule=rule.name,
            asset=rule_set.asset_name,
        )
        for rule in rule_set.enabled_rules
        if rule.run != WITH_BUILD
    ]
    if problems:
        raise DeclarationError(problems)


def _quarantine(given: Any, spec: dg.AssetSpec) -> Quarantine | None:
    if isinstance(given, Quarantine):
        return given.of(spec.key)
    return Quarantine().of(spec.key) if given else None


def _definition(
    asset: dg.AssetsDefinition, op: PlainOp, guarded: GuardedAsset
) -> dg.AssetsDefinition:
    spec, key = op.spec, guarded.checked.key
    outs = {ASSET: _out(spec, op.io_manager_key)}
    resources = dict(asset.resource_defs)
    kept = guarded.quarantine
    if kept is not None:
        outs[QUARANTINE] = _quarantine_out(spec, kept, op.io_manager_key)
        resources |= kept.resources()
    referenced = [
        dg.AssetDep(asset_key(name), partition_mapping=dg.AllPartitionMapping())
        for name in guarded.checked.others
        if asset_key(name) not in op.keys
    ]
    specs = [
        one for rule in guarded.check_rules for one in check_specs(rule, key, spec.partitions_def)
    ]
    return op.multi_asset(
        _compute(op, guarded),
        outs=outs,
        deps=referenced,
        check_specs=specs,
        resource_defs=resources,
        internal_deps={QUARANTINE: {key}} if kept is not None else {},
    )


def _out(spec: dg.AssetSpec, io_manager_key: str) -> dg.AssetOut:
    kinds = {tag: value for tag, value in spec.tags.items() if tag.startswith("dagster/kind/")}
    return dg.AssetOut(
        key=spec.key,
        dagster_type=Any,
        description=spec.description,
        is_required=False,
        io_manager_key=io_manager_key,
        metadata={name: one for name, one in spec.metadata.items() if name != IO_MANAGER_KEY},
        group_name=spec.group_name,
        code_version=spec.code_version,
        automation_condition=spec.automation_condition,
        owners=spec.owners,
        tags={tag: value for tag, value in spec.tags.items() if tag not in kinds},
        kinds=set(spec.kinds),
        freshness_policy=spec.freshness_policy,
    )


def _quarantine_out(spec: dg.AssetSpec, kept: Quarantine, io_manager_key: str) -> dg.AssetOut:
    return dg.AssetOut(
        key=kept.key,
        dagster_type=Any,
        description=(
            f"Rows of {spec.key.to_user_string()} that break rules, and which: as they came, with "
            "dq_faults, and when and by which run that was found."
        ),
        is_required=False,
        io_manager_key=kept.io_manager_key or io_manager_key,
        group_name=spec.group_name,
        owners=spec.owners,
        kinds={"quarantine"},
    )


def _compute(op: PlainOp, guarded: GuardedAsset) -> Callable[..., Any]:
    """What runs in the step: the function of the asset, with the same parameters, and then ours."""
    function = op.function
    hints = typing.get_type_hints(function, include_extras=True)
    parameters = list(inspect.signature(function).parameters.values())
    of_op = op.takes_context and hints.get(parameters[0].name) is dg.OpExecutionContext

    def compute(context: dg.AssetExecutionContext, **given: Any) -> Iterator[Any]:
        run = GuardedRun(context, guarded)
        if not run.builds:
            yield from run.checks_of_what_is_stored()
            return
        value = replayed_rows(run)
        if value is None:
            own = GuardedContext.for_function(context, ASSET, guarded)
            first = [context.op_execution_context if of_op else own] if op.takes_context else []
            value = yield from returned_events(function(*first, **given), guarded.checked.name)
            op.require_type(value.value)
        yield from run.events(value)

    taken = parameters[1:] if op.takes_context else parameters
    _dress(
        compute, function, [p.replace(annotation=hints.get(p.name, p.annotation)) for p in taken]
    )
    setattr(compute, GUARDED, guarded)
    return compute


def _dress(
    compute: Callable[..., Any], function: Callable[..., Any], taken: Sequence[inspect.Parameter]
) -> None:
    """Lets Dagster see the parameters and the words of the asset's own function."""
    context = inspect.Parameter(
        "context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=dg.AssetExecutionContext
    )
    signature = inspect.Signature([context, *taken])
    compute.__signature__ = signature  # type: ignore[attr-defined]
    compute.__annotations__ = {one.name: one.annotation for one in signature.parameters.values()}
    compute.__name__, compute.__doc__ = function.__name__, function.__doc__
