"""How good, in numbers: the quality score, its trend, and objectives with their budgets.

The value of a rule is the mean over its slices: Ok counts 1, Warning 1/2, Error 0; Empty and
NotComputed say nothing. The score of a dataset is 100 times the mean over its rules, each by its
weight. That of a project is the mean of its monitored datasets. What says nothing has no score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from dq_dagster.judging.judgement import WORTH, Status
from dq_dagster.judging.wording import show

# What objectives count.
Unit: TypeAlias = Literal["partitions", "days"]
# What a score is compared with for its trend.
TREND_DAYS = 7


@dataclass(frozen=True, slots=True)
class Score:
    """From 0 to 100, None where there is nothing to go by.

    ``before`` is what it was a week ago, and ``trend`` the change since.
    """

    value: float | None = None
    trend: float | None = None
    before: float | None = None

    @classmethod
    def of(cls, now: float | None, before: float | None) -> Score:
        both = now is not None and before is not None
        return cls(now, round(now - before, 1) if both else None, before)  # type: ignore[operator]


@dataclass(frozen=True, slots=True)
class Objective:
    """The share of partitions that is to be Ok within so many days."""

    share: float
    days: int = 30

    @classmethod
    def read(cls, written: Any) -> Objective | None:
        """From an asset's metadata: ``{"ok": 0.99, "days": 30}``; None if it is none."""
        if not isinstance(written, Mapping):
            return None
        match written.get("ok"), written.get("days", 30):
            # True is a number in Python.
            case (bool(), _) | (_, bool()):
                return None
            case (int() | float() as share, int() as days) if 0 < share <= 1 and days >= 1:
                return cls(float(share), days)
        return None


@dataclass(frozen=True, slots=True)
class ObjectiveKept:
    """How an objective is kept: of ``units``, partitions or days, that many are Ok.

    ``budget`` is how many may not be Ok, and ``left`` how much of that is left: below 0 the
    objective is missed.
    """

    objective: Objective
    units: int
    ok: int
    budget: float
    left: float
    per: Unit = "partitions"

    @property
    def share(self) -> float | None:
        return self.ok / self.units if self.units else None

    @property
    def missed(self) -> bool:
        return self.left < 0

    @property
    def rest(self) -> str:
        """Such as "0.5 of 1.5 left"."""
        if self.missed:
            return f"missed by {show(-self.left)}"
        return f"{show(self.left)} of {show(self.budget)} left"

    @property
    def aim(self) -> str:
        """Such as "99 % of partitions Ok in 30 days: 149 of 150"."""
        share = show(float(Fraction(str(self.objective.share)) * 100))
        wanted = f"{share} % of {self.per} Ok in {self.objective.days} days"
        return f"{wanted}: {self.ok:,} of {self.units:,}"


def mean(scores: Iterable[float | None]) -> float | None:
    """Of those that there are."""
    known = [one for one in scores if one is not None]
    return round(sum(known) / len(known), 1) if known else None


def kept(
    objective: Objective, statuses: Iterable[Status], per: Unit = "partitions"
) -> ObjectiveKept:
    """How an objective is kept by these partitions or days; those that are Empty say nothing."""
    judged = [status for status in statuses if status in WORTH]
    ok = sum(status is Status.OK for status in judged)
    # As people write it: 1 - 0.99 is a little more than a hundredth in binary.
    budget = float((1 - Fraction(str(objective.share))) * len(judged))
    return ObjectiveKept(objective, len(judged), ok, budget, budget - (len(judged) - ok), per)
