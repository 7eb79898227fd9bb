"""A glance at some rows, which says how values are counted best; never what is found."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pyspark.sql import types as T

from dq_dagster.spark.frames.slicing import Parts
from dq_dagster.spark.passes.blocks import tallies

# So many rows are looked at, one in a hundred of the first ones.
_ROWS = 1_000
_SHARE = 0.01
# With fewer values nothing is said.
_ENOUGH = 100


@dataclass(frozen=True, slots=True)
class Glance:
    """``few`` have few values that repeat often, ``rising`` are numbers that rise row by row."""

    few: frozenset[Hashable] = frozenset()
    rising: frozenset[Hashable] = frozenset()


def glance(parts: Parts, values: Mapping[Hashable, str]) -> Glance:
    """What the values look like, which are SQL, by whatever they are asked for; one small job."""
    if not values:
        return Glance()
    named = parts.frame.selectExpr(*(f"{sql} AS k{n}" for n, sql in enumerate(values.values())))
    numbers = [isinstance(field.dataType, T.IntegralType) for field in named.schema.fields]
    columns = [
        # Numbers as they are, to see whether they rise; of others only which are equal.
        f"k{n}" if is_number else f"if(k{n} IS NULL, NULL, xxhash64(k{n})) AS k{n}"
        for n, is_number in enumerate(numbers)
    ]
    # As one task: Spark would take the first rows of each by a job of its own.
    some = named.coalesce(1).where(f"rand(1) < {_SHARE}D").selectExpr(*columns).limit(_ROWS)
    rows = some.collect()
    few: set[Hashable] = set()
    rising: set[Hashable] = set()
    for n, (one, is_number) in enumerate(zip(values, numbers, strict=True)):
        there = [row[n] for row in rows if row[n] is not None]
        if len(there) < _ENOUGH:
            continue
        if 2 * len(set(there)) <= len(there):
            few.add(one)
        elif is_number and _rises(there):
            rising.add(one)
    return Glance(frozenset(few), frozenset(rising))


def _rises(numbers: Sequence[int]) -> bool:
    return tallies.stretches(np.asarray(numbers, np.int64).view(np.uint64)) is not None
