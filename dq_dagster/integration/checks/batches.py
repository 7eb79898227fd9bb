"""From a check request to its batches: the data that rules are judged on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import dagster as dg

from dq_dagster.errors import MissingPartitions, Unassignable, UnreadableData
from dq_dagster.evaluation.states import Reuse
from dq_dagster.integration.checks.failures import (
    absent_partitions,
    cause_of,
    is_missing,
    presentable_error,
)
from dq_dagster.integration.checks.readers import (
    AssetIOManager,
    DividingIOManager,
    PartitionReader,
    Reader,
    name_of,
)
from dq_dagster.integration.event_log.states import RecordedStates
from dq_dagster.integration.internals import (
    asset_metadata,
    holds_one_run_only,
    io_manager_of,
    is_built_by_dagster,
    known_assets,
    load_asset_value,
    partitions_def_of,
)
from dq_dagster.integration.partitions.asset_partitions import (
    AssetPartitions,
    asset_key,
    partition_keys_of,
    run_partitions,
)
from dq_dagster.integration.partitions.keys import PARTITION_EXPR, partition_key_sql
from dq_dagster.integration.step_context import StepContext
from dq_dagster.metrics.measured import NO_KEY
from dq_dagster.plan.request import CheckRequest
from dq_dagster.rules.base.rule import Rule
from dq_dagster.spark.frames.ansi import require_ansi, under_ansi
from dq_dagster.spark.frames.columns import identifier, text_literal
from dq_dagster.spark.frames.divided import Divided
from dq_dagster.spark.frames.frames import HIDDEN_KEY, as_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """What is evaluated together: a check request, and the data for it.

    ``partition_by`` gives a row's partition. ``note`` is what outcomes on the whole dataset have to
    say of the data. The data may be a function that reads some partitions, or with None all of
    them; with ``reuse`` it is one.
    """

    request: CheckRequest
    data: Any
    partition_by: str | None = None
    note: str = ""
    reuse: Reuse | None = None

    def by_record(self) -> list[BatchRequest]:
        """Rules about the event log apart: it says one thing of partitions, another of all."""
        if self.partition_by is None or not any(one.reads_log for one in self.request.rules):
            return [self]
        request = self.request
        of_log = request.only(one for one in request.rules if one.reads_log)
        others = request.only(one for one in request.rules if not one.reads_log)
        parts = others, of_log.of_partitions(), of_log.of_whole()
        return [replace(self, request=part) for part in parts if part.rules]


@dataclass(frozen=True, slots=True)
class PartitionedSource:
    """Reads the partitions of one asset inside a step."""

    context: StepContext
    reader: Reader
    asset: AssetPartitions
    # What is on record, where answers are to be put together from it.
    states: RecordedStates | None = None

    def batches(self, request: CheckRequest) -> list[BatchRequest]:
        """One batch where each row has its partition, else one of partitions, one of the whole."""
        partitions = request.partitions or ()
        if self._holds_one_run_only:
            return [self._of_this_run(request)]
        if self.states is not None and self.asset.existing:
            return [self._beside_the_record(request, self.states.reuse())]
        if not isinstance(self.reader, PartitionReader):
            wanted = self.asset.existing if request.on_whole else partitions
            everything = self._complete(self.reader.read(self.context, self.asset.key), wanted)
            return [self._divided(request, everything)]
        if not request.on_whole:
            return [self._of_partitions(request)]
        everything = self.everything()
        if not partitions or self._is_divisible(everything):
            return [self._divided(request, everything)]
        return [
            self._of_partitions(request.of_partitions()),
            self._of_whole(request.of_whole(), everything),
        ]

    def _is_divisible(self, value: Any) -> bool:
        """Whether it is known which partition each row belongs to."""
        return self.asset.expression is not None or isinstance(value, Divided | Mapping)

    @property
    def _holds_one_run_only(self) -> bool:
        in_memory = isinstance(self.reader, AssetIOManager)
        return in_memory and holds_one_run_only(self.context, self.asset.key)

    def _of_this_run(self, request: CheckRequest) -> BatchRequest:
        """What the run itself built and keeps in memory."""
        value = self.reader.read(self.context, self.asset.key)
        wanted = request.partitions or ()
        own = run_partitions(self.context) or wanted
        built = list(value) if isinstance(value, Mapping) else list(own)
        lost = [key for key in wanted if key not in built]
        if lost:
            raise MissingPartitions.not_in_memory(self._name, lost)
        shown = ", ".join(f"'{name}'" for name in built[:3]) + (" and more" if built[3:] else "")
        note = f"Only this run's data was seen, which is kept in memory: {shown or 'all of it'}."
        return replace(self._divided(request, value, only=wanted), note=note)

    def _beside_the_record(self, request: CheckRequest, reuse: Reuse) -> BatchRequest:
        """Whatever is not on record is read when it is needed."""
        if request.on_whole:
            self._require_stored()
        # States are kept by partition, also where only the whole is judged.
        by_partition = replace(request, partitions=request.partitions or (), partitioned=True)
        return BatchRequest(by_partition, self.tagged, HIDDEN_KEY, reuse=reuse)

    def tagged(self, keys: Sequence[str] | None) -> Divided:
        """The data of these partitions, or all there is, each row with its partition."""
        selective = isinstance(self.reader, PartitionReader)
        if keys is None:
            value = self.everything()
        elif selective:
            value = self.read(keys)
        else:
            value = self._complete(self.reader.read(self.context, self.asset.key), keys)
        if isinstance(value, Divided):
            return value
        if isinstance(value, Mapping):
            return Divided.of_frames(value)
        if keys is not None and len(keys) == 1 and isinstance(self.reader, AssetIOManager):
            return Divided.of_frames({keys[0]: value})
        if selective and self.asset.expression is None:
            return self._read_apart(self.asset.existing if keys is None else keys)
        frame = as_spark(value)
        key = f"coalesce({self.key_sql(frame, None)}, {text_literal(NO_KEY)})"
        if not self._is_made_of_columns(frame):
            frame = under_ansi(frame)
            require_ansi(frame)
        return Divided(frame.selectExpr("*", f"{key} AS {identifier(HIDDEN_KEY)}"))

    def _is_made_of_columns(self, frame: DataFrame) -> bool:
        """Whether columns as they are give the partition, and no SQL of the author."""
        given = self.asset.expression
        names = {name.lower() for name in frame.columns}
        expressions = [given] if isinstance(given, str) else (given or {}).values()
        return all(expression.lower() in names for expression in expressions)

    def _read_apart(self, keys: Sequence[str]) -> Divided:
        """Each partition by itself."""
        found: dict[str, Any] = {}
        lost: list[str] = []
        for key in keys:
            try:
                found[key] = self.read([key])
            except MissingPartitions as error:
                lost += error.by_partition
        self._require(lost)
        return Divided.of_frames(found)

    def everything(self) -> Any:
        """All partitions that exist; whatever there is where only others know that."""
        existing = self.asset.existing
        if existing and isinstance(self.reader, PartitionReader):
            return self.read(existing)
        if self.asset.is_built and not existing and isinstance(self.reader, PartitionReader):
            raise UnreadableData.nothing_built(self._name)
        return self._complete(self.reader.read(self.context, self.asset.key), existing)

    def _of_partitions(self, request: CheckRequest) -> BatchRequest:
        keys = request.partitions or ()
        value = self.read(keys)
        if len(keys) > 1 and not self._is_divisible(value):
            value = self._read_apart(keys)
        batch = self._divided(request, value, only=keys)
        # The whole is only read for rules that refer to their own asset.
        return replace(batch, data=lambda k: self.everything() if k is None else batch.data)

    def read(self, keys: Sequence[str]) -> Any:
        """The data of these partitions, and of no others.

        Raises if one of them is known as built, and cannot be read.
        """
        try:
            value = self._read(keys)
        except Exception as error:
            if is_missing(error):
                self._require(keys if len(keys) == 1 else self._missing_among(keys))
            raise
        return self._complete(value, keys)

    def _read(self, keys: Sequence[str]) -> Any:
        if not isinstance(self.reader, PartitionReader):
            raise TypeError("The reader cannot read single partitions.")
        return self.reader.read_partitions(self.context, self.asset.key, keys)

    def _missing_among(self, keys: Sequence[str]) -> list[str]:
        """Those that cannot be read by themselves either: readers take all of them or none."""
        lost = []
        for key in keys:
            try:
                self._read([key])
            except Exception as error:
                if not is_missing(error):
                    raise
                lost.append(key)
        return lost

    def _complete(self, value: Any, keys: Sequence[str]) -> Any:
        """The value, if all of these partitions that are known as built are in it.

        Of a single frame nobody can tell: a partition may have no rows.
        """
        if isinstance(value, Divided) and value.partitions is not None:
            self._require([key for key in keys if key not in value.partitions])
        if isinstance(value, Mapping):
            built = self.asset.built
            value = {key: one for key, one in value.items() if one is not None or key not in built}
            self._require([key for key in keys if key not in value])
        return value

    def _require_stored(self) -> None:
        """Asks the IO manager, where it can say without reading them, for all that are built."""
        manager = None
        if isinstance(self.reader, AssetIOManager):
            manager = io_manager_of(self.context, self.asset.key)
        if isinstance(manager, DividingIOManager):
            existing = self.asset.existing
            there = set(manager.stored_partitions(self.asset.key, existing))
            self._require([key for key in existing if key not in there])

    def _require(self, missing: Sequence[str]) -> None:
        """Raises if one of the missing partitions is known as built."""
        lost = [key for key in missing if key in self.asset.built]
        if lost and isinstance(self.reader, AssetIOManager):
            absence = absent_partitions(self.context.instance, self.asset.key, lost)
            raise absence or UnreadableData.nothing_built(self._name)
        if lost:
            raise MissingPartitions.lost(self._name, lost, built=len(self.asset.built))

    @property
    def _name(self) -> str:
        return self.asset.key.to_user_string()

    def _divided(
        self, request: CheckRequest, value: Any, only: Sequence[str] | None = None
    ) -> BatchRequest:
        """``only``: the partitions that the data is known to be of; it need not say so then."""
        keys = request.partitions
        if isinstance(value, Mapping):
            value = Divided.of_frames(value)
        if not keys:
            # Partitions that were requested but never built have no rows to judge.
            return self._of_whole(request.of_whole(), value)
        if isinstance(value, Divided):
            return BatchRequest(request, value, HIDDEN_KEY)
        frame = as_spark(value)
        if only is not None and len(only) == 1:
            return BatchRequest(request, frame, text_literal(only[0]))
        return BatchRequest(request, frame, self.key_sql(frame, keys))

    def _of_whole(self, request: CheckRequest, value: Any) -> BatchRequest:
        """All rows together; which partition each belongs to does not matter."""
        if isinstance(value, Mapping):
            value = Divided.of_frames(value)
        whole = value.undivided if isinstance(value, Divided) else as_spark(value)
        return BatchRequest(replace(request, partitions=None, partitioned=False), whole)

    def key_sql(self, frame: Any, keys: Sequence[str] | None) -> str:
        """The SQL that gives a row's partition."""
        if self.asset.expression is None:
            raise Unassignable.no_expression(self._name)
        return partition_key_sql(
            self.asset.definition, self.asset.expression, frame.schema, keys=keys, asset=self._name
        )


