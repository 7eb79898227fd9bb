"""Which past a rule is judged by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from dq_dagster.judging.typical import Typical

Baseline: TypeAlias = Literal["same_slice", "previous_partitions"]


@dataclass(frozen=True, slots=True)
class Lookback:
    """How much of the past counts, and whether it is a slice's own or that of partitions before.

    Without a ``baseline`` partitions that stand for times are compared with those before them,
    and everything else with its own past.
    """

    typical: Typical
    baseline: Baseline | None = None
