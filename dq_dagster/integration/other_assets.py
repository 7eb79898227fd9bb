"""The data of assets that rules look at beside the checked one, loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from dq_dagster.errors import UnreadableData
from dq_dagster.integration.asset_partitions import AssetPartitions
from dq_dagster.integration.dagster_internals import (
    holds_one_run_only,
    is_built_by_dagster,
    known_assets,
    load_asset_value,
    partition_keys_of,
    partitions_def_of,
)
from dq_dagster.integration.failures import cause_of, told
from dq_dagster.integration.portions import PartitionedSource
from dq_dagster.integration.readers import AssetIOManager, name_of
from dq_dagster.rules.rule import Rule
from dq_dagster.spark.divided import Divided


def asset_key(name: str) -> dg.AssetKey:
    return dg.AssetKey(name.split("/"))


def other_assets(rules: Sequence[Rule], own: dg.AssetKey) -> list[str]:
    """The assets beside its own that the rules of an asset look at."""
    named = dict.fromkeys(name for rule in rules for name in rule.other_assets)
    return [name for name in named if asset_key(name) != own]


@dataclass(frozen=True, slots=True)
class OtherAssets(Mapping[str, Any]):
    """Loads an asset's value through its own IO manager, inside the step, at each access.

    It is always the whole asset, whichever partition the run is about: what an order refers to
    need not have been built on the same day.
    """

    context: dg.AssetCheckExecutionContext
    names: Sequence[str]

    def __getitem__(self, name: str) -> Any:
        if name not in self.names:
            raise KeyError(name)
        try:
            return self._load(asset_key(name))
        except Exception as error:  # noqa: BLE001 (told without secrets; only its rules fail)
            if isinstance(cause_of(error), KeyError) and self._is_in_memory(name):
                raise UnreadableData.not_kept(name) from None
            raise told(error, name) from None

    def _is_in_memory(self, name: str) -> bool:
        key = asset_key(name)
        return key in known_assets(self.context) and holds_one_run_only(self.context, key)

    def _load(self, key: dg.AssetKey) -> Any:
        known = known_assets(self.context)
        if key not in known:
            names = sorted(one.to_user_string() for one in known)
            raise UnreadableData.unknown_asset(key.to_user_string(), names)
        definition = partitions_def_of(self.context, key)
        if definition is None or holds_one_run_only(self.context, key):
            return load_asset_value(self.context, key)
        instance = self.context.instance
        is_buildable = is_built_by_dagster(self.context, key)
        asset = AssetPartitions(key, definition, None, instance, is_buildable, name_of(None))
        if not asset.is_built:
            # Of what others build, only they know which partitions there are.
            every = partition_keys_of(definition, instance)
            return load_asset_value(self.context, key, every)
        value = PartitionedSource(self.context, AssetIOManager(), asset).everything()
        return value.plain if isinstance(value, Divided) else value

    def __contains__(self, name: object) -> bool:
        # Not what a mapping inherits, which would load the value.
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)
