"""What a quality entry demands of a number: the standard's operators as bounds, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Self

from dq_dagster.errors import did_you_mean
from dq_dagster.rules.fields.threshold import ALL
from dq_dagster.sources.contracts.taking import as_number, exactly, literal
from dq_dagster.sources.migration import Untranslatable

OPERATORS = (
    "mustBe", "mustNotBe", "mustBeGreaterThan", "mustBeGreaterOrEqualTo", "mustBeLessThan",
    "mustBeLessOrEqualTo", "mustBeBetween", "mustNotBeBetween",
)  # fmt: skip
# Spellings of earlier versions and of other tools.
_SYNONYMS = {
    "mustBeGreaterThanOrEqualTo": "mustBeGreaterOrEqualTo",
    "mustBeLessThanOrEqualTo": "mustBeLessOrEqualTo",
}
ALL_OPERATORS = (*OPERATORS, *_SYNONYMS)


@dataclass(frozen=True, slots=True)
class Demand:
    """Bounds that a number must keep, or, if ``outside``, must not lie between.

    ``value`` is set where something that is no number must be equal, or different if ``outside``.
    """

    low: Decimal | None = None
    high: Decimal | None = None
    above: bool = False
    below: bool = False
    outside: bool = False
    value: Any = None

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self | None:
        """What the operators of an entry say together; None if it has none."""
        given = {_SYNONYMS.get(key, key): fields[key] for key in ALL_OPERATORS if key in fields}
        found = [cls._of_one(key, value) for key, value in given.items()]
        if len(found) < 2:
            return found[0] if found else None
        if any(one.outside or one.value is not None for one in found):
            listed = " and ".join(f"'{key}'" for key in given)
            raise Untranslatable(f"{listed} cannot stand together.")
        lows = [(one.low, one.above) for one in found if one.low is not None]
        highs = [(one.high, one.below) for one in found if one.high is not None]
        low, above = max(lows, default=(None, False))
        high, below = min(highs, key=lambda bound: (bound[0], not bound[1]), default=(None, False))
        return cls(low, high, above, below)

    @classmethod
    def _of_one(cls, operator: str, value: Any) -> Self:
        if operator in {"mustBe", "mustNotBe"}:
            outside = operator == "mustNotBe"
            if isinstance(value, bool | str):
                return cls(outside=outside, value=value)
            return cls(exactly(value), exactly(value), outside=outside)
        if operator.endswith("Between"):
            low, high = _pair(operator, value)
            # As the standard has it: more than the first and less than the second.
            strict = operator == "mustBeBetween"
            return cls(low, high, strict, strict, outside=not strict)
        bound = exactly(value)
        if "Greater" in operator:
            return cls(low=bound, above=operator == "mustBeGreaterThan")
        return cls(high=bound, below=operator == "mustBeLessThan")

    def whole(self) -> Demand:
        """The same of a whole number, with bounds that are within."""
        low = None if self.low is None else _up(self.low, past=self.above)
        high = None if self.high is None else _down(self.high, past=self.below)
        if low is not None and high is not None and low > high:
            raise Untranslatable("no whole number lies between the two.")
        return Demand(low, high, outside=self.outside)

    @property
    def is_limit(self) -> bool:
        """Whether it limits a count from above, and nothing else."""
        at_least = self.low is None or self.low < 0 or (self.low == 0 and not self.above)
        return not self.outside and self.high is not None and at_least

    def threshold(self, *, percent: bool) -> Any:
        """As a threshold on bad rows; raises Untranslatable if it is none."""
        bound = self.high
        if bound is None or bound < 0:
            raise Untranslatable("a number of rows cannot be negative.")
        if percent and bound > 100:
            raise Untranslatable(f"{bound} percent is more than all.")
        if self.low == 0 and bound == 0:
            return ALL
        if percent:
            return {"type": "proportion", "max": as_number(bound / 100)}
        return {"type": "count", "max": as_number(bound)}

    def bounds(self) -> dict[str, Any]:
        """As the fields of an expected range."""
        found: dict[str, Any] = {}
        if self.low is not None:
            found["min"] = as_number(self.low)
        if self.high is not None:
            found["max"] = as_number(self.high)
        if self.above or self.below:
            found["exclusive"] = (
                "both" if self.above and self.below else "min" if self.above else "max"
            )
        return found

    def condition(self, number: str) -> str:
        """As a condition in SQL on an expression."""
        if self.value is not None:
            return f"{number} {'<>' if self.outside else '='} {literal(self.value)}"
        low = None if self.low is None else literal(self.low)
        high = None if self.high is None else literal(self.high)
        if low is not None and low == high and not (self.above or self.below):
            return f"{number} {'<>' if self.outside else '='} {low}"
        if self.outside:
            return f"({number} < {low} OR {number} > {high})"
        parts = []
        if low is not None:
            parts.append(f"{number} {'>' if self.above else '>='} {low}")
        if high is not None:
            parts.append(f"{number} {'<' if self.below else '<='} {high}")
        return " AND ".join(parts)


def _pair(operator: str, value: Any) -> tuple[Decimal, Decimal]:
    if not isinstance(value, list) or len(value) != 2:
        raise Untranslatable(f"'{operator}' needs two numbers, such as [0, 100].")
    low, high = map(exactly, value)
    if low > high:
        raise Untranslatable(f"'{operator}' needs the smaller number first.")
    return low, high


def _up(bound: Decimal, *, past: bool) -> Decimal:
    up = bound.to_integral_value(ROUND_CEILING)
    return up + 1 if past and up == bound else up


def _down(bound: Decimal, *, past: bool) -> Decimal:
    down = bound.to_integral_value(ROUND_FLOOR)
    return down - 1 if past and down == bound else down


def misspelled_operator(key: str) -> str:
    """A hint, if a key is meant to be an operator."""
    return did_you_mean(key, OPERATORS) if key.startswith("must") else ""


def operators_of(bounds: Mapping[str, Any], *, whole: bool) -> dict[str, Any] | None:
    """The operator that says what these bounds say; None if the standard has none.

    It has one for each side, and for both sides only one without the bounds themselves.
    """
    low, high = bounds.get("min"), bounds.get("max")
    exclusive = bounds.get("exclusive")
    above, below = exclusive in {"min", "both"}, exclusive in {"max", "both"}
    if low is not None and high is not None:
        if low == high and exclusive is None:
            return {"mustBe": low}
        if exclusive == "both" and low < high:
            return {"mustBeBetween": [low, high]}
        if whole and exclusive is None:
            return {"mustBeBetween": [low - 1, high + 1]}
        return None
    if low is not None:
        return {"mustBeGreaterThan" if above else "mustBeGreaterOrEqualTo": low}
    if high is not None:
        return {"mustBeLessThan" if below else "mustBeLessOrEqualTo": high}
    return None
