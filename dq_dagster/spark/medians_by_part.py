"""The second query of medians where each part of the data has a bracket of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.metrics.slices import Slice
from dq_dagster.spark.ansi import home_of, under_ansi
from dq_dagster.spark.brackets import Bracket, Ends, MedianSql
from dq_dagster.spark.quoting import identifier
from dq_dagster.spark.slicing import Parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BracketsOfParts = dict[Slice, dict[int, Bracket]]

_KEYS = ("cut", "p", "d")


def middles_by_part(
    parts: Parts, wanted: Sequence[MedianSql], brackets: BracketsOfParts
) -> Mapping[Slice, Mapping[str, Any]]:
    """Each row meets the brackets of the parts it belongs to, one for each cut."""
    same = [F.col(f"r.{key}").eqNullSafe(F.col(f"b.{key}")) for key in _KEYS]
    known = _brackets(parts, wanted, brackets)
    joined = _rows(parts, wanted).alias("r").join(F.broadcast(known).alias("b"), reduce(and_, same))
    columns = [
        sql
        for n in range(len(wanted))
        for sql in Ends.in_columns(f"v{n}", f"low_{n}", f"high_{n}", f"count_{n}").columns(
            n, f"v{n}"
        )
    ]
    found = joined.groupBy("part").agg(*(F.expr(sql) for sql in columns)).collect()
    ordered = list(brackets)
    return {ordered[row["part"]]: row.asDict(recursive=False) for row in found}


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


def _brackets(parts: Parts, wanted: Sequence[MedianSql], brackets: BracketsOfParts) -> DataFrame:
    fields = [
        T.StructField("part", T.IntegerType()),
        T.StructField("cut", T.IntegerType()),
        T.StructField("p", T.StringType()),
        T.StructField("d", T.StringType()),
    ]
    for n, one in enumerate(wanted):
        fields += [
            T.StructField(f"low_{n}", one.column.kind),
            T.StructField(f"high_{n}", one.column.kind),
            T.StructField(f"count_{n}", T.LongType()),
        ]
    rows = [
        _bracket_row(number, part, parts, wanted, mine)
        for number, (part, mine) in enumerate(brackets.items())
    ]
    # Of the home session: making a frame makes its session the active one for everybody.
    home = home_of(parts.frame.sparkSession)
    return under_ansi(home.createDataFrame(rows, T.StructType(fields)))


def _bracket_row(
    number: int,
    part: Slice,
    parts: Parts,
    wanted: Sequence[MedianSql],
    brackets: Mapping[int, Bracket],
) -> tuple[Any, ...]:
    row: list[Any] = [number, parts.cuts.index(part.cut), part.partition, part.group]
    for n in range(len(wanted)):
        bracket = brackets.get(n)
        row += [None] * 3 if bracket is None else [bracket.low, bracket.high, bracket.count]
    return tuple(row)
