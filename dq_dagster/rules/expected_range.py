"""The four bounds of rules that expect a value, or all values, within a range."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from itertools import pairwise
from typing import Any, Self, get_args

from pydantic import BaseModel, ConfigDict, model_validator

from dq_dagster.errors import Misfit
from dq_dagster.judging.comparison import aligned, parse_moment
from dq_dagster.judging.ranges import Exclusive, Range
from dq_dagster.rules.fields import Bound, Number

_ORDER = ("min", "soft_min", "soft_max", "max")


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
    exclusive: Exclusive | None = None
    """Which of ``min`` and ``max`` is an Error itself: ``min``, ``max`` or ``both``."""

    @model_validator(mode="after")
    def _bounds_make_sense(self) -> Self:
        check_bounds(self.min, self.soft_min, self.soft_max, self.max, exclusive=self.exclusive)
        return self

    @property
    def expected(self) -> Range:
        return Range(self.min, self.soft_min, self.soft_max, self.max, exclusive=self.exclusive)


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
    exclusive: Exclusive | None = None
    """Which of ``min`` and ``max`` is an Error itself: ``min``, ``max`` or ``both``."""

    @model_validator(mode="after")
    def _bounds_make_sense(self) -> Self:
        check_bounds(self.min, self.soft_min, self.soft_max, self.max, exclusive=self.exclusive)
        return self

    @property
    def expected(self) -> Range:
        return Range(self.min, self.soft_min, self.soft_max, self.max, exclusive=self.exclusive)


def check_bounds(*bounds: Any, exclusive: Exclusive | None = None) -> None:
    """Refuses bounds that are not there, not in order, not of one kind, or that nothing meets."""
    given = [(name, bound) for name, bound in zip(_ORDER, bounds, strict=True) if bound is not None]
    if not given:
        raise ValueError("at least one of min, soft_min, soft_max and max is needed")
    for (low, lower), (high, upper) in pairwise(given):
        try:
            in_order = _in_order(lower, upper)
        except (Misfit, TypeError):
            raise ValueError(f"the bounds {lower!r} and {upper!r} are of different kinds") from None
        if not in_order:
            raise ValueError(
                "bounds must be ordered min <= soft_min <= soft_max <= max, "
                f"but {low} is {lower} and {high} is {upper}"
            )
    if exclusive is not None:
        _check_exclusive(dict(given), exclusive)


def _check_exclusive(given: dict[str, Any], exclusive: Exclusive) -> None:
    sides = [side for side in get_args(Exclusive)[:2] if exclusive in {side, "both"}]
    missing = " and ".join(f"'{side}'" for side in sides if side not in given)
    if missing:
        raise ValueError(f"'exclusive: {exclusive}' needs {missing}")
    low, high = given.get("min"), given.get("max")
    if low is not None and high is not None and _in_order(high, low):
        raise ValueError(f"no value is between {low} and {high} if 'exclusive: {exclusive}'")


def _in_order(lower: Any, upper: Any) -> bool:
    """Texts that are times are ordered as times: those of different zones are not as texts."""
    early, late = _moment(lower), _moment(upper)
    if early is None or late is None:
        # As decimals: a float would give way to the digits of the other bound.
        exact = Decimal(repr(lower)) if isinstance(lower, float) else lower
        return bool(exact <= aligned(upper, exact))
    if (early.tzinfo is None) != (late.tzinfo is None):
        # Which comes first depends on the session's zone, which is not known yet.
        return True
    return early <= late


def _moment(bound: Any) -> datetime | None:
    if isinstance(bound, str):
        return parse_moment(bound)
    if isinstance(bound, date) and not isinstance(bound, datetime):
        return datetime.combine(bound, time())
    return bound if isinstance(bound, datetime) else None
