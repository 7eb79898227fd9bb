"""Outcomes with the values that broke their rules, for those who want to see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dq_dagster.errors import RuleFailure
from dq_dagster.evaluation.batch import Batch
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.judging.judgement import Judgement, Status
from dq_dagster.metrics.conditions import Fault

# So many outcomes get samples, in their order: a query for thousands of slices would be no help.
_MOST_OUTCOMES = 200


@dataclass(frozen=True, slots=True)
class Sampling:
    """Whose values are shown: of any column, or of these alone; masked ones as ``***``."""

    columns: frozenset[str] | None = None
    masked: frozenset[str] = frozenset()

    def allows(self, fault: Fault, *, case_sensitive: bool) -> bool:
        if self.columns is None:
            return True
        as_found = str if case_sensitive else str.lower
        return set(map(as_found, fault.condition.columns)) <= set(map(as_found, self.columns))


def with_samples(
    outcomes: Sequence[Outcome], batch: Batch, sampling: Sampling, *, on_whole: bool
) -> list[Outcome]:
    """The outcomes, each that fails with the values that broke its rule: one query for all.

    ``on_whole`` says whether the batch holds all rows that outcomes on the whole speak of.
    """
    from dq_dagster.spark.passes.samples import SampledRows

    apart = {key for keys in batch.others for key in keys}
    wanted: dict[tuple[Fault, ...], dict[str | None, None]] = {}
    places: dict[int, tuple[tuple[Fault, ...], str | None]] = {}
    for place, outcome in enumerate(outcomes):
        here = on_whole if outcome.partition is None else outcome.partition not in apart
        faults: tuple[Fault, ...] = ()
        if here and len(places) < _MOST_OUTCOMES:
            faults = _faults(outcome, sampling, case_sensitive=batch.table.case_sensitive)
        if faults:
            places[place] = faults, outcome.partition
            wanted.setdefault(faults, {})[outcome.partition] = None
    if not wanted:
        return list(outcomes)
    rows = SampledRows(batch.frame, batch.table, batch.division.partition, sampling.masked)
    found = rows.samples(wanted)
    return [
        replace(outcome, samples=found.get(places[place], ())) if place in places else outcome
        for place, outcome in enumerate(outcomes)
    ]


def _faults(outcome: Outcome, sampling: Sampling, *, case_sensitive: bool) -> tuple[Fault, ...]:
    """Those by which a rule fails; none if it holds, or if nobody could tell."""
    if outcome.ok or outcome.was_empty or not outcome.rule.counts_rows:
        return ()
    try:
        every = outcome.rule.faults()
    except RuleFailure:
        return ()
    if not all(sampling.allows(fault, case_sensitive=case_sensitive) for fault in every):
        return ()
    columns = outcome.columns or {}
    verdicts = [
        (fault, columns.get(fault.condition.columns[0], outcome.judgement))
        for fault in every
        if fault.condition.columns
    ]
    return tuple(fault for fault, verdict in verdicts if _fails(fault, verdict, every))


def _fails(fault: Fault, verdict: Judgement, every: Sequence[Fault]) -> bool:
    if not verdict.failed_rows or verdict.status not in {Status.WARNING, Status.ERROR}:
        return False
    # Beside values beyond a hard bound, those that are only beyond a soft one do not matter.
    harder = any(
        one.severity == "error" and one.condition.columns == fault.condition.columns
        for one in every
    )
    return fault.severity == "error" or verdict.status is Status.WARNING or not harder
