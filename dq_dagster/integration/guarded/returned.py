"""What the function of a guarded asset is given, and what it returns."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import dagster as dg

from dq_dagster.errors import UnreadableData

if TYPE_CHECKING:
    from dq_dagster.integration.guarded.rules import GuardedAsset


class GuardedContext(dg.AssetExecutionContext):
    """The context of a step that builds one asset, as the asset's function knows it.

    To Dagster the quarantine is a second asset of the step: what is about "the" asset of a step
    means the guarded one here.
    """

    _output: str
    _key: dg.AssetKey

    @classmethod
    def for_function(
        cls, context: dg.AssetExecutionContext, output: str, guarded: GuardedAsset
    ) -> GuardedContext:
        own = cls(context.op_execution_context)
        own._output, own._key = output, guarded.checked.key
        return own

    @property
    def asset_key(self) -> dg.AssetKey:
        return self._key

    def add_output_metadata(
        self,
        metadata: Mapping[str, Any],
        output_name: str | None = None,
        mapping_key: str | None = None,
    ) -> None:
        super().add_output_metadata(metadata, output_name or self._output, mapping_key)

    def asset_partition_key_for_output(self, output_name: str = "result") -> str:
        key: str = super().asset_partition_key_for_output(output_name)
        return key


@dataclass(frozen=True, slots=True)
class Returned:
    """The rows that a function returned, and what it had to say of them."""

    value: Any
    metadata: Mapping[str, Any] = field(default_factory=dict)
    data_version: dg.DataVersion | None = None
    tags: Mapping[str, str] | None = None
    check_results: tuple[dg.AssetCheckResult, ...] = ()
    # Whether others are to be handed pandas DataFrames, though these are not.
    as_pandas: bool = False
    # Whether the rows are those of a replay: where they lie they stay, if nothing is published.
    is_replay: bool = False
    # Of a replay with a repair, by slice: how many rows are stored, and how many it was given.
    replayed: Mapping[str | None, tuple[int, int]] = field(default_factory=dict)


def returned_events(returned: Any, asset: str) -> Generator[Any, None, Returned]:
    """What a function returned or yielded: the rows, beside other events.

    With checks of its own, a function may return their results in a tuple with the rows.
    """
    if inspect.iscoroutine(returned):
        returned = asyncio.run(returned)
    elif inspect.isasyncgen(returned):
        returned = asyncio.run(_all(returned))
    # Some results of Dagster's are tuples themselves.
    if not inspect.isgenerator(returned) and type(returned) is not tuple:
        return _returned(returned, asset)
    found: list[Returned] = []
    for event in returned:
        if isinstance(event, dg.Output | dg.MaterializeResult) or not _is_event(event):
            found.append(_returned(event, asset))
        else:
            yield event
    if len(found) != 1:
        raise UnreadableData.not_one_table(asset, len(found))
    return found[0]


async def _all(events: AsyncIterator[Any]) -> tuple[Any, ...]:
    return tuple([event async for event in events])


def _is_event(given: Any) -> bool:
    return isinstance(given, dg.AssetMaterialization | dg.AssetObservation | dg.AssetCheckResult)


def _returned(given: Any, asset: str) -> Returned:
    if isinstance(given, dg.Output):
        found = Returned(given.value, given.metadata, given.data_version, given.tags)
    elif isinstance(given, dg.MaterializeResult):
        found = Returned(
            given.value,
            given.metadata or {},
            given.data_version,
            given.tags,
            tuple(given.check_results or ()),
        )
    else:
        found = Returned(given)
    if found.value is None or isinstance(found.value, type):
        raise UnreadableData.nothing_returned(asset)
    return found
