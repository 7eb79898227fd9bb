"""Standard deviations: what Spark is asked for, so that parts merge into what one look gives.

A sum of doubles is rounded at each step, by more the more rows there are. Means that are off by
different amounts look like parts that differ, where values lie close together and far from zero.
So doubles are added up in two halves, whose sums are exact or as good as exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from pyspark.sql import types as T

from dq_dagster.metrics.states import Moments

# Beyond this, a double has no single-precision number near it.
_LARGEST_SINGLE = "3e38D"


def sums(double: str, kind: T.DataType) -> dict[str, str]:
    """The aggregates over a column's values, given as doubles, by name."""
    asked = {"variance": f"var_pop({double})", "largest": f"max({double})"}
    if isinstance(kind, T.FloatType):
        # Half as long as a double: their sums are exact for very many rows.
        return {"total": f"sum({double})", **asked}
    single = f"CAST(CAST({double} AS FLOAT) AS DOUBLE)"
    is_split = f"abs({double}) < {_LARGEST_SINGLE}"
    return {
        "total": f"sum(if({is_split}, {single}, {double}))",
        "rest": f"sum(if({is_split}, {double} - {single}, 0D))",
        **asked,
    }


def moments(results: Mapping[str, Any], step: float) -> Moments:
    """The state from the results of those aggregates, and of the count of values."""
    count = results["count"]
    if not count:
        return Moments.of(0, 0.0, 0.0, step)
    variance, largest = results["variance"], results["largest"]
    if variance == 0 and math.isfinite(largest):
        # All values are equal, and their mean is each of them: no sum would tell that for sure.
        return Moments.of(count, largest, 0.0, step)
    total, rest, squares = results["total"], results.get("rest", 0.0), variance * count
    if not all(map(math.isfinite, (total, rest, squares))):
        return Moments.of(count, total / count, squares, step)
    return Moments.of_sum(count, Fraction(total) + Fraction(rest), squares, step)


def step_of(kind: T.DataType) -> float:
    """How far apart two different values are at least; 0 for types that doubles hold exactly."""
    if isinstance(kind, T.DecimalType):
        return float(10.0**-kind.scale)
    return 1.0 if isinstance(kind, T.LongType) else 0.0
