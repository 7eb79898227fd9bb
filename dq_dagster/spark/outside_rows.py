"""What is known of a table without a look at its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dq_dagster.metrics.measured import Measured
from dq_dagster.metrics.metric import ColumnCount, Metric
from dq_dagster.metrics.schema import ActualSchema
from dq_dagster.spark.schemas import fields_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def outside_rows(frame: DataFrame) -> dict[Metric, Measured]:
    """The states of the metrics that the schema answers."""
    known = {ColumnCount(): len(frame.columns), ActualSchema(): fields_of(frame.schema)}
    return {metric: Measured.of_all(metric, value) for metric, value in known.items()}
