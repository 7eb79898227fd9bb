"""Thresholds on counted rows, as people declare them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Tag, model_validator

from dq_dagster.judging.status import Status
from dq_dagster.judging.thresholds import Amount, Limit, Requirement
from dq_dagster.rules.fields import Number

ALL: Literal["all"] = "all"


class _Threshold(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    type: Literal["count", "proportion"]
    """Whether the bounds count rows or are shares (0 to 1) of the rows considered."""

    def _check(self, lower: Number | None, upper: Number | None, names: str) -> None:
        given = [bound for bound in (lower, upper) if bound is not None]
        if not given:
            raise ValueError(f"a threshold needs {names}")
        if any(bound < 0 for bound in given):
            raise ValueError("a threshold can not be negative")
        if self.type == "proportion" and any(bound > 1 for bound in given):
            raise ValueError("a proportion lies between 0 and 1")
        if len(given) == 2 and given[0] > given[1]:
            smaller, greater = names.split(" or ")
            raise ValueError(f"{smaller} must not be greater than {greater}")


class AtMost(_Threshold):
    """How many bad rows are tolerated."""

    soft_max: Number | None = None
    """More than this is a Warning."""
    max: Number | None = None
    """More than this is an Error."""

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        self._check(self.soft_max, self.max, "soft_max or max")
        return self

    @property
    def limit(self) -> Limit:
        return Limit(self.type, self.soft_max, self.max)


class AtLeast(_Threshold):
    """How many good rows are required."""

    soft_min: Number | None = None
    """Fewer than this is a Warning."""
    min: Number | None = None
    """Fewer than this is an Error."""

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        self._check(self.min, self.soft_min, "min or soft_min")
        return self

    @property
    def requirement(self) -> Requirement:
        return Requirement(self.type, self.soft_min, self.min)


def _form(value: Any) -> str:
    """Which form of threshold is meant, so that errors speak of that one only."""
    if isinstance(value, AtMost | AtLeast):
        return type(value).__name__
    if isinstance(value, Mapping):
        return "AtLeast" if {"min", "soft_min"} & set(value) else "AtMost"
    return ALL


def _limit_form(value: Any) -> str:
    form = _form(value)
    return "AtMost" if form == "AtLeast" and isinstance(value, Mapping) else form


def _requirement_form(value: Any) -> str:
    form = _form(value)
    return "AtLeast" if form == "AtMost" and isinstance(value, Mapping) else form


def _from_number(threshold: Any) -> Any:
    """``0.01`` stands for a share of the rows, ``3`` for a number of rows."""
    if isinstance(threshold, bool) or not isinstance(threshold, int | float | Decimal):
        return threshold
    kind = "count" if isinstance(threshold, int) else "proportion"
    return {"type": kind, "max": threshold}


_All: TypeAlias = Annotated[Literal["all"], Tag(ALL)]
_AtMost: TypeAlias = Annotated[AtMost, Tag("AtMost")]
_AtLeast: TypeAlias = Annotated[AtLeast, Tag("AtLeast")]
LimitThreshold: TypeAlias = Annotated[_All | _AtMost, Discriminator(_limit_form)]
RequirementThreshold: TypeAlias = Annotated[_All | _AtLeast, Discriminator(_requirement_form)]
EitherThreshold: TypeAlias = Annotated[_All | _AtMost | _AtLeast, Discriminator(_form)]
RowThreshold: TypeAlias = Annotated[
    _All | _AtMost | Annotated[float, Tag("number")],
    Discriminator(_limit_form),
    BeforeValidator(_from_number),
]


def tolerated(threshold: LimitThreshold | RowThreshold) -> Limit:
    """``all`` values must be good: no bad one is tolerated."""
    return threshold.limit if isinstance(threshold, AtMost) else Limit("count", max=0)


def required(threshold: RequirementThreshold) -> Requirement:
    """``all`` values must be good: their share must be 1."""
    if isinstance(threshold, AtLeast):
        return threshold.requirement
    return Requirement("proportion", min=1)


def on_bad_rows(
    threshold: EitherThreshold, bad: int, considered: int
) -> tuple[Status, str, dict[str, Amount]]:
    """The verdict on so many bad rows, what was allowed or required in words, and the bounds."""
    if isinstance(threshold, AtLeast):
        requirement = required(threshold)
        good = considered - bad
        return requirement.judge(good, considered), requirement.words(), requirement.given()
    limit = tolerated(threshold)
    return limit.judge(bad, considered), limit.words(), limit.given()


def leniency(threshold: EitherThreshold) -> str:
    """How a threshold reads at the end of a demand."""
    if threshold == ALL:
        return ""
    if isinstance(threshold, AtLeast):
        return f" ({required(threshold).words()})"
    return f" (exceptions: {tolerated(threshold).words()})"
