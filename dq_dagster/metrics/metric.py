"""What can be measured on a dataset.

A metric is a value: two rules that need the same thing name equal metrics, and equal metrics are
measured once. ``value`` turns the state that Spark brought back into the number people know.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import KW_ONLY, dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

from dq_dagster.errors import Unmeasurable
from dq_dagster.metrics.conditions import (
    BreaksAcrossRows,
    Condition,
    Fault,
    PassKind,
    in_key,
)
from dq_dagster.metrics.states import EXACT, Extreme, Moments, State, Tally, Total, as_double
from dq_dagster.sql.expressions import columns_used
from dq_dagster.sql.functions import reads_the_clock


@dataclass(frozen=True, slots=True)
class Burden:
    """Something in a metric that slows down all that Spark computes in the same pass.

    Those that ``may_share`` a pass may do so with each other; any other only with its like.
    """

    what: str
    may_share: bool = False


@dataclass(frozen=True, slots=True)
class Metric(ABC):
    """A named measure of the rows that pass ``where``.

    A metric says by itself what measuring it takes, so that plans and passes know no single one.
    """

    _: KW_ONLY
    where: str | None = None

    # Whether it is about what the event log holds, rather than about the data.
    from_log: ClassVar[bool] = False
    # Whether the states of two sets of rows can be merged into the state of both together.
    mergeable: ClassVar[bool] = False
    # The kind of state that can be kept and merged with later ones; None: not kept.
    kept_as: ClassVar[type[State] | None] = None
    # Whether the state is a value of some row: of a column of texts it is not kept, then.
    shows_a_value: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """The measure's name without its row filter, such as ``column_avg:amount``."""

    @property
    def key(self) -> str:
        """The stable text under which values of this metric are recorded."""
        return named_key(self.name, self.where)

    @property
    def kind(self) -> PassKind | None:
        """The pass that measures it; None if no pass has to: the schema or the record knows it."""
        return None

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The columns it depends on, the measured one first; None if it may be any of them."""
        return None

    @property
    def unit(self) -> Hashable:
        """What is counted or joined only once for all metrics of a pass that share it."""
        return self

    @property
    def buffers(self) -> float:
        """How many aggregation buffers it takes in a Spark plan, at most. Plans are cut by it."""
        return 1

    @property
    def burdens(self) -> frozenset[Burden]:
        """What in it slows down its neighbours; nothing for most metrics."""
        return frozenset()

    @property
    def lasting(self) -> bool:
        """Whether its state depends on nothing but the rows: neither on time nor on other data."""
        return not reads_the_clock(self.where)

    def value(self, state: Any) -> Any:
        """The value that Spark's answer stands for; None if there was nothing to measure."""
        return state

    def _with_filter(self, *columns: str) -> tuple[str, ...]:
        """These columns, and those that the row filter names."""
        return columns if self.where is None else (*columns, *columns_used(self.where))


def named_key(name: str, where: str | None) -> str:
    """The key of what has that name, of the rows that pass the filter."""
    return name if where is None else f"{name} where {where}"


@dataclass(frozen=True, slots=True)
class RowMetric(Metric):
    """A metric that Spark answers from a state of the rows."""

    slots: ClassVar[int] = 1
    mergeable: ClassVar[bool] = True

    @property
    def kind(self) -> PassKind:
        return PassKind.AGGREGATE

    @property
    def buffers(self) -> float:
        return self.slots

    @abstractmethod
    def value(self, state: Any) -> Any: ...


@dataclass(frozen=True, slots=True)
class RecordCount(RowMetric):
    """The number of rows."""

    kept_as = Tally

    @property
    def name(self) -> str:
        return "record_count"

    @property
    def columns(self) -> tuple[str, ...]:
        return self._with_filter()

    def value(self, state: Tally) -> int:
        return state.count


@dataclass(frozen=True, slots=True)
class ConditionCount(RowMetric):
    """The number of rows for which a condition is true."""

    condition: Condition
    kept_as: ClassVar[type[State] | None] = Tally

    @classmethod
    def of(cls, fault: Fault) -> ConditionCount:
        """The number of rows that have the fault."""
        kind = AcrossRowsCount if isinstance(fault.condition, BreaksAcrossRows) else cls
        return kind(fault.condition, where=fault.where)

    @property
    def name(self) -> str:
        return f"count_{self.condition.key}"

    @property
    def kind(self) -> PassKind:
        return self.condition.kind

    @property
    def columns(self) -> tuple[str, ...] | None:
        return self._with_filter(*self.condition.columns)

    @property
    def unit(self) -> Hashable:
        return self.condition.unit

    @property
    def buffers(self) -> float:
        # Counts of built-in conditions travel in pairs.
        return 0.5 if self.where is None else 1

    @property
    def lasting(self) -> bool:
        return self.condition.lasting and not reads_the_clock(self.where)

    def value(self, state: Tally) -> int:
        return state.count


