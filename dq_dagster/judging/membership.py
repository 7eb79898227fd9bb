"""Whether an observed value is one of a set, by value and not by spelling."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, tzinfo
from typing import Any

from dq_dagster.errors import Misfit
from dq_dagster.judging.comparison import aligned, is_nan
from dq_dagster.metrics.constant import Scalar


def is_member(value: Any, values: Sequence[Scalar], *, what: str, zone: tzinfo = UTC) -> bool:
    """Raises Misfit if none of the values is of a kind that the observed one can equal."""
    if is_nan(value):
        # Not even of a set with NaN in it: NaN is never fine.
        return False
    misfit: Misfit | None = None
    fitting = []
    for member in values:
        try:
            fitting.append(aligned(member, value, zone=zone, what=what))
        except Misfit as found:
            misfit = misfit or found
    if not fitting and misfit is not None:
        raise misfit
    return any(bool(value == member) for member in fitting)
