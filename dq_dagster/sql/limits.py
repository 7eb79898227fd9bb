"""How large an expression may be, so that neither Python nor Spark runs out of stack."""

from __future__ import annotations

from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.tokens import Refused

MAX_LENGTH = 10_000
#: Brackets, calls, CASEs and lambdas within each other; reading them is recursive.
MAX_NESTING = 40
#: Operators on top of each other. Spark walks its tree by recursion and gives up, or crashes,
#: somewhere above a thousand.
MAX_HEIGHT = 200
#: Digits of an argument that sets the size of a result.
MAX_DIGITS = 4
#: Each aggregate takes memory for every row that is read, and a place in the message.
MAX_AGGREGATES = 50
#: A text with more faults than this is not a rule with slips; the rest would add nothing.
MAX_REFUSALS = 10


def bounded(height: int) -> int:
    """The height itself, unless Spark could not stand it."""
    if height > MAX_HEIGHT:
        raise Refused(Refusal.too_deep(MAX_HEIGHT))
    return height
