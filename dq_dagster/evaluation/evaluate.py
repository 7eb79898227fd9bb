"""Evaluating rules on data: plan, measure, judge. Nothing is saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

from dq_dagster.errors import DeclarationError, RuleFailure
from dq_dagster.evaluation.breakdown import Breakdown, breakdown, groups_in, tables
from dq_dagster.evaluation.history.baseline import NO_PAST, LookingBack, look_back
from dq_dagster.evaluation.history.history import Given, History, history_of
from dq_dagster.evaluation.measurements import judged, observed, values
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.evaluation.result import Evaluation
from dq_dagster.evaluation.states.reuse import Reuse
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Status
from dq_dagster.metrics.measured import WHOLE, Cut, Slice
from dq_dagster.metrics.metric import RecordCount
from dq_dagster.plan.plan import Plan, make_plan
from dq_dagster.rules.base.rule import Rule
from dq_dagster.ruleset import RuleSet

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

    from dq_dagster.evaluation.batch import Dataset
    from dq_dagster.evaluation.measurements import Measurements

_NO_ASSET = "data"
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
    """
    rule_set = _rule_set(rules)
    if partitions is not None and partition_by is None:
        raise DeclarationError.of("partitions need partition_by: what makes a row's partition.")
    if reuse is not None and partition_by is None:
        raise DeclarationError.of("reuse needs partition_by: what makes a row's partition.")
    _require_keys(partitions)
    plan = make_plan(rule_set.enabled_rules, partitioned=partition_by is not None)
    # Here, so that declaring rules needs no Spark.
    from dq_dagster.evaluation.batch import Source
    from dq_dagster.evaluation.states.incremental import look
    from dq_dagster.spark.frames.other_datasets import OtherDatasets

    around = OtherDatasets(
        asset=rule_set.asset_name,
        references={} if references is None else references,
        recorded={} if recorded is None else recorded,
        metadata=metadata,
    )
    source = Source(data, plan.rules, partition_by, _moment(now), around)
    source.require_possible(partitions or ())
    seen = look(source, plan, partitions, reuse)
    found = seen.found
    past = history_of(history, partitions=found.partitions, now=found.now)
    outcomes = [
        outcome
        for rule in plan.rules
        for outcome in _outcomes(
            rule,
            list(_slices(rule, found.partitions, partitioned=plan.partitioned)),
            found,
            seen.dataset,
            past,
        )
    ]
    return Evaluation(tuple(map(seen.told, outcomes)), seen.plan)


def explain(rules: RuleSet | Sequence[Rule | Mapping[str, Any]]) -> Plan:
    """How the rules would be answered; printing it shows rules, metrics and passes."""
    return make_plan(_rule_set(rules).enabled_rules)


def _rule_set(rules: Any) -> RuleSet:
    if isinstance(rules, RuleSet):
        return rules
    if isinstance(rules, Rule | Mapping):
        # As a sequence it would fall into its fields, each of which is no rule.
        raise DeclarationError.of("a list of rules is needed: put the rule between [ and ].")
    if isinstance(rules, str | PurePath):
        raise DeclarationError.of(
            "a list of rules is needed, not the name of a file: take one of the rule sets that "
            "dq.load_rules(...) reads."
        )
    if not isinstance(rules, Iterable) or hasattr(rules, "columns"):
        kind = type(rules).__name__
        raise DeclarationError.of(f"the data comes first, then a list of rules, not a {kind}.")
    return RuleSet(asset=_NO_ASSET, rules=tuple(rules))


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


def _moment(now: datetime | None) -> datetime:
    if now is None:
        return datetime.now(UTC)
    if not isinstance(now, datetime):
        raise DeclarationError.of(
            "now is a datetime, such as datetime(2024, 1, 31, tzinfo=UTC), not a "
            f"{type(now).__name__}."
        )
    return now.replace(tzinfo=UTC) if now.tzinfo is None else now


def _slices(rule: Rule, keys: Sequence[str], *, partitioned: bool) -> Iterator[Slice]:
    if not partitioned:
        yield WHOLE
        return
    if rule.scope != "whole_dataset":
        yield from (Slice(key) for key in keys)
    if rule.scope != "partitions":
        yield WHOLE


def _outcomes(
    rule: Rule,
    parts: Sequence[Slice],
    found: Measurements,
    dataset: Dataset,
    history: History,
) -> list[Outcome]:
    """The outcomes on these slices in their order, whichever order they have to be judged in."""
    past = NO_PAST
    if rule.lookback is not None:
        groups = [group for part in parts for group in groups_in(rule, found, part)]
        past = look_back(rule, rule.lookback, [*parts, *groups], history, now=found.now)
    judged_parts: dict[Slice, Outcome] = {}
    by_group: dict[Slice, Breakdown] = {}
    for part in past.in_order(parts):
        by_group[part] = breakdown(rule, found, part, past)
        judged_parts[part] = _outcome(rule, part, found, by_group[part], past)
        past.note(judged_parts[part])
    if rule.dimensions:
        shown = tables(rule, found, by_group, lambda listed: _rests(rule, listed, dataset))
        return [
            _with_groups(judged_parts[part], shown[part], found.of(part).problems) for part in parts
        ]
    return [judged_parts[part] for part in parts]


def _outcome(
    rule: Rule, part: Slice, found: Measurements, by_group: Breakdown, past: LookingBack
) -> Outcome:
    evidence = past.add_to(found.evidence(rule, part), part)
    judgement = judged(rule, evidence)
    metrics = values(rule, evidence)
    outcome = Outcome.of(
        rule,
        judgement,
        partition=part.partition,
        metrics=metrics,
        observed_metrics=observed(rule, judgement, metrics),
    )
    return replace(outcome, group_metrics=by_group.metrics, group_statuses=by_group.statuses)


def _with_groups(
    outcome: Outcome, shown: Mapping[str, Any], problems: Mapping[str, RuleFailure]
) -> Outcome:
    """The outcome with its groups; a dimension that cannot be is an Error, as any such column."""
    outcome = replace(outcome, details={**outcome.details, "dimensions": shown})
    wrong = [str(problems[name]) for name in outcome.rule.dimensions if name in problems]
    if not wrong or outcome.status is Status.ERROR:
        return outcome
    return replace(
        outcome,
        status=Status.ERROR,
        message=f"{outcome.message} But it cannot be broken down: {' '.join(wrong)}",
        # What was measured is none the worse for it.
        statuses={**dict.fromkeys(outcome.metrics, outcome.judged), **outcome.statuses},
    )


def _rests(rule: Rule, groups: Sequence[Slice], dataset: Dataset) -> dict[Slice, Evidence]:
    """The evidence on the rows outside these groups, measured anew for each slice they are of.

    That is one look for all partitions, however many they are, and one for the whole dataset.
    """
    alone = rule.model_copy(update={"dimensions": (), "scope": "partitions"})
    rows = RecordCount(where=rule.where)
    rests: dict[Slice, Evidence] = {}
    for partitioned in (True, False):
        some = [part for part in groups if part.cut.partitioned is partitioned]
        if not some:
            continue
        bases = dict.fromkeys(part.within(Cut(partitioned)) for part in some)
        plan = make_plan([alone], partitioned=partitioned, also=[rows])
        names = [base.partition for base in bases if base.partition is not None]
        found = dataset.without(some).measure(plan, names)
        for base in bases:
            evidence = found.evidence(alone, base)
            values = {**evidence.values, rows: found.metrics[rows].value(base)}
            rests[base] = replace(evidence, values=values)
    return rests
