"""Exact medians in blocks, between the ends that a sample gives."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import types as T

from dq_dagster.metrics.measured import UNDIVIDED, Cut, Slice
from dq_dagster.metrics.metric import midpoint
from dq_dagster.metrics.states import EXACT
from dq_dagster.spark.expressions.brackets import NO_ENDS, Brackets, MedianSql, Middles, Number
from dq_dagster.spark.frames.columns import FLOATS
from dq_dagster.spark.frames.slicing import MOST_PARTS, Parts
from dq_dagster.spark.passes.blocks import arrays, ranks
from dq_dagster.spark.passes.blocks.values import key_columns, key_places, slice_of
from dq_dagster.spark.passes.blocks.workers import mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# So many digits fit into a whole number of 64 bits.
_LONG_DIGITS = 18


def has_ranks(one: MedianSql) -> bool:
    """Whether blocks can order the values of that column."""
    kind = one.column.kind
    if isinstance(kind, T.DecimalType):
        return kind.precision <= _LONG_DIGITS
    return isinstance(kind, (T.IntegralType, *FLOATS))


def middles_in_blocks(parts: Parts, wanted: Sequence[MedianSql], brackets: Brackets) -> Middles:
    """The median of each column in each part; columns that have one outside its ends are left out.

    That is one query, whatever the number of parts.
    """
    found: Middles = {one.metric: {} for one in wanted}
    picked = _picked(parts, wanted, brackets)
    divided = parts.cuts != (UNDIVIDED,)
    for row in parts.bounded(picked, MOST_PARTS * len(wanted)) if divided else picked.collect():
        one = wanted[row["c"]]
        kind = one.column.kind
        if row["nan"]:
            median: Number = math.nan
        elif row["low"] is None:
            found.pop(one.metric, None)
            continue
        else:
            median = midpoint(_value(row["low"], kind), _value(row["high"], kind))
        if one.metric in found:
            found[one.metric][slice_of(row, parts.cuts[row["cut"]])] = median
    return found


def _picked(parts: Parts, wanted: Sequence[MedianSql], brackets: Brackets) -> DataFrame:
    """One row for each column, cut and part."""
    keys = len(parts.keys)
    rows = parts.frame.selectExpr(
        *(f"{one.value} AS v{n}" for n, one in enumerate(wanted)), *key_columns(parts)
    )
    send = partial(
        ranks.send_between,
        ends=_ends(parts, wanted, brackets),
        cuts=key_places(parts),
        keys=keys,
        most=MOST_PARTS,
    )
    by = ["c", "cut", *(f"p{n}" for n in range(keys))]
    sent = mapped(rows, send, ranks.between(keys)).repartition(*by).sortWithinPartitions(*by)
    names = [f"CAST(p{n} AS STRING) AS p{n}" for n in range(keys)]
    return mapped(sent, partial(ranks.pick_middles, keys=keys), ranks.picked(keys)).selectExpr(
        "c", "cut", *names, "nan", "low", "high"
    )


def _ends(parts: Parts, wanted: Sequence[MedianSql], brackets: Brackets) -> ranks.Ends:
    found: list[list[dict[arrays.Name, tuple[int, int]]]] = [
        [{} for _ in parts.cuts] for _ in wanted
    ]
    for part, mine in brackets.items():
        cut = parts.cuts.index(part.cut)
        for n, one in enumerate(wanted):
            bracket, kind = mine.get(one.metric, NO_ENDS), one.column.kind
            if bracket is not NO_ENDS:
                low = ranks.LEAST if bracket.low is None else _rank(bracket.low, kind)
                high = ranks.GREATEST if bracket.high is None else _rank(bracket.high, kind)
                found[n][cut][_name(part, part.cut)] = low, high
    return found


def _name(part: Slice, cut: Cut) -> arrays.Name:
    """The keys of a part as the workers see them."""
    texts = [part.partition] if cut.partitioned else []
    texts += [] if cut.dimension is None else [part.group]
    return tuple(None if text is None else text.encode() for text in texts)


def _rank(value: Number, kind: T.DataType) -> int:
    """The whole number that the workers compare a value by."""
    if isinstance(kind, FLOATS):
        bits: int
        # Minus zero plus zero is zero.
        (bits,) = struct.unpack("<q", struct.pack("<d", float(value) + 0.0))
        return bits if bits >= 0 else bits ^ ranks.GREATEST
    if isinstance(kind, T.DecimalType):
        return int(EXACT.scaleb(Decimal(value), kind.scale))
    return int(value)


def _value(rank: int, kind: T.DataType) -> Number:
    if isinstance(kind, FLOATS):
        bits = rank if rank >= 0 else rank ^ ranks.GREATEST
        value: float
        (value,) = struct.unpack("<d", struct.pack("<q", bits))
        return value
    if isinstance(kind, T.DecimalType):
        return EXACT.scaleb(Decimal(rank), -kind.scale)
    return rank