@dataclass(frozen=True, slots=True)
class AcrossRowsCount(ConditionCount):
    """The number of rows for which a condition is true that looks at other rows.

    Those of the whole dataset are others than those of a partition, so counts do not add up.
    """

    mergeable: ClassVar[bool] = False
    kept_as: ClassVar[type[State] | None] = None


@dataclass(frozen=True, slots=True)
class ColumnMetric(RowMetric):
    """A statistic of the non-empty values of one column."""

    column: str
    blank_is_empty: bool = False
    measure: ClassVar[str]

    @property
    def columns(self) -> tuple[str, ...]:
        return self._with_filter(self.column)

    @property
    def name(self) -> str:
        return f"{self.measure}:{in_key(self.column)}" + (
            " (blank is empty)" if self.blank_is_empty else ""
        )


@dataclass(frozen=True, slots=True)
class ColumnMin(ColumnMetric):
    """The smallest value of a column."""

    measure = "column_min"
    kept_as = Extreme
    shows_a_value = True

    def value(self, state: Extreme) -> Any:
        return state.value


@dataclass(frozen=True, slots=True)
class ColumnMax(ColumnMetric):
    """The largest value of a column."""

    measure = "column_max"
    kept_as = Extreme
    shows_a_value = True

    def value(self, state: Extreme) -> Any:
        return state.value


@dataclass(frozen=True, slots=True)
class ColumnNewest(ColumnMax):
    """The latest time in a column of dates or timestamps."""

    measure = "column_newest"


@dataclass(frozen=True, slots=True)
class ColumnSum(ColumnMetric):
    """The sum of a column's values."""

    measure = "column_sum"
    kept_as = Total
    slots = 4

    def value(self, state: Total) -> int | Decimal | float | None:
        if not state.count:
            return None
        total = state.result
        if total is None:
            raise Unmeasurable.overflow("sum", self.column)
        return total


@dataclass(frozen=True, slots=True)
class ColumnAvg(ColumnMetric):
    """The mean of a column's values: exact for decimals, correctly rounded for whole numbers."""

    measure = "column_avg"
    kept_as = Total
    slots = 4

    def value(self, state: Total) -> Decimal | float | None:
        if not state.count:
            return None
        total = state.result
        if total is None:
            raise Unmeasurable.overflow("sum", self.column)
        if isinstance(total, Decimal):
            return EXACT.divide(total, Decimal(state.count))
        if isinstance(state.total, Fraction) and not state.odd:
            # Rounded once, and not a second time after the sum.
            return as_double(state.total / state.count)
        mean = total / state.count
        if isinstance(total, int) and abs(mean) >= 2**53:
            # Doubles are coarser than whole numbers here.
            return EXACT.divide(Decimal(total), Decimal(state.count))
        return mean


@dataclass(frozen=True, slots=True)
class ColumnStddev(ColumnMetric):
    """The sample standard deviation of a column's values; needs two values."""

    measure = "column_stddev"
    kept_as = Moments
    slots = 7

    def value(self, state: Moments) -> float | None:
        if state.count < 2:
            return None
        variance, mean = state.variance, state.mean
        if variance is None or mean is None or math.isinf(variance):
            raise Unmeasurable.overflow("standard deviation", self.column)
        if math.isnan(variance):
            return math.nan
        deviation = math.sqrt(variance)
        if state.step and _is_lost(deviation, abs(mean) * 2**-52, state.step):
            raise Unmeasurable.too_close("standard deviation", self.column)
        return deviation


@dataclass(frozen=True, slots=True)
class ColumnCount(Metric):
    """The number of columns, which the schema tells without reading a row."""

    @property
    def name(self) -> str:
        return "column_count"


def _is_lost(deviation: float, rounding: float, step: float) -> bool:
    """Whether rounding values to doubles may have changed their deviation noticeably."""
    # Values that doubles tell apart and that did not differ are the same.
    if deviation == 0 and rounding < step:
        return False
    return deviation < 1000 * rounding


@dataclass(frozen=True, slots=True)
class ColumnMedian(Metric):
    """The middle value of a column, or the mean of the two middle ones."""

    column: str
    blank_is_empty: bool = False

    @property
    def name(self) -> str:
        return f"column_median:{self.column}"

    @property
    def kind(self) -> PassKind:
        return PassKind.MEDIANS

    @property
    def columns(self) -> tuple[str, ...]:
        return self._with_filter(self.column)


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
