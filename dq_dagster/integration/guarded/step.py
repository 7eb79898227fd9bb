"""One step of a guarded asset: its rows are written, judged, and published, or nothing is."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import dagster as dg

from dq_dagster.evaluation.in_flight.phases import JudgedInFlight, PhaseName, Phases
from dq_dagster.evaluation.in_flight.rows import RowsInFlight, exactly
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.integration.checks.build import with_progress
from dq_dagster.integration.checks.failures import presentable_error
from dq_dagster.integration.checks.request import with_declared_schema
from dq_dagster.integration.checks.results import Recording, events_of
from dq_dagster.integration.checks.step import (
    CheckedAsset,
    CheckRun,
    asset_summary,
    datasets_beside,
    sampling_of,
)
from dq_dagster.integration.event_log.history import EventLogHistory
from dq_dagster.integration.event_log.pager import latest_materialization, materializations
from dq_dagster.integration.guarded.build_record import Build
from dq_dagster.integration.guarded.destination import Destination, Later, destination_of
from dq_dagster.integration.guarded.incoming import as_pandas, incoming_rows, stored_others
from dq_dagster.integration.guarded.one_build import announced
from dq_dagster.integration.guarded.quarantine import (
    Entry,
    Quarantine,
    forgotten,
    masked_columns,
    require_selected,
)
from dq_dagster.integration.guarded.replayed import require_all_rows
from dq_dagster.integration.guarded.returned import Returned
from dq_dagster.integration.guarded.rules import GuardedAsset, in_flight
from dq_dagster.integration.guarded.stats import PARTITION_ROWS, ROWS, STOPPING_RULES
from dq_dagster.integration.internals import (
    asset_metadata,
    disable_dagster_warnings,
    io_manager_of,
)
from dq_dagster.integration.io_manager import Published, SparkIOManager
from dq_dagster.integration.partitions.asset_partitions import (
    AssetPartitions,
    partitions_of,
    run_partitions,
)
from dq_dagster.judging.judgement import Judgement
from dq_dagster.plan.request import CheckRequest
from dq_dagster.rules.base.rule import Rule
from dq_dagster.rules.fields.ranges import some_seconds
from dq_dagster.ruleset import RuleSet, dataset_check_name, fingerprint
from dq_dagster.spark.frames.divided import AlikePartitions, Divided
from dq_dagster.spark.frames.frames import TARGET
from dq_dagster.spark.session.deadline import time_limit
from dq_dagster.spark.session.session import current_session
from dq_dagster.storage.judged import JudgedFiles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The outputs of the step.
ASSET, QUARANTINE = "result", "quarantine"


@dataclass(frozen=True)
class GuardedRun:
    """The build of a guarded asset in one step."""

    context: dg.AssetExecutionContext
    guarded: GuardedAsset

    @property
    def key(self) -> dg.AssetKey:
        return self.guarded.checked.key

    @property
    def name(self) -> str:
        return self.guarded.checked.name

    @property
    def builds(self) -> bool:
        """Whether the asset itself is to be built, and not only what is stored to be judged."""
        selected = self.context.selected_asset_keys
        kept = self.guarded.quarantine
        if self.key not in selected and kept is not None and kept.key in selected:
            raise dg.Failure(
                f"'{kept.name}' is written when '{self.name}' is built: materialize '{self.name}'.",
                allow_retries=False,
            )
        return self.key in selected

    def checks_of_what_is_stored(self) -> Iterator[Any]:
        """The results of a run that is about checks alone."""
        run = CheckRun(self.context, self._checked)
        yield from with_progress(run.events(), self.name, self.context.log)
        run.require_partitions()

    @property
    def _checked(self) -> CheckedAsset:
        """The asset with its rules as they are in flight."""
        return replace(self.guarded.checked, rule_set=self._rule_set)

    @cached_property
    def _rule_set(self) -> RuleSet:
        declared = with_declared_schema(self.guarded.checked.rule_set, self.key, self.context)
        dropped = () if self.guarded.dropped is None else (self.guarded.dropped,)
        rules = tuple(in_flight(rule) for rule in (*declared.rules, *dropped))
        return declared.model_copy(update={"rules": rules})

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, whichever checks are selected: what they keep out does not depend on that."""
        return tuple(map(exactly, self._rule_set.enabled_rules))

    @cached_property
    def keys(self) -> tuple[str, ...] | None:
        """The partitions that the run builds; None if the asset has none."""
        if self.guarded.partitions_def is None:
            return None
        keys = run_partitions(self.context)
        if not keys:
            raise dg.Failure(
                f"'{self.name}' has partitions, and this run is about none of them: choose one.",
                allow_retries=False,
            )
        return tuple(keys)

    @cached_property
    def session(self) -> SparkSession:
        """The session that the asset's IO manager uses, else that of the process."""
        manager = io_manager_of(self.context, self.key)
        session: SparkSession = (
            manager.session() if isinstance(manager, SparkIOManager) else current_session()
        )
        return session

    def asset(self) -> AssetPartitions | None:
        """The asset's partitions as they are now; None if it has none."""
        definition = self.guarded.partitions_def
        if definition is None:
            return None
        return partitions_of(self.context, self.guarded.checked.rule_set, definition, reader="None")

    def events(self, returned: Returned) -> Iterator[Any]:
        """What the step gives to Dagster: rows where they belong, and a result for each check."""
        started, now = time.monotonic(), datetime.now(UTC)
        destination = self.destination
        with destination.judged() as files:
            rows = self.written(destination.prepared(returned.value), files, now)
            try:
                build = self.judged(rows, self.session, now)
                published, kept = self._stored(build, returned, destination)
            except Exception as error:
                yield from self._unjudged(rows, now, error)
                raise
            build = replace(build, seconds=time.monotonic() - started)
            if build.stopping:
                yield from self._withheld(build, returned, kept)
            yield from self._published(build, returned, published, kept)

    def _stored(self, build: Build, returned: Returned, destination: Destination) -> Any:
        """What is given out for asset and quarantine; of a replay that is stopped, nothing."""
        require_all_rows(returned.replayed, build.written, self.name)
        bad = self._quarantined(build, self.session)
        own = self.guarded.quarantine
        if build.stopping:
            if own is None or bad is None or returned.is_replay:
                return None, None
            return None, destination.keep(bad, returned.value, own.since(build.time))
        if own is not None and destination.quarantine is None and build.total.bad:
            require_selected(own, self.context.selected_asset_keys, self.name, build.total.bad)
        publish = destination.released if returned.is_replay else destination.publish
        published, kept = publish(build.rows.files, self.session, bad, returned.value)
        if returned.as_pandas and not isinstance(published, Published):
            published = as_pandas(published)
            kept = kept if isinstance(kept, Later) else as_pandas(kept)
        return published, kept

    @cached_property
    def destination(self) -> Destination:
        manager, kept = io_manager_of(self.context, self.key), self.guarded.quarantine
        store = None if kept is None else kept.store(manager)
        return destination_of(manager, self.key, store, self.guarded.staging, self.session)

    def written(self, value: Any, files: JudgedFiles, now: datetime) -> RowsInFlight:
        rules = tuple(rule for rule in self.rules if rule.counts_rows)
        beside = datasets_beside(self.context, self.guarded.checked, CheckRequest(()))
        asset = self.asset()

        def other_partitions() -> list[DataFrame]:
            return [one.frame for one in stored_others(self.context, asset, self.keys)]

        rows = RowsInFlight(self.name, rules, files, now, beside, other_partitions)
        rows.write(incoming_rows(value, self.name, asset, self.keys))
        return rows

    def judged(self, rows: RowsInFlight, session: SparkSession, now: datetime) -> Build:
        counts, faults = rows.counted(session)
        masked = () if self.guarded.quarantine is None else self.guarded.quarantine.sensitive
        phases = Phases(
            rows,
            self.rules,
            counts,
            faults,
            self._history(self.asset(), by_build=False),
            lambda request: datasets_beside(self.context, self.guarded.checked, request),
            sampling_of(self.context, self.guarded.checked, masked=masked),
        )
        timeout = self._rule_set.timeout
        with nullcontext() if timeout is None else time_limit(some_seconds(timeout)):
            judged = phases.judge(
                lambda phase: getattr(rows.files, phase)(session),
                lambda phase: self._whole(phase, rows.files, session),
            )
        bad = any(one.bad for one in counts.values())
        by_rule = rows.rule_counts(session, faults) if bad else {}
        found = phases.noted(judged, by_rule)
        statuses = Counter(one.outcome.status for one in found).items()
        summary = ", ".join(f"{n} {status}" for status, n in statuses)
        self.context.log.info("%s: %s", self.name, summary or "no rule")
        mark = fingerprint(self._rule_set)
        return Build(self.name, self.context.run.run_id, now, mark, rows, counts, found, by_rule)

    def _unjudged(self, rows: RowsInFlight, now: datetime, error: Exception) -> Iterator[Any]:
        """An Error for each check, where something broke that is no rule's fault."""
        failure = Judgement.error(presentable_error(error, self.name, did="stored"))
        request = CheckRequest.of(
            self.rules, partitioned=self.keys is not None, partitions=self.keys
        )
        judged = [
            JudgedInFlight(Outcome.of(one.rule, failure, partition=key), {})
            for one in request.rules
            for key in one.keys(self.keys or ())
        ]
        build = Build(self.name, self.context.run.run_id, now, "", rows, {}, judged, {})
        yield from self._results(build, self._history(self.asset(), by_build=False), {})

    def _whole(self, phase: PhaseName, files: JudgedFiles, session: SparkSession) -> Any:
        """All data there will be: what is stored of other partitions, and the rows in flight."""
        kinds = [
            replace(one, frame=one.frame.drop(TARGET))
            for one in files.rows(session, *files.targets_of(phase))
        ]
        kinds += stored_others(self.context, self.asset(), self.keys)
        return Divided.of_kinds(kinds).undivided

    def _quarantined(self, build: Build, session: SparkSession) -> list[AlikePartitions] | None:
        """The bad rows as they are kept; None if they are not to be."""
        kept = self.guarded.quarantine
        if kept is None:
            return None
        writes = build.rows.files.writes
        columns = list(dict.fromkeys(name for one in writes for name in one.schema.names))
        metadata = asset_metadata(self.context, self.key)
        sensitive = masked_columns(kept, self._rule_set, metadata, columns)
        entry = Entry(
            build.run_id, build.time, build.fingerprint, not build.stopping, frozenset(sensitive)
        )
        broken = build.broken_rules
        return [
            AlikePartitions(frozenset(write.keys or ()), entry.rows(judged.of_rules(broken)))
            for write, judged in zip(writes, build.rows.bad(session), strict=True)
        ]

    def _withheld(self, build: Build, returned: Returned, quarantined: Any) -> Iterator[Any]:
        """Nothing is published: each check has its result, bad rows are kept, and the run fails."""
        yield from self._results(build, self._history(self.asset(), by_build=False), {})
        yield from returned.check_results
        yield from self._quarantine_events(build, quarantined)
        records = build.stats("withheld")
        for one in records:
            yield dg.AssetObservation(
                self.key,
                partition=one.partition,
                description=f"Nothing was published. {build.reason()}",
                metadata=one.metadata(),
            )
        self._append(build, records)
        raise dg.Failure(
            f"Nothing of '{self.name}' was published. {build.reason()}",
            metadata={STOPPING_RULES: list(build.stopping_rules)},
            allow_retries=False,
        )

    def _published(
        self, build: Build, returned: Returned, published: Any, quarantined: Any
    ) -> Iterator[Any]:
        records = build.stats("published")
        metadata = dict(returned.metadata)
        if self.keys is None:
            metadata |= records[0].metadata()
        else:
            for one in records:
                self.context.add_asset_metadata(
                    one.metadata(), asset_key=self.key, partition_key=one.partition
                )
        with disable_dagster_warnings():
            output = dg.Output(
                published,
                output_name=ASSET,
                metadata=metadata,
                data_version=returned.data_version,
                tags=returned.tags,
            )
        yield from announced(self, build, returned)
        yield output
        kept = quarantined.write() if isinstance(quarantined, Later) else quarantined
        yield from self._quarantine_events(build, kept)
        asset = self.asset()
        history = self._history(asset, by_build=True)
        targets = {}
        if asset is not None:
            numbers = {key: asset.built[key] for key in self.keys or () if key in asset.built}
            targets = materializations(self.context.instance, self.key, numbers)
        yield from self._results(build, history, targets)
        yield from returned.check_results
        self._append(build, records)

    def _quarantine_events(self, build: Build, quarantined: Any) -> Iterator[Any]:
        kept = self.guarded.quarantine
        if kept is None or quarantined is None:
            return
        yield from self._kept(build, kept, quarantined)
        store = kept.store(io_manager_of(self.context, self.key))
        if store is not None and self.keys is not None:
            instance = self.context.instance
            yield from forgotten(kept, store, self.session, instance, build.time, fresh=self.keys)

    def _kept(self, build: Build, kept: Quarantine, quarantined: Any) -> Iterator[Any]:
        """What Dagster is to know of the rows that were quarantined."""
        rows = build.quarantined(quarantined.earlier if isinstance(quarantined, Published) else {})
        if kept.key in self.context.selected_asset_keys:
            for key, count in rows.items():
                if key is not None:
                    self.context.add_asset_metadata(
                        {PARTITION_ROWS: count}, asset_key=kept.key, partition_key=key
                    )
            total = {} if self.keys else {ROWS: sum(rows.values())}
            yield dg.Output(quarantined, output_name=QUARANTINE, metadata=total)
            return
        if not isinstance(quarantined, Published):
            return
        for key, count in rows.items():
            own = {ROWS if key is None else PARTITION_ROWS: count, **quarantined.metadata(key)}
            yield dg.AssetMaterialization(kept.key, partition=key, metadata=own)

    def _results(
        self, build: Build, history: EventLogHistory, targets: Mapping[str, Any]
    ) -> Iterator[Any]:
        """The results of the checks that are selected, and what they say together."""
        selected = {key.name for key in self.context.selected_asset_check_keys}
        # The function of the asset may have checks of its own.
        selected &= set(history.checks.values())
        outcomes = [
            one.outcome
            for one in build.judged
            if history.checks[one.outcome.rule.name, one.outcome.partition is not None] in selected
        ]
        yield from events_of(outcomes, Recording(self.context, history, targets))
        yield from asset_summary(self.context, self._checked, outcomes, selected)

    def _history(self, asset: AssetPartitions | None, *, by_build: bool) -> EventLogHistory:
        """``by_build``: what is judged is what Dagster knows as the latest build."""
        instance = self.context.instance
        checks = {(rule.name, True): rule.check_name for rule in self.rules}
        checks |= {
            (rule.name, False): rule.check_name if asset is None else dataset_check_name(rule)
            for rule in self.rules
        }
        built = {} if asset is None else asset.built
        latest = latest_materialization(instance, self.key, built) if by_build else None
        return EventLogHistory(
            instance, self.key, checks, self.keys or (), asset, latest=latest, by_build=by_build
        )

    def _append(self, build: Build, records: Sequence[Any]) -> None:
        if self.guarded.stats is not None:
            token = f"{build.run_id}/{self.name}/{','.join(self.keys or ())}"
            self.guarded.stats.append(self.session, list(records), token)
