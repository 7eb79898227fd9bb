"""Lengths of time as people write them: ``2 hours``, ``1d 12h``, ``PT2H``, or seconds."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any, Self, TypeAlias, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, model_validator

from dq_dagster.errors import did_you_mean
from dq_dagster.judging.quantities import AgeRange
from dq_dagster.judging.ranges import Exclusive
from dq_dagster.rules.expected_range import check_bounds

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_SECONDS: dict[str, Decimal] = {
    name: Decimal(seconds)
    for seconds, names in {
        "0.001": "ms millisecond milliseconds",
        "1": "s sec secs second seconds",
        str(_MINUTE): "m min mins minute minutes",
        str(_HOUR): "h hr hrs hour hours",
        str(_DAY): "d day days",
        str(7 * _DAY): "w wk wks week weeks",
    }.items()
    for name in names.split()
}
# They are not of one length, and M is a month to some and a minute to others.
_VAGUE = {"M", "mo", "month", "months", "y", "yr", "year", "years", "quarter", "quarters"}
_TERM = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*([A-Za-z]+)\s*(?:,|and\b)?")
_ISO = re.compile(
    r"P(?:(?P<years>[\d.,]+)Y)?(?:(?P<months>[\d.,]+)M)?(?:(?P<w>\d+(?:[.,]\d+)?)W)?"
    r"(?:(?P<d>\d+(?:[.,]\d+)?)D)?"
    r"(?:T(?:(?P<h>\d+(?:[.,]\d+)?)H)?(?:(?P<m>\d+(?:[.,]\d+)?)M)?(?:(?P<s>\d+(?:[.,]\d+)?)S)?)?",
    re.IGNORECASE,
)
_LONGEST = Decimal(10_000 * 366 * _DAY)


def seconds(written: Any) -> int | Decimal:
    """A length of time in seconds, exactly; raises ValueError if it is none."""
    if isinstance(written, timedelta):
        found = Decimal(written // timedelta(microseconds=1)) / 1_000_000
    elif isinstance(written, str):
        found = _from_text(written)
    elif isinstance(written, int | float | Decimal) and not isinstance(written, bool):
        found = Decimal(repr(written)) if isinstance(written, float) else Decimal(written)
    else:
        raise ValueError(f"a time such as '2 hours' is needed, not {written!r}")  # noqa: TRY004 (pydantic's way)
    if not found.is_finite() or abs(found) > _LONGEST:
        raise ValueError("a length of time of more than 10,000 years is a slip")
    return int(found) if found == found.to_integral_value() else found


def _from_text(text: str) -> Decimal:
    stripped = text.strip()
    sign = -1 if stripped.startswith("-") else 1
    body = stripped.lstrip("+-").strip() if stripped[:1] in {"+", "-"} else stripped
    return sign * (_from_iso(text, body) if body[:1] in {"P", "p"} else _from_terms(text, body))


def _from_iso(text: str, body: str) -> Decimal:
    found = _ISO.fullmatch(body)
    if found is None or body[-1] in "PpTt":
        raise _refusal(text)
    if found["years"] or found["months"]:
        raise _vague(text)
    parts = {name: found[name] for name in "wdhms" if found[name]}
    return sum(
        (Decimal(part.replace(",", ".")) * _SECONDS[name] for name, part in parts.items()),
        Decimal(0),
    )


def _from_terms(text: str, body: str) -> Decimal:
    total, at = Decimal(0), 0
    while at < len(body):
        found = _TERM.match(body, at)
        if found is None:
            raise _refusal(text)
        amount, unit = found.groups()
        if unit in _VAGUE or unit.lower() in _VAGUE:
            raise _vague(text)
        if unit.lower() not in _SECONDS:
            hint = did_you_mean(unit, [name for name in _SECONDS if len(name) > 2])
            raise ValueError(f"'{text}' has the unknown unit '{unit}'.{hint}")
        total += Decimal(amount) * _SECONDS[unit.lower()]
        at = found.end()
    if not at:
        raise _refusal(text)
    return total


def _refusal(text: str) -> ValueError:
    return ValueError(
        f"'{text}' is not a length of time: write '2 hours', '90 min', '1d 12h', 'PT2H' or a "
        "number of seconds"
    )


def _vague(text: str) -> ValueError:
    return ValueError(f"'{text}' has no fixed length: write days, hours, minutes (min) or seconds")


def _some(found: Any) -> Any:
    if found <= 0:
        raise ValueError("a length of time of more than 0 is needed")
    return found


Duration: TypeAlias = Annotated[int | float | Decimal | str | timedelta, BeforeValidator(seconds)]
Window: TypeAlias = Annotated[Duration, AfterValidator(_some)]


class DurationRange(BaseModel):
    """Bounds of an age, as lengths of time."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    min: Duration | None = None
    """An age below this is an Error."""
    soft_min: Duration | None = None
    """An age below this is a Warning."""
    soft_max: Duration | None = None
    """An age above this is a Warning."""
    max: Duration | None = None
    """An age above this is an Error."""
    exclusive: Exclusive | None = None
    """Which of ``min`` and ``max`` is an Error itself: ``min``, ``max`` or ``both``."""

    @model_validator(mode="after")
    def _bounds_make_sense(self) -> Self:
        check_bounds(self.min, self.soft_min, self.soft_max, self.max, exclusive=self.exclusive)
        return self

    @property
    def expected(self) -> AgeRange:
        bounds = (self.min, self.soft_min, self.soft_max, self.max)
        # Validation has made seconds of whatever was written.
        return AgeRange(*cast("tuple[int | Decimal | None, ...]", bounds), exclusive=self.exclusive)
