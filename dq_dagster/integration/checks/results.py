"""Rules as Dagster's check specifications, outcomes as its check results."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

import dagster as dg

from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.integration.checks.batches import other_assets
from dq_dagster.integration.checks.run_modes import WITH_BUILD, blocks, condition_of
from dq_dagster.integration.event_log.codec import RECORD, Record, reduced
from dq_dagster.integration.event_log.history import EventLogHistory
from dq_dagster.integration.event_log.views import (
    CHART,
    COLUMNS,
    DIMENSIONS,
    EXPECTED,
    HISTORY,
    OBSERVED,
    SAMPLES,
    SCHEMA,
    charts_of,
    shown,
)
from dq_dagster.integration.internals import (
    Materialization,
    evaluation_event,
    output_of_check,
    partitioned_check_spec,
)
from dq_dagster.integration.partitions.asset_partitions import asset_key as key_of
from dq_dagster.integration.step_context import StepContext
from dq_dagster.judging.judgement import BADNESS, Status, score, worst, worth
from dq_dagster.rules.base.rule import Rule
from dq_dagster.ruleset import dataset_check_name

# What its author called the rule, where that is no name for a check.
RULE = "dq/rule"
RULE_TYPE = "dq/type"
QUALITY_DIMENSION = "dq/quality_dimension"
RUN = "dq/run"
ACTION = "dq/action_if_failed"
TAGS = "dq/tags"
OWNERS = "dq/owners"
WEIGHT = "dq/weight"

# Of an asset, after all of its checks were evaluated together.
DATASET_STATUS = "dq/dataset_status"
SCORE = "dq/score"
PAGE = "dq/page"
# Where the pages of `dq-dagster ui` are, for links to them.
PAGES = "DQ_PAGES_URL"

_TABLES = {COLUMNS, DIMENSIONS, SCHEMA, HISTORY, SAMPLES}
# What is left out first where there is too much, be it an entry or a part of the record: what
# people look at before what later checks learn from, which nobody would miss until a rule does not
# get beyond learning.
_LEFT_OUT = (
    SAMPLES,
    CHART,
    HISTORY,
    COLUMNS,
    DIMENSIONS,
    "states",
    SCHEMA,
    OBSERVED,
    "bounds",
    "limits",
    EXPECTED,
    "groups",
    "group_statuses",
)
# For the sake of pages that list many results, and of reading thousands of them at once. Nothing
# breaks beyond it, so that numbers may take more room.
_MOST_BYTES = 16_384
# What breaks: MySQL holds a result in a text of 65,535 bytes; SQLite and Postgres have no limit.
# From here on, only the numbers that are judged themselves are kept.
_MOST_BYTES_OF_NUMBERS = 48_000
_LONGEST_EXPECTED = 500
_LONGEST_MESSAGE = 2_000


@dataclass(frozen=True, slots=True)
class Recording:
    """What the results of one step have in common."""

    context: StepContext
    history: EventLogHistory
    # The materializations of the judged partitions.
    targets: Mapping[str, Materialization]
    # Rules that have no check of single partitions, and may be judged on one nonetheless.
    unlisted: Collection[str] = ()


def events_of(outcomes: Sequence[Outcome], recording: Recording) -> list[Any]:
    """A result for each outcome; for partitioned assets an output a check, once all are there.

    The worst come first: Dagster stores results one by one, and a run that is cancelled meanwhile
    keeps those that it got to.
    """
    events: list[Any] = []
    outputs: dict[str, None] = {}
    selected = {key.name for key in recording.context.selected_asset_check_keys}
    worst_first = sorted(outcomes, key=lambda outcome: -BADNESS[outcome.judgement.status])
    charts = charts_of(worst_first)
    for place, outcome in enumerate(worst_first):
        chart, partition = charts.get(place, ""), outcome.partition
        if partition is not None and outcome.rule.name in recording.unlisted:
            events.append(_observation(outcome, recording, chart=chart))
            continue
        name = recording.history.checks[outcome.rule.name, partition is not None]
        result = check_result(outcome, name, recording, chart=chart)
        if recording.history.asset is None:
            events.append(result)
            continue
        if name in selected:
            outputs[name] = None
        target = recording.history.latest
        if partition is not None:
            target = recording.targets.get(partition)
        blocking = blocks(outcome.rule)
        events.append(
            evaluation_event(result, partition=partition, blocking=blocking, target=target)
        )
    keys = [dg.AssetCheckKey(recording.history.key, name) for name in outputs]
    return events + [output_of_check(recording.context, key) for key in keys]


def summary_of(outcomes: Sequence[Outcome], key: dg.AssetKey) -> dg.AssetObservation:
    """The asset's status and score, as all of its rules together say, for the asset's own page."""
    # By check, as everywhere: one that judges both partitions and the whole dataset is two.
    counts: dict[tuple[str, bool], Counter[Status]] = {}
    weights: dict[str, float] = {}
    for outcome in outcomes:
        weights[outcome.rule.name] = outcome.rule.weight
        check = outcome.rule.name, outcome.partition is None
        counts.setdefault(check, Counter())[outcome.judgement.status] += 1
    reached = score(
        (
            weights[name],
            worth(ok=one[Status.OK], warning=one[Status.WARNING], error=one[Status.ERROR]),
        )
        for (name, _), one in counts.items()
    )
    status = worst(outcome.judgement.status for outcome in outcomes)
    entries: dict[str, Any] = {DATASET_STATUS: status.value}
    if reached is not None:
        entries[SCORE] = reached
    page = os.environ.get(PAGES)
    if page:
        name = quote(key.to_escaped_user_string(), safe="")
        entries[PAGE] = dg.MetadataValue.url(f"{page.rstrip('/')}/dataset?asset={name}")
    return dg.AssetObservation(
        asset_key=key, description=f"Data quality: {status.value}.", metadata=entries
    )


def check_result(
    outcome: Outcome, name: str, recording: Recording, *, chart: str = ""
) -> dg.AssetCheckResult:
    """The result with all there is to say; if that cannot be recorded, at least its numbers."""
    message = said = outcome.judgement.message
    for attempt in (_all_entries, _entries_without_tables, _numbers_alone, _status_alone):
        try:
            return _result(outcome, name, recording, attempt(outcome, recording, chart), message)
        except Exception as error:
            # One rule's details must not cost all rules their results, nor later ones their past.
            if message == said:
                message = f"{_shortened(message)} {_unrecorded(error)}"
            recording.context.log.warning(
                "The details of check '%s' could not be recorded.", name, exc_info=True
            )
    return _result(outcome, name, recording, {}, message)


def _unrecorded(error: Exception) -> str:
    return f"Its details could not be recorded ({type(error).__name__})."


def _all_entries(outcome: Outcome, recording: Recording, chart: str) -> dict[str, Any]:
    return entries_of(outcome, recording.history.record_of(outcome).encode(), chart=chart)


def _entries_without_tables(outcome: Outcome, recording: Recording, chart: str) -> dict[str, Any]:
    bare = outcome.without_details()
    return entries_of(bare, recording.history.record_of(bare).encode())


def _numbers_alone(outcome: Outcome, recording: Recording, chart: str) -> dict[str, Any]:
    """What later checks learn from, without all that a rule may say in a form of its own."""
    bare = replace(outcome.judgement, bounds={}, rows=None, failed_rows=None, details={})
    numbers = replace(outcome, judgement=bare, states=None)
    return {RECORD: recording.history.record_of(numbers).encode()}


def _status_alone(outcome: Outcome, recording: Recording, chart: str) -> dict[str, Any]:
    status = outcome.judgement.status
    return {RECORD: Record(status, outcome.was_empty, outcome.rule.type).encode()}


def _observation(outcome: Outcome, recording: Recording, *, chart: str) -> dg.AssetObservation:
    """What a rule of the whole dataset says of one partition: no check's verdict, but on record."""
    result = check_result(outcome, outcome.rule.check_name, recording, chart=chart)
    return dg.AssetObservation(
        asset_key=recording.history.key,
        partition=outcome.partition,
        description=f"{outcome.rule.name}: {result.description}",
        metadata=result.metadata,
    )


