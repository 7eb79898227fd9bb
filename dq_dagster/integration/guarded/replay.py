"""Replaying what is in quarantine: by runs of Dagster, or only to see what would come of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import dagster as dg

from dq_dagster.errors import DeclarationError, NotReplayable, did_you_mean
from dq_dagster.evaluation.evaluate import evaluate
from dq_dagster.integration.checks.failures import reason_of
from dq_dagster.integration.guarded.quarantine import (
    LEFT_OUT,
    STATE,
    WITHHELD,
    masked_columns,
)
from dq_dagster.integration.guarded.replayed import (
    REPLAY_TAG,
    Repair,
    refuse_masked,
    repairing,
    require_all_rows,
    united,
)
from dq_dagster.integration.guarded.rules import NAME as DROP_LIMIT
from dq_dagster.integration.internals import QUIET
from dq_dagster.judging.wording import plural
from dq_dagster.spark.frames.ansi import at_home, is_ansi, under_ansi
from dq_dagster.spark.frames.columns import JudgedTable
from dq_dagster.spark.frames.frames import STORED, all_as_spark, as_spark
from dq_dagster.spark.frames.other_datasets import OtherDatasets
from dq_dagster.spark.passes.faults import counted_by, judged_rows, replay_counts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from dq_dagster.integration.guarded.step import GuardedAsset

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
        return (
            f"{self.asset}: of {plural(self.before, 'row')} in quarantine {self.released:,} "
            f"{would} released, {self.remaining:,} remain."
        )


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
    ``dry_run`` nothing is changed: it says what would come of it.
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
        return Replay(guarded.checked.name, dry_run, tuple(judge(key) for key in keys))


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
        """What a replay would do, without any run."""
        kept, checked = self.guarded.quarantine, self.guarded.checked
        if kept is not None:
            metadata = checked.rule_set.asset.metadata
            refuse_masked(kept.name, masked_columns(kept, checked.rule_set, metadata), self.repair)
        before = self._left_out(partition)
        if not before:
            return ReplayedSlice(partition, 0, 0, 0, {})
        keys = {"stored": checked.key, "bad": self._quarantine}
        both = all_as_spark({name: self._load(key, partition) for name, key in keys.items()})
        home = united(both["stored"], both["bad"], self._name, partition, self.repair)
        frame = under_ansi(home)
        others = _Assets(self.defs, self.instance, checked.others)
        beside = OtherDatasets(asset=self._name, references=others)
        table = JudgedTable.of(home.drop(STORED), datetime.now(UTC), beside, is_ansi=is_ansi(frame))
        rules = [rule for rule in self.guarded.check_rules if rule.counts_rows]
        rows = judged_rows(frame, rules, table)
        released, remaining, by_rule = replay_counts(rows)
        require_all_rows({partition: (0, before)}, {partition: released + remaining}, self._name)
        self._refuse_what_stops(partition, home, at_home(rows.published()), others)
        return ReplayedSlice(partition, before, released, remaining, by_rule)

    def _refuse_what_stops(
        self, partition: str | None, source: DataFrame, validated: DataFrame, others: _Assets
    ) -> None:
        """Raises if a rule that lets nothing pass is broken, as it would be in the run."""
        fail = [one for one in self.guarded.check_rules if one.action_if_failed == "fail"]
        of_source = [one for one in fail if one.counts_rows or one.on != "validated"]
        of_validated = [one for one in fail if not one.counts_rows and one.on != "source"]
        for data, rules in ((source, of_source), (validated, of_validated)):
            chosen = [one for one in rules if one.name != DROP_LIMIT and one.lookback is None]
            if not chosen:
                continue
            rule_set = self.guarded.checked.rule_set.model_copy(update={"rules": tuple(chosen)})
            found = evaluate(data.drop(STORED), rule_set, references=others, samples=False)
            said = [f"{one.rule.name}: {one.message}" for one in found if one.status == "Error"]
            if said:
                raise NotReplayable.would_stop(self._name, partition, " ".join(said))


@dataclass(frozen=True, slots=True)
class _Assets(Mapping[str, Any]):
    """The assets that rules refer to, each loaded when it is needed."""

    defs: dg.Definitions
    instance: dg.DagsterInstance
    names: Sequence[str]

    def __getitem__(self, name: str) -> Any:
        if name not in self.names:
            raise KeyError(name)
        return self.defs.load_asset_value(name.split("/"), instance=self.instance)

    def __iter__(self) -> Any:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)
