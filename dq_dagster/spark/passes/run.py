"""Running the passes of a plan: each metric gets its states, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from dq_dagster.errors import RuleFailure, TimedOut, TooManyParts
from dq_dagster.metrics.conditions import PassKind
from dq_dagster.metrics.measured import UNDIVIDED, Cut, Measured
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.sources import AssetData, OtherAssetMetric
from dq_dagster.plan.plan import Pass, passes_for
from dq_dagster.spark.frames.ansi import home_of, is_ansi, under_ansi
from dq_dagster.spark.frames.columns import JudgedTable
from dq_dagster.spark.frames.failures import without_quoting_rows
from dq_dagster.spark.frames.schemas import outside_rows
from dq_dagster.spark.frames.slicing import UNSLICED, Division, Parts, States
from dq_dagster.spark.passes.aggregate import measure
from dq_dagster.spark.passes.isolation import attempted
from dq_dagster.spark.session.deadline import DEADLINE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Cuts = tuple[Cut, ...]
Runner = Callable[[Sequence[Metric], Parts, JudgedTable], States]


_VALUES = {PassKind.COUNT_VALUES, PassKind.MEDIANS}
# What has no job in common, and leaves cores idle while it is planned and at the end of each stage.
_SIDE_BY_SIDE = {PassKind.AGGREGATE, PassKind.LOOKUPS, *_VALUES}


def in_turn(steps: Sequence[Pass]) -> list[Sequence[Pass]]:
    """The passes in their order; those in one group are run side by side."""
    groups: list[list[Pass]] = []
    for step in steps:
        if groups and {groups[-1][-1].kind, step.kind} <= _SIDE_BY_SIDE:
            groups[-1].append(step)
        else:
            groups.append([step])
    return list(groups)


def run_group(
    steps: Sequence[Pass],
    frame: DataFrame,
    table: JudgedTable,
    division: Division = UNSLICED,
    home: DataFrame | None = None,
) -> States:
    """The states of the metrics of several passes that are run side by side.

    With a deadline they are run one after another: one that is endless would take all cores, and
    with them the answers of the others.
    """
    runs = [partial(run, step, frame, table, division, home) for step in _together(steps)]
    if len(runs) == 1 or DEADLINE.get() is not None:
        return _merged([one() for one in runs])
    from dq_dagster.spark.passes.queries import side_by_side

    # Around all of them: each puts back what it found.
    with without_quoting_rows():
        return _merged(list(side_by_side(dict(enumerate(runs)), frame.sparkSession).values()))


def _merged(found: Sequence[States]) -> States:
    return {metric: states for one in found for metric, states in one.items()}


def _together(steps: Sequence[Pass]) -> Sequence[Pass]:
    """Counts and medians of the same parts are one pass, as far as there are some of both."""
    counts = [step for step in steps if step.kind is PassKind.COUNT_VALUES]
    found: list[Pass] = []
    for step in steps:
        if step.kind is PassKind.MEDIANS:
            same = next((one for one in counts if one.cuts == step.cuts), None)
            if same is not None:
                counts.remove(same)
                found[found.index(same)] = replace(same, metrics=same.metrics + step.metrics)
                continue
        found.append(step)
    return found


def run(
    step: Pass,
    frame: DataFrame,
    table: JudgedTable,
    division: Division = UNSLICED,
    home: DataFrame | None = None,
) -> States:
    """The states of a pass's metrics, with a RuleFailure for each that could not be measured.

    ``home`` are the same rows in the session they came from: only there Spark knows their files.
    """
    if step.screens:
        from dq_dagster.spark.passes.screens import measure_screened

        def unscreened(steps: Sequence[Pass], some: DataFrame) -> States:
            return run_group(steps, some, table, division) if steps else {}

        return measure_screened(step, frame, table, unscreened)
    rows = frame if home is None or step.kind is not PassKind.FILES else home
    runner = _runner(step.kind)
    usable = division.usable(step.cuts) if division.problems else step.cuts
    deadline = DEADLINE.get()
    limited = nullcontext() if deadline is None else deadline.cancelling(rows.sparkSession)

    def answer(cuts: Cuts) -> States:
        return runner(step.metrics, Parts.of(rows, cuts, division), table)

    def unanswered(error: Exception) -> States:
        if not isinstance(error, TimedOut | TooManyParts):
            raise error
        return {metric: Measured.failed(metric, error) for metric in step.metrics}

    with without_quoting_rows(), limited:
        try:
            return attempted(lambda: _by_cuts(answer, usable), unanswered)
        except TooManyParts as failure:
            return unanswered(failure)


def _by_cuts(answer: Callable[[Cuts], States], cuts: Cuts) -> States:
    """All cuts at once; if they make too many parts, each alone, without those that still do.

    A dimension with too many groups is left out by itself: others keep theirs.
    """
    try:
        return answer(cuts)
    except TooManyParts:
        grouped = [cut for cut in cuts if cut.dimension is not None]
        if not grouped:
            raise
    plain = tuple(cut for cut in cuts if cut.dimension is None)
    found = [answer(plain)] if plain else []
    for cut in grouped if len(cuts) > 1 else ():
        with suppress(TooManyParts):
            found.append(answer((cut,)))
    return _joined(found or [answer((Cut(grouped[0].partitioned),))])


def _joined(runs: Sequence[States]) -> States:
    """What several runs by different cuts found, as if it had been one."""
    return {metric: _of_all_cuts([found[metric] for found in runs]) for metric in runs[0]}


def _of_all_cuts(runs: Sequence[Measured]) -> Measured:
    for found in runs:
        if not found.cuts:
            # It failed, or is the same for every part.
            return found
    first = runs[0]
    states = {part: state for found in runs for part, state in found.states.items()}
    cuts = tuple(cut for found in runs for cut in found.cuts)
    return Measured(first.metric, states, cuts, first.nothing)


def _runner(kind: PassKind) -> Runner:
    """What runs a pass of that kind. Most plans need the first alone: others are imported late."""
    match kind:
        case PassKind.AGGREGATE:
            return measure
        case PassKind.LOOKUPS:
            from dq_dagster.spark.passes.lookups import measure_lookups

            return measure_lookups
        case PassKind.DIFFS:
            from dq_dagster.spark.passes.diff.measure import measure_diffs

            return measure_diffs
        case PassKind.COUNT_VALUES | PassKind.MEDIANS:
            from dq_dagster.spark.passes.values.measure import measure_values

            return measure_values
        case PassKind.ACROSS_ROWS:
            from dq_dagster.spark.passes.across_rows import measure_across_rows

            return measure_across_rows
        case PassKind.FILES:
            from dq_dagster.spark.passes.files import measure_files

            return measure_files
        case PassKind.QUERIES:
            from dq_dagster.spark.passes.queries import run_queries

            return run_queries
        case PassKind.OTHER_ASSETS:
            return _measure_other_assets
        case PassKind.PYTHON:
            from dq_dagster.spark.passes.user_code import call_functions

            return call_functions


def _measure_other_assets(metrics: Sequence[Metric], parts: Parts, table: JudgedTable) -> States:
    """The value of each metric, the same for every part, with a RuleFailure where there is none."""
    by_dataset: dict[AssetData, list[OtherAssetMetric]] = {}
    for metric in cast("Sequence[OtherAssetMetric]", metrics):
        by_dataset.setdefault(metric.dataset, []).append(metric)
    found: States = {}
    for dataset, wanted in by_dataset.items():
        try:
            there = _measured_there(
                dataset, [metric.metric for metric in wanted], parts.frame, table
            )
        except RuleFailure as failure:
            found |= {metric: Measured.failed(metric, failure) for metric in wanted}
        else:
            found |= {m: Measured.of_all(m, there[m.metric].value()) for m in wanted}
    return found


def _measured_there(
    dataset: AssetData, metrics: Sequence[Metric], frame: DataFrame, table: JudgedTable
) -> States:
    home = table.other_datasets.frame_of(dataset, frame, home_of(frame.sparkSession))
    other = under_ansi(home)
    others = replace(table.other_datasets, asset=dataset.asset, partition=None, whole=None)
    there = JudgedTable.of(home, table.now, others, is_ansi=is_ansi(other))
    found = outside_rows(home)
    for step in passes_for(dict.fromkeys(metrics, (UNDIVIDED,))):
        found |= run(step, other, there, home=home)
    return found
