"""What is on record of a dataset's partitions, so that they need not be read again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dq_dagster.metrics.states import State

States = Mapping[str, State]


@dataclass(frozen=True, slots=True)
class Block:
    """The state of some partitions together."""

    partitions: frozenset[str]
    state: State


@dataclass(frozen=True, slots=True)
class Reuse:
    """The partitions that make up the dataset, and the states on record that hold for them now.

    ``blocks`` are by the keys under which earlier outcomes handed out their ``states``. A block is
    of use as long as all of its partitions are part of the dataset, and are as they were when it
    was measured: that is for the caller to know. Blocks of one key may overlap; no partition is
    counted twice.
    """

    partitions: tuple[str, ...]
    blocks: Mapping[str, Sequence[Block]] = field(default_factory=dict)

    def usable(self, key: str, kind: type[State]) -> tuple[Block, ...]:
        """Blocks of a key that do not overlap: the largest first, as they save most."""
        every = frozenset(self.partitions)
        there = [
            block
            for block in self.blocks.get(key, ())
            if isinstance(block.state, kind) and block.partitions and block.partitions <= every
        ]
        taken: set[str] = set()
        chosen = []
        for block in sorted(
            there, key=lambda block: (-len(block.partitions), min(block.partitions))
        ):
            if taken.isdisjoint(block.partitions):
                taken |= block.partitions
                chosen.append(block)
        return tuple(chosen)

    def unknown(self) -> tuple[str, ...]:
        """The partitions that nothing at all is on record of."""
        every = frozenset(self.partitions)
        known = partitions_in(
            block
            for blocks in self.blocks.values()
            for block in blocks
            if block.partitions <= every
        )
        return tuple(name for name in self.partitions if name not in known)


def partitions_in(blocks: Iterable[Block]) -> frozenset[str]:
    return frozenset().union(*(block.partitions for block in blocks))


@dataclass(frozen=True, slots=True)
class KeptStates:
    """The states behind an outcome, to be put on record for later evaluations.

    ``whole`` are those of all ``partitions`` together, by key: each makes one block.
    ``by_partition`` are those of the partitions that were read this time.
    """

    partitions: tuple[str, ...] = ()
    whole: States = field(default_factory=dict)
    by_partition: Mapping[str, States] = field(default_factory=dict)

    def blocks(self) -> dict[str, list[Block]]:
        """All of them as blocks, by key."""
        found: dict[str, list[Block]] = {
            key: [Block(frozenset(self.partitions), state)] for key, state in self.whole.items()
        }
        for key, states in self.by_partition.items():
            found.setdefault(key, []).extend(
                Block(frozenset({name}), state) for name, state in states.items()
            )
        return found
