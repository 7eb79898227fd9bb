"""Checks SQL that users write, before any of it reaches Spark."""

from dq_dagster.sql.aggregate_expression import aggregate_columns_used, aggregate_refusals
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.row_expression import columns_used, refusals

__all__ = [
    "Refusal",
    "aggregate_columns_used",
    "aggregate_refusals",
    "columns_used",
    "refusals",
]
