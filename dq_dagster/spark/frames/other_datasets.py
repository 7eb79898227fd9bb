"""What rules may read beyond the data: other datasets, each once, and what is on record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pyspark.errors import AnalysisException, PySparkException

from dq_dagster.errors import DqError, Misfit, RuleFailure, Unmeasurable
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.sources import (
    AssetData,
    FileData,
    MetadataMetric,
    OtherDataset,
    RecordedMetric,
    TableData,
    scalar,
)
from dq_dagster.spark.frames.failures import failure_of, first_line
from dq_dagster.spark.frames.frames import as_spark
from dq_dagster.spark.frames.reading import absolute
from dq_dagster.spark.session.deadline import DEADLINE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from dq_dagster.spark.frames.divided import Divided


@runtime_checkable
class DividedReferences(Protocol):
    """References that know in which partition of its asset a row is stored."""

    def divided(self, name: str, partitions: Sequence[str]) -> Divided | None:
        """These partitions of an asset, or all where none is named; None if it has none."""


@dataclass(frozen=True, slots=True)
class OtherDatasets:
    """Which data is judged, and what there is beside it.

    ``references`` holds datasets by asset key and may load one when it is needed; ``whole``
    brings all rows of the judged asset, of which a pass may only see some partitions.
    ``recorded`` holds values by metric key, ``metadata`` those of the latest materialization; what
    other assets have of either is in a mapping of its own, under the asset's key.
    """

    asset: str = ""
    partition: str | None = None
    references: Mapping[str, Any] = field(default_factory=dict)
    recorded: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] | None = None
    whole: Callable[[], DataFrame] | None = None
    # What gives a row of some schema its partition, as the judged asset's definition says.
    key_sql: Callable[[StructType], str] | None = None
    _read: dict[OtherDataset, DataFrame | RuleFailure] = field(default_factory=dict)

    def frame_of(self, dataset: OtherDataset, beside: DataFrame, home: SparkSession) -> DataFrame:
        """The dataset as a frame; ``home`` is the session of ``beside``, the data itself."""
        own = dataset == AssetData(self.asset) and self.asset not in self.references
        if own and self.whole is None:
            return beside
        if dataset not in self._read:
            self._read[dataset] = self._load(dataset, home)
        found = self._read[dataset]
        if isinstance(found, RuleFailure):
            raise found
        return found

    def divided(self, dataset: OtherDataset, partitions: Sequence[str]) -> Divided | None:
        """Some partitions of a dataset, or all, if it is known where each row is stored."""
        if isinstance(dataset, AssetData) and isinstance(self.references, DividedReferences):
            return self.references.divided(dataset.asset, partitions)
        return None

    def partition_sql(self, schema: StructType) -> str | None:
        """What gives a row of another dataset its partition, if what does so here does there."""
        with suppress(DqError):
            return None if self.key_sql is None else self.key_sql(schema)
        return None

    def known(self, metrics: Iterable[Metric]) -> dict[Metric, Any]:
        """The values of the metrics that are on record, None for those that have none."""
        values: dict[Metric, Any] = {}
        for metric in metrics:
            try:
                if isinstance(metric, RecordedMetric):
                    values[metric] = _of_asset(self.recorded, metric.asset).get(metric.metric.key)
                elif isinstance(metric, MetadataMetric):
                    values[metric] = self._metadata_of(metric)
            except RuleFailure as failure:
                values[metric] = failure
            except Exception as error:  # noqa: BLE001 (the isolation boundary: only its rules fail)
                values[metric] = Unmeasurable.no_record(metric.key, type(error).__name__)
        return values

    def _metadata_of(self, metric: MetadataMetric) -> Any:
        if self.metadata is None:
            raise Unmeasurable.no_metadata()
        found = _of_asset(self.metadata, metric.asset)
        if found and metric.entry not in found:
            raise Misfit.no_metadata(metric.entry, list(found))
        return scalar(found.get(metric.entry), metric.name)

    def _load(self, dataset: OtherDataset, session: SparkSession) -> DataFrame | RuleFailure:
        deadline = DEADLINE.get()
        if deadline is None:
            return self._opened(dataset, session)
        found = deadline.failure() or self._opened(dataset, session)
        # What was cancelled while it was opened is late, and not unreadable.
        late = deadline.failure() if isinstance(found, RuleFailure) else None
        return late or found

    def _opened(self, dataset: OtherDataset, session: SparkSession) -> DataFrame | RuleFailure:
        try:
            frame = self._open(dataset, session)
            # Connect finds out here whether there is anything to read.
            _ = frame.schema
        except RuleFailure as failure:
            return failure
        except DqError as error:
            return Unmeasurable(str(error))
        except Exception as error:  # noqa: BLE001 (the isolation boundary: only its rules fail)
            return Unmeasurable.unreadable(dataset.label, _reason(error))
        return frame

    def _open(self, dataset: OtherDataset, session: SparkSession) -> DataFrame:
        match dataset:
            case AssetData(asset) if asset in self.references:
                return as_spark(self.references[asset])
            case AssetData(self.asset) if self.whole is not None:
                return self.whole()
            case AssetData(asset):
                raise Unmeasurable.not_given(asset)
            case TableData(name):
                return session.table(name)
            case FileData(path, form, options):
                return session.read.format(form).options(**dict(options)).load(absolute(path))
        raise TypeError(f"No way to read {type(dataset).__name__}.")


def _of_asset(values: Mapping[str, Any], asset: str | None) -> Mapping[str, Any]:
    found = values if asset is None else values.get(asset, {})
    return found if isinstance(found, Mapping) else {}


def _reason(error: Exception) -> str:
    """Why something could not be read, without anything that the text of an error may quote."""
    if isinstance(error, AnalysisException):
        return first_line(error)
    return str(failure_of(error)) if isinstance(error, PySparkException) else type(error).__name__
