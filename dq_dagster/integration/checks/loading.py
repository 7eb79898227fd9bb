"""What is wrong with checks in the code location that they are loaded into.

Checks are built before anybody knows what other assets there are.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import dagster as dg

from dq_dagster.errors import DeclarationError, Problem
from dq_dagster.integration.internals import defined_in
from dq_dagster.integration.partitions.asset_partitions import asset_key, declared_partitions
from dq_dagster.ruleset import Origin, RuleSet


class Watcher(Protocol):
    """What wants to know how the step of some checks gets on in a code location."""

    def loaded_beside(self, known: Collection[dg.AssetKey]) -> None:
        """A job with the step in it was put together; ``known`` are the assets there."""

    def doubled(self) -> Exception:
        """What to raise if a job has another step of the same name."""


class _WatchedOp(dg.OpDefinition):
    """A step that is watched while Dagster loads a code location.

    Dagster has no place to say that checks are of an asset that does not exist (it makes one up),
    and calls two steps for one asset "conflicting node definitions".
    """

    watcher: Watcher
    # The assets beside which the watcher last saw the step: a run puts together several jobs.
    beside: set[dg.AssetKey] | None = None

    def get_inputs_must_be_resolved_top_level(self, asset_layer: Any, handle: Any = None) -> Any:
        beside = defined_in(asset_layer.asset_graph)
        if beside != self.beside:
            self.watcher.loaded_beside(beside)
            self.beside = beside
        return super().get_inputs_must_be_resolved_top_level(asset_layer, handle)

    def has_input(self, name: str) -> bool:
        """Dagster asks for inputs that it knows of a step of that name: if not of this, of another.

        Which of the two it holds for the step, and asks first, is a matter of chance.
        """
        if not super().has_input(name):
            raise self.watcher.doubled()
        return True

    def __eq__(self, other: object) -> bool:
        if self is not other and isinstance(other, _WatchedOp) and other.name == self.name:
            raise self.watcher.doubled()
        return self is other

    __hash__ = dg.OpDefinition.__hash__


def watch(checks: dg.AssetChecksDefinition, watcher: Watcher) -> None:
    """Lets the watcher know when the checks are loaded into a code location."""
    op: Any = checks.node_def
    # The decorator makes the op: a class of its own can only be given to it afterwards.
    op.__class__ = _WatchedOp
    op.watcher = watcher


def watcher_of(checks: dg.AssetsDefinition) -> Watcher | None:
    """Who watches the checks; None if they were built by others."""
    op = checks.node_def if checks.is_executable else None
    return op.watcher if isinstance(op, _WatchedOp) else None


class UnknownAssetWarning(UserWarning):
    """Rules are about an asset that the code location does not have."""


@dataclass(frozen=True, slots=True)
class LoadedChecks:
    """The checks of one rule set, as they are loaded."""

    key: dg.AssetKey
    rule_set: RuleSet
    partitions_def: dg.PartitionsDefinition[Any] | None
    # The assets that were given along: they exist, also where a job or a test takes only some.
    given: frozenset[dg.AssetKey] = frozenset()
    # What tells the step from others of the asset, which read other data.
    step: str = ""

    def loaded_beside(self, known: Collection[dg.AssetKey]) -> None:
        """Warns of assets that do not exist; Dagster would make them up without a word.

        A job has the assets that its steps depend on, but not those that a rule only names:
        whether these exist is known where the whole code location is.
        """
        for problem in self.unknown_assets({*known, *self.given}, of_steps=True):
            warnings.warn(str(problem), UnknownAssetWarning, stacklevel=2)

    def doubled(self) -> DeclarationError:
        return DeclarationError([Problem.built_twice(self.rule_set.asset_name)])

    def unknown_assets(
        self, known: Collection[dg.AssetKey], *, of_steps: bool = False
    ) -> list[Problem]:
        """Those that the rules are about; ``of_steps``: that their step depends on."""
        own, rules = self.key, [rule for rule in self.rule_set.rules if rule.enabled]
        others = [(rule, rule.other_assets if of_steps else rule.named_assets) for rule in rules]
        names = [key.to_user_string() for key in known]
        # A definition is there on purpose, wherever its asset comes from.
        if own not in known and not hasattr(self.rule_set.asset, "key"):
            name = self.rule_set.asset_name
            return [Problem.unknown_asset(name, names, place=place_of(self.rule_set))]
        return [
            Problem.unknown_other_asset(
                rule.name,
                self.rule_set.asset_name,
                other,
                names,
                place=_written(self.rule_set.origin.of(rule)),
            )
            for rule, some in others
            for other in some
            if (key := asset_key(other)) != own and key not in known
        ]


def validate(defs: dg.Definitions) -> dg.Definitions:
    """The same definitions, if the checks in them fit their assets.

    Raises DeclarationError with every check and rule set of an asset that does not exist, every
    rule that names one, assets whose checks were built twice, and checks that were built
    without the partitions of their asset. No data is read.
    """
    if not isinstance(defs, dg.Definitions):
        raise DeclarationError.of(f"dg.Definitions(...) are needed, not {defs!r}.")
    every = [*(defs.assets or ()), *(defs.asset_checks or ())]
    known = _known(defs, every)
    ours = [
        watcher
        for one in every
        if isinstance(one, dg.AssetsDefinition)
        and isinstance(watcher := watcher_of(one), LoadedChecks)
    ]
    problems = [
        *_of_others(every, known),
        *(problem for one in ours for problem in one.unknown_assets(known)),
        *_doubled(ours),
        *_with_other_partitions(ours, every),
    ]
    if problems:
        raise DeclarationError(problems)
    return defs


def keys_of(asset: Any) -> Iterable[dg.AssetKey]:
    """The keys of an asset in any of the ways to name one; raises DeclarationError otherwise."""
    if isinstance(asset, dg.AssetsDefinition):
        return asset.keys
    if isinstance(asset, dg.AssetSpec | dg.SourceAsset):
        return (asset.key,)
    if isinstance(asset, dg.AssetKey):
        return (asset,)
    if isinstance(asset, str):
        return (dg.AssetKey.from_user_string(asset),)
    raise DeclarationError.of(
        f"{asset!r} is not an asset: give its definition, its dg.AssetSpec, or its key."
    )


def place_of(rule_set: RuleSet) -> str | None:
    return _written(rule_set.origin.place)


def _written(place: str) -> str | None:
    """A place in a file; for Python there is none to tell."""
    return None if place == Origin().place else place


def _known(defs: dg.Definitions, every: Iterable[Any]) -> set[dg.AssetKey]:
    try:
        return {key for one in every for key in keys_of(one)}
    except DeclarationError:
        # Some are only known once Dagster has loaded them.
        return defined_in(defs.resolve_asset_graph())


def _of_others(every: Iterable[Any], known: Collection[dg.AssetKey]) -> Iterator[Problem]:
    """Checks that somebody else wrote for an asset that does not exist."""
    names = [key.to_user_string() for key in known]
    for one in every:
        if isinstance(one, dg.AssetsDefinition) and watcher_of(one) is None:
            missing = {spec.asset_key for spec in one.check_specs} - set(known)
            for key in sorted(missing):
                yield Problem.unknown_asset(key.to_user_string(), names, place=None)


def _doubled(ours: Iterable[LoadedChecks]) -> list[Problem]:
    counts = Counter((one.rule_set.asset_name, one.step) for one in ours)
    return [Problem.built_twice(name) for (name, _), count in counts.items() if count > 1]


def _with_other_partitions(ours: Iterable[LoadedChecks], every: Iterable[Any]) -> list[Problem]:
    assets = list(every)
    return [
        Problem.other_partitions(one.rule_set.asset_name)
        for one in ours
        if any(rule.scope != "whole_dataset" for rule in one.rule_set.enabled_rules)
        and (meant := declared_partitions(one.rule_set.asset_name, assets)) is not None
        and meant != one.partitions_def
    ]