def other_assets(rules: Sequence[Rule], own: dg.AssetKey) -> list[str]:
    """The assets beside its own that the rules of an asset look at."""
    named = dict.fromkeys(name for rule in rules for name in rule.other_assets)
    return [name for name in named if asset_key(name) != own]


@dataclass(frozen=True, slots=True)
class OtherAssets(Mapping[str, Any]):
    """Loads an asset's value through its own IO manager, inside the step, at each access.

    It is always the whole asset, whichever partition the run is about: what an order refers to
    need not have been built on the same day.
    """

    context: StepContext
    names: Sequence[str]

    def __getitem__(self, name: str) -> Any:
        if name not in self.names:
            raise KeyError(name)
        try:
            return self._load(asset_key(name))
        except Exception as error:  # noqa: BLE001 (without secrets; only its rules fail)
            if isinstance(cause_of(error), KeyError) and self._is_in_memory(name):
                raise UnreadableData.not_kept(name) from None
            raise presentable_error(error, name) from None

    def divided(self, name: str, partitions: Sequence[str]) -> Divided | None:
        """Some partitions of an asset, or all where none is named, each row with its partition.

        None if the asset has no partitions, or none that are known here.
        """
        key = asset_key(name)
        if name not in self.names or key not in known_assets(self.context):
            return None
        asset = self._partitioned(key)
        if asset is None or not asset.is_built:
            return None
        there = [one for one in partitions if one in asset.built] if partitions else None
        # Where none of them was built, any other tells what columns there are.
        keys = asset.existing[-1:] if there == [] else there
        try:
            return PartitionedSource(self.context, AssetIOManager(), asset).tagged(keys)
        except Exception as error:  # noqa: BLE001 (without secrets; only its rules fail)
            raise presentable_error(error, name) from None

    def _partitioned(self, key: dg.AssetKey) -> AssetPartitions | None:
        """The asset's partitions, if it has any that are stored."""
        definition = partitions_def_of(self.context, key)
        if definition is None or holds_one_run_only(self.context, key):
            return None
        is_buildable = is_built_by_dagster(self.context, key)
        given = asset_metadata(self.context, key).get(PARTITION_EXPR)
        expression = getattr(given, "value", given)
        return AssetPartitions(
            key, definition, expression, self.context.instance, is_buildable, name_of(None)
        )

    def _is_in_memory(self, name: str) -> bool:
        key = asset_key(name)
        return key in known_assets(self.context) and holds_one_run_only(self.context, key)

    def _load(self, key: dg.AssetKey) -> Any:
        known = known_assets(self.context)
        if key not in known:
            names = sorted(one.to_user_string() for one in known)
            raise UnreadableData.unknown_asset(key.to_user_string(), names)
        asset = self._partitioned(key)
        if asset is None:
            return load_asset_value(self.context, key)
        if not asset.is_built:
            # Of what others build, only they know which partitions there are.
            every = partition_keys_of(asset.definition, self.context.instance)
            return load_asset_value(self.context, key, every)
        value = PartitionedSource(self.context, AssetIOManager(), asset).everything()
        return value.plain if isinstance(value, Divided) else value

    def __contains__(self, name: object) -> bool:
        # Not what a mapping inherits, which would load the value.
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)
