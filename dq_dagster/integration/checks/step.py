"""One step: the checks of an asset are requested, read, judged and recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import dagster as dg

from dq_dagster.errors import DqError, MissingPartitions, Unassignable, UnreadableData
from dq_dagster.evaluation.batch import BatchSource
from dq_dagster.evaluation.evaluate import evaluate_plan
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.evaluation.samples import Sampling
from dq_dagster.integration.checks.batches import (
    BatchRequest,
    OtherAssets,
    PartitionedSource,
    other_assets,
)
from dq_dagster.integration.checks.failures import absent, cause_of, is_missing, presentable_error
from dq_dagster.integration.checks.readers import AssetIOManager, Reader, name_of
from dq_dagster.integration.checks.request import (
    RequestedChecks,
    request_of_dataset,
    request_of_partitions,
    sensitive_columns,
    with_declared_schema,
)
from dq_dagster.integration.checks.results import Recording, events_of, summary_of
from dq_dagster.integration.event_log.history import EventLogHistory
from dq_dagster.integration.event_log.metric_values import latest_metadata, recorded_values
from dq_dagster.integration.event_log.pager import latest_materialization, materializations
from dq_dagster.integration.event_log.states import RecordedStates
from dq_dagster.integration.internals import (
    Materialization,
    check_keys_of,
    holds_one_run_only,
    is_built_by_dagster,
    is_external,
    partitions_def_of,
)
from dq_dagster.integration.partitions.asset_partitions import (
    AssetPartitions,
    declared_partitions,
    partitions_of,
)
from dq_dagster.integration.partitions.keys import partition_key_sql
from dq_dagster.integration.step_context import StepContext
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.wording import plural
from dq_dagster.plan.plan import make_plan
from dq_dagster.plan.request import CheckRequest
from dq_dagster.rules.fields.ranges import some_seconds
from dq_dagster.ruleset import RuleSet
from dq_dagster.spark.frames.other_datasets import OtherDatasets
from dq_dagster.spark.passes.isolation import out_of_time
from dq_dagster.spark.session.deadline import time_limit


@dataclass(frozen=True, slots=True)
class CheckedAsset:
    """What is known of an asset when its checks are built."""

    key: dg.AssetKey
    name: str
    rule_set: RuleSet
    reader: Reader
    # What the definition given to the rule set says, for jobs that do not know the asset.
    own_partitions: dg.PartitionsDefinition[Any] | None
    # Whether the checks were built with the asset's partitions.
    knows_partitions: bool
    # The assets beside this one that rules refer to.
    others: tuple[str, ...]

    @classmethod
    def of(
        cls, rule_set: RuleSet, reader: Reader, partitions_def: dg.PartitionsDefinition[Any] | None
    ) -> CheckedAsset:
        key = dg.AssetKey(rule_set.asset_path)
        return cls(
            key,
            key.to_user_string(),
            rule_set,
            reader,
            declared_partitions(rule_set.asset),
            partitions_def is not None,
            tuple(other_assets(rule_set.enabled_rules, key)),
        )


@dataclass(frozen=True)
class CheckRun:
    """The checks of one asset in one step."""

    context: StepContext
    checked: CheckedAsset

    @cached_property
    def rule_set(self) -> RuleSet:
        checked = self.checked
        return with_declared_schema(checked.rule_set, checked.key, self.context)

    @cached_property
    def asset(self) -> AssetPartitions | None:
        """The asset's partitions; None if it has none."""
        checked = self.checked
        definition = partitions_def_of(self.context, checked.key) or checked.own_partitions
        if definition is None:
            return None
        return partitions_of(
            self.context, checked.rule_set, definition, reader=name_of(checked.rule_set.reader)
        )

    @cached_property
    def requested(self) -> RequestedChecks:
        names = {check.name for check in self.context.selected_asset_check_keys}
        if self.asset is None or not self.checked.knows_partitions:
            return request_of_dataset(self.rule_set, names)
        return request_of_partitions(self.context, self.rule_set, names, self.asset)

    @cached_property
    def history(self) -> EventLogHistory:
        instance, key = self.context.instance, self.checked.key
        return EventLogHistory(
            instance,
            key,
            self.requested.checks,
            self.requested.request.partitions or (),
            self.asset,
            latest=latest_materialization(instance, key, self._built),
            by_build=isinstance(self.checked.reader, AssetIOManager),
        )

    def events(self) -> list[Any]:
        """One result a check and slice, then what lets later steps go on.

        All of them are made before the first is given away: none may be left without.
        """
        # What the results are about is settled before the data is read: other runs go on building.
        unlisted = self.requested.unlisted
        recording = Recording(self.context, self.history, self._targets(), unlisted)
        outcomes = self._outcomes()
        counts = Counter(outcome.judgement.status for outcome in outcomes)
        summary = ", ".join(f"{n} {status}" for status, n in counts.items())
        self.context.log.info("%s: %s", self.checked.name, summary or "no check was requested")
        names = {check.name for check in self.context.selected_asset_check_keys}
        summary_events = asset_summary(self.context, self.checked, outcomes, names)
        return [*events_of(outcomes, recording), *summary_events]

    def require_partitions(self) -> None:
        """Fails the step if a check of single partitions was selected in a run without one."""
        if self.requested.without_partition:
            raise dg.Failure(_no_partition(self.checked.name, self.requested.without_partition))

    def _outcomes(self) -> list[Outcome]:
        """Exactly one outcome a rule and slice, also if the engine breaks."""
        request = self.requested.request
        failures: dict[str | None, DqError] = {}
        timeout = self.rule_set.timeout
        # Also for the time that reading takes: nobody waits longer because the data is slow.
        with nullcontext() if timeout is None else time_limit(some_seconds(timeout)):
            found = self._judged(failures)
        failed = _failed(request, failures) if failures else []
        never = [
            Outcome.of(one.rule, Judgement.of_no_partition(self.checked.name, key), partition=key)
            for key in self.requested.missing
            for one in request.rules
            if one.on_partitions
        ]
        return found + failed + never

    def _judged(self, failures: dict[str | None, DqError]) -> list[Outcome]:
        """The outcomes on all slices but those that turn out not to be readable."""
        request = self.requested.request
        if failures:
            request = request.without(failures)
        try:
            self._refuse_unknown_partitions()
            return [
                outcome for batch in self._batches(request) for outcome in self._evaluated(batch)
            ]
        except MissingPartitions as error:
            known = len(failures)
            failures |= _failures(error)
            if len(failures) > known:
                return self._judged(failures)
            failures |= dict.fromkeys([*(request.partitions or ()), None], error)
        except Exception as error:  # noqa: BLE001 (each check needs a result, whatever broke)
            reason = out_of_time() or self._presentable(error)
            # What is known of the whole already says more.
            for part in (*(request.partitions or ()), None):
                failures.setdefault(part, reason)
        return []

    def _presentable(self, error: Exception) -> DqError:
        """What went wrong; where the IO manager has no data, why that is so."""
        checked = self.checked
        if not isinstance(checked.reader, AssetIOManager) or not self._is_missing(error):
            return presentable_error(error, checked.name)
        external = is_external(self.context, checked.key)
        absence = absent(checked.name, self.history.latest, external=external)
        return absence or presentable_error(error, checked.name)

    def _is_missing(self, error: Exception) -> bool:
        in_memory = holds_one_run_only(self.context, self.checked.key)
        return is_missing(error) or (in_memory and isinstance(cause_of(error), KeyError))

    def _batches(self, request: CheckRequest) -> list[BatchRequest]:
        """The data of the request, in as few batches as it can be read and judged in."""
        reader, key = self.checked.reader, self.checked.key
        if self.asset is None:
            return [BatchRequest(request, reader.read(self.context, key))]
        if not request.partitions and not request.on_whole:
            return []
        source = PartitionedSource(self.context, reader, self.asset, self._states(self.asset))
        return [part for batch in source.batches(request) for part in batch.by_record()]

    def _states(self, asset: AssetPartitions) -> RecordedStates | None:
        """What is on record of the partitions, where the rule set wants that used."""
        if not self.checked.rule_set.incremental or not asset.is_built:
            return None
        also = {
            rule.name: rule.check_name
            for rule in self.checked.rule_set.enabled_rules
            if rule.scope == "both"
        }
        checks = [
            [self.requested.checks[one.rule.name, False], *filter(None, [also.get(one.rule.name)])]
            for one in self.requested.request.rules
            if one.on_whole
        ]
        return RecordedStates(self.context.instance, asset, checks, self.requested.partitions)

    def _evaluated(self, batch: BatchRequest) -> list[Outcome]:
        request = batch.request
        late = out_of_time()
        if late is not None:
            return _failed(request, dict.fromkeys([*(request.partitions or ()), None], late))
        plan = make_plan(request)
        parts = f" ({plural(len(request.partitions), 'partition')})" if request.partitions else ""
        self.context.log.info("%s: %s%s", self.checked.name, plan.headline(), parts)
        beside = replace(
            datasets_beside(self.context, self.checked, request), key_sql=self._key_sql()
        )
        source = BatchSource(batch.data, request, batch.partition_by, datetime.now(UTC), beside)
        found = evaluate_plan(
            plan,
            source,
            history=self.history,
            reuse=batch.reuse,
            sampling=sampling_of(self.context, self.checked),
        )
        return [_noted(outcome, batch.note) for outcome in found.outcomes]

    def _key_sql(self) -> Callable[[Any], str] | None:
        """What gives rows of other datasets a partition: the asset's own expression."""
        asset = self.asset
        expression = None if asset is None else asset.expression
        if asset is None or expression is None:
            return None
        definition, name = asset.definition, self.checked.name
        return lambda schema: partition_key_sql(definition, expression, schema, asset=name)

    @property
    def _built(self) -> Mapping[str, int]:
        return {} if self.asset is None else self.asset.built

    def _targets(self) -> Mapping[str, Materialization]:
        """The materializations of the judged partitions."""
        wanted = self.requested.request.partitions or ()
        numbers = {key: self._built[key] for key in wanted if key in self._built}
        if not numbers:
            return {}
        return materializations(self.context.instance, self.checked.key, numbers)

    def _refuse_unknown_partitions(self) -> None:
        # To judge all partitions together where each was meant would be a wrong answer.
        if self.asset is None or self.checked.knows_partitions:
            return
        if any(rule.scope != "whole_dataset" for rule in self.checked.rule_set.enabled_rules):
            raise Unassignable.unknown_partitions(self.checked.name)


