"""Scans: what a plan measures on a batch, and what it takes from the record instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dq_dagster.evaluation.batch import Batch, BatchSource
from dq_dagster.evaluation.judge import Measurements
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.evaluation.states import Block, KeptStates, Reuse, partitions_in
from dq_dagster.judging.evidence import Evidence
from dq_dagster.metrics.measured import BY_PARTITION, UNDIVIDED, WHOLE, Cut, Measured, Slice
from dq_dagster.metrics.metric import ColumnCount, Metric
from dq_dagster.metrics.schema import ActualSchema
from dq_dagster.metrics.states import State
from dq_dagster.plan.plan import (
    Others,
    Plan,
    Wanted,
    by_partition,
    make_plan,
    wanted_by,
)
from dq_dagster.plan.request import CheckRequest
from dq_dagster.spark.passes.state_keys import StateKeys


@dataclass(frozen=True, slots=True)
class Scan:
    """The measurements, the plan they followed, and the data for those that are made later.

    ``partitions`` make up the dataset. ``recorded`` are the blocks that some metrics took from the
    record, ``scanned`` the partitions that were read beside them; ``keys`` are those that states
    are kept under. All of these are empty where nothing is to be kept. ``is_divided`` says that
    rows which belong to no partition are only read together with those they are stored with.
    """

    plan: Plan
    batch: Batch
    found: Measurements
    partitions: tuple[str, ...] = ()
    scanned: tuple[str, ...] = ()
    recorded: Mapping[Metric, tuple[Block, ...]] = field(default_factory=dict)
    keys: Mapping[Metric, str] = field(default_factory=dict)
    is_divided: bool = False
    # Needed for each partition, and the same for all of them.
    _whole: dict[Metric, bool] = field(default_factory=dict, repr=False, compare=False)

    def with_states(self, outcome: Outcome, needs: Sequence[Metric]) -> Outcome:
        """The outcome with the states behind it, and how much of it comes from the record.

        ``needs`` are the metrics that its rule was judged by.
        """
        kept = self._kept(outcome.partition, needs)
        if outcome.partition is not None or not self._is_recorded(needs):
            return replace(outcome, states=kept)
        read, of = len(self._read_for(needs)), len(self.partitions)
        reused = {"reused": {"partitions": of - read, "of": of}}
        return replace(outcome.with_note(_sentence(read, of), details=reused), states=kept)

    def _is_recorded(self, needs: Sequence[Metric]) -> bool:
        """Whether all that a rule needs of the rows was merged with what is on record."""
        measured = {metric for step in self.plan.passes for metric in step.metrics}
        taken = [metric for metric in needs if metric in self.recorded]
        return bool(taken) and all(m in self.recorded for m in needs if m in measured)

    def _read_for(self, needs: Sequence[Metric]) -> set[str]:
        """The partitions that a rule's answer on the whole dataset took from the data."""
        blocks = [self.recorded[m] for m in needs if m in self.recorded]
        return set(self.partitions) - frozenset.intersection(*map(partitions_in, blocks))

    def _kept(self, partition: str | None, needs: Sequence[Metric]) -> KeptStates:
        whole: dict[str, State] = {}
        parts: dict[str, Mapping[str, State]] = {}
        for metric in needs:
            measured = self.found.metrics.get(metric)
            if metric not in self.keys or measured is None or not measured.covers(BY_PARTITION):
                continue
            key = self.keys[metric]
            is_whole = self._is_whole(metric)
            if self.is_divided and not is_whole:
                # Who takes a partition from the record would miss the rows beside it.
                continue
            if partition is not None:
                parts[key] = _of_partitions(measured, (partition,))
                continue
            parts[key] = _of_partitions(measured, self._scanned_for(metric))
            state = measured.by_part(UNDIVIDED).get(WHOLE, measured.nothing)
            if isinstance(state, State) and is_whole:
                whole[key] = state
        of_all = self.partitions if partition is None else ()
        return KeptStates(of_all, whole, {key: some for key, some in parts.items() if some})

    def _scanned_for(self, metric: Metric) -> tuple[str, ...]:
        return self.scanned if metric in self.recorded else self.partitions

    def _is_whole(self, metric: Metric) -> bool:
        """Whether it speaks of the dataset's partitions only; rows of others may lie around."""
        if metric not in self._whole:
            there = {part.partition for part in self.found.metrics[metric].slices(BY_PARTITION)}
            self._whole[metric] = there <= {*self.partitions, *self.scanned}
        return self._whole[metric]


