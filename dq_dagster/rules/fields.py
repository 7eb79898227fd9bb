"""Named types of rule fields: the constraints live here, once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field

from dq_dagster.sql.aggregate_expression import aggregate_refusals, filter_refusals
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.row_expression import refusals

_MOST_BITS = 4096

RunMode: TypeAlias = Literal["with_build", "after_build", "on_demand"]
Scope: TypeAlias = Literal["partitions", "whole_dataset", "both"]
OnEmpty: TypeAlias = Literal["pass", "warn", "error"]
QualityDimension: TypeAlias = Literal[
    "accuracy", "completeness", "timeliness", "uniqueness", "validity", "consistency"
]


def _listed(value: Any) -> Any:
    """One name stands for a list of one."""
    return (value,) if isinstance(value, str) else value


def _distinct(names: Sequence[str]) -> Sequence[str]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{', '.join(map(repr, twice))} is named twice")
    return tuple(names)


def _finite(value: Any) -> Any:
    if isinstance(value, float | Decimal) and not math.isfinite(value):
        raise ValueError("a bound must be a finite number")
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise ValueError("a bound of that many digits is a slip")
    return value


def _reasonable(value: Any) -> Any:
    return _finite(value) if isinstance(value, int) else value


def _is_a_number(value: Any) -> Any:
    # Pydantic would turn True into 1 and "3" into 3; neither was meant.
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError(f"a number is needed, not {value!r}")  # noqa: TRY004 (pydantic's way)
    return value


def _acceptable_by(judge: Callable[[str], Sequence[Refusal]]) -> Callable[[str], str]:
    def acceptable(text: str) -> str:
        reasons = judge(text)
        if reasons:
            raise ValueError(" ".join(refusal.reason for refusal in reasons))
        return text

    return acceptable


Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
ColumnName: TypeAlias = Annotated[str, Field(min_length=1)]
ColumnNames: TypeAlias = Annotated[
    Sequence[ColumnName] | str,
    Field(min_length=1),
    BeforeValidator(_listed),
    AfterValidator(_distinct),
]
Words: TypeAlias = Annotated[str | Sequence[str], BeforeValidator(_listed), AfterValidator(tuple)]
Number: TypeAlias = Annotated[
    int | float | Decimal, BeforeValidator(_is_a_number), AfterValidator(_finite)
]
Count: TypeAlias = Annotated[int, BeforeValidator(_is_a_number), Field(ge=0)]
Period: TypeAlias = Annotated[int, BeforeValidator(_is_a_number), Field(ge=1, le=36_500)]
Factor: TypeAlias = Annotated[
    float, BeforeValidator(_is_a_number), Field(gt=0, allow_inf_nan=False)
]
Share: TypeAlias = Annotated[float, BeforeValidator(_is_a_number), Field(ge=0, le=1)]
Bound: TypeAlias = Annotated[
    bool | int | float | Decimal | datetime | date | str, AfterValidator(_finite)
]
SetValue: TypeAlias = Annotated[
    bool | int | float | Decimal | datetime | date | str, AfterValidator(_reasonable)
]
SetValues: TypeAlias = Annotated[Sequence[SetValue], Field(min_length=1), AfterValidator(tuple)]
RowSql: TypeAlias = Annotated[str, AfterValidator(_acceptable_by(refusals))]
FilterSql: TypeAlias = Annotated[str, AfterValidator(_acceptable_by(filter_refusals))]
AggregateSql: TypeAlias = Annotated[str, AfterValidator(_acceptable_by(aggregate_refusals))]
