"""Rules as Dagster's check specifications, outcomes as its check results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.integration.checks.batches import other_assets
from dq_dagster.integration.checks.request import RequestedChecks
from dq_dagster.integration.event_log import metadata
from dq_dagster.integration.event_log.history import EventLogHistory
from dq_dagster.integration.event_log.views import charts_of
from dq_dagster.integration.internals import (
    Materialization,
    evaluation_event,
    output_of_check,
    partitioned_check_spec,
)
from dq_dagster.integration.partitions.asset_partitions import asset_key as key_of
from dq_dagster.integration.step_context import StepContext
from dq_dagster.judging.judgement import BADNESS, Status
from dq_dagster.rules.base.rule import Rule
from dq_dagster.ruleset import dataset_check_name

_LONGEST_MESSAGE = 2_000


@dataclass(frozen=True, slots=True)
class Recording:
    """What the results of one step have in common."""

    context: StepContext
    asset_key: dg.AssetKey
    asked: RequestedChecks
    history: EventLogHistory
    targets: Mapping[str, Materialization]

    def target(self, partition: str | None) -> Materialization | None:
        """The materialization that an outcome on a slice is about."""
        return self.history.latest if partition is None else self.targets.get(partition)


def events_of(outcomes: Sequence[Outcome], recording: Recording) -> Iterator[Any]:
    """A result for each outcome; for partitioned assets an output a check, once all are there.

    The worst come first: Dagster stores results one by one, and a run that is cancelled meanwhile
    keeps those that it got to.
    """
    outputs: dict[str, None] = {}
    worst_first = sorted(outcomes, key=lambda outcome: -BADNESS[outcome.status])
    charts = charts_of(worst_first)
    for place, outcome in enumerate(worst_first):
        name = recording.asked.check_name(outcome.rule, outcome.partition)
        if name is None:
            yield _observation(outcome, recording, chart=charts.get(place, ""))
            continue
        result = check_result(outcome, name, recording, chart=charts.get(place, ""))
        if recording.history.asset is None:
            yield result
            continue
        if (
            dg.AssetCheckKey(recording.asset_key, name)
            in recording.context.selected_asset_check_keys
        ):
            outputs[name] = None
        yield evaluation_event(
            result,
            partition=outcome.partition,
            blocking=outcome.rule.blocking,
            target=recording.target(outcome.partition),
        )
    for name in outputs:
        key = dg.AssetCheckKey(recording.asset_key, name)
        yield output_of_check(recording.context, key)


def check_result(
    outcome: Outcome, name: str, recording: Recording, *, chart: str = ""
) -> dg.AssetCheckResult:
    """The result with all there is to tell; if that cannot be told, at least its numbers."""
    message = outcome.message
    for entries_of in (_all_entries, _entries_without_tables, _numbers):
        try:
            entries = entries_of(outcome, recording, chart)
            return _result(outcome, name, recording, entries, message)
        except Exception as error:
            # One rule's details must not cost all rules their results, nor later ones their past.
            if message == outcome.message:
                message = f"{_shortened(message)} {_unrecorded(error)}"
            recording.context.log.warning(
                "The details of check '%s' could not be recorded.", name, exc_info=True
            )
    return _result(outcome, name, recording, metadata.least_of(outcome), message)


def _unrecorded(error: Exception) -> str:
    return f"Its details could not be recorded ({type(error).__name__})."


def _all_entries(outcome: Outcome, recording: Recording, chart: str) -> dict[str, Any]:
    return metadata.of_outcome(outcome, **_origin(outcome, recording), chart=chart)


def _entries_without_tables(outcome: Outcome, recording: Recording, chart: str) -> dict[str, Any]:
    return metadata.of_outcome(outcome.without_details(), **_origin(outcome, recording))


def _numbers(outcome: Outcome, recording: Recording, chart: str) -> dict[str, Any]:
    return metadata.numbers_of(outcome, **_origin(outcome, recording))


def _observation(outcome: Outcome, recording: Recording, *, chart: str) -> dg.AssetObservation:
    """What a rule of the whole dataset says of one partition: no check's verdict, but on record."""
    result = check_result(outcome, outcome.rule.check_name, recording, chart=chart)
    return dg.AssetObservation(
        asset_key=recording.asset_key,
        partition=outcome.partition,
        description=f"{outcome.rule.name}: {result.description}",
        metadata=result.metadata,
    )


def _origin(outcome: Outcome, recording: Recording) -> dict[str, Any]:
    """What the numbers of an outcome are of, and the states behind them."""
    partition, history = outcome.partition, recording.history
    time = None if partition is None else history.time_of(partition)
    return {
        "data": history.data_of(partition),
        "time": time,
        "series": "" if time is None else history.series_of(str(partition)),
        "states": history.states_of(outcome),
    }


def _result(
    outcome: Outcome, name: str, recording: Recording, entries: Mapping[str, Any], message: str
) -> dg.AssetCheckResult:
    severity = dg.AssetCheckSeverity.ERROR
    if outcome.status is Status.WARNING:
        severity = dg.AssetCheckSeverity.WARN
    return dg.AssetCheckResult(
        passed=outcome.ok,
        asset_key=recording.asset_key,
        check_name=name,
        severity=severity,
        description=_shortened(message),
        metadata=entries,
    )


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
        metadata.RULE: rule.name if renamed else "",
        metadata.RULE_TYPE: rule.type,
        metadata.QUALITY_DIMENSION: rule.quality_dimension,
        metadata.TAGS: list(rule.tags),
        metadata.OWNERS: list(rule.owners),
    }
    return partitioned_check_spec(
        partitions_def,
        name=name,
        asset=asset_key,
        # Where one run builds both, what a rule looks at is there before the check.
        additional_deps=[key_of(name) for name in other_assets([rule], asset_key)],
        description=f"Rule '{rule.name}': {rule.summary()}" if renamed else rule.summary(),
        blocking=rule.blocking,
        metadata={key: value for key, value in entries.items() if value},
    )


def _shortened(message: str) -> str:
    if len(message) <= _LONGEST_MESSAGE:
        return message
    return f"{message[: _LONGEST_MESSAGE - 1]}…"
