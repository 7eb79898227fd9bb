"""Queries within brackets, which an expression may not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dq_dagster.sql.keywords import QUERY_STARTS
from dq_dagster.sql.refusal import Refusal

if TYPE_CHECKING:
    from dq_dagster.sql.cursor import Cursor
    from dq_dagster.sql.findings import Findings


def take_subquery(cursor: Cursor, findings: Findings) -> bool:
    """Moves over the bracket at the cursor if it holds a query, which is refused."""
    opening = cursor.peek()
    if opening.key != "(" or cursor.peek(1).key not in QUERY_STARTS:
        return False
    cursor.skip_bracket()
    findings.refuse(Refusal.subquery(cursor.since(opening)))
    return True
