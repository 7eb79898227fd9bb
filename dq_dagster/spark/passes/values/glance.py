"""A glance at some rows, which says how values are counted best; never what is found."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from pyspark.sql import types as T

from dq_dagster.metrics.metric import ColumnMedian
from dq_dagster.spark.expressions.bins import MedianSql, Sampled, sampled
from dq_dagster.spark.frames.slicing import Parts
from dq_dagster.spark.passes.blocks import tallies

# So many rows are looked at, one in twenty of the first ones.
_ROWS = 10_000
_SHARE = 0.05
# With fewer values nothing is said.
_ENOUGH = 100


@dataclass(frozen=True, slots=True)
class Glance:
    """``few`` have few values that repeat often, ``rising`` are numbers that rise row by row.

    ``middles`` say where the values of medians lie; they mislead where others follow later.
    """

    few: frozenset[Hashable] = frozenset()
    rising: frozenset[Hashable] = frozenset()
    middles: Mapping[ColumnMedian, Sampled] = field(default_factory=dict)


def glance(parts: Parts, keys: Mapping[Hashable, str], medians: Sequence[MedianSql] = ()) -> Glance:
    """What values look like: those of keys, which are SQL, and those of medians; one small job."""
    values: dict[Hashable, str] = {**keys, **{one.metric: one.value for one in medians}}
    if not values:
        return Glance()
    named = parts.frame.selectExpr(*(f"{sql} AS k{n}" for n, sql in enumerate(values.values())))
    numbers = [isinstance(one.dataType, T.IntegralType) for one in named.schema.fields]
    # As one task: Spark would take the first rows of each by a job of its own.
    some = named.coalesce(1).where(f"rand(1) < {_SHARE}D").limit(_ROWS)
    [row] = some.selectExpr(
        *(_listed(n, is_number=number) for n, number in enumerate(numbers)),
        *(sql for n, one in enumerate(medians) for sql in sampled(n, one, f"k{len(keys) + n}")),
    ).collect()
    few: set[Hashable] = set()
    rising: set[Hashable] = set()
    for n, (one, is_number) in enumerate(zip(values, numbers, strict=True)):
        there = row[n]
        if len(there) < _ENOUGH:
            continue
        if 2 * len(set(there)) <= len(there):
            few.add(one)
        elif is_number and _rises(there):
            rising.add(one)
    middles = {one.metric: Sampled.read(row, n) for n, one in enumerate(medians)}
    return Glance(frozenset(few), frozenset(rising), middles)


def _listed(n: int, *, is_number: bool) -> str:
    """Numbers as they are, to see whether they rise; of others only which are equal."""
    value = f"k{n}" if is_number else f"if(k{n} IS NULL, NULL, xxhash64(k{n}))"
    return f"collect_list({value}) AS s{n}"


def _rises(numbers: Sequence[int]) -> bool:
    return tallies.stretches(np.asarray(numbers, np.int64).view(np.uint64)) is not None
