"""Answers for the whole dataset from what is on record, and a look at what is new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dq_dagster.evaluation.dataset import Dataset
from dq_dagster.evaluation.look import Look
from dq_dagster.evaluation.measurements import Measurements
from dq_dagster.evaluation.reuse import Block, Reuse, partitions_in
from dq_dagster.evaluation.source import Source
from dq_dagster.metrics.measured import Measured
from dq_dagster.metrics.metric import ColumnCount, Metric, RowMetric
from dq_dagster.metrics.schema import ActualSchema
from dq_dagster.metrics.slices import UNDIVIDED, Cut, Slice
from dq_dagster.plan import Plan, Wanted, by_partition, passes_for, wanted_by
from dq_dagster.spark.state_keys import StateKeys

_BY_PARTITION = Cut(partitioned=True)
# The schema of what is read decides which records fit, and those decide what is read.
_MOST_ROUNDS = 3

Blocks = dict[Metric, tuple[Block, ...]]


def look(source: Source, plan: Plan, partitions: Sequence[str] | None, reuse: Reuse | None) -> Look:
    """Measures what the rules need; with ``reuse``, only what is not on record.

    ``partitions`` are those that are judged by themselves, None for all.
    """
    settled = None
    dataset = None
    if partitions is not None and all(rule.scope == "partitions" for rule in plan.rules):
        if reuse is not None and source.is_divided:
            dataset = source.beside(partitions, reuse.partitions)
        else:
            dataset = source.only(partitions)
    elif reuse is not None:
        settled = _settle(source, plan, partitions, reuse)
    if reuse is None or settled is None:
        seen = _plain_look(source, dataset or source.whole, plan, partitions, reuse)
    else:
        seen = _divided_look(source, plan, settled, reuse)
    apart = seen.dataset.apart(plan, seen.found.partitions)
    return replace(seen, found=replace(seen.found, apart=apart)) if apart else seen


def _plain_look(
    source: Source,
    dataset: Dataset,
    plan: Plan,
    partitions: Sequence[str] | None,
    reuse: Reuse | None,
) -> Look:
    """One that takes nothing from the record."""
    found = dataset.measure(plan, partitions)
    if reuse is None:
        return Look(plan, dataset, found)
    return Look(
        plan,
        dataset,
        found,
        reuse.partitions,
        reuse.partitions,
        keys=_keys(dataset, plan.metrics),
        is_divided=source.is_divided,
    )


@dataclass(frozen=True, slots=True)
class _Settled:
    """The partitions to read, the data for it, and the blocks that stand for all others."""

    wanted: Wanted
    judged: tuple[str, ...]
    scan: tuple[str, ...]
    dataset: Dataset
    blocks: Blocks
    keys: Mapping[Metric, str]
    # Whether there may be rows to read: those of the scan, or some that belong to no partition.
    is_read: bool


def _judged(plan: Plan, partitions: Sequence[str] | None, reuse: Reuse) -> tuple[str, ...]:
    """The partitions that are judged by themselves."""
    if all(rule.scope == "whole_dataset" for rule in plan.rules):
        return ()
    return reuse.partitions if partitions is None else tuple(dict.fromkeys(partitions))


def _settle(
    source: Source, plan: Plan, partitions: Sequence[str] | None, reuse: Reuse
) -> _Settled | None:
    """What to read and what to take from the record; None if all has to be read."""
    judged = _judged(plan, partitions, reuse)
    wanted = wanted_by(plan.rules, partitioned=True)
    kept = [m for m, cuts in wanted.items() if UNDIVIDED in cuts and not _broken_down(cuts)]
    scan = _united(judged, reuse.unknown())
    for _ in range(_MOST_ROUNDS):
        if not reuse.partitions or set(scan) >= set(reuse.partitions):
            return None
        is_read = bool(scan) or not source.is_divided
        # Where nothing is to be read, any partition tells what columns there are.
        dataset = source.beside(scan if is_read else reuse.partitions[-1:], reuse.partitions)
        keys = _keys(dataset, wanted)
        blocks = _blocks(kept, keys, reuse)
        missing = {
            name
            for some in blocks.values()
            for name in frozenset(reuse.partitions) - partitions_in(some)
        }
        wider = _united(scan, [name for name in reuse.partitions if name in missing])
        if wider == scan:
            return _Settled(wanted, judged, scan, dataset, blocks, keys, is_read)
        scan = wider
    return None


def _broken_down(cuts: Iterable[Cut]) -> bool:
    return any(cut.dimension is not None for cut in cuts)


def _united(some: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*some, *others]))


def _keys(dataset: Dataset, metrics: Iterable[Metric]) -> dict[Metric, str]:
    keys = StateKeys.of(dataset.table, dataset.frame.sparkSession)
    found = {metric: keys.key(metric) for metric in metrics}
    return {metric: key for metric, key in found.items() if key is not None}


def _blocks(metrics: Sequence[Metric], keys: Mapping[Metric, str], reuse: Reuse) -> Blocks:
    """The blocks of the metrics that have any."""
    found: Blocks = {}
    for metric in metrics:
        kind = metric.kept_as if isinstance(metric, RowMetric) else None
        if metric in keys and kind is not None:
            found[metric] = reuse.usable(keys[metric], kind)
    return {metric: blocks for metric, blocks in found.items() if blocks}


def _divided_look(source: Source, plan: Plan, settled: _Settled, reuse: Reuse) -> Look:
    """One pass over what is new, and others over everything for what is not kept on record."""
    new, rest = _divided(settled)
    dataset, keys = settled.dataset, dict(settled.keys)
    found = dataset.measure(new_plan := _part(plan, new), settled.judged)
    rest_plan = _part(plan, rest)
    if rest_plan.passes or any(map(_of_schema, rest)):
        dataset = source.whole
        also = dataset.measure(rest_plan, settled.judged)
        found = replace(also, metrics={**found.metrics, **also.metrics})
        # Of what was measured on all rows, a key that only fits the new ones would be wrong.
        keys = {metric: key for metric, key in keys.items() if metric not in rest}
        keys |= _keys(dataset, rest)
    return Look(
        replace(plan, passes=(*new_plan.passes, *rest_plan.passes)),
        dataset,
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
    for metric, cuts in settled.wanted.items():
        if metric in settled.blocks:
            new[metric] = (_BY_PARTITION,)
        elif all(cut.partitioned for cut in cuts) and not _of_schema(metric):
            new[metric] = cuts
        else:
            rest[metric] = cuts
    if any(isinstance(metric, RowMetric) and metric.mergeable for metric in rest):
        # As it is where nothing is on record.
        rest = by_partition(rest)
    return (new if settled.is_read else {}), rest


def _of_schema(metric: Metric) -> bool:
    return isinstance(metric, ColumnCount | ActualSchema)


def _part(plan: Plan, wanted: Wanted) -> Plan:
    return replace(plan, metrics=tuple(wanted), passes=passes_for(wanted))


def _merged(found: Measurements, settled: _Settled, reuse: Reuse) -> Measurements:
    """The measurements in which what is on record has its place."""
    together = {}
    for metric, blocks in settled.blocks.items():
        on_record = partitions_in(blocks)
        measured = found.metrics.get(metric)
        # Also rows of other partitions, and of none: they are part of the whole.
        there = [] if measured is None else measured.slices(_BY_PARTITION)
        named = map(Slice, reuse.partitions)
        new = [p for p in dict.fromkeys([*there, *named]) if p.partition not in on_record]
        states = [block.state for block in blocks]
        together[metric] = Measured.of_new_and_old(metric, measured, new, states)
    return replace(found, metrics={**found.metrics, **together})
