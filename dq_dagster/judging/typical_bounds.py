"""The bounds that follow from what was observed before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dq_dagster.judging.past import PastValue
from dq_dagster.judging.quartiles import exact, nearest, quartiles
from dq_dagster.judging.status import Status
from dq_dagster.judging.wording import plural, show, show_apart

Number: TypeAlias = int | float


@dataclass(frozen=True, slots=True)
class TypicalBounds:
    """The middle half of some points, and how far from it is too far.

    ``iqr`` is the one that was used: that of the points, or the least that was asked for.
    """

    q1: Number
    q3: Number
    iqr: Number
    min: Number
    max: Number
    soft_min: Number | None
    soft_max: Number | None
    points: tuple[PastValue, ...]

    @classmethod
    def of(
        cls,
        points: Sequence[PastValue],
        *,
        factor: float,
        soft_factor: float | None = None,
        min_iqr: Number | None = None,
    ) -> TypicalBounds:
        """The bounds by at least one point."""
        ordered = sorted(point.value for point in points)
        whole = all(isinstance(value, int) for value in ordered)
        q1, q3 = quartiles(ordered)
        iqr = q3 - q1 if min_iqr is None else max(q3 - q1, exact(min_iqr))

        def low(width: float) -> Number:
            return nearest(q1 - exact(width) * iqr, whole=whole, up=True)

        def high(width: float) -> Number:
            return nearest(q3 + exact(width) * iqr, whole=whole)

        return cls(
            q1=nearest(q1, whole=whole),
            q3=nearest(q3, whole=whole),
            iqr=nearest(iqr, whole=whole),
            min=low(factor),
            max=high(factor),
            soft_min=None if soft_factor is None else low(soft_factor),
            soft_max=None if soft_factor is None else high(soft_factor),
            points=tuple(points),
        )

    def given(self) -> dict[str, Number]:
        """The bounds by name."""
        bounds = {
            "min": self.min,
            "soft_min": self.soft_min,
            "soft_max": self.soft_max,
            "max": self.max,
        }
        return {name: bound for name, bound in bounds.items() if bound is not None}

    def place(self, value: Number) -> tuple[Status, str]:
        """Where a value lies, such as "120, below the typical minimum of 940.5 (...)"."""
        for status, softness, low, high in (
            (Status.ERROR, "", self.min, self.max),
            (Status.WARNING, "soft ", self.soft_min, self.soft_max),
        ):
            if low is not None and value < low:
                return status, self._beyond(value, low, f"below the typical {softness}minimum")
            if high is not None and value > high:
                return status, self._beyond(value, high, f"above the typical {softness}maximum")
        return Status.OK, f"{show(value)}, as is typical ({self.words()}; {self.origin()})"

    def words(self) -> str:
        """Such as "940.5 to 1,099.5"."""
        return f"{show(self.min)} to {show(self.max)}"

    def origin(self) -> str:
        """Such as "30 earlier values: half of them between 1,000 and 1,040"."""
        values = plural(len(self.points), "earlier value")
        if len({point.value for point in self.points}) == 1:
            return f"{values}: {'' if len(self.points) == 1 else 'all '}{show(self.q1)}"
        return f"{values}: half of them between {show(self.q1)} and {show(self.q3)}"

    def _beyond(self, value: Number, bound: Number, words: str) -> str:
        shown, limit = show_apart(value, bound), show_apart(bound, value)
        return f"{shown}, {words} of {limit} ({self.origin()})"
