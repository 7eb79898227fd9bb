"""How many values occur once and how many more often, counted in blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from dq_dagster.metrics.frequency import Frequencies, Grouping, Level
from dq_dagster.metrics.measured import UNDIVIDED, Cut, Slice
from dq_dagster.spark.frames.columns import identifier
from dq_dagster.spark.frames.slicing import Parts
from dq_dagster.spark.passes.blocks import tallies
from dq_dagster.spark.passes.blocks.keys import BlockKey
from dq_dagster.spark.passes.blocks.workers import mapped

if TYPE_CHECKING:
    from pyspark.sql import Row

# Parts of all groupings together that are brought to the driver.
_MOST_SUMS = 500_000


def count_in_blocks(
    parts: Parts, keys: Mapping[Grouping, BlockKey]
) -> dict[Grouping, dict[Slice, Frequencies]]:
    """The frequencies of each grouping in each part: one query, whatever the number of parts."""
    found: dict[Grouping, dict[Slice, Frequencies]] = {grouping: {} for grouping in keys}
    groupings = list(keys)
    for row in _sums(parts, list(keys.values())):
        part = slice_of(row, parts.cuts[row["cut"]])
        found[groupings[row["c"]]][part] = _frequencies(row["u"], row["d"], row["r"])
    return found


def _sums(parts: Parts, keys: Sequence[BlockKey]) -> list[Row]:
    """One row for each grouping, cut and part."""
    many = len(parts.keys)
    rows = parts.frame.selectExpr(
        *(f"{sql} AS k{n}_{m}" for n, key in enumerate(keys) for m, sql in enumerate(key)),
        *key_columns(parts),
    )
    send = partial(tallies.send_buckets, widths=[len(key) for key in keys], keys=many)
    sent = mapped(rows, send, tallies.SENT).repartition("c", "b").sortWithinPartitions("c", "b")
    tally = partial(tallies.tally_buckets, cuts=key_places(parts), keys=many, most=_MOST_SUMS)
    names = [f"p{n}" for n in range(many)]
    by_task = mapped(sent, tally, tallies.tallied(many))
    sums = by_task.groupBy("c", "cut", *names).agg(
        *(F.expr(f"sum({one})").alias(one) for one in "udr")
    )
    shown = sums.selectExpr("c", "cut", *(f"CAST({n} AS STRING) AS {n}" for n in names), *"udr")
    return shown.collect() if parts.cuts == (UNDIVIDED,) else parts.bounded(shown, _MOST_SUMS)


def key_columns(parts: Parts) -> list[str]:
    """The keys of a row's parts, as bytes: a text that is none to Python is still a key."""
    return [
        f"CAST({identifier(key)} AS BINARY) AS p{n}" for n, key in enumerate(parts.keys.values())
    ]


def key_places(parts: Parts) -> list[tuple[int, ...]]:
    """For each cut, which of the key columns tell its parts apart."""
    names = list(parts.keys.values())
    return [tuple(names.index(key) for key in parts.keys_of(cut)) for cut in parts.cuts]


def slice_of(row: Any, cut: Cut) -> Slice:
    """The part that a row of sums speaks of: the keys of its cut come first."""
    keys = [row[f"p{n}"] for n in range(int(cut.partitioned) + (cut.dimension is not None))]
    return Slice(
        keys[0] if cut.partitioned else None,
        cut.dimension,
        None if cut.dimension is None else keys[-1],
    )


def _frequencies(unique: int, distinct: int, rows: int) -> Frequencies:
    """Where no value matters by itself, all that occur more than once are one level."""
    once = [Level(1, unique, unique)] if unique else []
    more = [Level(2, distinct - unique, rows - unique)] if distinct > unique else []
    return Frequencies((*more, *once))
