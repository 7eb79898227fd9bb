"""What can be measured of times: the newest one, and the rows of the last while."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dq_dagster.metrics.conditions import ValueCondition
from dq_dagster.metrics.metric import ColumnMax


@dataclass(frozen=True, slots=True)
class ColumnNewest(ColumnMax):
    """The latest time in a column of dates or timestamps."""

    measure = "column_newest"


@dataclass(frozen=True, slots=True)
class InLastWhile(ValueCondition):
    """The column's time lies after now less ``seconds``, and not after now."""

    seconds: Decimal

    @property
    def key(self) -> str:
        return self._key("in_last_seconds", self.seconds)

    @property
    def lasting(self) -> bool:
        return False
