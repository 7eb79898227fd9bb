"""Comparing an observed value with a bound, without ever rounding either silently."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, tzinfo
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from dq_dagster.errors import Misfit
from dq_dagster.judging.wording import show_bound
from dq_dagster.metrics.constant import Scalar, Single, nearest_float, rounded

_FIRST = datetime(1, 1, 1, tzinfo=UTC)
_LAST = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)


def is_nan(value: object) -> bool:
    return isinstance(value, float | Decimal) and math.isnan(value)


def aligned(bound: Scalar, observed: object, *, zone: tzinfo = UTC, what: str = "") -> Any:
    """The bound in the observed value's own type, or Misfit if it has none there.

    A naive time bound on a column of instants is meant in the session's zone.
    """
    match observed:
        case bool():
            fitted: object = bound if isinstance(bound, bool) else None
        case int() | Decimal():
            fitted = _exact_number(bound)
        case Single():
            number = _float_number(bound)
            fitted = rounded(number) if isinstance(number, float) else number
        case float():
            fitted = _float_number(bound)
        case datetime():
            fitted = _moment(bound, aware=observed.tzinfo is not None, zone=zone)
        case date():
            fitted = _day(bound)
        case str():
            fitted = bound if isinstance(bound, str) else None
        case _:
            fitted = None
    if fitted is None:
        raise Misfit.wrong_bound(show_bound(bound), kind_of(observed), what)
    return fitted


def kind_of(value: object) -> str:
    match value:
        case bool():
            return "boolean"
        case int() | float() | Decimal():
            return "number"
        case datetime():
            return "timestamp"
        case date():
            return "date"
        case str():
            return "text"
        case _:
            return type(value).__name__


def parse_moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def parse_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None


def _exact_number(bound: Scalar) -> int | Decimal | None:
    if isinstance(bound, bool):
        return None
    if isinstance(bound, float):
        # 0.1 means the decimal 0.1 to the person who wrote it.
        return Decimal(repr(bound))
    return bound if isinstance(bound, int | Decimal) else None


def _float_number(bound: Scalar) -> int | float | Decimal | None:
    if isinstance(bound, bool) or not isinstance(bound, int | float | Decimal):
        return None
    nearest = nearest_float(bound)
    # Beyond all floats; Python compares such a number with a float exactly.
    return bound if nearest is None else nearest


def _moment(bound: Scalar, *, aware: bool, zone: tzinfo) -> datetime | None:
    if isinstance(bound, str):
        moment = parse_moment(bound)
    elif isinstance(bound, datetime):
        moment = bound
    else:
        moment = datetime.combine(bound, time()) if isinstance(bound, date) else None
    if moment is None or (moment.tzinfo is not None) == aware:
        return moment
    # A zoned bound means nothing on wall-clock times; a naive one is in the session's zone.
    # In UTC, since Python compares two times of one zone by their wall clocks, which jump.
    return _instant(moment, zone) if aware else None


def _instant(moment: datetime, zone: tzinfo) -> datetime:
    try:
        return moment.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError:
        # 9999-12-31 is a common "for ever"; west of UTC it ends beyond the calendar.
        return _LAST if moment.year > 1 else _FIRST


def in_zone(value: Any, zone: tzinfo) -> Any:
    """An instant as people of that zone read it; everything else as it is."""
    if not isinstance(value, datetime) or value.tzinfo is None:
        return value
    try:
        return value.astimezone(zone)
    except OverflowError:
        return value


def _day(bound: Scalar) -> date | None:
    if isinstance(bound, str):
        return parse_day(bound)
    if isinstance(bound, datetime):
        return None
    return bound if isinstance(bound, date) else None


def is_member(value: Any, values: Sequence[Scalar], *, what: str, zone: tzinfo = UTC) -> bool:
    """Raises Misfit if none of the values is of a kind that the observed one can equal."""
    if is_nan(value):
        # Not even of a set with NaN in it: NaN is never fine.
        return False
    misfit: Misfit | None = None
    fitting = []
    for member in values:
        try:
            fitting.append(aligned(member, value, zone=zone, what=what))
        except Misfit as found:
            misfit = misfit or found
    if not fitting and misfit is not None:
        raise misfit
    return any(bool(value == member) for member in fitting)


Operator: TypeAlias = Literal["<", "<=", "=", "!=", ">=", ">"]

_HOLDS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}
_WORDS: Mapping[str, str] = {
    "<": "less than",
    "<=": "at most",
    "=": "equal to",
    "!=": "different from",
    ">=": "at least",
    ">": "greater than",
}


def holds(left: Any, sign: Operator, right: Any) -> bool:
    """Whether the comparison is true. Neither value is None or NaN."""
    return bool(_HOLDS[sign](*_alike(left, right)))


def words(sign: Operator) -> str:
    return _WORDS[sign]


def _alike(left: Any, right: Any) -> tuple[Any, Any]:
    if _is_number(left) and _is_number(right):
        return _numbers(left, right)
    if type(left) is type(right) and isinstance(left, date) and _zoned(left) == _zoned(right):
        return left, right
    return _text(left), _text(right)


def _numbers(left: Any, right: Any) -> tuple[Any, Any]:
    """Python compares numbers exactly; only what a float column rounded is rounded likewise."""
    if isinstance(left, Single) or isinstance(right, Single):
        return rounded(float(left)), rounded(float(right))
    if isinstance(left, float) and isinstance(right, Decimal):
        return left, float(right)
    if isinstance(left, Decimal) and isinstance(right, float):
        return float(left), right
    return left, right


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _zoned(value: date) -> bool:
    return isinstance(value, datetime) and value.tzinfo is not None


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat(" ") if isinstance(value, datetime) else str(value)
