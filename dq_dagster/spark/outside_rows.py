"""What is known of a table without a look at its rows."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.measured import Measured
from dq_dagster.metrics.metric import ColumnCount, Metric
from dq_dagster.metrics.schema import ActualSchema
from dq_dagster.metrics.slices import UNDIVIDED, WHOLE, Cut
from dq_dagster.spark.schemas import fields_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def outside_rows(
    frame: DataFrame, clashes: Mapping[str, RuleFailure] = MappingProxyType({})
) -> dict[Metric, Measured]:
    """The states of the metrics that the schema answers; none of the whole if columns clash."""
    known = {ColumnCount(): len(frame.columns), ActualSchema(): fields_of(frame.schema)}
    if not clashes:
        return {metric: Measured.of_all(metric, value) for metric, value in known.items()}
    whole = {WHOLE: next(iter(clashes.values()))}
    cuts = (UNDIVIDED, Cut(partitioned=True))
    return {metric: Measured(metric, whole, cuts, value) for metric, value in known.items()}
