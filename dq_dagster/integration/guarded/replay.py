"""Replaying what is in quarantine: by runs of Dagster, or only to see what would come of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import dagster as dg

from dq_dagster.errors import DeclarationError, DqError, NotReplayable, did_you_mean
from dq_dagster.evaluation.in_flight.rows import spans_partitions
from dq_dagster.integration.checks.failures import cause_of, presentable_error, reason_of
from dq_dagster.integration.guarded.quarantine import LEFT_OUT, STATE, WITHHELD
from dq_dagster.integration.guarded.replayed import (
    REPLAY_TAG,
    Repair,
    repairing,
    replayed_rows,
    require_all_rows,
)
from dq_dagster.integration.guarded.rules import GuardedAsset
from dq_dagster.integration.guarded.step import GuardedRun
from dq_dagster.integration.internals import PARTITION_NAME_TAG, QUIET, outside_of_runs
from dq_dagster.judging.wording import plural
from dq_dagster.rules.base.rule import Rule
from dq_dagster.spark.frames.frames import as_spark
from dq_dagster.spark.passes.faults import counted_by

_TRIED = "dq__replay_dry_run"
# Where a definition says that it is of a guarded asset.
GUARDED = "dq_guarded_asset"


@dataclass(frozen=True, slots=True)
class ReplayedSlice:
    """What a replay did, or would do, with the rows that were left out of one slice.

    ``before`` are as many as ``released`` and ``remaining`` together. ``rules`` says how many of
    the remaining rows break which rule; it is known of a dry run only.
    """

    partition: str | None
    before: int
    released: int
    remaining: int
    rules: Mapping[str, int]
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of a replay, slice by slice."""

    asset: str
    dry_run: bool
    slices: tuple[ReplayedSlice, ...]
    # What a dry run could not foresee.
    notes: tuple[str, ...] = ()

    @property
    def before(self) -> int:
        return sum(one.before for one in self.slices)

    @property
    def released(self) -> int:
        return sum(one.released for one in self.slices)

    @property
    def remaining(self) -> int:
        return sum(one.remaining for one in self.slices)

    def __str__(self) -> str:
        would = "would be" if self.dry_run else "were"
        said = (
            f"{self.asset}: of {plural(self.before, 'row')} in quarantine {self.released:,} "
            f"{would} released, {self.remaining:,} remain."
        )
        return " ".join([said, *self.notes])


def replay(
    defs: dg.Definitions,
    asset: Any,
    *,
    partitions: Sequence[str] | None = None,
    repair: Repair | None = None,
    dry_run: bool = False,
    instance: dg.DagsterInstance | None = None,
) -> Replay:
    """Judges the rows in the quarantine of a guarded asset again, by the rules as they are now.

    Those that pass are released into the asset, by a run of Dagster that publishes them with what
    is stored; the others stay in quarantine. Rows of the asset stay where they are. ``repair`` gets
    the rows that were left out, as a Spark DataFrame with ``dq_faults``, and gives them back
    repaired. ``partitions`` are those to replay, by default all that are in quarantine. With
    ``dry_run`` nothing is published and nothing recorded: it goes through the same steps up to
    there, and says what would come of it.
    """
    if not isinstance(defs, dg.Definitions):
        raise DeclarationError.of(f"dg.Definitions(...) are needed, not {defs!r}.")
    guarded = guarded_in(defs, asset)
    kept = guarded.quarantine
    if kept is None:
        raise NotReplayable.no_quarantine(guarded.checked.name)
    # An instance that is given stays open: whoever gave it goes on with it.
    with nullcontext(instance) if instance else dg.DagsterInstance.get() as known:
        at = _Replaying(defs, guarded, known, repair)
        keys: Sequence[str | None] = [None]
        if guarded.partitions_def is not None:
            keys = at.quarantined_partitions(partitions)
        elif partitions is not None:
            raise NotReplayable.no_partitions(guarded.checked.name)
        judge = at.tried if dry_run else at.released
        slices = tuple(judge(key) for key in keys)
        notes = at.unforeseen(slices) if dry_run else ()
        return Replay(guarded.checked.name, dry_run, slices, notes)


def guarded_in(defs: dg.Definitions, asset: Any) -> GuardedAsset:
    """The guarded asset of that key, or of that definition; raises if there is none."""
    known: dict[str, GuardedAsset] = {}
    for one in defs.assets or ():
        guarded = guarded_of(one)
        if guarded is not None:
            known[guarded.checked.name] = guarded
    if isinstance(asset, dg.AssetsDefinition):
        meant = guarded_of(asset)
        name = None if meant is None else meant.checked.name
    else:
        key = dg.AssetKey.from_user_string(asset) if isinstance(asset, str) else asset
        name = dg.AssetKey.from_coercible(key).to_user_string()
    if name not in known:
        hint = did_you_mean(str(name), known) or f" Guarded are: {', '.join(known) or 'none'}."
        raise NotReplayable(f"There is no guarded asset '{name}'.{hint}")
    return known[name]


def guarded_of(definition: Any) -> GuardedAsset | None:
    """What is guarded by a definition; None if nothing is."""
    if not isinstance(definition, dg.AssetsDefinition) or not definition.is_executable:
        return None
    compute: Any = getattr(definition.node_def, "compute_fn", None)
    function = getattr(compute, "decorated_fn", None)
    found: GuardedAsset | None = getattr(function, GUARDED, None)
    return found


