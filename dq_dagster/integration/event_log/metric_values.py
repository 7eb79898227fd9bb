"""What the event log knows of assets: metric values that checks recorded, and metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from itertools import chain
from typing import Any

import dagster as dg

from dq_dagster.errors import Misfit, Unmeasurable
from dq_dagster.integration.event_log.pager import (
    StoredEvaluation,
    evaluations,
    materialization_records,
)
from dq_dagster.integration.internals import (
    OneSlice,
    check_keys_of,
    partitions_def_of,
    storage_ids,
)
from dq_dagster.integration.partitions.asset_partitions import asset_key, partition_keys_of
from dq_dagster.integration.step_context import StepContext
from dq_dagster.metrics.sources import MetadataMetric, RecordedMetric
from dq_dagster.metrics.value_codec import NoValue
from dq_dagster.plan.request import CheckRequest
from dq_dagster.rules.base.rule import Rule

# How many evaluations of a check are read to find one that recorded a metric.
_MOST_EVALUATIONS = 25


class OnDemand(Mapping[str, Any]):
    """A mapping that is read from somewhere when the first entry is wanted."""

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
    context: StepContext,
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
    context: StepContext, key: dg.AssetKey, request: CheckRequest
) -> Mapping[str, Any]:
    """The metadata of the asset's latest materialization; of other assets, under their keys.

    A partition has metadata of its own; for the whole dataset it is that of whatever was built
    last.
    """
    wanted: dict[str | None, dict[str | None, None]] = {}
    for one in request.rules:
        for metric in one.metrics:
            if isinstance(metric, MetadataMetric):
                slices = one.keys(request.partitions or ())
                wanted.setdefault(metric.asset, {}).update(dict.fromkeys(slices))
    found = {
        name: OnDemand(
            partial(_metadata, context, key, key if name is None else asset_key(name), list(slices))
        )
        for name, slices in wanted.items()
    }
    others = {name: entries for name, entries in found.items() if name is not None}
    return _OwnAndOthers(found.get(None, {}), others)


@dataclass(frozen=True, slots=True)
class _OwnAndOthers(Mapping[str, Any]):
    """The entries of an asset, and those of others under their keys, each read if it is wanted."""

    own: Mapping[str, Any]
    others: Mapping[str, Mapping[str, Any]]

    def __getitem__(self, name: str) -> Any:
        return self.others[name] if name in self.others else self.own[name]

    def __iter__(self) -> Iterator[str]:
        return chain(self.others, (name for name in self.own if name not in self.others))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True, slots=True)
class _AlikeEverywhere(Mapping[str, Any]):
    """The entries of several materializations, as far as these agree."""

    found: Sequence[Mapping[str, Any]]
    _names: dict[str, None] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_names", dict.fromkeys(chain.from_iterable(self.found)))

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        first, *others = (one.get(name) for one in self.found)
        if any(value != first for value in others):
            raise Unmeasurable.metadata_for_one_slice(name)
        return first

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _with_others(
    read: Callable[[dg.AssetKey], Mapping[str, Any]], key: dg.AssetKey, rules: Sequence[Rule]
) -> Mapping[str, Any]:
    metrics = [metric for rule in rules for metric in rule.metrics()]
    named = {m.asset for m in metrics if isinstance(m, MetadataMetric | RecordedMetric)} - {None}
    others = {str(name): OnDemand(partial(read, asset_key(str(name)))) for name in named}
    # Read when a rule needs it, so that what goes wrong there is the Error of that rule.
    return OnDemand(lambda: {**read(key), **others})


@dataclass(frozen=True, slots=True)
class RecordedWord:
    """What a check has to say of a metric: a value, or why none is on record."""

    at: datetime
    run_id: str
    value: Any

    def counts_more(self, other: RecordedWord) -> bool:
        """Of two checks: the newer one does, if it says anything.

        Where both measured in the same run, and one of them may not record what it saw, the other
        does. The word of an earlier run is about other data.
        """
        says_nothing = [one.value is NoValue.ABSENT for one in (self, other)]
        if says_nothing[0] != says_nothing[1]:
            return says_nothing[1]
        withheld = [one.value is NoValue.WITHHELD for one in (self, other)]
        if withheld[0] != withheld[1] and self.run_id == other.run_id:
            return withheld[1]
        return self.at > other.at


def _newest(context: StepContext, partition: str | None, key: dg.AssetKey) -> dict[str, Any]:
    found: dict[str, RecordedWord] = {}
    for check_key in check_keys_of(context, key):
        stored = evaluations(
            context.instance, check_key, most=_MOST_EVALUATIONS, only=OneSlice(partition)
        )
        for name, one in _newest_of_check(stored).items():
            if name not in found or one.counts_more(found[name]):
                found[name] = one
    return {name: _value(name, one.value) for name, one in found.items()}


def _newest_of_check(stored: Iterable[StoredEvaluation]) -> dict[str, RecordedWord]:
    """The last word of one check on each metric; that there is a value, but not on record, is one.

    What could not be measured says nothing: then it is the word before.
    """
    found: dict[str, RecordedWord] = {}
    for one in stored:
        for name, value in one.record.metrics.items() if one.record else ():
            is_open = name not in found or found[name].value is NoValue.ABSENT
            if is_open and (name not in found or value is not NoValue.ABSENT):
                found[name] = RecordedWord(one.at, one.run_id, value)
    return found


def _value(name: str, value: Any) -> Any:
    """A value, None where there is none, or why it is not on record."""
    if value is NoValue.WITHHELD:
        return Misfit.withheld(name)
    return None if value is NoValue.ABSENT else value


def _metadata(
    context: StepContext,
    checked: dg.AssetKey,
    key: dg.AssetKey,
    slices: Sequence[str | None],
) -> Mapping[str, Any]:
    """What the materializations of these slices say of themselves, where they all say the same."""
    numbers = storage_ids(context.instance, key)
    alike = key == checked or not _partitions(context, checked).isdisjoint(
        _partitions(context, key) | set(numbers)
    )
    # An asset with partitions of another kind, or with none, has but one latest materialization.
    own = [one for one in slices if one is not None and alike]
    wanted = [numbers[name] for name in own if name in numbers]
    found = {
        record.storage_id: _entries(record.asset_materialization)
        for record in materialization_records(context.instance, key, wanted)
    }
    entries = [found.get(numbers.get(name, 0), {}) for name in own]
    if len(own) < len(slices):
        event = context.instance.get_latest_materialization_event(key)
        entries.append(_entries(event.asset_materialization if event else None))
    return _AlikeEverywhere(entries)


def _partitions(context: StepContext, key: dg.AssetKey) -> set[str]:
    """The partitions of an asset as far as the job knows it."""
    definition = partitions_def_of(context, key)
    return set() if definition is None else set(partition_keys_of(definition, context.instance))


def _entries(materialization: dg.AssetMaterialization | None) -> dict[str, Any]:
    metadata = materialization.metadata if materialization else {}
    return {name: entry.value for name, entry in metadata.items()}
