"""Slices, and what came back for one metric: a state for each slice, or why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.metric import Metric

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
BY_PARTITION = Cut(partitioned=True)
WHOLE = Slice()


def finest(cuts: Iterable[Cut]) -> tuple[Cut, ...]:
    """The fewest cuts from whose parts those of all the given ones can be put together."""
    wanted = dict.fromkeys(cuts)
    partitioned = any(cut.partitioned for cut in wanted)
    dimensions = dict.fromkeys(cut.dimension for cut in wanted if cut.dimension is not None)
    if not dimensions:
        return (Cut(partitioned),)
    return tuple(Cut(partitioned, dimension) for dimension in dimensions)


@dataclass(frozen=True, slots=True)
class Measured:
    """The states of a metric by slice; parts without rows have the state ``nothing``."""

    metric: Metric
    states: Mapping[Slice, Any]
    cuts: tuple[Cut, ...]
    nothing: Any = None
    _merged: dict[Cut, dict[Slice, Any]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def failed(cls, metric: Metric, failure: RuleFailure) -> Measured:
        """A metric that has no state anywhere."""
        return cls(metric, {}, (), failure)

    @classmethod
    def of_all(cls, metric: Metric, state: Any) -> Measured:
        """A metric that is the same for every part of the data."""
        return cls(metric, {}, (), state)

    @classmethod
    def of_new_and_old(
        cls, metric: Metric, measured: Measured | None, new: Iterable[Slice], old: Iterable[Any]
    ) -> Measured:
        """A metric whose whole is the states of some new partitions, and old states.

        ``measured`` are the partitions that were measured, None if none had to be.
        """
        base = cls(metric, {}, ()) if measured is None else measured
        states = [base.by_part(part.cut).get(part, base.nothing) for part in new]
        if measured is not None:
            # If it could not be measured, no partition is needed to say so.
            states.append(base.nothing)
        whole = {WHOLE: reduce(_merge, [*states, *old])}
        return cls(metric, base.states, (BY_PARTITION,), base.nothing, {UNDIVIDED: whole})

    def covers(self, cut: Cut) -> bool:
        """Whether the parts of that cut have states of their own, or all the same one."""
        if not self.cuts:
            return True
        if cut in self.cuts:
            return True
        return self.metric.mergeable and any(one.refines(cut) for one in self.cuts)

    def slices(self, cut: Cut) -> list[Slice]:
        """The parts of a cut that have rows."""
        return list(self.by_part(cut))

    def value(self, part: Slice = WHOLE) -> Any:
        """The measured value of a part, or the RuleFailure that says why there is none."""
        return self._read(self.by_part(part.cut).get(part, self.nothing))

    def value_of(self, parts: Iterable[Slice]) -> Any:
        """The value of several parts of one cut together, for metrics whose states merge."""
        states = [self.by_part(part.cut).get(part, self.nothing) for part in parts]
        return self._read(reduce(_merge, states, self.nothing))

    def _read(self, state: Any) -> Any:
        if isinstance(state, RuleFailure):
            return state
        try:
            return self.metric.value(state)
        except RuleFailure as failure:
            return failure

    def by_part(self, cut: Cut) -> Mapping[Slice, Any]:
        """The states of the parts of a cut that have rows, put together from finer ones."""
        if cut not in self._merged:
            self._merged[cut] = self._put_together(cut)
        return self._merged[cut]

    def _put_together(self, cut: Cut) -> dict[Slice, Any]:
        finer = cut if cut in self.cuts else next((c for c in self.cuts if c.refines(cut)), None)
        found: dict[Slice, Any] = {}
        for part, state in self.states.items():
            if part.cut == finer:
                target = part.within(cut)
                found[target] = _merge(found[target], state) if target in found else state
        return found


def values_on(part: Slice, measured: Iterable[Measured]) -> dict[Metric, Any]:
    """The values of several metrics on one slice, or the failures that say why there are none."""
    return {one.metric: one.value(part) for one in measured}


def _merge(one: Any, other: Any) -> Any:
    failures = [state for state in (one, other) if isinstance(state, RuleFailure)]
    if failures:
        # Of several it is always the same one, in whatever order Spark brings the parts.
        return min(failures, key=lambda failure: (str(failure), type(failure).__name__))
    return one.merge(other)