def asset_summary(
    context: StepContext,
    checked: CheckedAsset,
    outcomes: Sequence[Outcome],
    evaluated: Collection[str],
) -> list[dg.AssetObservation]:
    """What the rules say of the asset together: if all checks ran here, and Dagster builds it.

    ``evaluated`` are the names of the checks that the outcomes are of. An observation of what
    others build would say that it has changed.
    """
    every = {rule.name for rule in checked.rule_set.rules if rule.enabled}
    if (
        # Those of this step, whatever a job that was made for some of them knows of others.
        every > {outcome.rule.name for outcome in outcomes}
        or {check.name for check in check_keys_of(context, checked.key)} > set(evaluated)
        or not is_built_by_dagster(context, checked.key)
    ):
        return []
    return [summary_of(outcomes, checked.key)]


def _failed(request: CheckRequest, failures: Mapping[str | None, DqError]) -> list[Outcome]:
    """An Error for each rule on each slice that has a failure."""
    return [
        Outcome.of(one.rule, Judgement.error(failures[partition]), partition=partition)
        for one in request.rules
        for partition in one.keys(request.partitions or ())
        if partition in failures
    ]


def sampling_of(
    context: StepContext, checked: CheckedAsset, *, masked: Iterable[str] = ()
) -> Sampling | None:
    """Whose values results may show; None where nobody has named any column."""
    rule_set = checked.rule_set
    if not rule_set.samples:
        return None
    tagged = sensitive_columns(rule_set, checked.key, context)
    hidden = frozenset([*rule_set.sensitive, *tagged, *masked])
    return Sampling(frozenset(rule_set.samples), hidden)


