"""Checks SQL that users write, before any of it reaches Spark."""

from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.row_expression import columns_used, refusals

__all__ = ["Refusal", "columns_used", "refusals"]