def _of_partitions(measured: Measured, names: tuple[str, ...]) -> dict[str, State]:
    states = measured.by_part(BY_PARTITION)
    found = {name: states.get(Slice(name), measured.nothing) for name in names}
    return {name: state for name, state in found.items() if isinstance(state, State)}


def _sentence(read: int, of: int) -> str:
    was = "was" if read == 1 else "were"
    are = "is" if of - read == 1 else "are"
    return f"{read:,} of {of:,} partitions {was} read, {of - read:,} {are} as recorded."


# The schema of what is read decides which records fit, and those decide what is read.
_MOST_ROUNDS = 3

Blocks = dict[Metric, tuple[Block, ...]]


def scan(source: BatchSource, plan: Plan, reuse: Reuse | None) -> Scan:
    """Measures what the rules need; with ``reuse``, only what is not on record."""
    request = plan.request
    settled = None
    batch = None
    if request.partitions is not None and not request.on_whole:
        if reuse is not None and source.is_divided:
            batch = source.beside(request.partitions, reuse.partitions)
        else:
            batch = source.only(request.partitions)
    elif reuse is not None:
        settled = _settle(source, plan, reuse)
    if reuse is None or settled is None:
        found = _plain_scan(source, batch or source.whole, plan, reuse)
    else:
        found = _divided_scan(source, plan, settled, reuse)
    if not found.batch.others:
        return found
    apart = found.batch.apart(plan, found.found.partitions)
    return replace(found, found=replace(found.found, apart=apart)) if apart else found


def measure_others(
    others: Others, listed: Sequence[Slice], batch: Batch
) -> dict[tuple[Slice, str], Evidence]:
    """The evidence on the rows outside the listed groups, for each slice that these are of.

    That is one scan for all partitions, however many they are, and one for the whole dataset.
    """
    alone = replace(others.rule, dimensions=())
    found: dict[tuple[Slice, str], Evidence] = {}
    for partitioned in (True, False):
        some = [part for part in listed if part.cut.partitioned is partitioned]
        if not some:
            continue
        bases = dict.fromkeys(part.within(Cut(partitioned)) for part in some)
        names = tuple(base.partition for base in bases if base.partition is not None)
        one = replace(alone, on_partitions=partitioned, on_whole=not partitioned)
        plan = make_plan(CheckRequest((one,), names, partitioned))
        measured = batch.without(some).measure(plan, names)
        found |= {(base, others.dimension): measured.evidence(one, base) for base in bases}
    return found


def _plain_scan(source: BatchSource, batch: Batch, plan: Plan, reuse: Reuse | None) -> Scan:
    """One that takes nothing from the record."""
    found = batch.measure(plan, plan.request.partitions)
    if reuse is None:
        return Scan(plan, batch, found)
    return Scan(
        plan,
        batch,
        found,
        reuse.partitions,
        reuse.partitions,
        keys=_keys(batch, plan.metrics),
        is_divided=source.is_divided,
    )


@dataclass(frozen=True, slots=True)
class _Settled:
    """The partitions to read, the data for it, and the blocks that stand for all others."""

    wanted: Wanted
    judged: tuple[str, ...]
    scan: tuple[str, ...]
    batch: Batch
    blocks: Blocks
    keys: Mapping[Metric, str]
    # Whether there may be rows to read: those of the scan, or some that belong to no partition.
    is_read: bool


def _judged(request: CheckRequest, reuse: Reuse) -> tuple[str, ...]:
    """The partitions that are judged by themselves."""
    if not request.on_partitions:
        return ()
    every = request.partitions
    return reuse.partitions if every is None else tuple(dict.fromkeys(every))


