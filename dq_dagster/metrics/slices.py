"""Which rows an answer is about: all of them, those of a partition, those of a group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# What Hive and Spark call the partition of the rows that have no key.
NO_KEY = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class Cut:
    """A way to divide the rows: by partition, by the values of a column, by both or not at all."""

    partitioned: bool = False
    dimension: str | None = None

    def refines(self, other: Cut) -> bool:
        """Whether every part of the other cut is made of whole parts of this one."""
        return (self.partitioned or not other.partitioned) and (
            other.dimension in {None, self.dimension}
        )

    def __str__(self) -> str:
        words = ["partition"] if self.partitioned else []
        words += [] if self.dimension is None else [f"'{self.dimension}'"]
        return f"by {' and '.join(words)}" if words else "all rows together"


@dataclass(frozen=True, slots=True)
class Slice:
    """One part of a cut. ``group`` is a value of the dimension as text; None stands for NULL."""

    partition: str | None = None
    dimension: str | None = None
    group: str | None = None

    @property
    def cut(self) -> Cut:
        return Cut(self.partition is not None, self.dimension)

    def within(self, cut: Cut) -> Slice:
        """The part of a coarser cut that this one belongs to."""
        return Slice(
            self.partition if cut.partitioned else None,
            cut.dimension,
            None if cut.dimension is None else self.group,
        )


UNDIVIDED = Cut()
WHOLE = Slice()


def finest(cuts: Iterable[Cut]) -> tuple[Cut, ...]:
    """The fewest cuts from whose parts those of all the given ones can be put together."""
    wanted = dict.fromkeys(cuts)
    partitioned = any(cut.partitioned for cut in wanted)
    dimensions = dict.fromkeys(cut.dimension for cut in wanted if cut.dimension is not None)
    if not dimensions:
        return (Cut(partitioned),)
    return tuple(Cut(partitioned, dimension) for dimension in dimensions)
