"""The bad rows of what is stored of an asset, read as its checks would, outside of any run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import dagster as dg

from dq_dagster.errors import DqError, MissingPartitions, UnreadableData, did_you_mean
from dq_dagster.evaluation.faults import FoundRows, RowsToShow, compares_rows
from dq_dagster.integration.checks.batches import PartitionedSource, other_assets
from dq_dagster.integration.checks.failures import absent_whole, is_missing, presentable_error
from dq_dagster.integration.checks.readers import AssetIOManager
from dq_dagster.integration.checks.request import sensitive_columns
from dq_dagster.integration.checks.step import CheckedAsset, CheckRun, datasets_beside
from dq_dagster.integration.internals import holds_one_run_only, is_external, outside_of_runs
from dq_dagster.integration.partitions.asset_partitions import AssetPartitions, asset_key
from dq_dagster.integration.step_context import StepContext
from dq_dagster.plan.request import CheckRequest
from dq_dagster.rules.base.rule import Rule
from dq_dagster.spark.frames.columns import identifier, text_literal
from dq_dagster.spark.frames.divided import Divided
from dq_dagster.spark.frames.frames import HIDDEN_KEY, as_spark
from dq_dagster.spark.frames.reading import rows_where
from dq_dagster.spark.passes.rows import RowView

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NAME = "dq__failing_rows"


@dataclass(frozen=True, slots=True)
class StoredRows:
    """What is stored of an asset: all of it or some partitions, and of that what ``where`` says."""

    context: StepContext
    checked: CheckedAsset
    partitions: Sequence[str] = ()
    where: str | None = None

    @classmethod
    @contextmanager
    def opened(
        cls,
        defs: dg.Definitions,
        checked: CheckedAsset,
        instance: dg.DagsterInstance,
        *,
        rules: Sequence[Rule] = (),
        partitions: Sequence[str] = (),
        where: str | None = None,
    ) -> Iterator[StoredRows]:
        """To be read inside: only what that takes of the definitions' resources is started."""
        step = _step(checked, rules)
        alone = dg.Definitions(
            assets=defs.assets,
            asset_checks=[step],
            resources=defs.resources,
            jobs=[dg.define_asset_job(_NAME, selection=dg.AssetSelection.checks(step))],
        )
        context: StepContext | None = None
        try:
            with outside_of_runs(alone, instance) as context:
                yield cls(context, checked, tuple(dict.fromkeys(partitions)), where)
        except DqError:
            raise
        except Exception as error:
            raise _presentable(error, checked, context) from error

    def found(self, names: Sequence[str], view: RowView) -> FoundRows:
        """The first rows that break the rules of these names, also of those that are disabled."""
        rule_set = CheckRun(self.context, self.checked).rule_set
        by_name = {rule.name: rule for rule in rule_set.rules}
        rules = [by_name[name] for name in names]
        tagged = sensitive_columns(rule_set, self.checked.key, self.context)
        masked = view.masked.union(rule_set.sensitive, tagged)
        beside = datasets_beside(self.context, self.checked, CheckRequest.of(rules))
        rows = RowsToShow(
            self.data(rules),
            by_partition=bool(self.partitions),
            beside=replace(beside, whole=self._whole),
        )
        return rows.found(rules, replace(view, masked=masked))

    def data(self, rules: Sequence[Rule] = ()) -> Any:
        """The rows, each with its partition if rules need that, or if it is known anyway."""
        asset = self._partitions()
        if asset is None:
            value = self.checked.reader.read(self.context, self.checked.key)
        elif self.partitions:
            value = self._of_partitions(asset)
        elif any(rule.scope == "partitions" and compares_rows(rule) for rule in rules):
            value = self._source(asset).tagged(None)
        else:
            value = self._source(asset).everything()
        return self._filtered(value)

    def _of_partitions(self, asset: AssetPartitions) -> Divided:
        _require_built(asset, self.partitions)
        try:
            found = self._source(asset).tagged(self.partitions)
        except MissingPartitions as error:
            raise UnreadableData(" ".join(error.by_partition.values())) from None
        # A reader that cannot read some of them alone brings all.
        keys = ", ".join(map(text_literal, self.partitions))
        return replace(found, frame=found.frame.where(f"{identifier(HIDDEN_KEY)} IN ({keys})"))

    def _partitions(self) -> AssetPartitions | None:
        by_io_manager = isinstance(self.checked.reader, AssetIOManager)
        if by_io_manager and holds_one_run_only(self.context, self.checked.key):
            raise UnreadableData.only_in_memory(self.checked.name)
        asset = CheckRun(self.context, self.checked).asset
        if asset is None and self.partitions:
            raise UnreadableData.no_partitions(self.checked.name)
        return asset

    def _source(self, asset: AssetPartitions) -> PartitionedSource:
        return PartitionedSource(self.context, self.checked.reader, asset)

    def _filtered(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            value = Divided.of_frames(value)
        if self.where is None:
            return value
        if isinstance(value, Divided):
            return replace(value, frame=rows_where(value.frame, self.where))
        return rows_where(as_spark(value), self.where)

    def _whole(self) -> DataFrame:
        """All rows, for rules that refer to their own asset."""
        value = replace(self, partitions=(), where=None).data()
        frame = value.frame if isinstance(value, Divided) else as_spark(value)
        return frame.drop(HIDDEN_KEY)


def _step(checked: CheckedAsset, rules: Sequence[Rule]) -> dg.AssetChecksDefinition:
    """A step that depends on what is to be read, and is never run."""
    others = [asset_key(name) for name in other_assets(rules, checked.key)]

    @dg.multi_asset_check(
        name=_NAME,
        specs=[dg.AssetCheckSpec(_NAME, asset=checked.key, additional_deps=others)],
        required_resource_keys=set(checked.reader.required_resource_keys),
    )
    def step() -> Iterator[Any]:
        yield from ()

    return step


def _require_built(asset: AssetPartitions, keys: Sequence[str]) -> None:
    name = asset.key.to_user_string()
    for key in keys:
        if key not in asset.keys:
            nearest = asset.read_as(key)
            hint = f" Did you mean '{nearest}'?" if nearest else did_you_mean(key, asset.keys)
            raise UnreadableData.unknown_partition(name, key, hint)
    never = [key for key in keys if not asset.exists(key)]
    if never:
        raise UnreadableData.not_built(name, never)


def _presentable(error: Exception, checked: CheckedAsset, context: StepContext | None) -> DqError:
    """What went wrong; where the IO manager has no data, why that is so."""
    absence = None
    if context is not None and isinstance(checked.reader, AssetIOManager) and is_missing(error):
        external = is_external(context, checked.key)
        absence = absent_whole(context.instance, checked.key, external=external)
    return absence or presentable_error(error, checked.name)
