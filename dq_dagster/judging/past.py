"""Values that were observed before, as change detection sees them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from dq_dagster.judging.status import Status


@dataclass(frozen=True, slots=True)
class PastValue:
    """A number that an earlier evaluation observed, and the moment it counts for.

    That is the time of the evaluation, or the time of the partition it was about where partitions
    are compared with those before them.
    """

    value: float
    at: datetime
    status: Status = Status.OK
    partition: str | None = None


def number_of(value: Any) -> int | float | None:
    """A number as change detection reckons with it; None for what is none.

    Decimals become floats, so that a value compares with its like whatever recorded it.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return value if isinstance(value, int) else float(value)
