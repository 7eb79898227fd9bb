"""Counts of one aggregation, and the buffers of Spark that they travel in.

Spark compiles an aggregation of at most 100 buffers into one loop, but past some 60 of them the
loop is too large for the virtual machine to compile, and everything takes many times as long.
Above 100 buffers Spark takes another, steadier way. So counts are paired: two share one long, the
first in the low 31 bits, the second above, which is exact as long as there are fewer than 2^31 rows
(larger tables are counted without). What still lies between 60 and 100 is padded past 100. And what
is missing of a column is not counted beside what is there: one follows from the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

# Counts of as many rows or more do not share a long, and so many buffers are one loop.
MOST_PAIRED = 2**31
MOST_IN_ONE_LOOP = 60
_STEADY = 101
# Moments and pairs of columns take several; sums that may overflow keep a flag beside the sum.
_BUFFERS = {
    **dict.fromkeys(("avg", "mean", "regr_avgx", "regr_avgy", "try_avg", "try_sum"), 2),
    **dict.fromkeys(("std", "stddev", "stddev_pop", "stddev_samp"), 3),
    **dict.fromkeys(("var_pop", "var_samp", "variance", "regr_sxx", "regr_syy"), 3),
    **dict.fromkeys(("covar_pop", "covar_samp", "regr_sxy", "skewness"), 4),
    **dict.fromkeys(("kurtosis",), 5),
    **dict.fromkeys(("corr", "regr_r2"), 6),
    **dict.fromkeys(("regr_intercept", "regr_slope"), 7),
}
_LOW_BITS = MOST_PAIRED - 1
_LANES = 2
_MISSING = re.compile(r"(`(?:[^`]|``)+`) IS NULL")
_THERE = re.compile(r"(`(?:[^`]|``)+`) IS NOT NULL")


@dataclass(frozen=True, slots=True)
class Lane:
    """Where a count is found: the aggregate, which half of it, and whether it says the rest."""

    sql: str
    half: Literal["low", "high"] | None = None
    is_rest: bool = False

    def read(self, found: int, rows: int) -> int:
        if self.half is not None:
            found = found >> 31 if self.half == "high" else found & _LOW_BITS
        return rows - found if self.is_rest else found


def alone(predicates: Sequence[str]) -> dict[str, Lane]:
    """For each predicate the count of the rows it is true for, in a buffer of its own."""
    return {
        predicate: Lane(_count(_counted(predicate)), is_rest=_counted(predicate) != predicate)
        for predicate in predicates
    }


def paired(predicates: Sequence[str]) -> dict[str, Lane]:
    """For each predicate the half of a buffer that its count travels in."""
    counted = list(dict.fromkeys(map(_counted, predicates)))
    lanes: dict[str, Lane] = {}
    for start in range(0, len(counted), _LANES):
        pair = counted[start : start + _LANES]
        terms = [f"if({text}, {1 << 31 if high else 1}L, 0L)" for high, text in enumerate(pair)]
        sql = f"sum({' + '.join(terms)})"
        lanes |= {text: Lane(sql, "high" if high else "low") for high, text in enumerate(pair)}
    return {
        predicate: replace(lanes[_counted(predicate)], is_rest=_counted(predicate) != predicate)
        for predicate in predicates
    }


def _counted(predicate: str) -> str:
    """What is counted for a predicate: itself, or what is not NULL for what is."""
    missing = _MISSING.fullmatch(predicate)
    return f"{missing[1]} IS NOT NULL" if missing else predicate


def _count(predicate: str) -> str:
    there = _THERE.fullmatch(predicate)
    return f"count({there[1]})" if there else f"count(if({predicate}, 1, NULL))"


def buffers(sql: str) -> int:
    """How many buffers Spark keeps for an aggregate."""
    return _BUFFERS.get(sql.partition("(")[0], 1)


def padding(used: int) -> list[str]:
    """Cheap aggregates that lift a query over the numbers of buffers that are slow."""
    missing = _STEADY - used if MOST_IN_ONE_LOOP < used < _STEADY else 0
    return [f"max({n})" for n in range(missing)]
