"""Metrics that depend on how often each value occurs.

They share one table of frequencies per column (or key): Spark counts each value, then how many
values have each count. That second table is small whatever the data is, and it answers how many
values are unique, how many there are, and whether the most frequent ones belong to a set.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from dq_dagster.metrics.conditions import Condition, PassKind, in_key, quoted
from dq_dagster.metrics.constant import Constant, Scalar
from dq_dagster.metrics.metric import Burden, Metric, RowMetric
from dq_dagster.metrics.states import Opaque
from dq_dagster.sql.expressions import OrderTerm


@dataclass(frozen=True, slots=True)
class Grouping:
    """The values whose frequencies are counted: of one column, or of several together.

    Rows in which all columns are empty are left out, unless empties are counted like values.
    """

    columns: tuple[str, ...]
    blank_is_empty: bool
    where: str | None
    counts_empty: bool = False

    @property
    def key(self) -> str:
        names = ",".join(quoted(c) if "," in c else in_key(c) for c in self.columns)
        options = [" (blank is empty)"] if self.blank_is_empty else []
        return "".join([names, *options, *([" (with empties)"] if self.counts_empty else [])])


@dataclass(frozen=True, slots=True)
class Repeated(Condition):
    """The row's value, or its combination of values, occurs in other rows as well.

    With ``keep``, an order, the first row of each value is none of those. Where two are alike in
    it, all of their columns decide, so that the same data always gives the same answer. With
    ``whole``, the other rows are those of all partitions.
    """

    grouping: Grouping
    keep: tuple[OrderTerm, ...] = ()
    whole: bool = False
    kind: ClassVar[PassKind] = PassKind.COUNT_VALUES
    compares_rows: ClassVar[bool] = True

    @property
    def key(self) -> str:
        kept = ", ".join(term.sql for term in self.keep)
        return f"repeated:{self.grouping.key}" + (f" (but the first by {kept})" if kept else "")

    @property
    def columns(self) -> tuple[str, ...]:
        return self.grouping.columns

    @property
    def unit(self) -> Grouping:
        return self.grouping

    @property
    def from_user(self) -> bool:
        return bool(self.keep)

    @property
    def lasting(self) -> bool:
        return False

    @property
    def spans_partitions(self) -> bool:
        return self.whole

    @property
    def flag(self) -> str:
        """The column that says whether a row is one of them; no table has it by chance."""
        return f"dq_repeated_{hashlib.sha256(repr(self).encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class HasKey(Condition):
    """The row has a value to group by."""

    grouping: Grouping

    @property
    def key(self) -> str:
        return f"has_key:{self.grouping.key}"

    @property
    def columns(self) -> tuple[str, ...]:
        return self.grouping.columns


@dataclass(frozen=True, slots=True)
class Members:
    """A set that values are compared with."""

    values: tuple[Constant, ...]
    ignore_case: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """The values that occur equally often; those of which only the number counts, together."""

    frequency: int
    values: int
    rows: int
    inside: Mapping[Members, int] = field(default_factory=dict)
    examples: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Frequencies:
    """How many values occur how often, the most frequent first."""

    levels: tuple[Level, ...]

    @classmethod
    def once_or_more(cls, unique: int, distinct: int, rows: int) -> Frequencies:
        """Where no value matters by itself, all that occur more than once are one level."""
        once = [Level(1, unique, unique)] if unique else []
        more = [Level(2, distinct - unique, rows - unique)] if distinct > unique else []
        return cls((*more, *once))

    @property
    def rows(self) -> int:
        return sum(level.rows for level in self.levels)

    @property
    def distinct(self) -> int:
        return sum(level.values for level in self.levels)

    @property
    def unique(self) -> int:
        return sum(level.values for level in self.levels if level.frequency == 1)

    def leading(self, places: int) -> Iterator[Level]:
        """The levels whose values could fill the first places, ties included."""
        taken = 0
        for level in self.levels:
            if taken >= places:
                return
            taken += level.values
            yield level


@dataclass(frozen=True, slots=True)
class FrequencyMetric(Metric):
    """A metric read off the frequencies of a grouping."""

    grouping: Grouping

    @property
    def kind(self) -> PassKind:
        return PassKind.COUNT_VALUES

    @property
    def columns(self) -> tuple[str, ...]:
        return self._with_filter(*self.grouping.columns)

    @property
    def unit(self) -> Grouping:
        return self.grouping

    @property
    def members(self) -> Members | None:
        """The set whose members have to be counted apart, if there is one."""
        return None

    @abstractmethod
    def value(self, state: Frequencies) -> Any: ...


@dataclass(frozen=True, slots=True)
class UniqueCount(FrequencyMetric):
    """How many values occur exactly once."""

    @property
    def name(self) -> str:
        return f"unique_count:{self.grouping.key}"

    def value(self, state: Frequencies) -> int:
        return state.unique


@dataclass(frozen=True, slots=True)
class DistinctCount(FrequencyMetric):
    """How many different values there are."""

    @property
    def name(self) -> str:
        return f"distinct_count:{self.grouping.key}"

    def value(self, state: Frequencies) -> int:
        return state.distinct


@dataclass(frozen=True, slots=True)
class GroupedRows(FrequencyMetric):
    """How many rows have a value to group by."""

    @property
    def name(self) -> str:
        return f"grouped_rows:{self.grouping.key}"

    def value(self, state: Frequencies) -> int:
        return state.rows


@dataclass(frozen=True, slots=True)
class TopLevels(FrequencyMetric):
    """The most frequent values, as levels of equal frequency, against a set."""

    places: int
    against: Members

    @property
    def members(self) -> Members | None:
        return self.against

    @property
    def name(self) -> str:
        return f"top_{self.places}:{self.grouping.key}"

    def value(self, state: Frequencies) -> tuple[Level, ...]:
        return tuple(state.leading(self.places))


# The sizes of the sketches, and the errors that follow from them.
DISTINCT_SIZE = 14
DISTINCT_ERROR = 0.025  # three times the standard error of 1.04 / sqrt(2 ** 14)
MEDIAN_SIZE = 4_096
MEDIAN_ERROR = 0.001  # of the ranks; 99 of 100 sketches of that size are within 0.0007
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
        return frozenset({Burden("sketch", may_share=True)})


@dataclass(frozen=True, slots=True)
class DistinctEstimate(Estimate):
    """About how many different values there are."""

    grouping: Grouping

    @property
    def columns(self) -> tuple[str, ...]:
        return self._with_filter(*self.grouping.columns)

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
    def columns(self) -> tuple[str, ...]:
        return self._with_filter(self.column)

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
    def columns(self) -> tuple[str, ...]:
        return self._with_filter(*self.grouping.columns)

    @property
    def name(self) -> str:
        return f"about_top_{self.places}:{self.grouping.key}"

    def value(self, state: Opaque) -> tuple[Level, ...]:
        levels: tuple[Level, ...] = state.value
        return levels
