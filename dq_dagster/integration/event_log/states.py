"""States in the event log: what is on record of partitions need not be read again.

A result on the whole dataset keeps the state of all partitions together, with a fingerprint of
what they were: the numbers of their latest materializations. As long as those partitions are as
they were, whatever came after them, that one state stands for all of them. Where a partition was
built anew or is gone, the states of single partitions take its place.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import dagster as dg

from dq_dagster.evaluation.states import Block, KeptStates, Reuse
from dq_dagster.integration.checks.request import RequestedChecks
from dq_dagster.integration.event_log import metadata
from dq_dagster.integration.internals import evaluation_pages
from dq_dagster.integration.partitions.asset_partitions import AssetPartitions
from dq_dagster.metrics.state_codec import decode, encode
from dq_dagster.metrics.states import State
from dq_dagster.rules.base.rule import Rule

# Nearly always the newest result has all that is needed.
_FIRST_PAGE = 2
_MOST_EVALUATIONS = 5_000
# Room for the states of single partitions in one result; those that do not fit are read again
# when they are needed.
_MOST_BYTES = 7_000

_WHOLE, _OF, _AS_OF, _PRINT, _PARTS = "whole", "of", "as_of", "print", "parts"
_ORIGIN = "origin"


def written(kept: KeptStates, built: Mapping[str, int], *, origin: str = "") -> dict[str, Any]:
    """The states behind an outcome as they are recorded; nothing if there are none.

    ``origin`` is where rows come from and what gives them their partition: those that are read or
    divided otherwise do not add up with these.
    """
    record: dict[str, Any] = {}
    whole = {key: text for key, state in kept.whole.items() if (text := encode(state)) is not None}
    numbers = {name: built[name] for name in kept.partitions if name in built}
    if whole and numbers and len(numbers) == len(kept.partitions):
        record = {
            _WHOLE: whole,
            _OF: len(numbers),
            _AS_OF: max(numbers.values()),
            _PRINT: fingerprint(numbers),
        }
    parts = _parts(kept, built, _MOST_BYTES - len(json.dumps(record)))
    if parts:
        record[_PARTS] = parts
    return {**record, _ORIGIN: origin} if record else {}


def _parts(kept: KeptStates, built: Mapping[str, int], room: int) -> dict[str, Any]:
    """By partition the number of its materialization and its states, as far as there is room."""
    by_partition: dict[str, dict[str, Any]] = {}
    for key, states in kept.by_partition.items():
        for name, state in states.items():
            text = encode(state)
            if text is not None and name in built:
                by_partition.setdefault(name, {})[key] = text
    found: dict[str, Any] = {}
    # The latest first: they are the ones that are likely to be asked for again.
    for name in sorted(by_partition, key=built.__getitem__, reverse=True):
        entry = [built[name], by_partition[name]]
        room -= len(json.dumps({name: entry}))
        if room < 0:
            break
        found[name] = entry
    return found


def fingerprint(numbers: Mapping[str, int]) -> str:
    """A text that differs if any partition, or the number of its materialization, does."""
    return hashlib.sha256(json.dumps(sorted(numbers.items())).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class RecordedStates:
    """Finds the states on record that still hold."""

    instance: dg.DagsterInstance
    asset: AssetPartitions
    asked: RequestedChecks
    # Checks of single partitions, by rule, for rules that are judged there as well.
    partition_checks: Mapping[str, str]

    def reuse(self) -> Reuse:
        """What need not be read for the asked rules."""
        blocks: dict[str, list[Block]] = {}
        for rule in [one.rule for one in self.asked.request.rules if one.on_whole]:
            for key, found in self._blocks(rule).items():
                blocks.setdefault(key, []).extend(found)
        return Reuse(self.asset.existing, {key: _distinct(some) for key, some in blocks.items()})

    def _blocks(self, rule: Rule) -> dict[str, list[Block]]:
        found: dict[str, list[Block]] = {}
        missing = set(self.asset.built) - set(self.asked.partitions)
        checks = [self.asked.check_name(rule, None), self.partition_checks.get(rule.name)]
        for name in filter(None, checks):
            for record in self._records(name) if missing else ():
                for key, block in self._still_valid(record):
                    found.setdefault(key, []).append(block)
                    missing -= block.partitions
                if not self._may_be_before(record, missing):
                    break
        return found

    def _may_be_before(self, record: Mapping[str, Any], missing: Collection[str]) -> bool:
        """Whether older results may know of any of them: not of what was built after this one."""
        as_of = record.get(_AS_OF)
        latest = as_of if isinstance(as_of, int) else math.inf
        return any(self.asset.built[name] <= latest for name in missing)

    def _records(self, check: str) -> Iterator[Mapping[str, Any]]:
        key = dg.AssetCheckKey(self.asset.key, check)
        pages = evaluation_pages(self.instance, key, first=_FIRST_PAGE, most=_MOST_EVALUATIONS)
        for _, evaluation in chain.from_iterable(pages):
            entry: Any = evaluation.metadata.get(metadata.STATES)
            if entry is not None and isinstance(entry.value, Mapping):
                yield entry.value

    def _still_valid(self, record: Mapping[str, Any]) -> Iterator[tuple[str, Block]]:
        if record.get(_ORIGIN) != self.asset.origin:
            return
        yield from self._of_all(record)
        for name, entry in _items(record.get(_PARTS)):
            number, states = entry if isinstance(entry, Sequence) and len(entry) == 2 else (0, {})
            if self.asset.built.get(name) == number:
                yield from _blocks_of(states, frozenset({name}))

    def _of_all(self, record: Mapping[str, Any]) -> Iterator[tuple[str, Block]]:
        as_of = record.get(_AS_OF)
        if not isinstance(as_of, int):
            return
        same = {name: number for name, number in self.asset.built.items() if number <= as_of}
        if len(same) == record.get(_OF) and fingerprint(same) == record.get(_PRINT):
            yield from _blocks_of(record.get(_WHOLE), frozenset(same))


def _blocks_of(states: Any, partitions: frozenset[str]) -> Iterator[tuple[str, Block]]:
    for key, text in _items(states):
        state = decode(text)
        if isinstance(state, State):
            yield key, Block(partitions, state)


def _distinct(blocks: Collection[Block]) -> list[Block]:
    """One block for each set of partitions: the newest, though any would say the same."""
    return list({block.partitions: block for block in reversed(list(blocks))}.values())


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
