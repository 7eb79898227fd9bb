"""Many counts in few aggregation buffers.

Spark compiles an aggregation of at most 100 buffers into one loop, but past some 60 of them the
loop is too large for the virtual machine to compile, and everything takes many times as long.
Above 100 buffers Spark takes another, steadier way.

So counts are paired: two share one long, the first in the low 31 bits, the second above, which is
exact as long as there are fewer than 2^31 rows (larger tables are counted without). What still
lies between 60 and 100 is padded past 100.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_ROWS = 2**31
SMOOTH = 60
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
_LOW_BITS = MOST_ROWS - 1
_LANES = 2


@dataclass(frozen=True, slots=True)
class Lane:
    """Where a packed count is found: the packed aggregate and the half of it."""

    sql: str
    high: bool

    def read(self, packed: int) -> int:
        return packed >> 31 if self.high else packed & _LOW_BITS


def single(predicate: str) -> str:
    """The number of rows for which a predicate is true, in a buffer of its own."""
    return f"count(if({predicate}, 1, NULL))"


def paired(predicates: Sequence[str]) -> dict[str, Lane]:
    """For each predicate the lane that its count travels in."""
    lanes: dict[str, Lane] = {}
    for start in range(0, len(predicates), _LANES):
        pair = predicates[start : start + _LANES]
        terms = [
            f"if({predicate}, {1 << 31 if high else 1}L, 0L)" for high, predicate in enumerate(pair)
        ]
        sql = f"sum({' + '.join(terms)})"
        lanes |= {predicate: Lane(sql, high=bool(n)) for n, predicate in enumerate(pair)}
    return lanes


def buffers(sql: str) -> int:
    """How many buffers Spark keeps for an aggregate."""
    return _BUFFERS.get(sql.partition("(")[0], 1)


def padding(used: int) -> list[str]:
    """Cheap aggregates that lift a query over the numbers of buffers that are slow."""
    missing = _STEADY - used if SMOOTH < used < _STEADY else 0
    return [f"max({n})" for n in range(missing)]
