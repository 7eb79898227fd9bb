"""The exact median: a metric that needs the order of the values, not only their sums."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.states import EXACT


@dataclass(frozen=True, slots=True)
class ColumnMedian(Metric):
    """The middle value of a column, or the mean of the two middle ones."""

    column: str
    blank_is_empty: bool = False

    @property
    def name(self) -> str:
        return f"column_median:{self.column}"


def midpoint(low: int | Decimal | float, high: int | Decimal | float) -> int | Decimal | float:
    """The mean of two values: exact for decimals, and for whole numbers where doubles are not."""
    if low == high:
        return low
    if isinstance(low, Decimal) or isinstance(high, Decimal):
        return EXACT.divide(EXACT.add(Decimal(low), Decimal(high)), Decimal(2))
    if isinstance(low, int) and isinstance(high, int):
        total = low + high
        return EXACT.divide(Decimal(total), Decimal(2)) if abs(total) >= 2**53 else total / 2
    # Not (low + high) / 2, which overflows for large values.
    return low / 2 + high / 2
