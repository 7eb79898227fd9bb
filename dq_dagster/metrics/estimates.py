"""Estimates from sketches: summaries that stay small whatever the data, within a known error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dq_dagster.metrics.constant import Scalar
from dq_dagster.metrics.frequency import Grouping, Level, Members
from dq_dagster.metrics.metric import Burden, RowMetric
from dq_dagster.metrics.states import Opaque

# The sizes of the sketches, and the errors that follow from them.
DISTINCT_SIZE = 14
DISTINCT_ERROR = 0.025  # three times the standard error of 1.04 / sqrt(2 ** 14)
MEDIAN_ACCURACY = 10_000
MEDIAN_ERROR = 1 / MEDIAN_ACCURACY  # of the ranks
TRACKED_VALUES = 10_000
FREQUENCY_ERROR = 3.5 / 2**14  # of the rows; the table for that many values has 2 ** 14 places


class DistinctShare(NamedTuple):
    """About how many different values there are, among how many."""

    distinct: int
    rows: int


@dataclass(frozen=True, slots=True)
class Estimate(RowMetric):
    """A metric that a sketch answers, in the same pass as others."""

    # The sketches of parts are not kept, so each part is measured by itself.
    mergeable: ClassVar[bool] = False

    @property
    def burdens(self) -> frozenset[Burden]:
        return frozenset({Burden("sketch", sociable=True)})


@dataclass(frozen=True, slots=True)
class DistinctEstimate(Estimate):
    """About how many different values there are."""

    grouping: Grouping

    @property
    def subject(self) -> str:
        return self.grouping.columns[0]

    @property
    def name(self) -> str:
        return f"about_distinct_count:{self.grouping.key}"

    def value(self, state: Opaque) -> DistinctShare:
        share: DistinctShare = state.value
        return share


@dataclass(frozen=True, slots=True)
class MedianEstimate(Estimate):
    """A value close to the middle one."""

    column: str

    @property
    def subject(self) -> str:
        return self.column

    @property
    def name(self) -> str:
        return f"about_column_median:{self.column}"

    def value(self, state: Opaque) -> Scalar | None:
        median: Scalar | None = state.value
        return median


@dataclass(frozen=True, slots=True)
class TopEstimate(Estimate):
    """The values that are probably the most frequent, as levels of equal frequency."""

    grouping: Grouping
    places: int
    against: Members

    @property
    def subject(self) -> str:
        return self.grouping.columns[0]

    @property
    def name(self) -> str:
        return f"about_top_{self.places}:{self.grouping.key}"

    def value(self, state: Opaque) -> tuple[Level, ...]:
        levels: tuple[Level, ...] = state.value
        return levels
