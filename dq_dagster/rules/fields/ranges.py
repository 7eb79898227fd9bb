"""Bounds as people write them: of numbers, of values, of sizes and of lengths of time."""

from __future__ import annotations

import re
from abc import abstractmethod
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Generic, Self, TypeAlias, TypeVar, cast, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from dq_dagster.errors import Misfit, did_you_mean
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.ranges import AgeRange, Exclusive, Range, SizeRange, aligned, parse_moment
from dq_dagster.metrics.constant import Scalar
from dq_dagster.metrics.metric import Metric
from dq_dagster.rules.fields.constraints import Bound, Number

_ORDER = ("min", "soft_min", "soft_max", "max")


B = TypeVar("B")


class ValueJudge(BaseModel):
    """How a rule judges the value of a metric: by bounds, or by its past."""

    @abstractmethod
    def judge_value(
        self, value: Any, metric: Metric, evidence: Evidence, *, what: str, rows: int | None = None
    ) -> Judgement:
        """The verdict on a metric's value; ``what`` messages call it."""

    @abstractmethod
    def expectation(self) -> str:
        """What the value should be, as the end of a sentence such as "The average is ..."."""


class FourBounds(ValueJudge, Generic[B]):
    """Bounds of something: hard ones and, within them, soft ones; at least one of the four."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    min: B | None = None
    """Below this is an Error."""
    soft_min: B | None = None
    """Below this is a Warning."""
    soft_max: B | None = None
    """Above this is a Warning."""
    max: B | None = None
    """Above this is an Error."""
    exclusive: Exclusive | None = None
    """Which of ``min`` and ``max`` is an Error itself: ``min``, ``max`` or ``both``."""

    range_type: ClassVar[type[Range]] = Range

    @model_validator(mode="after")
    def _bounds_make_sense(self) -> Self:
        check_bounds(self.min, self.soft_min, self.soft_max, self.max, exclusive=self.exclusive)
        return self

    def judge_value(
        self, value: Any, metric: Metric, evidence: Evidence, *, what: str, rows: int | None = None
    ) -> Judgement:
        return self.expected.judge(value, what=what, rows=rows, zone=evidence.zone)

    def expectation(self) -> str:
        return self.expected.words()

    @property
    def expected(self) -> Range:
        bounds = (self.min, self.soft_min, self.soft_max, self.max)
        # Validation has made values to compare with of whatever was written.
        return self.range_type(*cast("tuple[Scalar | None, ...]", bounds), exclusive=self.exclusive)


class NumberRange(FourBounds[Number]):
    """Bounds of something that is always a number."""


class ValueRange(FourBounds[Bound]):
    """Bounds of column values: numbers, ISO dates and timestamps, or text on text columns."""


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


_POWERS = "kmgtpe"
_WRITTEN = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*([A-Za-z]*)\s*")
_LARGEST = 10**24


def byte_count(written: Any) -> int:
    """A number of bytes; raises ValueError if it is none."""
    if isinstance(written, str):
        found = _bytes_from_text(written)
    else:
        found = _number(written, "a size such as '10 MB'")
    if not found.is_finite() or not 0 <= found <= _LARGEST:
        raise ValueError("a number of bytes can neither be negative nor without end")
    if found != found.to_integral_value():
        raise ValueError(f"{written!r} is not a whole number of bytes")
    return int(found)


def _number(written: Any, needed: str) -> Decimal:
    if isinstance(written, bool) or not isinstance(written, int | float | Decimal):
        raise ValueError(f"{needed} is needed, not {written!r}")  # noqa: TRY004 (pydantic's way)
    return Decimal(repr(written)) if isinstance(written, float) else Decimal(written)


def _bytes_from_text(text: str) -> Decimal:
    found = _WRITTEN.fullmatch(text)
    factor = _factor(found[2].lower()) if found else None
    if found is None or factor is None:
        raise ValueError(
            f"'{text}' is not a number of bytes: write '10 MB' (a million each), '1 GiB' (1024 "
            "to the third) or a number"
        )
    return Decimal(found[1]) * factor


def _factor(unit: str) -> int | None:
    """How many bytes a unit has: powers of 1000 for kB, of 1024 for KiB."""
    if unit in {"b", "byte", "bytes"}:
        return 1
    power = _POWERS.find(unit[:1]) + 1 if unit else 0
    if power and unit[1:] in {"b", "ib"}:
        return int((1024 if unit.endswith("ib") else 1000) ** power)
    return None


ByteCount: TypeAlias = Annotated[int | float | Decimal | str, BeforeValidator(byte_count)]


class ByteRange(FourBounds[ByteCount]):
    """Bounds of a number of bytes."""

    range_type = SizeRange


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
        found = _seconds_from_text(written)
    else:
        found = _number(written, "a time such as '2 hours'")
    if not found.is_finite() or abs(found) > _LONGEST:
        raise ValueError("a length of time of more than 10,000 years is a mistake")
    return int(found) if found == found.to_integral_value() else found


def _seconds_from_text(text: str) -> Decimal:
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


def some_seconds(written: Any) -> int | Decimal:
    """A length of time in seconds that is longer than none; raises ValueError if it is none."""
    found = seconds(written)
    if found <= 0:
        raise ValueError("a length of time of more than 0 is needed")
    return found


Duration: TypeAlias = Annotated[int | float | Decimal | str | timedelta, BeforeValidator(seconds)]
Window: TypeAlias = Annotated[
    int | float | Decimal | str | timedelta, BeforeValidator(some_seconds)
]


class DurationRange(FourBounds[Duration]):
    """Bounds of an age, as lengths of time."""

    range_type = AgeRange
