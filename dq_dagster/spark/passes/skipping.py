"""Missing values that files rule out by themselves, so that whole columns need not be read.

Parquet and ORC note for each block of rows how many values of a column are missing. A query for
the rows in which one of some columns is NULL skips every block that has none, and so most often
all of them. This serves columns that no other rule reads: they leave the large query, but for those
of which many values are missing, which would have all blocks read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import types as T

from dq_dagster.metrics.conditions import IsEmpty
from dq_dagster.metrics.measured import UNDIVIDED, WHOLE, Cut, Measured
from dq_dagster.metrics.metric import ConditionCount, RowMetric
from dq_dagster.metrics.states import Tally
from dq_dagster.spark.expressions.values import Aggregates
from dq_dagster.spark.frames.columns import JudgedTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Below this one task reads it all, and a second query costs more than it saves.
_WORTHWHILE = 128 * 2**20
# Opening a file takes as long as reading a few megabytes of it.
_LARGE_FILE = 8 * 2**20
# So many rows with a gap are looked at to see which columns have them.
_LOOKED_AT = 1_000
_STEPS = {"Project", "Filter", "ColumnarToRow", "FileScan"}
_STEP = re.compile(r"^[\s:+-]*(?:\*\(\d+\) )?(?P<name>\w+)", re.MULTILINE)
_HANDED_DOWN = re.compile(r"FileScan (?:parquet|orc) .*PushedFilters: \[.*IsNull\(")
_SIZE = re.compile(r"Relation .*sizeInBytes=(?P<number>[\d.]+) (?P<unit>\w+)\)")
_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}


@dataclass(frozen=True, slots=True)
class Apart:
    """Counts of missing values, and the condition for the rows in which any of them is missing.

    ``known`` are the counts over all rows, if there are so few such rows that they were all seen.
    """

    metrics: tuple[RowMetric, ...]
    condition: str
    known: Mapping[RowMetric, int] | None = None

    def measured(self, cuts: tuple[Cut, ...]) -> dict[RowMetric, Measured] | None:
        """The states for the parts of these cuts, as far as they are known."""
        if self.known is None or (cuts != (UNDIVIDED,) and any(self.known.values())):
            return None
        return {
            metric: Measured(metric, {WHOLE: Tally(count)} if count else {}, cuts, Tally(0))
            for metric, count in self.known.items()
        }


def counted_apart(
    frame: DataFrame, needs: Mapping[RowMetric, Aggregates], table: JudgedTable
) -> Apart | None:
    """What is better counted apart, if anything."""
    columns = dict(_seen_by_no_other(needs, table))
    if not columns or not _is_skipped(frame, _any_missing(columns.values())):
        return None
    seen, missing = _looked_at(frame, list(dict.fromkeys(columns.values())))
    if seen < _LOOKED_AT:
        known = {metric: missing[sql] for metric, sql in columns.items()}
        return Apart(tuple(columns), _any_missing(columns.values()), known)
    kept = {metric: sql for metric, sql in columns.items() if not missing[sql]}
    return Apart(tuple(kept), _any_missing(kept.values())) if kept else None


def _any_missing(columns: Iterable[str]) -> str:
    return " OR ".join(f"{sql} IS NULL" for sql in dict.fromkeys(columns))


def _looked_at(frame: DataFrame, columns: Sequence[str]) -> tuple[int, dict[str, int]]:
    """The number of the first rows with any gap, and of the gaps in each column of those."""
    some = frame.where(_any_missing(columns)).limit(_LOOKED_AT)
    counts = (f"count(if({sql} IS NULL, 1, NULL)) AS n{n}" for n, sql in enumerate(columns))
    [row] = some.selectExpr("count(1) AS rows", *counts).collect()
    return row["rows"], {sql: row[f"n{n}"] for n, sql in enumerate(columns)}


def _seen_by_no_other(
    needs: Mapping[RowMetric, Aggregates], table: JudgedTable
) -> Iterable[tuple[RowMetric, str]]:
    """The counts of NULLs in columns that stand in no other text, with the SQL of the column."""
    counts = {
        metric: table.column(metric.condition.column)
        for metric in needs
        if isinstance(metric, ConditionCount) and isinstance(metric.condition, IsEmpty)
    }
    for metric, column in counts.items():
        missing = f"{column.sql} IS NULL"
        others = (text for need in needs.values() for text in _texts(need) if text != missing)
        name = re.compile(rf"(?<!\w){re.escape(column.name)}(?!\w)", re.IGNORECASE)
        plain = _is_noted(column.kind) and missing in needs[metric].counts.values()
        if plain and not any(map(name.search, others)):
            yield metric, column.sql


def _is_noted(kind: T.DataType) -> bool:
    """Whether files note what is missing of this type, and Spark asks them."""
    if isinstance(kind, T.StringType):
        return kind.isUTF8BinaryCollation()
    # Not timestamps: in the form that Spark writes them, files note nothing about them.
    return isinstance(kind, T.NumericType | T.DateType | T.BooleanType)


def _texts(need: Aggregates) -> Iterable[str]:
    yield from need.counts.values()
    yield from need.others.values()


def _is_skipped(frame: DataFrame, condition: str) -> bool:
    """Whether Spark reads large files and nothing else, and hands the condition down to them."""
    plan = _plan(frame.where(condition))
    physical = plan.partition("== Physical Plan ==")[2]
    steps = {found["name"] for found in _STEP.finditer(physical)}
    if not steps <= _STEPS or not _HANDED_DOWN.search(physical):
        return False
    size = _SIZE.search(plan)
    read = float(size["number"]) * _UNITS.get(size["unit"], 0) if size else 0
    return read > _WORTHWHILE and read > _LARGE_FILE * len(frame.inputFiles())


def _plan(frame: DataFrame) -> str:
    """What Spark is going to do, in its own words. This reads no data."""
    explained = frame.sparkSession.sql("EXPLAIN COST SELECT 1 FROM {rows}", rows=frame)
    return str(explained.collect()[0][0])
