"""The sizes of the files behind the data and behind each of its partitions, as metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.files import FileBytes, FileCount
from dq_dagster.metrics.measured import Measured
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.slices import UNDIVIDED, WHOLE, Cut, Slice
from dq_dagster.spark.file_sizes import FileTotals, file_totals, file_totals_by_key
from dq_dagster.spark.quoting import identifier
from dq_dagster.spark.slicing import Parts

if TYPE_CHECKING:
    from dq_dagster.spark.columns import Table

States = dict[Metric, Measured]


def measure_files(metrics: Sequence[Metric], parts: Parts, table: Table) -> States:
    """The states of file metrics, or why there are none."""
    try:
        totals = _totals(parts)
    except RuleFailure as failure:
        return {metric: Measured.failed(metric, failure) for metric in metrics}
    values = {
        FileBytes(): {part: of.bytes for part, of in totals.items()},
        FileCount(): {part: of.files for part, of in totals.items()},
    }
    return {metric: Measured(metric, of, parts.cuts, 0) for metric, of in values.items()}


def _totals(parts: Parts) -> dict[Slice, FileTotals]:
    totals: dict[Slice, FileTotals] = {}
    if UNDIVIDED in parts.cuts:
        totals[WHOLE] = file_totals(parts.frame)
    if Cut(partitioned=True) in parts.cuts:
        by_key = file_totals_by_key(parts.frame, identifier(parts.keys[None]))
        totals |= {Slice(key): of for key, of in by_key.items()}
    return totals
