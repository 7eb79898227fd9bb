"""What code locations say of their assets and checks: the log knows results, not declarations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import dagster as dg

from dq_dagster.integration.checks.results import (
    OWNERS,
    QUALITY_DIMENSION,
    RULE,
    RULE_TYPE,
    TAGS,
    WEIGHT,
)
from dq_dagster.integration.event_log.logged import name_of_key
from dq_dagster.integration.guarded.declared import DeclaredRules
from dq_dagster.integration.internals import defined_in
from dq_dagster.monitoring.model.scores import Objective
from dq_dagster.ruleset import RuleSet, dataset_check_name

# Entries of an asset's metadata.
MONITORED = "dq/monitored"
OBJECTIVE = "dq/objective"


@dataclass(frozen=True, slots=True)
class DeclaredCheck:
    """A check that a code location has; one that is disabled is not Dagster's any more."""

    name: str
    rule: str
    type: str = ""
    quality_dimension: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    weight: float = 1.0
    blocking: bool = False
    enabled: bool = True
    is_ours: bool = False


@dataclass(frozen=True, slots=True)
class DeclaredAsset:
    """An asset that a code location has, with its checks by name."""

    name: str
    location: str
    group: str = ""
    owners: tuple[str, ...] = ()
    description: str = ""
    upstream: tuple[str, ...] = ()
    partitions_def: dg.PartitionsDefinition[Any] | None = None
    # How its partitions depend on those of upstream assets, where that was said.
    mappings: Mapping[str, dg.PartitionMapping] = field(default_factory=dict)
    checks: Mapping[str, DeclaredCheck] = field(default_factory=dict)
    # What somebody said; None: as soon as it has checks.
    monitored: bool | None = None
    objective: Objective | None = None
    # Whether this location builds it, rather than speak of it only.
    is_built_here: bool = False

    def joined(self, other: DeclaredAsset) -> DeclaredAsset:
        """What two locations say of one asset: the checks of both count.

        It belongs to the one that builds it, or else checks it.
        """
        first, second = self, other
        if (other.is_built_here, bool(other.checks)) > (self.is_built_here, bool(self.checks)):
            first, second = other, self
        return replace(
            first,
            upstream=tuple(sorted({*first.upstream, *second.upstream})),
            mappings={**second.mappings, **first.mappings},
            partitions_def=first.partitions_def or second.partitions_def,
            checks={**second.checks, **first.checks},
            monitored=second.monitored if first.monitored is None else first.monitored,
            objective=first.objective or second.objective,
        )

    @property
    def is_monitored(self) -> bool:
        if self.monitored is not None:
            return self.monitored
        return any(check.enabled for check in self.checks.values())


@dataclass(frozen=True, slots=True)
class CodeLocation:
    """The assets of one code location by name."""

    name: str
    assets: Mapping[str, DeclaredAsset]

    @classmethod
    def of(cls, defs: dg.Definitions, *, name: str = "") -> CodeLocation:
        """Reads definitions; nothing of them is run."""
        graph = defs.resolve_asset_graph()
        checks: dict[dg.AssetKey, dict[str, DeclaredCheck]] = {}
        for key in graph.asset_check_keys:
            spec = graph.get_check_spec(key)
            checks.setdefault(key.asset_key, {})[key.name] = _check(spec)
        for asset, disabled in _disabled(defs).items():
            checks[asset] = {**disabled, **checks.get(asset, {})}
        # Checks may be of assets that only others define.
        keys = defined_in(graph) | {key for key in checks if graph.has(key)}
        found = [_asset(graph.get(key), name, checks.get(key, {})) for key in sorted(keys)]
        return cls(name, {one.name: one for one in found})


def _asset(node: Any, location: str, checks: Mapping[str, DeclaredCheck]) -> DeclaredAsset:
    said = node.metadata.get(MONITORED)
    said = getattr(said, "value", said)
    objective = node.metadata.get(OBJECTIVE)
    return DeclaredAsset(
        name_of_key(node.key),
        location,
        node.group_name or "",
        tuple(node.owners),
        node.description or "",
        tuple(sorted(name_of_key(key) for key in node.parent_keys if key != node.key)),
        node.partitions_def,
        {name_of_key(key): one for key, one in node.partition_mappings.items()},
        checks,
        said if isinstance(said, bool) else None,
        Objective.read(getattr(objective, "value", objective)),
        node.is_executable,
    )


def _check(spec: dg.AssetCheckSpec) -> DeclaredCheck:
    said = {key: getattr(one, "value", one) for key, one in (spec.metadata or {}).items()}
    return DeclaredCheck(
        spec.name,
        str(said.get(RULE, spec.name)),
        str(said.get(RULE_TYPE, "")),
        str(said.get(QUALITY_DIMENSION, "")),
        spec.description or "",
        tuple(said.get(TAGS, ())),
        tuple(said.get(OWNERS, ())),
        float(said.get(WEIGHT, 1.0)),
        spec.blocking,
        is_ours=RULE_TYPE in said,
    )


def _disabled(defs: dg.Definitions) -> dict[dg.AssetKey, dict[str, DeclaredCheck]]:
    """The checks that rules would have which are switched off, in flight or not."""
    found: dict[dg.AssetKey, dict[str, DeclaredCheck]] = {}
    for rule_sets in DeclaredRules.of(defs).sets.values():
        for one in rule_sets:
            found.setdefault(dg.AssetKey(one.asset_path), {}).update(_disabled_of(one))
    return found


def _disabled_of(rule_set: RuleSet) -> dict[str, DeclaredCheck]:
    return {
        name: DeclaredCheck(
            name,
            rule.name,
            rule.type,
            rule.quality_dimension,
            rule.summary(),
            tuple(rule.tags),
            tuple(rule.owners),
            rule.weight,
            rule.blocking,
            enabled=False,
            is_ours=True,
        )
        for rule in rule_set.rules
        if not rule.enabled
        for name in (rule.check_name, dataset_check_name(rule))
    }


@dataclass(frozen=True, slots=True)
class DeclaredLocations:
    """The code locations that are known; none is fine, then the log is all there is."""

    locations: Sequence[CodeLocation] = ()

    @classmethod
    def of(cls, given: Iterable[CodeLocation | dg.Definitions]) -> DeclaredLocations:
        return cls(
            tuple(one if isinstance(one, CodeLocation) else CodeLocation.of(one) for one in given)
        )

    @property
    def assets(self) -> dict[str, DeclaredAsset]:
        """By name; of an asset that several locations have, the checks of all of them."""
        found: dict[str, DeclaredAsset] = {}
        for location in self.locations:
            for name, one in location.assets.items():
                found[name] = found[name].joined(one) if name in found else one
        return found
