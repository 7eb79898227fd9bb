"""What is known of a table without an aggregation over its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.files import FileBytes, FileCount
from dq_dagster.metrics.measured import Measured
from dq_dagster.metrics.metric import ColumnCount, Metric
from dq_dagster.metrics.schema import ActualSchema
from dq_dagster.metrics.slices import WHOLE, Slice
from dq_dagster.spark.failures import without_quoting_rows
from dq_dagster.spark.file_sizes import FileTotals, file_totals, file_totals_by_key
from dq_dagster.spark.schemas import fields_of
from dq_dagster.spark.slicing import Division

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

States = dict[Metric, Measured]


def outside_rows(metrics: Sequence[Metric], frame: DataFrame, division: Division) -> States:
    """The states of the metrics that the schema and the files answer, others left out."""
    everywhere = {ColumnCount(): len(frame.columns), ActualSchema(): fields_of(frame.schema)}
    found: States = {metric: Measured.of_all(metric, value) for metric, value in everywhere.items()}
    if FileBytes() in metrics or FileCount() in metrics:
        found |= _files(frame, division)
    return found


def _files(frame: DataFrame, division: Division) -> States:
    try:
        with without_quoting_rows():
            totals = _totals(frame, division)
    except RuleFailure as failure:
        return {m: Measured.failed(m, failure) for m in (FileBytes(), FileCount())}
    sizes = {part: of.bytes for part, of in totals.items()}
    counts = {part: of.files for part, of in totals.items()}
    cuts = tuple(dict.fromkeys(part.cut for part in totals))
    return {
        FileBytes(): Measured(FileBytes(), sizes, cuts, 0),
        FileCount(): Measured(FileCount(), counts, cuts, 0),
    }


def _totals(frame: DataFrame, division: Division) -> dict[Slice, FileTotals]:
    totals = {WHOLE: file_totals(frame)}
    if division.partition is not None:
        by_key = file_totals_by_key(frame, division.partition)
        totals |= {Slice(key): of for key, of in by_key.items()}
    return totals
