"""Evaluating rules on data: plan, measure, judge. Nothing is saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from dq_dagster.errors import DeclarationError, RuleFailure
from dq_dagster.evaluation.batch import BatchSource
from dq_dagster.evaluation.breakdown import (
    Breakdown,
    OthersEvidence,
    breakdown,
    groups_in,
    listed_beside_others,
    merged_others,
    tables,
)
from dq_dagster.evaluation.history.baseline import NO_BASELINE, read_baseline
from dq_dagster.evaluation.history.history import Given, GivenHistory, History, history_of
from dq_dagster.evaluation.judge import Measurements, judge, judge_slices
from dq_dagster.evaluation.outcome import GroupTable, Outcome
from dq_dagster.evaluation.result import Evaluation
from dq_dagster.evaluation.samples import Sampling, with_samples
from dq_dagster.evaluation.scan import Scan, measure_others, scan
from dq_dagster.evaluation.states import Reuse
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Status
from dq_dagster.metrics.measured import Slice
from dq_dagster.plan.plan import Plan, make_plan
from dq_dagster.plan.request import CheckRequest, RequestedRule
from dq_dagster.rules.base.rule import Rule
from dq_dagster.rules.fields.ranges import some_seconds
from dq_dagster.ruleset import RuleSet, as_rule_set
from dq_dagster.spark.frames.other_datasets import OtherDatasets
from dq_dagster.spark.session.deadline import time_limit

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

# Brings the rows of some partitions, or with None all there are.
Read: TypeAlias = Callable[[Sequence[str] | None], Any]


def evaluate(
    data: DataFrame | pd.DataFrame | Read,
    rules: RuleSet | Sequence[Rule | Mapping[str, Any]],
    *,
    partition_by: str | None = None,
    partitions: Sequence[str] | None = None,
    now: datetime | None = None,
    references: Mapping[str, Any] | None = None,
    recorded: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    history: Given | None = None,
    reuse: Reuse | None = None,
    timeout: float | str | timedelta | None = None,
    samples: bool = True,
) -> Evaluation:
    """Judges rules on a Spark or pandas DataFrame and says what came out. Nothing is saved.

    Of a pandas DataFrame, None, NaN, NaT and NA are NULL, and times without a zone are meant in
    Spark's session time zone: of an hour that is there twice the first, and if a column has a
    time that the zone skips, all of it is judged as wall-clock times (TIMESTAMP_NTZ). A column
    whose type Spark does not have costs its own rules only.

    ``partition_by`` is a column or an SQL expression whose text form is a row's partition; rules
    are then judged by their ``scope``, on each of ``partitions`` (by default all that occur; a key
    that no value of the column can have is refused) and on the whole dataset. ``now`` is the time
    that ages are counted from; without a zone it is meant in UTC. ``references`` holds the data of
    other assets that rules look at, by asset key (what refers to the judged asset itself looks in
    all of ``data``, also for some partitions); ``recorded`` the values of metrics that are not
    measured now, by metric key; ``metadata`` that of the asset's latest materialization. Those of
    other assets are in mappings under their keys.

    ``history`` is the past that change detection judges by: a ``History``; records by rule name
    (``dq.Recorded``, in any order); or values by metric key, as ``dq.PastValue`` or as plain
    numbers, the oldest first. Plain numbers are of the whole dataset, one a day, the last of them
    a day before ``now``. Partitions whose keys are all ISO dates or timestamps stand for those
    times. What has no past is still learning, and Empty.

    ``reuse`` holds what earlier evaluations left of partitions that have not changed since: what
    can be merged with that is read of the other partitions only. ``data`` may then be a function
    that reads some partitions, or with None all of them. Each outcome has ``states`` to keep.

    ``timeout`` is how long it may take, such as ``"10 min"`` or a number of seconds; by default
    that of the rule set. What has no answer by then is an Error, and its Spark jobs are cancelled.

    If a rule that counts rows fails, one further query finds the values that broke it, up to five
    a rule: ``samples`` of its outcome, which are shown and in no message. ``samples=False`` leaves
    that out.
    """
    rule_set = as_rule_set(rules)
    if partitions is not None and partition_by is None:
        raise DeclarationError.of("partitions need partition_by: what makes a row's partition.")
    if reuse is not None and partition_by is None:
        raise DeclarationError.of("reuse needs partition_by: what makes a row's partition.")
    _require_keys(partitions)
    request = CheckRequest.of(
        rule_set.enabled_rules, partitioned=partition_by is not None, partitions=partitions
    )
    beside = OtherDatasets(
        asset=rule_set.asset_name,
        references={} if references is None else references,
        recorded={} if recorded is None else recorded,
        metadata=metadata,
    )
    at = moment(now)
    # Refused also where no rule needs it.
    history_of(history, partitions=(), now=at)
    source = BatchSource(data, request, partition_by, at, beside)
    sampling = Sampling(masked=frozenset(rule_set.sensitive)) if samples else None
    with _limited(rule_set.timeout if timeout is None else timeout):
        return evaluate_plan(
            make_plan(request), source, history=history, reuse=reuse, sampling=sampling
        )


def _limited(timeout: Any) -> AbstractContextManager[None]:
    if timeout is None:
        return nullcontext()
    try:
        return time_limit(some_seconds(timeout))
    except ValueError as error:
        raise DeclarationError.of(f"timeout: {error}.") from None


def evaluate_plan(
    plan: Plan,
    source: BatchSource,
    *,
    history: Given | None,
    reuse: Reuse | None,
    sampling: Sampling | None = None,
) -> Evaluation:
    """Measures what the plan says, judges each rule on each of its slices."""
    if plan.request.partitions:
        source.require_possible(plan.request.partitions)
    scanned = scan(source, plan, reuse)
    return sampled(judge_scan(plan, scanned, history=history), scanned, sampling)


def sampled(found: Evaluation, scanned: Scan, sampling: Sampling | None) -> Evaluation:
    """The same, with values that broke the rules, if they are asked for."""
    if sampling is None or found.ok:
        return found
    # What is on record of other partitions has no rows to show.
    on_whole = not scanned.recorded
    shown = with_samples(found.outcomes, scanned.batch, sampling, on_whole=on_whole)
    return replace(found, outcomes=tuple(shown))


def judge_scan(plan: Plan, scanned: Scan, *, history: Given | None) -> Evaluation:
    """Judges each rule of the plan on each of its slices, by what was measured."""
    found = scanned.found
    past: History = GivenHistory()
    if any(one.lookback is not None for one in plan.request.rules):
        past = history_of(history, partitions=found.partitions, now=found.now)
    judged = [_judged(one, found, past) for one in plan.request.rules]
    others = _others(plan, judged, scanned)
    outcomes = [
        scanned.with_states(outcome, one.requested.needs) if scanned.partitions else outcome
        for one in judged
        for outcome in one.with_groups(found, others.get(one.requested.rule.name, {}))
    ]
    return Evaluation(tuple(outcomes), scanned.plan)


@dataclass(frozen=True, slots=True)
class _Judged:
    """The outcomes of one rule by slice, and the groups of each slice."""

    requested: RequestedRule
    outcomes: Mapping[Slice, Outcome]
    groups: Mapping[Slice, Breakdown]

    def with_groups(self, found: Measurements, others: OthersEvidence) -> Iterable[Outcome]:
        if not self.groups:
            return self.outcomes.values()
        merged = merged_others(self.requested, found, self.groups)
        shown = tables(self.requested, self.groups, {**others, **merged})
        return [
            _with_groups(outcome, shown[part], found.of(part).problems)
            for part, outcome in self.outcomes.items()
        ]


def _judged(one: RequestedRule, found: Measurements, history: History) -> _Judged:
    """The outcomes in the order of the slices, whichever order they have to be judged in."""
    parts = one.slices(found.partitions)
    lookback = one.lookback
    if lookback is None and not one.dimensions:
        return _Judged(one, judge_slices(one, found, parts), {})
    past = NO_BASELINE
    if lookback is not None:
        groups = [group for part in parts for group in groups_in(one, found, part)]
        past = read_baseline(one.rule, lookback, [*parts, *groups], history, now=found.now)
    outcomes: dict[Slice, Outcome] = {}
    by_group: dict[Slice, Breakdown] = {}
    for part in past.in_order(parts):
        by_group[part] = breakdown(one, found, part, past)
        evidence = past.add_to(found.evidence(one, part), part)
        outcomes[part] = replace(
            judge(one, evidence, partition=part.partition),
            group_metrics=by_group[part].metrics,
            group_statuses=by_group[part].statuses,
        )
        past.note(outcomes[part])
    ordered = {part: outcomes[part] for part in parts}
    return _Judged(one, ordered, by_group if one.dimensions else {})


def _others(
    plan: Plan, judged: Iterable[_Judged], scanned: Scan
) -> dict[str, dict[tuple[Slice, str], Evidence]]:
    """By rule, the evidence on groups that are not listed, where that is planned to be measured."""
    by_name = {one.requested.rule.name: one for one in judged}
    found: dict[str, dict[tuple[Slice, str], Evidence]] = {}
    for others in plan.others:
        name = others.rule.rule.name
        listed = listed_beside_others(by_name[name].groups, others.dimension)
        if listed:
            found.setdefault(name, {}).update(measure_others(others, listed, scanned.batch))
    return found


def _require_keys(partitions: Sequence[str] | None) -> None:
    if isinstance(partitions, str):
        # As a sequence it would fall into its letters, each of which is no partition.
        raise DeclarationError.of("partitions is a list of keys: put the key between [ and ].")
    for key in partitions or ():
        if not isinstance(key, str):
            raise DeclarationError.of(
                f"partitions must be a list of texts, as partition_by gives them: write '{key}' "
                f"instead of {key!r}."
            )


def moment(now: datetime | None) -> datetime:
    """The time that ages are counted from; one without a zone is meant in UTC."""
    if now is None:
        return datetime.now(UTC)
    if not isinstance(now, datetime):
        raise DeclarationError.of(
            "now is a datetime, such as datetime(2024, 1, 31, tzinfo=UTC), not a "
            f"{type(now).__name__}."
        )
    return now.replace(tzinfo=UTC) if now.tzinfo is None else now


def _with_groups(
    outcome: Outcome, shown: Mapping[str, GroupTable], problems: Mapping[str, RuleFailure]
) -> Outcome:
    """The outcome with its groups; a dimension that cannot be is an Error, as any such column."""
    outcome = replace(outcome, dimensions=shown)
    wrong = [str(problems[name]) for name in outcome.rule.dimensions if name in problems]
    if not wrong or outcome.status is Status.ERROR:
        return outcome
    # What was measured is none the worse for it.
    statuses = {**dict.fromkeys(outcome.metrics, outcome.judged), **outcome.statuses}
    note = f"But it cannot be broken down: {' '.join(wrong)}"
    return replace(outcome.with_note(note, status=Status.ERROR), statuses=statuses)
