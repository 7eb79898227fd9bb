"""The front door for SQL that users write about single rows: row predicates and row filters.

The text is judged alone, as plain Python and without Spark, so the answer is the same when rules
are declared, on classic Spark and on Spark Connect. A text without refusals is one complete
expression; it stays one when it is put between brackets in a larger one. Whether its columns
exist and whether it is a condition at all, Spark says later.
"""

from __future__ import annotations

from dq_dagster.sql.findings import Place
from dq_dagster.sql.reading import read
from dq_dagster.sql.refusal import Refusal


def refusals(text: str) -> tuple[Refusal, ...]:
    """Why the text is not taken as a row expression; nothing if it is taken."""
    return tuple(read(text, Place.ROW).refusals)


def columns_used(text: str) -> tuple[str, ...]:
    """The columns an accepted text names, in order: of ``address.city`` it is ``address``.

    Check that they exist before the text runs: where a column is missing, Spark looks for a
    session variable, a user or an alias of the same name.
    """
    return tuple(read(text, Place.ROW).columns)
