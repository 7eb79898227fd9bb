"""One run of the checks of an asset: what is asked, read, judged and recorded."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import dagster as dg

from dq_dagster.errors import DqError, MissingPartitions, Unassignable, UnreadableData
from dq_dagster.evaluation.evaluate import evaluate
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.integration.checks.batches import (
    OtherAssets,
    PartitionedSource,
    Portion,
    other_assets,
)
from dq_dagster.integration.checks.declared_schema import with_declared_schema
from dq_dagster.integration.checks.failures import absent, cause_of, is_missing, presentable_error
from dq_dagster.integration.checks.readers import AssetIOManager, Reader, name_of
from dq_dagster.integration.checks.request import Asked, asked_of_dataset, asked_of_partitions
from dq_dagster.integration.checks.results import Recording, events_of
from dq_dagster.integration.event_log.history import EventLogHistory
from dq_dagster.integration.event_log.metric_values import latest_metadata, recorded_values
from dq_dagster.integration.event_log.pager import latest_materialization, materializations
from dq_dagster.integration.event_log.states import RecordedStates
from dq_dagster.integration.internals import (
    Materialization,
    holds_one_run_only,
    is_external,
)
from dq_dagster.integration.partitions.asset_partitions import AssetPartitions, partitions_of
from dq_dagster.integration.step_context import StepContext
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.ranges import duration
from dq_dagster.judging.wording import plural
from dq_dagster.plan.plan import make_plan
from dq_dagster.rules.base.rule import Rule
from dq_dagster.ruleset import RuleSet

# With Dagster's SQLite, half a minute apart.
_EVERY = 500


def with_progress(events: Sequence[Any], asset: str, log: logging.Logger) -> Iterator[Any]:
    """The events, and a line in the log now and then if there are many results among them.

    Whoever takes an event has stored it by the time that the next one is asked for.
    """
    total = sum(not isinstance(event, dg.Output) for event in events)
    if total > _EVERY:
        log.info("%s: %s results are to be stored, the worst first.", asset, f"{total:,}")
    start, stored = time.monotonic(), 0
    for event in events:
        yield event
        if isinstance(event, dg.Output):
            continue
        stored += 1
        if stored % _EVERY == 0 and stored < total:
            log.info("%s: %s", asset, _progress(stored, total, time.monotonic() - start))


def _progress(stored: int, total: int, seconds: float) -> str:
    """Such as "500 of 2,000 results are stored (25 per second, about 1 minute to go)"."""
    rate = stored / max(seconds, 0.001)
    left = duration(max(1, round((total - stored) / rate)), units=1)
    return (
        f"{stored:,} of {total:,} results are stored ({rate:,.0f} per second, about {left} to go)."
    )


@dataclass(frozen=True)
class CheckRun:
    """The checks of one asset in one step."""

    context: StepContext
    declared: RuleSet
    reader: Reader
    # Whether the checks were built with the asset's partitions.
    knows_partitions: bool

    @property
    def key(self) -> dg.AssetKey:
        return dg.AssetKey(self.declared.asset_path)

    @property
    def name(self) -> str:
        return self.key.to_user_string()

    @cached_property
    def rule_set(self) -> RuleSet:
        return with_declared_schema(self.declared, self.context)

    @cached_property
    def asset(self) -> AssetPartitions | None:
        """The asset's partitions; None if it has none."""
        return partitions_of(self.context, self.declared, reader=name_of(self.declared.reader))

    @cached_property
    def asked(self) -> Asked:
        names = {check.name for check in self.context.selected_asset_check_keys}
        if self.asset is None or not self.knows_partitions:
            return asked_of_dataset(self.rule_set, names)
        return asked_of_partitions(self.context, self.rule_set, names, self.asset)

    @cached_property
    def history(self) -> EventLogHistory:
        return EventLogHistory(
            self.context.instance,
            self.key,
            self.asked.checks,
            self.asked.partitions,
            self.asset,
            latest=latest_materialization(self.context.instance, self.key, self._built),
            by_build=isinstance(self.reader, AssetIOManager),
        )

    def events(self) -> Iterator[Any]:
        """One result a check and slice, then what lets later steps go on."""
        # What the results are about is settled before the data is read: other runs go on building.
        recording = Recording(self.context, self.history, self._targets(), self.asked.unlisted)
        outcomes = self._outcomes()
        counts = Counter(outcome.status for outcome in outcomes)
        told_counts = ", ".join(f"{n} {status}" for status, n in counts.items())
        self.context.log.info("%s: %s", self.name, told_counts or "nothing was asked")
        yield from events_of(outcomes, recording)

    def require_partitions(self) -> None:
        """Fails the step if a check of single partitions was asked for without one."""
        if self.asked.homeless:
            raise dg.Failure(_no_partition(self.name, self.asked.homeless))

    def _outcomes(self) -> list[Outcome]:
        """Exactly one outcome a rule and slice, also if the engine breaks."""
        asked = self.asked
        failures: dict[str | None, DqError] = {}
        found = self._judged(failures)
        failed = [
            Outcome.of(rule, Judgement.error(failures[partition]), partition=partition)
            for rule in asked.rules
            for partition in _slices(rule, asked)
            if partition in failures
        ]
        never = [
            Outcome.of(rule, Judgement.of_no_partition(self.name, partition), partition=partition)
            for rule in asked.partition_rules
            for partition in asked.missing
        ]
        return found + failed + never

    def _judged(self, failures: dict[str | None, DqError]) -> list[Outcome]:
        """The outcomes on all slices but those that turn out not to be readable."""
        asked = self.asked.without(failures)
        try:
            self._refuse_unknown_partitions()
            return [
                outcome
                for portion in self._portions(asked)
                for part in portion.by_record()
                for outcome in self._evaluated(part)
            ]
        except MissingPartitions as error:
            known = len(failures)
            failures |= _failures(error)
            if len(failures) > known:
                return self._judged(failures)
            failures |= dict.fromkeys([*asked.partitions, None], error)
        except Exception as error:  # noqa: BLE001 (each check needs a result, whatever broke)
            # What is known of the whole already says more.
            for part in (*asked.partitions, None):
                failures.setdefault(part, self._told(error))
        return []

    def _told(self, error: Exception) -> DqError:
        """What went wrong; where the IO manager has no data, why that is so."""
        if not isinstance(self.reader, AssetIOManager) or not self._is_missing(error):
            return presentable_error(error, self.name)
        external = is_external(self.context, self.key)
        absence = absent(self.name, self.history.latest, external=external)
        return absence or presentable_error(error, self.name)

    def _is_missing(self, error: Exception) -> bool:
        in_memory = holds_one_run_only(self.context, self.key)
        return is_missing(error) or (in_memory and isinstance(cause_of(error), KeyError))

    def _portions(self, asked: Asked) -> list[Portion]:
        if self.asset is None:
            return [Portion(asked.rules, self.reader.read(self.context, self.key))]
        if not asked.partitions and not asked.dataset_rules:
            return []
        source = PartitionedSource(self.context, self.reader, self.asset, self._states(self.asset))
        return source.portions(asked)

    def _states(self, asset: AssetPartitions) -> RecordedStates | None:
        """What is on record of the partitions, where the rule set wants that used."""
        if not self.declared.incremental or not asset.is_built:
            return None
        also = {
            rule.name: rule.check_name
            for rule in self.declared.enabled_rules
            if rule.scope == "both"
        }
        checks = [
            [self.asked.check_name(rule, None), *filter(None, [also.get(rule.name)])]
            for rule in self.asked.dataset_rules
        ]
        return RecordedStates(self.context.instance, asset, checks, self.asked.partitions)

    def _evaluated(self, portion: Portion) -> list[Outcome]:
        rule_set = self.asked.rule_set.model_copy(update={"rules": portion.rules})
        plan = make_plan(rule_set.enabled_rules, partitioned=portion.partition_by is not None)
        parts = f" ({plural(len(portion.partitions), 'partition')})" if portion.partitions else ""
        self.context.log.info("%s: %s%s", self.name, plan.headline(), parts)
        outcomes = evaluate(
            portion.data,
            rule_set,
            partition_by=portion.partition_by,
            partitions=portion.partitions,
            references=OtherAssets(self.context, other_assets(plan.rules, self.key)),
            recorded=recorded_values(self.context, self.key, plan.rules, _slices_of(portion)),
            metadata=latest_metadata(
                self.context, self.key, plan.rules, partial(_slices_in, portion)
            ),
            history=self.history,
            reuse=portion.reuse,
        )
        return [_noted(outcome, portion.note) for outcome in outcomes]

    @property
    def _built(self) -> Mapping[str, int]:
        return {} if self.asset is None else self.asset.built

    def _targets(self) -> Mapping[str, Materialization]:
        """The materializations of the judged partitions."""
        numbers = {key: self._built[key] for key in self.asked.partitions if key in self._built}
        return materializations(self.context.instance, self.key, numbers)

    def _refuse_unknown_partitions(self) -> None:
        # To judge all partitions together where each was meant would be a wrong answer.
        if self.asset is None or self.knows_partitions:
            return
        if any(rule.scope != "whole_dataset" for rule in self.declared.enabled_rules):
            raise Unassignable.unknown_partitions(self.name)


