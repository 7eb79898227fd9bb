"""How often values occur and where their middle lies, counted in blocks in one pass."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from dq_dagster.metrics.frequency import Frequencies, Grouping
from dq_dagster.metrics.measured import UNDIVIDED, Slice
from dq_dagster.spark.expressions.bins import MedianSql
from dq_dagster.spark.frames.slicing import Parts
from dq_dagster.spark.passes.blocks import arrays, tallies
from dq_dagster.spark.passes.blocks.keys import BlockKey
from dq_dagster.spark.passes.blocks.middles import (
    key_columns,
    key_places,
    medians_in_blocks,
    ranked_sql,
    slice_of,
)
from dq_dagster.spark.passes.blocks.workers import mapped

if TYPE_CHECKING:
    from pyspark.sql import Row

# What ``tallies.tallied`` says of a column in one part, by its names.
Sums = dict[str, Any]
_SUMMED, _GREATEST = "udr", ("low", "high", "top")
# Parts of all groupings together that are brought to the driver.
_MOST_SUMS = 500_000


def values_in_blocks(
    parts: Parts,
    keys: Mapping[Grouping, BlockKey],
    wanted: Sequence[MedianSql],
    rising: Collection[Hashable] = (),
) -> dict[Any, dict[Slice, Any]]:
    """The frequencies of each grouping and the medians, in each part, by grouping and by metric.

    That is one query, whatever the number of parts, and a second one for medians that lie among
    many values; medians of rows that were others in the second query are left out. A further one
    counts what was said to be ``rising``, and was not.
    """
    found: dict[Any, dict[Slice, Any]] = {grouping: {} for grouping in keys}
    groupings = list(keys)
    ranked: list[Sums] = []
    overlapping: dict[Grouping, BlockKey] = {}
    places = [n for n, grouping in enumerate(groupings) if grouping in rising]
    for row in _sums(parts, list(keys.values()), wanted, places):
        if row["cut"] == tallies.OVERLAP:
            grouping = groupings[row["c"]]
            overlapping[grouping] = keys[grouping]
        elif row["c"] < len(groupings):
            part = slice_of(row, parts.cuts[row["cut"]])
            found[groupings[row["c"]]][part] = Frequencies.once_or_more(
                row["u"], row["d"], row["r"]
            )
        else:
            ranked.append(row)
    found |= medians_in_blocks(parts, wanted, ranked, len(groupings))
    return found | (values_in_blocks(parts, overlapping, ()) if overlapping else {})


def _sums(
    parts: Parts,
    keys: Sequence[BlockKey],
    wanted: Sequence[MedianSql],
    rising: Sequence[int],
) -> list[Sums]:
    """One row for each grouping or median, cut and part."""
    many = len(parts.keys)
    rows = parts.frame.selectExpr(
        *(f"{sql} AS k{n}_{m}" for n, key in enumerate(keys) for m, sql in enumerate(key)),
        *(f"{ranked_sql(one)} AS v{n}" for n, one in enumerate(wanted)),
        *key_columns(parts),
    )
    widths = [len(key) for key in keys]
    send = partial(
        tallies.send_buckets, widths=widths, keys=many, ranked=len(wanted), rising=rising
    )
    sent = mapped(rows, send, arrays.SENT).repartition("c", "b").sortWithinPartitions("c", "b")
    tally = partial(
        tallies.tally_buckets,
        cuts=key_places(parts),
        keys=many,
        most=_MOST_SUMS,
        tallied=len(keys),
    )
    names = [f"p{n}" for n in range(many)]
    by_task = mapped(sent, tally, tallies.tallied(many))
    if parts.cuts == (UNDIVIDED,):
        # A row for each task and column: Spark would plan a further shuffle for those.
        return _added(by_task.collect())
    sums = by_task.groupBy("c", "cut", *names).agg(
        *(F.expr(f"sum({one})").alias(one) for one in _SUMMED),
        *(F.expr(f"max({one})").alias(one) for one in _GREATEST),
    )
    texts = (f"CAST({n} AS STRING) AS {n}" for n in names)
    shown = sums.selectExpr("c", "cut", *texts, *_SUMMED, *_GREATEST)
    return [row.asDict() for row in parts.bounded(shown, _MOST_SUMS)]


def _added(rows: Iterable[Row]) -> list[Sums]:
    """One for each column: the sums of a median come from one task alone."""
    found: dict[int, Sums] = {}
    for row in rows:
        mine = found.setdefault(row["c"], {"c": row["c"], "cut": row["cut"]})
        for name in _SUMMED:
            mine[name] = mine.get(name, 0) + row[name]
        for name in _GREATEST:
            mine[name] = row[name]
    return list(found.values())
