"""Checks SQL that users write, before any of it reaches Spark."""

from dq_dagster.sql.expressions import (
    aggregate_columns_used,
    aggregate_refusals,
    columns_used,
    refusals,
)
from dq_dagster.sql.refusal import Refusal

__all__ = [
    "Refusal",
    "aggregate_columns_used",
    "aggregate_refusals",
    "columns_used",
    "refusals",
]
