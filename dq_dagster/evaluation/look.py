"""One look at the data: what was measured on which part of it, and what came from records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dq_dagster.evaluation.dataset import Dataset
from dq_dagster.evaluation.measurements import Measurements
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.evaluation.reuse import Block, KeptStates, partitions_in
from dq_dagster.metrics.measured import Measured
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.slices import UNDIVIDED, WHOLE, Cut, Slice
from dq_dagster.metrics.states import State
from dq_dagster.plan import Plan, metrics_of
from dq_dagster.rules.rule import Rule

_BY_PARTITION = Cut(partitioned=True)


@dataclass(frozen=True, slots=True)
class Look:
    """The measurements, the plan they followed, and the data for those that are made later.

    ``partitions`` make up the dataset. ``recorded`` are the blocks that some metrics took from the
    record, ``scanned`` the partitions that were read beside them; ``keys`` are those that states
    are kept under. All of these are empty where nothing is to be kept. ``is_divided`` says that
    rows which belong to no partition are only read together with those they are stored with.
    """

    plan: Plan
    dataset: Dataset
    found: Measurements
    partitions: tuple[str, ...] = ()
    scanned: tuple[str, ...] = ()
    recorded: Mapping[Metric, tuple[Block, ...]] = field(default_factory=dict)
    keys: Mapping[Metric, str] = field(default_factory=dict)
    is_divided: bool = False
    # Asked about for each partition, and the same for all of them.
    _whole: dict[Metric, bool] = field(default_factory=dict, repr=False, compare=False)

    def told(self, outcome: Outcome) -> Outcome:
        """The outcome with the states behind it, and how much of it comes from the record."""
        if not self.partitions:
            return outcome
        kept = self._kept(outcome)
        if outcome.partition is not None or not self._is_recorded(outcome.rule):
            return replace(outcome, states=kept)
        read, of = len(self._read_for(outcome.rule)), len(self.partitions)
        details = {**outcome.details, "reused": {"partitions": of - read, "of": of}}
        message = f"{outcome.message} {_sentence(read, of)}"
        return replace(outcome, message=message, details=details, states=kept)

    def _is_recorded(self, rule: Rule) -> bool:
        """Whether all that the rule needs of the rows was merged with what is on record."""
        measured = {metric for step in self.plan.passes for metric in step.metrics}
        wanted = metrics_of(rule)
        taken = [metric for metric in wanted if metric in self.recorded]
        return bool(taken) and all(m in self.recorded for m in wanted if m in measured)

    def _read_for(self, rule: Rule) -> set[str]:
        """The partitions that the rule's answer on the whole dataset took from the data."""
        blocks = [self.recorded[m] for m in metrics_of(rule) if m in self.recorded]
        return set(self.partitions) - frozenset.intersection(*map(partitions_in, blocks))

    def _kept(self, outcome: Outcome) -> KeptStates:
        whole: dict[str, State] = {}
        parts: dict[str, Mapping[str, State]] = {}
        for metric in metrics_of(outcome.rule):
            measured = self.found.metrics.get(metric)
            if metric not in self.keys or measured is None or not measured.covers(_BY_PARTITION):
                continue
            key = self.keys[metric]
            is_whole = self._is_whole(metric)
            if self.is_divided and not is_whole:
                # Who takes a partition from the record would miss the rows beside it.
                continue
            if outcome.partition is not None:
                parts[key] = _of_partitions(measured, (outcome.partition,))
                continue
            parts[key] = _of_partitions(measured, self._scanned_for(metric))
            state = measured.by_part(UNDIVIDED).get(WHOLE, measured.nothing)
            if isinstance(state, State) and is_whole:
                whole[key] = state
        of_all = self.partitions if outcome.partition is None else ()
        return KeptStates(of_all, whole, {key: some for key, some in parts.items() if some})

    def _scanned_for(self, metric: Metric) -> tuple[str, ...]:
        return self.scanned if metric in self.recorded else self.partitions

    def _is_whole(self, metric: Metric) -> bool:
        """Whether it speaks of the dataset's partitions only; rows of others may lie around."""
        if metric not in self._whole:
            there = {part.partition for part in self.found.metrics[metric].slices(_BY_PARTITION)}
            self._whole[metric] = there <= {*self.partitions, *self.scanned}
        return self._whole[metric]


def _of_partitions(measured: Measured, names: tuple[str, ...]) -> dict[str, State]:
    states = measured.by_part(_BY_PARTITION)
    found = {name: states.get(Slice(name), measured.nothing) for name in names}
    return {name: state for name, state in found.items() if isinstance(state, State)}


def _sentence(read: int, of: int) -> str:
    was = "was" if read == 1 else "were"
    are = "is" if of - read == 1 else "are"
    return f"{read:,} of {of:,} partitions {was} read, {of - read:,} {are} as recorded."
