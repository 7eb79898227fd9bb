"""Named types of rule fields: the constraints live here, once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from dq_dagster.metrics.conditions import Action
from dq_dagster.sql.across_rows import across_rows_refusals, only_lacks_windows
from dq_dagster.sql.expressions import (
    aggregate_refusals,
    filter_refusals,
    order_refusals,
    refusals,
)
from dq_dagster.sql.queries import query_refusals
from dq_dagster.sql.refusal import Refusal

_MOST_DIGITS = 1_233
_MOST_BITS = 4096


def _no_row_to_drop(value: Any) -> Any:
    if value == "drop":
        raise ValueError(
            "no single row can be blamed here, so that there is none to drop: write 'ignore' or "
            "'fail'"
        )
    if value not in _OF_DATASETS:
        raise ValueError(f"'ignore' or 'fail' is needed, not {value!r}")
    return value


# What becomes of rows in flight that break a rule, and of the asset if all rows together do.
RowAction: TypeAlias = Action
_OF_DATASETS = ("ignore", "fail")
DatasetAction: TypeAlias = Annotated[
    Action,
    BeforeValidator(_no_row_to_drop),
    WithJsonSchema({"type": "string", "enum": list(_OF_DATASETS)}),
]
# The rows that a rule about all of them is judged on in flight: as they came, or as they are kept.
Phase: TypeAlias = Literal["source", "validated", "both"]
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


def refuse_vast(value: Any) -> None:
    """Raises ValueError for a number so large or so fine that merely to write it out takes long."""
    if isinstance(value, int):
        vast = value.bit_length() > _MOST_BITS
    elif isinstance(value, Decimal) and value.is_finite():
        exponent = value.as_tuple().exponent
        vast = max(abs(value.adjusted()), abs(int(exponent))) > _MOST_DIGITS
    else:
        return
    if vast:
        raise ValueError("a number of that many digits is a mistake")


def _finite(value: Any) -> Any:
    infinite = (
        not value.is_finite()
        if isinstance(value, Decimal)
        else (isinstance(value, float) and not math.isfinite(value))
    )
    if infinite:
        raise ValueError("a bound must be a finite number")
    return _reasonable(value)


def _reasonable(value: Any) -> Any:
    refuse_vast(value)
    return value


def _is_a_number(value: Any) -> Any:
    # Pydantic would turn True into 1 and "3" into 3; neither was meant.
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError(f"a number is needed, not {value!r}{_in_digits(value)}")  # noqa: TRY004 (pydantic's way)
    return _reasonable(value)


def _in_digits(value: Any) -> str:
    """How to write a number that has marks between its digits, which YAML takes for a text."""
    digits = str(value).replace("_", "").replace(",", "").replace(" ", "")
    grouped = isinstance(value, str) and digits != value and digits.lstrip("+-").isdigit()
    return f": write {digits}" if grouped else ""


def _acceptable_by(judge: Callable[[str], Sequence[Refusal]]) -> Callable[[str], str]:
    def acceptable(text: str) -> str:
        reasons = judge(text)
        if reasons:
            raise ValueError(" ".join(refusal.reason for refusal in reasons))
        return text

    return acceptable


def row_sql(text: str, *, across_rows: bool) -> str:
    """A row predicate, which may look beyond its row; raises ValueError if it is none."""
    reasons = [one.reason for one in (across_rows_refusals if across_rows else refusals)(text)]
    if not across_rows and only_lacks_windows(text):
        reasons.append("With across_rows: true, a rule may look beyond its row.")
    if reasons:
        raise ValueError(" ".join(reasons))
    return text


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
Weight: TypeAlias = Annotated[
    float, BeforeValidator(_is_a_number), Field(ge=0, allow_inf_nan=False)
]
Share: TypeAlias = Annotated[float, BeforeValidator(_is_a_number), Field(ge=0, le=1)]
Bound: TypeAlias = Annotated[
    bool | int | float | Decimal | datetime | date | str, BeforeValidator(_finite)
]
SetValue: TypeAlias = Annotated[
    bool | int | float | Decimal | datetime | date | str, BeforeValidator(_reasonable)
]
SetValues: TypeAlias = Annotated[Sequence[SetValue], Field(min_length=1), AfterValidator(tuple)]
RowSql: TypeAlias = Annotated[str, AfterValidator(_acceptable_by(refusals))]
FilterSql: TypeAlias = Annotated[str, AfterValidator(_acceptable_by(filter_refusals))]
OrderSql: TypeAlias = Annotated[str, AfterValidator(_acceptable_by(order_refusals))]
AggregateSql: TypeAlias = Annotated[str, AfterValidator(_acceptable_by(aggregate_refusals))]
QuerySql: TypeAlias = Annotated[str, AfterValidator(_acceptable_by(query_refusals))]
