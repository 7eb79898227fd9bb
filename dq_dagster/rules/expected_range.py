"""The four bounds of rules that expect a value, or all values, within a range."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, model_validator

from dq_dagster.errors import Misfit
from dq_dagster.judging.comparison import aligned, parse_moment
from dq_dagster.judging.ranges import Range
from dq_dagster.rules.fields import Bound, Number


class NumberRange(BaseModel):
    """Bounds of something that is always a number."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    min: Number | None = None
    """Below this is an Error."""
    soft_min: Number | None = None
    """Below this is a Warning."""
    soft_max: Number | None = None
    """Above this is a Warning."""
    max: Number | None = None
    """Above this is an Error."""

    @model_validator(mode="after")
    def _bounds_make_sense(self) -> Self:
        _check_bounds(self.min, self.soft_min, self.soft_max, self.max)
        return self

    @property
    def expected(self) -> Range:
        return Range(self.min, self.soft_min, self.soft_max, self.max)


class ValueRange(BaseModel):
    """Bounds of column values: numbers, ISO dates and timestamps, or text on text columns."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    min: Bound | None = None
    """Below this is an Error."""
    soft_min: Bound | None = None
    """Below this is a Warning."""
    soft_max: Bound | None = None
    """Above this is a Warning."""
    max: Bound | None = None
    """Above this is an Error."""

    @model_validator(mode="after")
    def _bounds_make_sense(self) -> Self:
        _check_bounds(self.min, self.soft_min, self.soft_max, self.max)
        return self

    @property
    def expected(self) -> Range:
        return Range(self.min, self.soft_min, self.soft_max, self.max)


def _as_moment(bound: Any) -> Any:
    """Texts that are times are ordered as times: those of different zones are not as texts."""
    moment = parse_moment(bound) if isinstance(bound, str) else None
    return bound if moment is None else moment


def _check_bounds(*bounds: Any) -> None:
    given = [bound for bound in bounds if bound is not None]
    if not given:
        raise ValueError("at least one of min, soft_min, soft_max and max is needed")
    for lower, upper in pairwise(given):
        try:
            low = _as_moment(lower)
            in_order = low <= aligned(upper, low)
        except (Misfit, TypeError):
            raise ValueError(f"the bounds {lower!r} and {upper!r} are of different kinds") from None
        if not in_order:
            raise ValueError(
                "bounds must be ordered min <= soft_min <= soft_max <= max, "
                f"but {lower} comes before {upper}"
            )