def _failures(error: MissingPartitions) -> dict[str | None, DqError]:
    """What is to be said of each partition that can not be read, and of the whole dataset."""
    found: dict[str | None, DqError] = {
        key: UnreadableData(text) for key, text in error.by_partition.items()
    }
    return found if error.spares_the_whole else {**found, None: error}


def _slices(rule: Rule, asked: Asked) -> Sequence[str | None]:
    every: list[str | None] = []
    if rule.scope != "whole_dataset":
        every += asked.partitions
    if rule.scope != "partitions":
        every.append(None)
    return every


def _slices_of(portion: Portion) -> Sequence[str | None]:
    whole = any(rule.scope != "partitions" for rule in portion.rules)
    single = any(rule.scope != "whole_dataset" for rule in portion.rules)
    return [*((portion.partitions or ()) if single else ()), *([None] if whole else [])]


def _slices_in(portion: Portion, rule: Rule) -> Sequence[str | None]:
    """Those that one rule of a portion is judged on."""
    if portion.partition_by is None:
        return (None,)
    return _slices_of(replace(portion, rules=(rule,)))


def _noted(outcome: Outcome, note: str) -> Outcome:
    if not note or outcome.partition is not None:
        return outcome
    return replace(outcome, message=f"{outcome.message} {note}")


def _no_partition(asset: str, checks: Sequence[str]) -> str:
    named = ", ".join(f"'{name}'" for name in checks[:5]) + (" and more" if checks[5:] else "")
    return (
        f"Checks of asset '{asset}' judge single partitions, but this run is about none: {named}. "
        "Choose a partition to run them on (in the UI, or by the run's tag dagster/partition)."
    )
