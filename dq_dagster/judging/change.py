"""How much a number differs from what it was some periods ago."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dq_dagster.judging.evidence import Evidence, PastValue, number_of
from dq_dagster.judging.typical import exact, nearest
from dq_dagster.metrics.metric import Metric


def earlier_number(
    evidence: Evidence, metric: Metric, periods: int, *, average: bool
) -> int | float | None:
    """What the metric was so many periods ago, or on average since then; None if nobody knows.

    Where partitions are windows of time, that is the partition of so many windows before, or none.
    Else each build is a period.
    """
    past = evidence.past(metric)
    if average:
        return _average(past[-periods:]) if len(past) >= periods else None
    if evidence.earlier is not None:
        found = [point.value for point in past if point.at == evidence.earlier]
        return found[-1] if found else None
    return past[-periods].value if len(past) >= periods else None


def _average(points: Sequence[PastValue]) -> int | float:
    total = sum((exact(point.value) for point in points), Fraction())
    return nearest(total / len(points), whole=False)


def changed(value: object, before: int | float, *, share: bool, signed: bool) -> float:
    """The change, as a difference or as a share of what was before.

    From nothing to something is no share of anything: it is infinite. NaN stays NaN.
    """
    number = number_of(value)
    if number is None or not _is_finite(number):
        return math.nan if number is None or math.isnan(number) else abs(number)
    difference = exact(number) - exact(before)
    if not signed:
        difference = abs(difference)
    if not share:
        return _float(difference)
    if not before:
        return math.copysign(math.inf, difference) if difference else 0.0
    return _float(difference / abs(exact(before)))


def _float(number: Fraction) -> float:
    return float(nearest(number, whole=False))


def _is_finite(number: int | float) -> bool:
    return isinstance(number, int) or math.isfinite(number)
