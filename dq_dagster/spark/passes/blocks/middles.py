"""Exact medians in blocks: what counts of values say, and a query where they leave it open."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as T

from dq_dagster.errors import TooManyParts
from dq_dagster.metrics.measured import NO_KEY, UNDIVIDED, Cut, Slice
from dq_dagster.metrics.metric import midpoint
from dq_dagster.metrics.states import EXACT
from dq_dagster.spark.expressions.aggregates import DOUBLE_DIGITS
from dq_dagster.spark.expressions.bins import MedianSql, Middles, Number
from dq_dagster.spark.frames.columns import FLOATS, identifier
from dq_dagster.spark.frames.slicing import MOST_PARTS, Parts
from dq_dagster.spark.passes.blocks import arrays, ranks
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


def ranked_sql(one: MedianSql) -> str:
    """The value that is sent: decimals travel slowly."""
    return f"CAST({one.value} AS DOUBLE)" if _is_short(one.column.kind) else one.value


def _is_short(kind: T.DataType) -> bool:
    return isinstance(kind, T.DecimalType) and kind.precision <= DOUBLE_DIGITS


def medians_in_blocks(
    parts: Parts, wanted: Sequence[MedianSql], rows: Sequence[Mapping[str, Any]], first: int
) -> Middles:
    """The median of each column in each part, from what was counted.

    ``first`` is the number there of the first of these columns.
    """
    found: Middles = {one.metric: {} for one in wanted}
    open_: list[Mapping[str, Any]] = []
    if len(rows) > MOST_PARTS * len(wanted):
        raise TooManyParts.by(cut.dimension for cut in parts.cuts)
    for row in rows:
        one = wanted[row["c"] - first]
        part = slice_of(row, parts.cuts[row["cut"]])
        if isinstance(one.column.kind, FLOATS) and row["top"] > ranks.INFINITY:
            found[one.metric][part] = math.nan
        elif row["d"]:
            found[one.metric][part] = _middle(row, one.column.kind)
        else:
            open_.append(row)
    if open_:
        _close(parts, wanted, open_, first, found)
    return found


def _close(
    parts: Parts,
    wanted: Sequence[MedianSql],
    rows: Sequence[Mapping[str, Any]],
    first: int,
    found: Middles,
) -> None:
    numbers = sorted({row["c"] for row in rows})
    some = [wanted[number - first] for number in numbers]
    ends: list[list[dict[arrays.Name, tuple[int, int, int, int]]]] = [
        [{} for _ in parts.cuts] for _ in some
    ]
    for row in rows:
        part = slice_of(row, parts.cuts[row["cut"]])
        places = ((row["r"] - 1) // 2 - row["u"], row["r"] // 2 - row["u"])
        mine = ends[numbers.index(row["c"])][row["cut"]]
        mine[_name(part, parts)] = row["low"], row["high"], *places
    picked = _picked(parts, some, ends)
    divided = parts.cuts != (UNDIVIDED,)
    again = parts.bounded(picked, MOST_PARTS * len(some)) if divided else picked.collect()
    seen = {(row["c"], row["cut"], slice_of(row, parts.cuts[row["cut"]])) for row in again}
    for pair in again:
        one = some[pair["c"]]
        if pair["low"] is None:
            found.pop(one.metric, None)
        elif one.metric in found:
            part = slice_of(pair, parts.cuts[pair["cut"]])
            found[one.metric][part] = _middle(pair, one.column.kind)
    for row in rows:
        key = numbers.index(row["c"]), row["cut"], slice_of(row, parts.cuts[row["cut"]])
        if key not in seen:
            found.pop(wanted[row["c"] - first].metric, None)


def _middle(row: Any, kind: T.DataType) -> Number:
    return midpoint(_value(row["low"], kind), _value(row["high"], kind))


def _picked(parts: Parts, wanted: Sequence[MedianSql], ends: ranks.Ends) -> DataFrame:
    """One row for each column, cut and part."""
    keys = len(parts.keys)
    values = [f"{ranked_sql(one)} AS v{n}" for n, one in enumerate(wanted)]
    # No more rows than are needed for any of the parts.
    near = [_near(f"v{n}", one, ends[n]) for n, one in enumerate(wanted)]
    rows = parts.frame.selectExpr(*values, *key_columns(parts)).where(" OR ".join(near))
    given: Any = {"ends": ends, "cuts": key_places(parts), "keys": keys}
    by = ["c", "cut", *(f"p{n}" for n in range(keys))]
    send = partial(ranks.send_between, **given)
    sent = mapped(rows, send, ranks.between(keys)).repartition(*by).sortWithinPartitions(*by)
    names = [f"CAST(p{n} AS STRING) AS p{n}" for n in range(keys)]
    return mapped(sent, partial(ranks.pick_middles, **given), ranks.picked(keys)).selectExpr(
        "c", "cut", *names, "low", "high"
    )


def _near(value: str, one: MedianSql, ends: Sequence[Any]) -> str:
    """Whether a value lies between the ends of any part."""
    kind = one.column.kind
    every = [end for of_cut in ends for end in of_cut.values()]
    least, most = min(end[0] for end in every), max(end[1] for end in every)
    if isinstance(kind, T.DecimalType) and not _is_short(kind):
        type_name = kind.simpleString()
    else:
        type_name = "BIGINT" if isinstance(kind, T.IntegralType) else "DOUBLE"
    low, high = (f"CAST('{_value(end, kind)}' AS {type_name})" for end in (least, most))
    return f"{value} BETWEEN {low} AND {high}"


def key_columns(parts: Parts) -> list[str]:
    """The keys of a row's parts, as bytes: a text that is none to Python is still a key.

    Dates and whole numbers become texts on the workers, where each is written once.
    """
    return [
        f"{parts.columns.get(name, f'CAST({identifier(key)} AS BINARY)')} AS p{n}"
        for n, (name, key) in enumerate(parts.keys.items())
    ]


def key_places(parts: Parts) -> list[tuple[int, ...]]:
    """For each cut, which of the key columns tell its parts apart."""
    names = list(parts.keys.values())
    return [tuple(names.index(key) for key in parts.keys_of(cut)) for cut in parts.cuts]


def slice_of(row: Any, cut: Cut) -> Slice:
    """The part that a row of sums speaks of: the keys of its cut come first."""
    keys = [row[f"p{n}"] for n in range(int(cut.partitioned) + (cut.dimension is not None))]
    return Slice(
        (NO_KEY if keys[0] is None else keys[0]) if cut.partitioned else None,
        cut.dimension,
        None if cut.dimension is None else keys[-1],
    )


def _name(part: Slice, parts: Parts) -> arrays.Name:
    """The keys of a part as the workers see them."""
    cut = part.cut
    missing = None in parts.columns and part.partition == NO_KEY
    texts = [None if missing else part.partition] if cut.partitioned else []
    texts += [] if cut.dimension is None else [part.group]
    return tuple(None if text is None else text.encode() for text in texts)


def _value(rank: int, kind: T.DataType) -> Number:
    """The value that the workers compare as that whole number."""
    if isinstance(kind, FLOATS) or _is_short(kind):
        bits = rank if rank >= 0 else rank ^ ranks.GREATEST
        value: float
        (value,) = struct.unpack("<d", struct.pack("<q", bits))
        if not isinstance(kind, T.DecimalType):
            return value
        return Decimal(value).quantize(Decimal(1).scaleb(-kind.scale), context=EXACT)
    if isinstance(kind, T.DecimalType):
        return EXACT.scaleb(Decimal(rank), -kind.scale)
    return rank