def datasets_beside(
    context: StepContext, checked: CheckedAsset, request: CheckRequest
) -> OtherDatasets:
    """What the requested rules may read beyond the data of their asset."""
    beside = OtherDatasets(asset=checked.name, references=OtherAssets(context, checked.others))
    if not any(one.reads_log for one in request.rules):
        return beside
    rules = [one.rule for one in request.rules]
    return replace(
        beside,
        recorded=recorded_values(context, checked.key, rules, request.keys()),
        metadata=latest_metadata(context, checked.key, request),
    )


def _failures(error: MissingPartitions) -> dict[str | None, DqError]:
    """What is to be said of each partition that cannot be read, and of the whole dataset."""
    found: dict[str | None, DqError] = {
        key: UnreadableData(text) for key, text in error.by_partition.items()
    }
    return found if error.spares_the_whole else {**found, None: error}


def _noted(outcome: Outcome, note: str) -> Outcome:
    if not note or outcome.partition is not None:
        return outcome
    return outcome.with_note(note)


def _no_partition(asset: str, checks: Sequence[str]) -> str:
    named = ", ".join(f"'{name}'" for name in checks[:5]) + (" and more" if checks[5:] else "")
    return (
        f"Checks of asset '{asset}' judge single partitions, but this run is about none: {named}. "
        "Choose a partition to run them on (in the UI, or by the run's tag dagster/partition)."
    )
