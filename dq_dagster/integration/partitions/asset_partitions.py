"""How the checked asset is partitioned, and which of its partitions there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import dagster as dg

from dq_dagster.integration.internals import (
    asset_metadata,
    is_built_by_dagster,
    storage_ids,
)
from dq_dagster.integration.partitions.keys import PARTITION_EXPR, partition_time, time_before
from dq_dagster.integration.step_context import StepContext
from dq_dagster.ruleset import RuleSet, asset_path

Expression = str | Mapping[str, str]


@dataclass(frozen=True)
class AssetPartitions:
    """The partitions of an asset, as Dagster knows them while a check runs."""

    key: dg.AssetKey
    definition: dg.PartitionsDefinition[Any]
    # What gives a row's partition: a column or SQL, by dimension where there are two.
    expression: Expression | None
    instance: dg.DagsterInstance
    # Whether a definition at hand says that Dagster builds the asset.
    is_buildable: bool
    # What reads the data.
    reader: str

    @cached_property
    def built(self) -> Mapping[str, int]:
        """The partitions that exist, each with the number of its latest materialization."""
        found = storage_ids(self.instance, self.key)
        return {name: number for name, number in found.items() if name in self.keys}

    @cached_property
    def keys(self) -> frozenset[str]:
        """All that there can be."""
        return frozenset(partition_keys_of(self.definition, self.instance))

    def read_as(self, text: str) -> str | None:
        """The partition that Dagster would take a text for that is none, such as '2024-03-1'."""
        if not isinstance(self.definition, dg.TimeWindowPartitionsDefinition):
            return None
        try:
            start = self.definition.time_window_for_partition_key(text).start
        except ValueError:
            return None
        key = self.definition.get_partition_key_for_timestamp(start.timestamp())
        return key if key in self.keys else None

    @property
    def origin(self) -> str:
        """Where rows come from and what gives them their partition, as one text."""
        expression = self.expression
        if isinstance(expression, Mapping):
            expression = ", ".join(f"{name}: {sql}" for name, sql in sorted(expression.items()))
        return f"{self.reader} by {expression}"

    @property
    def is_built(self) -> bool:
        """Whether Dagster builds the asset, so that it knows what there is."""
        return self.is_buildable or bool(self.built)

    @cached_property
    def existing(self) -> tuple[str, ...]:
        """The partitions that exist, in the order of the definition's keys where that is time."""
        return tuple(sorted(self.built, key=lambda name: (self._order(name), name)))

    def exists(self, partition: str) -> bool:
        """Whether there is anything to judge; of what others build, nobody here can tell."""
        return partition in self.built or not self.is_built

    def time_of(self, partition: str) -> datetime | None:
        """The start of the window that a partition stands for; None if it is none."""
        return partition_time(self.definition, partition)

    def earlier(self, partition: str, periods: int) -> datetime | None:
        """The start of the window so many before that of a partition; None if it is none."""
        return time_before(self.definition, partition, periods)

    def series_of(self, partition: str) -> str:
        """Of two dimensions, the one that is not time: only partitions alike there are compared."""
        if not isinstance(self.definition, dg.MultiPartitionsDefinition):
            return ""
        own = self.definition.get_partition_key_from_str(partition).keys_by_dimension
        return "|".join(own[name] for name in sorted(own) if name not in self._times)

    @cached_property
    def _times(self) -> frozenset[str]:
        """The dimensions that are windows of time."""
        if not isinstance(self.definition, dg.MultiPartitionsDefinition):
            return frozenset()
        return frozenset(
            one.name
            for one in self.definition.partitions_defs
            if isinstance(one.partitions_def, dg.TimeWindowPartitionsDefinition)
        )

    def _order(self, partition: str) -> float:
        moment = self.time_of(partition)
        return 0.0 if moment is None else moment.timestamp()


def partitions_of(
    context: StepContext,
    rule_set: RuleSet,
    definition: dg.PartitionsDefinition[Any],
    *,
    reader: str,
) -> AssetPartitions:
    """The partitions of the rule set's asset, as its definition and the rule set say."""
    key = dg.AssetKey(rule_set.asset_path)
    expression = rule_set.partition_expr or asset_metadata(context, key).get(PARTITION_EXPR)
    if expression is None and isinstance(rule_set.asset, dg.AssetSpec):
        expression = rule_set.asset.metadata.get(PARTITION_EXPR)
    return AssetPartitions(
        key,
        definition,
        getattr(expression, "value", expression),
        context.instance,
        is_built_by_dagster(context, key),
        reader,
    )


def partition_keys_of(
    definition: dg.PartitionsDefinition[Any], instance: dg.DagsterInstance
) -> list[str]:
    """All keys of a definition, dynamic ones included."""
    return list(definition.get_partition_keys(dynamic_partitions_store=instance))


def run_partitions(context: StepContext) -> Sequence[str] | None:
    """The partitions that the run is about; None if it is about none."""
    op_context = context.op_execution_context
    if op_context.has_partition_key:
        return (op_context.partition_key,)
    return tuple(op_context.partition_keys) if op_context.has_partition_key_range else None


def declared_partitions(
    asset: Any, others: Sequence[Any] = ()
) -> dg.PartitionsDefinition[Any] | None:
    """What an asset's definition says; for a key, that of the definition among ``others``."""
    key = dg.AssetKey(asset_path(asset))
    for one in (asset, *others):
        spec = _spec_of(one, key)
        if spec is not None:
            return spec.partitions_def
    return None


def _spec_of(definition: Any, key: dg.AssetKey) -> dg.AssetSpec | None:
    """The asset's specification in a definition of one or several assets."""
    if isinstance(definition, dg.AssetSpec):
        return definition if definition.key == key else None
    if isinstance(definition, dg.AssetsDefinition):
        return next((spec for spec in definition.specs if spec.key == key), None)
    if isinstance(definition, dg.SourceAsset) and definition.key == key:
        return dg.AssetSpec(key, partitions_def=definition.partitions_def)
    return None


def asset_key(name: str) -> dg.AssetKey:
    return dg.AssetKey(name.split("/"))