@dataclass(frozen=True, slots=True)
class _Replaying:
    defs: dg.Definitions
    guarded: GuardedAsset
    instance: dg.DagsterInstance
    repair: Repair | None

    @property
    def _name(self) -> str:
        return self.guarded.checked.name

    @property
    def _quarantine(self) -> dg.AssetKey:
        kept = self.guarded.quarantine
        return dg.AssetKey([]) if kept is None else kept.key

    def quarantined_partitions(self, wanted: Sequence[str] | None) -> list[str]:
        existing = self.instance.get_materialized_partitions(self._quarantine)
        unknown = [key for key in wanted or () if key not in existing]
        if unknown:
            raise NotReplayable.unknown_partition(self._name, unknown[0], sorted(existing))
        return sorted(existing) if wanted is None else list(dict.fromkeys(wanted))

    def _load(self, key: dg.AssetKey, partition: str | None) -> Any:
        return self.defs.load_asset_value(key, partition_key=partition, instance=self.instance)

    def _left_out(self, partition: str | None) -> int:
        """How many rows of a slice were left out, and are in quarantine."""
        states = counted_by(as_spark(self._load(self._quarantine, partition)), STATE)
        if states.get(WITHHELD):
            raise NotReplayable.withheld(self._name, partition)
        return states.get(LEFT_OUT, 0)

    def released(self, partition: str | None) -> ReplayedSlice:
        """By a run of its own; none where nothing was left out."""
        before = self._left_out(partition)
        if not before:
            return ReplayedSlice(partition, 0, 0, 0, {})
        keys = [self.guarded.checked.key, self._quarantine]
        with repairing(self.repair):
            result = dg.materialize(
                list(self.defs.assets or ()),  # type: ignore[arg-type]
                selection=dg.AssetSelection.assets(*keys),
                partition_key=partition,
                instance=self.instance,
                resources=self.defs.resources,
                tags={REPLAY_TAG: "true"},
                # What came of it is returned or raised; its steps are in the event log.
                run_config=QUIET,
                raise_on_error=False,
            )
        if not result.success:
            raise NotReplayable.failed(self._name, partition, result.run_id, reason_of(result))
        remaining = self._left_out(partition)
        return ReplayedSlice(
            partition, before, before - remaining, remaining, {}, run_id=result.run_id
        )

    def tried(self, partition: str | None) -> ReplayedSlice:
        """What a replay would do: its step is gone through, up to where it would publish."""
        before = self._left_out(partition)
        if not before:
            return ReplayedSlice(partition, 0, 0, 0, {})
        tags = {REPLAY_TAG: "true"}
        if partition is not None:
            tags[PARTITION_NAME_TAG] = partition
        keys = dg.AssetSelection.assets(self.guarded.checked.key, self._quarantine)
        alone = dg.Definitions(
            assets=self.defs.assets,
            resources=self.defs.resources,
            jobs=[dg.define_asset_job(_TRIED, selection=keys)],
        )
        try:
            with repairing(self.repair), outside_of_runs(alone, self.instance, tags) as step:
                context = dg.AssetExecutionContext(cast("Any", step.op_execution_context))
                remaining, by_rule = _judged(GuardedRun(context, self.guarded), partition)
        except DqError:
            raise
        except Exception as error:
            raise self._presentable(error) from error
        return ReplayedSlice(partition, before, before - remaining, remaining, by_rule)

    def _presentable(self, error: Exception) -> DqError:
        cause = cause_of(error)
        if isinstance(cause, dg.Failure) and cause.description:
            return NotReplayable(cause.description)
        return presentable_error(error, self._name)

    def unforeseen(self, slices: Sequence[ReplayedSlice]) -> tuple[str, ...]:
        """What else may come of a replay of several slices, the later ones after the first."""
        rules = [rule.name for rule in self.guarded.check_rules if _depends_on_others(rule)]
        if not rules or sum(one.before > 0 for one in slices) < 2:
            return ()
        verb = "depend" if len(rules) > 1 else "depends"
        said = (
            "Each partition was judged as if it alone were replayed; a replay goes through them "
            f"one by one, and {', '.join(rules)} {verb} on other partitions as well."
        )
        return (said,)


def _depends_on_others(rule: Rule) -> bool:
    """Whether what it says of a partition may depend on others, or on what they recorded."""
    return rule.scope != "partitions" or rule.lookback is not None or spans_partitions(rule)


def _judged(run: GuardedRun, partition: str | None) -> tuple[int, dict[str, int]]:
    """How many rows stay in quarantine, and how many of them break which rule.

    Raises if a rule that lets nothing pass is broken.
    """
    returned, destination, now = replayed_rows(run), run.destination, datetime.now(UTC)
    if returned is None:
        raise LookupError(REPLAY_TAG)
    with destination.judged() as files:
        rows = run.written(destination.prepared(returned.value), files, now)
        build = run.judged(rows, run.session, now)
        require_all_rows(returned.replayed, build.written, run.name)
        if build.stopping:
            raise NotReplayable.would_stop(run.name, partition, build.reason())
        return build.total.out, rows.kept_out_by_rule(run.session) if build.total.out else {}
