"""Exact medians of many columns by SQL: a sample says about where they lie.

A second query counts the values below two ends and picks the middle ones between them. Of a few
rows no sample is needed: the middle ones are picked among all values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.errors import RuleFailure, Unmeasurable
from dq_dagster.metrics.measured import UNDIVIDED, WHOLE, Slice
from dq_dagster.metrics.metric import Metric
from dq_dagster.spark.expressions.brackets import (
    NO_ENDS,
    Bracket,
    Brackets,
    Ends,
    MedianSql,
    Middles,
    Missed,
    middle,
    sampled_brackets,
)
from dq_dagster.spark.frames.ansi import home_of, under_ansi
from dq_dagster.spark.frames.columns import identifier
from dq_dagster.spark.frames.slicing import MOST_PARTS, Parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# A sample that misses a median is followed by another one.
_SEEDS = (1, 2, 3)
# So many values of a column are put in order by one task.
_MOST_ROWS = 200_000


def medians(
    parts: Parts, wanted: Sequence[MedianSql]
) -> Mapping[Metric, dict[Slice, Any] | RuleFailure]:
    """The median of each column in each part; None, or no part, where there is no value."""
    found: Middles = _of_few(parts, wanted) if parts.is_small else {}
    for seed in _SEEDS:
        missing = [one for one in wanted if one.metric not in found]
        if missing:
            found |= _middles(parts, missing, sampled_brackets(parts, missing, seed))
    unfound = {one.metric: Unmeasurable.not_bracketed(one.column.name) for one in wanted}
    return {one.metric: found.get(one.metric, unfound[one.metric]) for one in wanted}


def _of_few(parts: Parts, wanted: Sequence[MedianSql]) -> Middles:
    """The medians by one query; none of them if small files hold many rows after all."""
    rows = replace(parts, frame=parts.frame.limit(_MOST_ROWS + 1))
    columns = [
        sql
        for n, one in enumerate(wanted)
        for sql in Ends.of(one, NO_ENDS).columns(n, one, one.value)
    ]
    by_part = rows.aggregate(["count(1) AS rows", *columns])
    # Each cut divides all rows.
    counted = sum(row["rows"] for part, row in by_part.items() if part.cut == parts.cuts[0])
    if counted > _MOST_ROWS:
        return {}
    return {
        one.metric: {part: middle(NO_ENDS, n, row) for part, row in by_part.items()}
        for n, one in enumerate(wanted)
    }


def _middles(parts: Parts, wanted: Sequence[MedianSql], brackets: Brackets) -> Middles:
    """The medians between these ends, without those of columns that have one outside."""
    undivided = parts.cuts == (UNDIVIDED,)
    rows = (_of_whole if undivided else _of_parts)(parts, wanted, brackets)
    found: Middles = {one.metric: {} for one in wanted}
    for part, row in rows.items():
        for n, one in enumerate(wanted):
            try:
                median = middle(_bracket(brackets, part, one), n, row)
            except Missed:
                found.pop(one.metric, None)
            else:
                if one.metric in found:
                    found[one.metric][part] = median
    return found


def _bracket(brackets: Brackets, part: Slice, one: MedianSql) -> Bracket:
    return brackets.get(part, {}).get(one.metric, NO_ENDS)


def _of_whole(
    parts: Parts, wanted: Sequence[MedianSql], brackets: Brackets
) -> Mapping[Slice, Mapping[str, Any]]:
    """The ends are written into the query."""
    return parts.aggregate(
        [
            sql
            for n, one in enumerate(wanted)
            for sql in Ends.of(one, _bracket(brackets, WHOLE, one)).columns(n, one, one.value)
        ]
    )


_KEYS = ("cut", "p", "d")


def _of_parts(
    parts: Parts, wanted: Sequence[MedianSql], brackets: Brackets
) -> Mapping[Slice, Mapping[str, Any]]:
    """Each row meets the ends of the parts it belongs to, one for each cut."""
    same = [F.col(f"r.{key}").eqNullSafe(F.col(f"b.{key}")) for key in _KEYS]
    known = F.broadcast(_ends(parts, wanted, brackets)).alias("b")
    joined = _rows(parts, wanted).alias("r").join(known, reduce(and_, same), "left")
    columns = [
        sql
        for n, one in enumerate(wanted)
        for sql in Ends.in_columns(f"v{n}", f"low_{n}", f"high_{n}").columns(n, one, f"v{n}")
    ]
    keys = [F.col(f"r.{key}") for key in _KEYS]
    found = joined.groupBy(*keys).agg(*(F.expr(sql) for sql in columns))
    return {
        Slice(row["p"], parts.cuts[row["cut"]].dimension, row["d"]): row.asDict(recursive=False)
        for row in parts.bounded(found, MOST_PARTS)
    }


def _rows(parts: Parts, wanted: Sequence[MedianSql]) -> DataFrame:
    """The values of each row, once for each cut, with the keys of its part there."""
    keys = [
        f"named_struct('cut', {n}, 'p', {_key(parts, None) if cut.partitioned else _NONE}, "
        f"'d', {_NONE if cut.dimension is None else _key(parts, cut.dimension)})"
        for n, cut in enumerate(parts.cuts)
    ]
    values = [f"{one.value} AS v{n}" for n, one in enumerate(wanted)]
    return parts.frame.selectExpr(f"inline(array({', '.join(keys)}))", *values)


_NONE = "CAST(NULL AS STRING)"


def _key(parts: Parts, name: str | None) -> str:
    return identifier(parts.keys[name])


def _ends(parts: Parts, wanted: Sequence[MedianSql], brackets: Brackets) -> DataFrame:
    fields = [
        T.StructField("cut", T.IntegerType()),
        T.StructField("p", T.StringType()),
        T.StructField("d", T.StringType()),
    ]
    for n, one in enumerate(wanted):
        fields += [T.StructField(f"{end}_{n}", one.column.kind) for end in ("low", "high")]
    rows = []
    for part in brackets:
        mine = [_bracket(brackets, part, one) for one in wanted]
        ends = [end for bracket in mine for end in (bracket.low, bracket.high)]
        rows.append((parts.cuts.index(part.cut), part.partition, part.group, *ends))
    # Of the home session: making a frame makes its session the active one for everybody.
    home = home_of(parts.frame.sparkSession)
    return under_ansi(home.createDataFrame(rows, T.StructType(fields)))
