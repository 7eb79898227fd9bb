"""Thresholds on counted rows, as people declare them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, Self, TypeAlias, cast

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

from dq_dagster.judging.thresholds import RowVerdict, Tolerance
from dq_dagster.rules.fields.constraints import Number
from dq_dagster.rules.fields.declared import Declared

ALL: Literal["all"] = "all"
_NUMBER = "number"
_BOUNDS = ("soft_max", "max", "soft_min", "min")
# A share of bad rows above this is more likely meant as one of good rows.
_DOUBTFUL = 0.5


class _Threshold(Declared):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    type: Literal["count", "proportion"] = Field(
        # Found by the bounds before; the default is for type checkers.
        default="count",
        json_schema_extra=lambda schema: cast("None", schema.pop("default", None)),
    )
    """Whether the bounds count rows or are shares (0 to 1) of the rows considered. Where omitted,
    whole numbers are counts, and numbers with a decimal point shares."""

    @model_validator(mode="before")
    @classmethod
    def _type_of_bounds(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or "type" in data:
            return data
        given = {name: data[name] for name in _BOUNDS if _is_number(data.get(name))}
        # Without any, what is missing are bounds, and not their type.
        return {**data, "type": _kind_of(given) if given else "count"}

    def _check(self, lower: Number | None, upper: Number | None, names: str) -> None:
        given = [bound for bound in (lower, upper) if bound is not None]
        if not given:
            raise ValueError(f"a threshold needs {names}")
        if any(bound < 0 for bound in given):
            raise ValueError("a threshold cannot be negative")
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
    def tolerance(self) -> Tolerance:
        return Tolerance(self.type, self.soft_max, self.max)


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
    def tolerance(self) -> Tolerance:
        return Tolerance(self.type, self.soft_min, self.min, of_good=True)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _kind_of(bounds: Mapping[str, Any]) -> str:
    """What bounds without a type are: whole numbers are counts, others shares, 0 is either."""
    kinds = {
        name: "count" if isinstance(bound, int) else "proportion"
        for name, bound in bounds.items()
        if not (isinstance(bound, int) and bound == 0)
    }
    if len(set(kinds.values())) > 1:
        (one, first), (other, second) = kinds.items()
        raise ValueError(
            f"{one} ({bounds[one]}) is a {_NOUNS[first]} and {other} ({bounds[other]}) a "
            f"{_NOUNS[second]}: give 'type: count' or 'type: proportion'"
        )
    for name, kind in kinds.items():
        if kind == "proportion" and bounds[name] > 1:
            raise ValueError(_no_share(bounds[name]))
    return next(iter(kinds.values()), "count")


_NOUNS = {"count": "number of rows", "proportion": "share"}


def _no_share(bound: Any) -> str:
    whole = f": write {int(bound)} for a number of rows" if bound == int(bound) else ""
    return f"{bound} has a decimal point, so it is a share, which lies between 0 and 1{whole}"


def _from_number(threshold: Any) -> Any:
    """``0.01`` stands for a share of bad rows that is tolerated, ``3`` for a number of them."""
    return {"max": threshold} if _is_number(threshold) else threshold


def _from_clear_number(threshold: Any) -> Any:
    """The same where a share of good rows is as likely to be meant."""
    if _is_number(threshold) and not isinstance(threshold, int) and _DOUBTFUL < threshold <= 1:
        raise ValueError(
            f"{threshold} alone would tolerate that share of exceptions: write "
            f"{{min: {threshold}}} if so many must be right, or {{max: {threshold}}}"
        )
    return _from_number(threshold)


def _form(value: Any) -> str:
    """Which form of threshold is meant, so that errors speak of that one only."""
    if isinstance(value, AtMost | AtLeast):
        return type(value).__name__
    if isinstance(value, Mapping):
        return "AtLeast" if {"min", "soft_min"} & set(value) else "AtMost"
    return ALL


def _requirement_form(value: Any) -> str:
    """Where good rows are required by default, only bounds on bad ones mean these."""
    if isinstance(value, Mapping):
        return "AtMost" if {"max", "soft_max"} & set(value) else "AtLeast"
    return _form(value)


_All: TypeAlias = Annotated[Literal["all"], Tag(ALL)]
_AtMost: TypeAlias = Annotated[AtMost, Tag("AtMost")]
_AtLeast: TypeAlias = Annotated[AtLeast, Tag("AtLeast")]
# Never met after validation: a number becomes a limit before.
_Number: TypeAlias = Annotated[float, Tag(_NUMBER)]
RequirementThreshold: TypeAlias = Annotated[
    _All | _AtMost | _AtLeast | _Number,
    Discriminator(_requirement_form),
    BeforeValidator(_from_clear_number),
]
EitherThreshold: TypeAlias = Annotated[
    _All | _AtMost | _AtLeast | _Number, Discriminator(_form), BeforeValidator(_from_number)
]
AnyThreshold: TypeAlias = Literal["all"] | AtMost | AtLeast | float


def on_bad_rows(
    threshold: AnyThreshold, bad: int, considered: int, *, required: bool = False
) -> RowVerdict:
    """The verdict on so many bad rows; ``required`` if ``all`` means that all rows are good."""
    if isinstance(threshold, AtMost | AtLeast):
        return threshold.tolerance.judge(bad, considered)
    if required:
        return Tolerance("proportion", hard=1, of_good=True).judge(bad, considered)
    return Tolerance("count", hard=0).judge(bad, considered)


def leniency(threshold: AnyThreshold) -> str:
    """How a threshold reads at the end of a demand."""
    if isinstance(threshold, AtLeast):
        return f" ({threshold.tolerance.words()})"
    if isinstance(threshold, AtMost):
        return f" (exceptions: {threshold.tolerance.words()})"
    return ""