def _settle(source: BatchSource, plan: Plan, reuse: Reuse) -> _Settled | None:
    """What to read and what to take from the record; None if all has to be read."""
    judged = _judged(plan.request, reuse)
    wanted = wanted_by(plan.request)
    kept = [m for m, cuts in wanted.items() if UNDIVIDED in cuts and not _broken_down(cuts)]
    scan = _united(judged, reuse.unknown())
    for _ in range(_MOST_ROUNDS):
        if not reuse.partitions or set(scan) >= set(reuse.partitions):
            return None
        is_read = bool(scan) or not source.is_divided
        # Where nothing is to be read, any partition tells what columns there are.
        batch = source.beside(scan if is_read else reuse.partitions[-1:], reuse.partitions)
        keys = _keys(batch, wanted)
        blocks = _blocks(kept, keys, reuse)
        missing = {
            name
            for some in blocks.values()
            for name in frozenset(reuse.partitions) - partitions_in(some)
        }
        wider = _united(scan, [name for name in reuse.partitions if name in missing])
        if wider == scan:
            return _Settled(wanted, judged, scan, batch, blocks, keys, is_read)
        scan = wider
    return None


def _broken_down(cuts: Iterable[Cut]) -> bool:
    return any(cut.dimension is not None for cut in cuts)


def _united(some: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*some, *others]))


def _keys(batch: Batch, metrics: Iterable[Metric]) -> dict[Metric, str]:
    keys = StateKeys.of(batch.table, batch.frame.sparkSession)
    found = {metric: keys.key(metric) for metric in metrics}
    return {metric: key for metric, key in found.items() if key is not None}


def _blocks(metrics: Sequence[Metric], keys: Mapping[Metric, str], reuse: Reuse) -> Blocks:
    """The blocks of the metrics that have any."""
    found: Blocks = {}
    for metric in metrics:
        if metric in keys and metric.kept_as is not None:
            found[metric] = reuse.usable(keys[metric], metric.kept_as)
    return {metric: blocks for metric, blocks in found.items() if blocks}


def _divided_scan(source: BatchSource, plan: Plan, settled: _Settled, reuse: Reuse) -> Scan:
    """One pass over what is new, and others over everything for what is not kept on record."""
    new, rest = _divided(settled)
    batch, keys = settled.batch, dict(settled.keys)
    found = batch.measure(new_plan := plan.measuring(new), settled.judged)
    rest_plan = plan.measuring(rest)
    if rest_plan.passes or any(map(_of_schema, rest)):
        batch = source.whole
        also = batch.measure(rest_plan, settled.judged)
        found = replace(also, metrics={**found.metrics, **also.metrics})
        # Of what was measured on all rows, a key that only fits the new ones would be wrong.
        keys = {metric: key for metric, key in keys.items() if metric not in rest}
        keys |= _keys(batch, rest)
    return Scan(
        plan.with_passes((*new_plan.passes, *rest_plan.passes)),
        batch,
        _merged(found, settled, reuse),
        reuse.partitions,
        settled.scan,
        settled.blocks,
        keys,
        source.is_divided,
    )


def _divided(settled: _Settled) -> tuple[Wanted, Wanted]:
    """The metrics for which some partitions are enough, and those that need everything."""
    new: Wanted = {}
    rest: Wanted = {}
    known: Wanted = {}
    for metric, cuts in settled.wanted.items():
        if metric in settled.blocks:
            new[metric] = (BY_PARTITION,)
        elif metric.from_log:
            known[metric] = cuts
        elif all(cut.partitioned for cut in cuts) and not _of_schema(metric):
            new[metric] = cuts
        else:
            rest[metric] = cuts
    if any(metric.mergeable for metric in rest):
        # As it is where nothing is on record.
        rest = by_partition(rest)
    return {**known, **(new if settled.is_read else {})}, rest


def _of_schema(metric: Metric) -> bool:
    return isinstance(metric, ColumnCount | ActualSchema)


def _merged(found: Measurements, settled: _Settled, reuse: Reuse) -> Measurements:
    """The measurements in which what is on record has its place."""
    together = {}
    for metric, blocks in settled.blocks.items():
        on_record = partitions_in(blocks)
        measured = found.metrics.get(metric)
        # Also rows of other partitions, and of none: they are part of the whole.
        there = [] if measured is None else measured.slices(BY_PARTITION)
        named = map(Slice, reuse.partitions)
        new = [p for p in dict.fromkeys([*there, *named]) if p.partition not in on_record]
        states = [block.state for block in blocks]
        together[metric] = Measured.of_new_and_old(metric, measured, new, states)
    return replace(found, metrics={**found.metrics, **together})
