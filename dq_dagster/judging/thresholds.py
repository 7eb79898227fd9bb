"""Judging counted rows: how many bad ones are tolerated, how many good ones required."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal, TypeAlias

from dq_dagster.judging.judgement import Status
from dq_dagster.judging.wording import show

Amount: TypeAlias = int | float | Decimal
Unit: TypeAlias = Literal["count", "proportion"]


@dataclass(frozen=True, slots=True)
class Limit:
    """At most this many (or this share of) rows may be bad."""

    unit: Unit
    soft_max: Amount | None = None
    max: Amount | None = None

    def judge(self, bad: int, considered: int) -> Status:
        amount = _amount(bad, considered, self.unit)
        if self.max is not None and amount > _exact(self.max):
            return Status.ERROR
        if self.soft_max is not None and amount > _exact(self.soft_max):
            return Status.WARNING
        return Status.OK

    def words(self) -> str:
        """What is tolerated, such as "at most 1 % allowed, ideally at most 0.5 %"."""
        return _words("at most", "allowed", self.max, self.soft_max, self.unit)

    def given(self) -> dict[str, Amount]:
        return _given(soft_max=self.soft_max, max=self.max)


@dataclass(frozen=True, slots=True)
class Requirement:
    """At least this many (or this share of) rows must be good."""

    unit: Unit
    soft_min: Amount | None = None
    min: Amount | None = None

    def judge(self, good: int, considered: int) -> Status:
        amount = _amount(good, considered, self.unit)
        if self.min is not None and amount < _exact(self.min):
            return Status.ERROR
        if self.soft_min is not None and amount < _exact(self.soft_min):
            return Status.WARNING
        return Status.OK

    def words(self) -> str:
        """What is required, such as "at least 99 % required"."""
        return _words("at least", "required", self.min, self.soft_min, self.unit)

    def given(self) -> dict[str, Amount]:
        return _given(soft_min=self.soft_min, min=self.min)


def _amount(part: int, whole: int, unit: Unit) -> Fraction:
    # Exact: 1 of 3 rows is neither above nor below a share of 1/3 by a rounding error.
    return Fraction(part) if unit == "count" else Fraction(part, whole)


def _exact(bound: Amount) -> Fraction:
    # 0.1 means one tenth to the person who wrote it, not the nearest binary number.
    return Fraction(str(bound))


def _words(sense: str, verb: str, hard: Amount | None, soft: Amount | None, unit: Unit) -> str:
    words = []
    if hard == 0 and sense == "at most":
        words.append("none allowed")
    elif hard is not None:
        words.append(f"{sense} {_size(hard, unit)} {verb}")
    if soft is not None:
        words.append(f"ideally {sense} {_size(soft, unit)}")
    return ", ".join(words)


def _size(bound: Amount, unit: Unit) -> str:
    if unit == "count":
        return show(int(bound) if float(bound).is_integer() else bound)
    return f"{float(_exact(bound) * 100):.10g} %"


def _given(**bounds: Amount | None) -> dict[str, Amount]:
    return {name: bound for name, bound in bounds.items() if bound is not None}
