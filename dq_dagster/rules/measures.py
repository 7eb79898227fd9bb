"""Measures of a dataset by their text, such as ``column_avg:amount``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dq_dagster.errors import did_you_mean
from dq_dagster.metrics.conditions import IsEmpty
from dq_dagster.metrics.frequency import DistinctCount, Grouping, UniqueCount
from dq_dagster.metrics.median import ColumnMedian
from dq_dagster.metrics.metric import (
    ColumnAvg,
    ColumnCount,
    ColumnMax,
    ColumnMin,
    ColumnStddev,
    ColumnSum,
    ConditionCount,
    Metric,
    RecordCount,
)

# Of a column, whether blank strings are empty there, and a row filter.
_Maker = Callable[[str, bool, str | None], Metric]

_OF_COLUMNS: Mapping[str, _Maker] = {
    "column_min": lambda column, blank, where: ColumnMin(column, blank, where=where),
    "column_max": lambda column, blank, where: ColumnMax(column, blank, where=where),
    "column_avg": lambda column, blank, where: ColumnAvg(column, blank, where=where),
    "column_sum": lambda column, blank, where: ColumnSum(column, blank, where=where),
    "column_stddev": lambda column, blank, where: ColumnStddev(column, blank, where=where),
    "column_median": lambda column, blank, where: ColumnMedian(column, blank, where=where),
    "empty_count": lambda column, blank, where: ConditionCount(IsEmpty(column, blank), where=where),
    "unique_count": lambda column, blank, where: UniqueCount(
        Grouping((column,), blank, where), where=where
    ),
    "distinct_count": lambda column, blank, where: DistinctCount(
        Grouping((column,), blank, where), where=where
    ),
}
ROWS, COLUMNS = "record_count", "column_count"
MEASURES = (ROWS, COLUMNS, *_OF_COLUMNS)


def is_measure(text: str) -> bool:
    """Whether a text means a measure rather than the name of a metric, be it right or wrong."""
    return ":" in text or text in MEASURES


def checked(text: str) -> str:
    """The text; raises ValueError if it means no measure."""
    word, colon, column = text.partition(":")
    if word in _OF_COLUMNS:
        if not column:
            raise ValueError(f"'{word}' needs a column, such as {word}:amount")
    elif word not in MEASURES:
        hint = did_you_mean(word, MEASURES) or f" Known measures: {', '.join(MEASURES)}."
        raise ValueError(f"unknown measure '{word}'.{hint}")
    elif colon:
        raise ValueError(f"'{word}' is of the whole table and takes no column")
    return text


def measure(text: str, *, blank_is_empty: bool, where: str | None) -> Metric:
    """The metric that a text means."""
    word, _, column = text.partition(":")
    if word == ROWS:
        return RecordCount(where=where)
    if word == COLUMNS:
        return ColumnCount()
    return _OF_COLUMNS[word](column, blank_is_empty, where)