def _result(
    outcome: Outcome, name: str, recording: Recording, entries: Mapping[str, Any], message: str
) -> dg.AssetCheckResult:
    severity = dg.AssetCheckSeverity.ERROR
    if outcome.judgement.status is Status.WARNING:
        severity = dg.AssetCheckSeverity.WARN
    return dg.AssetCheckResult(
        passed=outcome.ok,
        asset_key=recording.history.key,
        check_name=name,
        severity=severity,
        description=_shortened(message),
        metadata=entries,
    )


def entries_of(outcome: Outcome, record: Mapping[str, Any], *, chart: str = "") -> dict[str, Any]:
    """What Dagster keeps of an outcome: for people to read, and the record as it is written."""
    entries = {**shown(outcome, chart=chart), RECORD: dict(record)}
    if _size(entries) > _MOST_BYTES:
        entries = _within_limit(entries, outcome)
    for table in _TABLES & entries.keys():
        entries[table] = dg.MetadataValue.table([dg.TableRecord(row) for row in entries[table]])
    if CHART in entries:
        entries[CHART] = dg.MetadataValue.md(entries[CHART])
    return entries


def _within_limit(entries: dict[str, Any], outcome: Outcome) -> dict[str, Any]:
    """Leaves out optional entries until the rest is small enough for an event log.

    The metrics without which a rule that compares with its past could not go on are kept, whatever
    their size.
    """
    record = entries[RECORD]
    for optional in _LEFT_OUT:
        if _size(entries) <= _MOST_BYTES:
            return entries
        if optional == EXPECTED and EXPECTED in entries:
            entries[EXPECTED] = _shortened(entries[EXPECTED], _LONGEST_EXPECTED)
        else:
            entries.pop(optional, None)
            record.pop(optional, None)
    if _size(entries) > _MOST_BYTES_OF_NUMBERS:
        entries[RECORD] = reduced(record, _judged(outcome))
    return entries


