"""Jobs that compute checks and build nothing: chosen assets, rules and partitions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dagster as dg

from dq_dagster.errors import DeclarationError, Problem
from dq_dagster.errors.base import near_or_all
from dq_dagster.integration.checks.loading import keys_of
from dq_dagster.integration.checks.request import PARTITIONS_TAG
from dq_dagster.integration.checks.results import RULE
from dq_dagster.ruleset import DATASET_CHECK


def build_check_job(
    name: str,
    *,
    checks: Iterable[dg.AssetsDefinition],
    assets: Any = None,
    rules: str | Sequence[str] | None = None,
    partitions: str | Sequence[str] | Mapping[str, Any] | None = None,
    **job: Any,
) -> Any:
    """A job that computes checks of rules, whenever they run otherwise, and builds nothing.

    ``checks`` are what ``dq.build_asset_checks`` returned; guarded assets may be among them. Of
    these the job has all, or those of the ``assets`` (definitions or keys) and of the ``rules``
    (names) that are given. ``partitions`` are keys, ``"all"`` for those that exist, or one of both
    by the key of the asset; each rule is computed where its ``scope`` says. Without them a run is
    about the partitions that it is started for, or that its tag ``dq/partitions`` has in JSON.
    All other arguments are those of ``dg.define_asset_job``.
    """
    every = [spec for one in checks for spec in _specs(one)]
    chosen = _of_rules(_of_assets(every, assets), rules)
    if not chosen:
        raise DeclarationError.of(f"the job '{name}' has no check to compute.")
    tags = dict(job.pop("tags", None) or {})
    if partitions is not None:
        tags[PARTITIONS_TAG] = json.dumps(_written(partitions))
    selection = dg.AssetSelection.checks(*(spec.key for spec in chosen))
    return dg.define_asset_job(name, selection=selection, tags=tags, **job)


def _specs(definition: Any) -> list[dg.AssetCheckSpec]:
    if not isinstance(definition, dg.AssetsDefinition):
        raise DeclarationError.of(
            f"checks= takes what dq.build_asset_checks(...) returned, not {definition!r}."
        )
    return list(definition.check_specs)


def _of_assets(specs: Sequence[dg.AssetCheckSpec], assets: Any) -> list[dg.AssetCheckSpec]:
    if assets is None:
        return list(specs)
    many = assets if isinstance(assets, Sequence) and not isinstance(assets, str) else [assets]
    wanted = {key for asset in many for key in keys_of(asset)}
    known = {spec.asset_key for spec in specs}
    names = sorted(key.to_user_string() for key in known)
    problems = [
        Problem(f"it has no checks.{near_or_all(name, names)}", asset=name)
        for name in sorted(key.to_user_string() for key in wanted - known)
    ]
    if problems:
        raise DeclarationError(problems)
    return [spec for spec in specs if spec.asset_key in wanted]


def _of_rules(
    specs: Sequence[dg.AssetCheckSpec], rules: str | Sequence[str] | None
) -> list[dg.AssetCheckSpec]:
    if rules is None:
        return list(specs)
    wanted = {rules} if isinstance(rules, str) else set(rules)
    named = [(spec, _names(spec)) for spec in specs]
    known = sorted({min(names, key=len) for _, names in named})
    missing = wanted - {name for _, names in named for name in names}
    if missing:
        raise DeclarationError(
            [
                Problem(f"there is no such rule.{near_or_all(name, known)}", rule=name)
                for name in sorted(missing)
            ]
        )
    return [spec for spec, names in named if not wanted.isdisjoint(names)]


def _names(spec: dg.AssetCheckSpec) -> set[str]:
    """What people may call the rule of a check."""
    name = spec.name.removesuffix(DATASET_CHECK)
    return {name, spec.name, str(spec.metadata.get(RULE, name))}


def _written(partitions: Any) -> Any:
    """Partitions as the run's tag has them; raises DeclarationError if they cannot be meant."""
    if isinstance(partitions, Mapping):
        return {_asset(asset): _written(keys) for asset, keys in partitions.items()}
    if partitions == "all":
        return partitions
    keys = [partitions] if isinstance(partitions, str) else partitions
    if (
        not isinstance(keys, Iterable)
        or not (many := list(keys))
        or not all(isinstance(key, str) for key in many)
    ):
        raise DeclarationError.of(
            f"partitions are keys such as ['2024-03-01'], 'all', or these by asset, not {keys!r}."
        )
    return many


def _asset(asset: Any) -> str:
    [key] = keys_of(asset)
    return key.to_user_string()
