"""The rules of a code location: those of its checks, and those of its guarded assets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from dq_dagster.errors import UnreadableData
from dq_dagster.integration.checks.loading import LoadedChecks, watcher_of
from dq_dagster.integration.guarded.quarantine import Quarantine
from dq_dagster.integration.guarded.replay import guarded_of
from dq_dagster.ruleset import RuleSet, merged


@dataclass(frozen=True, slots=True)
class DeclaredRules:
    """What definitions have of this library, by the name of the asset that it is about."""

    sets: Mapping[str, Sequence[RuleSet]]
    # Those of guarded assets.
    quarantines: Mapping[str, Quarantine]

    @classmethod
    def of(cls, defs: dg.Definitions) -> DeclaredRules:
        sets: dict[str, list[RuleSet]] = {}
        kept: dict[str, Quarantine] = {}
        for one in (*(defs.assets or ()), *(defs.asset_checks or ())):
            guarded, watcher = guarded_of(one), _watcher(one)
            if guarded is not None:
                sets.setdefault(guarded.checked.name, []).append(guarded.checked.rule_set)
                if guarded.quarantine is not None:
                    kept[guarded.checked.name] = guarded.quarantine
            elif watcher is not None:
                sets.setdefault(watcher.rule_set.asset_name, []).append(watcher.rule_set)
        return cls(sets, kept)

    @property
    def homes(self) -> dict[str, str]:
        """The guarded asset of each quarantine, both by name."""
        return {one.name: home for home, one in self.quarantines.items()}

    def rule_sets(self) -> list[RuleSet]:
        """One for each asset."""
        return merged([one for some in self.sets.values() for one in some])

    def of_asset(self, name: str, *, also: Sequence[str] = ()) -> RuleSet:
        """All rules of one asset; raises if there are none, and names those that there are."""
        if name not in self.sets:
            raise UnreadableData.no_rules(name, sorted([*self.sets, *also]))
        [found] = merged(list(self.sets[name]))
        return found


def _watcher(definition: Any) -> LoadedChecks | None:
    found = watcher_of(definition) if isinstance(definition, dg.AssetsDefinition) else None
    return found if isinstance(found, LoadedChecks) else None