def _judged(outcome: Outcome) -> set[str]:
    """The keys of the metrics that the verdict is about, and of those compared with their past."""
    found = [outcome.judgement, *outcome.judgement.columns.values()]
    by_past = {one.typical.metric for one in found if one.typical is not None}
    return by_past | set(outcome.observed_metrics)


def _size(entries: Mapping[str, Any]) -> int:
    return len(json.dumps(entries))


def check_specs(
    rule: Rule, asset_key: dg.AssetKey, partitions_def: dg.PartitionsDefinition[Any] | None
) -> list[dg.AssetCheckSpec]:
    """The checks that a rule becomes: of partitions, of the whole dataset, or one of each."""
    if partitions_def is None:
        return [_spec(rule, asset_key, name=rule.check_name)]
    specs = []
    if rule.scope != "whole_dataset":
        specs.append(_spec(rule, asset_key, name=rule.check_name, partitions_def=partitions_def))
    if rule.scope != "partitions":
        specs.append(_spec(rule, asset_key, name=dataset_check_name(rule)))
    return specs


def _spec(
    rule: Rule,
    asset_key: dg.AssetKey,
    *,
    name: str,
    partitions_def: dg.PartitionsDefinition[Any] | None = None,
) -> dg.AssetCheckSpec:
    # Dagster takes fewer characters in a name than people do.
    renamed = rule.check_name != rule.name
    entries = {
        RULE: rule.name if renamed else "",
        RULE_TYPE: rule.type,
        QUALITY_DIMENSION: rule.quality_dimension,
        RUN: rule.run if rule.run != WITH_BUILD else "",
        ACTION: rule.action_if_failed if rule.action_if_failed != "ignore" else "",
        TAGS: list(rule.tags),
        OWNERS: list(rule.owners),
        WEIGHT: rule.weight if rule.weight != 1 else "",
    }
    return partitioned_check_spec(
        partitions_def,
        name=name,
        asset=asset_key,
        # Where one run builds both, what a rule reads is there before the check.
        additional_deps=[key_of(name) for name in other_assets([rule], asset_key)],
        description=f"Rule '{rule.name}': {rule.summary()}" if renamed else rule.summary(),
        blocking=blocks(rule),
        automation_condition=condition_of(rule, asset_key),
        metadata={key: value for key, value in entries.items() if value},
    )


def _shortened(words: str, longest: int = _LONGEST_MESSAGE) -> str:
    return words if len(words) <= longest else f"{words[: longest - 1]}…"
