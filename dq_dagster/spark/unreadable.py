"""Columns that are in a table by name, but whose values Spark can not hold.

Each is marked in the metadata of its field, which stays with it in unions and selections. Should
a query read one all the same, it raises the reason: it can never be taken for NULLs.
"""

from __future__ import annotations

import re

from pyspark.sql import types as T

# The entries of a field's metadata: why it can not be read, and the type that it has elsewhere.
UNREADABLE = "dq_dagster/unreadable"
UNREADABLE_TYPE = "dq_dagster/type"
_MARK = "dq_dagster: "
_RAISED = re.compile(
    rf"\[USER_RAISED_EXCEPTION\] {_MARK}(?P<reason>.*?)(?: SQLSTATE: \w+|$)", re.MULTILINE
)


def reason_of(field: T.StructField) -> str | None:
    """Why a column can not be read; None if it can."""
    return (field.metadata or {}).get(UNREADABLE)


def raised_text(reason: str) -> str:
    """What a query raises that reads such a column."""
    return f"{_MARK}{reason}"


def raised_reason(error: Exception) -> str | None:
    """The reason in an error of Spark, if it comes from such a column."""
    found = _RAISED.search(str(error))
    return found["reason"] if found else None
