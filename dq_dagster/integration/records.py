"""What the event log knows of assets: metric values that checks recorded, and metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any

import dagster as dg

from dq_dagster.errors import Unmeasurable
from dq_dagster.integration.dagster_internals import Of, check_keys_of, evaluation_pages
from dq_dagster.integration.metadata import METRICS
from dq_dagster.integration.other_assets import asset_key
from dq_dagster.metrics.sources import MetadataMetric, RecordedMetric
from dq_dagster.rules.rule import Rule

# How many evaluations of a check are looked through for one that recorded a metric.
_MOST_EVALUATIONS = 25


class OnDemand(Mapping[str, Any]):
    """A mapping that is read from somewhere when it is first asked for anything."""

    def __init__(self, read: Callable[[], Mapping[str, Any]]) -> None:
        self._read = read

    @cached_property
    def _values(self) -> Mapping[str, Any]:
        return self._read()

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def recorded_values(
    context: dg.AssetCheckExecutionContext,
    key: dg.AssetKey,
    rules: Sequence[Rule],
    partitions: Sequence[str | None],
) -> Mapping[str, Any]:
    """The newest value of each metric of the asset; of other assets, under their keys.

    A partition has values of its own (None: the whole dataset), so they are known for one slice.
    """
    if len(partitions) != 1:
        return OnDemand(_several_slices)
    return _with_others(partial(_newest, context, partitions[0]), key, rules)


def _several_slices() -> Mapping[str, Any]:
    raise Unmeasurable.recorded_for_one_slice()


def latest_metadata(
    context: dg.AssetCheckExecutionContext, key: dg.AssetKey, rules: Sequence[Rule]
) -> Mapping[str, Any]:
    """The metadata of the asset's latest materialization; of other assets, under their keys."""
    return _with_others(partial(_metadata, context), key, rules)


def _with_others(
    read: Callable[[dg.AssetKey], Mapping[str, Any]], key: dg.AssetKey, rules: Sequence[Rule]
) -> Mapping[str, Any]:
    metrics = [metric for rule in rules for metric in rule.metrics()]
    named = {m.asset for m in metrics if isinstance(m, MetadataMetric | RecordedMetric)} - {None}
    others = {str(name): OnDemand(partial(read, asset_key(str(name)))) for name in named}
    return OnDemand(lambda: {**read(key), **others})


def _newest(
    context: dg.AssetCheckExecutionContext, partition: str | None, key: dg.AssetKey
) -> dict[str, Any]:
    found: dict[str, tuple[float, Any]] = {}
    for check_key in check_keys_of(context, key):
        pages = evaluation_pages(
            context.instance,
            check_key,
            first=_MOST_EVALUATIONS,
            most=_MOST_EVALUATIONS,
            only=Of(partition),
        )
        for moment, evaluation in chain.from_iterable(pages):
            recorded: Any = evaluation.metadata.get(METRICS)
            for name, value in (recorded.value if recorded else {}).items():
                if name not in found or found[name][0] < moment:
                    found[name] = (moment, value)
    return {name: value for name, (_, value) in found.items()}


def _metadata(context: dg.AssetCheckExecutionContext, key: dg.AssetKey) -> dict[str, Any]:
    event = context.instance.get_latest_materialization_event(key)
    materialization = event.asset_materialization if event else None
    entries = materialization.metadata if materialization else {}
    return {name: entry.value for name, entry in entries.items()}
