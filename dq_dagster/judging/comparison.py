"""Whether values are members of a set, and how two of them compare."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from dq_dagster.errors import Misfit
from dq_dagster.judging.ranges import aligned, is_nan
from dq_dagster.judging.wording import show_bound
from dq_dagster.metrics.constant import Scalar, Single, rounded


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


_OTHERWISE: Mapping[Operator, Operator] = {
    "<": ">=",
    "<=": ">",
    "=": "!=",
    "!=": "=",
    ">=": "<",
    ">": "<=",
}


@dataclass(frozen=True, slots=True)
class ExpectedNumber:
    """What a number must be, said as what holds or as what fails."""

    sense: Literal["holds", "fails"]
    operator: Operator
    expected: int | float | Decimal

    @property
    def required(self) -> Operator:
        """What must hold between the number and the expected one."""
        return self.operator if self.sense == "holds" else _OTHERWISE[self.operator]

    def is_met(self, value: Any) -> bool:
        """NaN meets nothing: whatever it is compared with, it is never fine."""
        return not is_nan(value) and holds(value, self.required, self.expected)

    def words(self) -> str:
        """What is expected, such as "at most 0"."""
        return f"{words(self.required)} {show_bound(self.expected)}"

    def __str__(self) -> str:
        return f"{self.sense} when {self.operator} {self.expected}"


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
