"""States in the event log: what is on record of partitions need not be read again.

A result on the whole dataset keeps the state of all partitions together, with a fingerprint of
what they were: the numbers of their latest materializations. As long as those partitions are as
they were, whatever came after them, that one state stands for all of them. Where a partition was
built anew or is gone, the states of single partitions take its place.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import dagster as dg

from dq_dagster.evaluation.states import Block, Reuse
from dq_dagster.integration.event_log.codec import StatesRecord, fingerprint_of
from dq_dagster.integration.event_log.pager import evaluations
from dq_dagster.integration.partitions.asset_partitions import AssetPartitions

# Nearly always the newest result has all that is needed.
_FIRST_PAGE = 2
_MOST_EVALUATIONS = 5_000


@dataclass(frozen=True, slots=True)
class RecordedStates:
    """Finds the states on record that still hold.

    ``checks`` are those that keep states, by rule: that of the whole dataset, then, for rules that
    are judged there as well, that of single partitions. ``partitions`` are read anyway.
    """

    instance: dg.DagsterInstance
    asset: AssetPartitions
    checks: Sequence[Sequence[str]]
    partitions: Collection[str]

    def reuse(self) -> Reuse:
        """What need not be read for the rules."""
        blocks: dict[str, list[Block]] = {}
        for names in self.checks:
            for key, found in self._blocks(names).items():
                blocks.setdefault(key, []).extend(found)
        return Reuse(self.asset.existing, {key: _distinct(some) for key, some in blocks.items()})

    def _blocks(self, names: Sequence[str]) -> dict[str, list[Block]]:
        found: dict[str, list[Block]] = {}
        missing = set(self.asset.built) - set(self.partitions)
        for name in names:
            for record in self._records(name) if missing else ():
                for key, block in self._still_valid(record):
                    found.setdefault(key, []).append(block)
                    missing -= block.partitions
                if not self._may_be_before(record, missing):
                    break
        return found

    def _may_be_before(self, record: StatesRecord, missing: Collection[str]) -> bool:
        """Whether older results may know of any of them: not of what was built after this one."""
        latest = math.inf if record.as_of is None else record.as_of
        return any(self.asset.built[name] <= latest for name in missing)

    def _records(self, check: str) -> Iterator[StatesRecord]:
        key = dg.AssetCheckKey(self.asset.key, check)
        for one in evaluations(self.instance, key, first=_FIRST_PAGE, most=_MOST_EVALUATIONS):
            if one.record is not None and one.record.states is not None:
                yield one.record.states

    def _still_valid(self, record: StatesRecord) -> Iterator[tuple[str, Block]]:
        if record.origin != self.asset.origin:
            return
        built, as_of = self.asset.built, record.as_of
        if as_of is not None:
            same = {name: number for name, number in built.items() if number <= as_of}
            if len(same) == record.count and fingerprint_of(same) == record.fingerprint:
                for key, state in record.states_of(None):
                    yield key, Block(frozenset(same), state)
        for name, (number, _) in record.parts.items():
            if built.get(name) == number:
                for key, state in record.states_of(name):
                    yield key, Block(frozenset({name}), state)


def _distinct(blocks: Collection[Block]) -> list[Block]:
    """One block for each set of partitions: the newest, though any would say the same."""
    return list({block.partitions: block for block in reversed(list(blocks))}.values())
