"""Numbers of bytes as people write them: ``10 MB``, ``1.5 GiB``, or a number."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any, Self, TypeAlias, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from dq_dagster.judging.quantities import SizeRange
from dq_dagster.judging.ranges import Exclusive
from dq_dagster.rules.expected_range import check_bounds

_POWERS = "kmgtpe"
_WRITTEN = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*([A-Za-z]*)\s*")
_LARGEST = 10**24


def byte_count(written: Any) -> int:
    """A number of bytes; raises ValueError if it is none."""
    if isinstance(written, str):
        found = _from_text(written)
    elif isinstance(written, int | float | Decimal) and not isinstance(written, bool):
        found = Decimal(repr(written)) if isinstance(written, float) else Decimal(written)
    else:
        raise ValueError(f"a size such as '10 MB' is needed, not {written!r}")  # noqa: TRY004 (pydantic's way)
    if not found.is_finite() or not 0 <= found <= _LARGEST:
        raise ValueError("a number of bytes can neither be negative nor without end")
    if found != found.to_integral_value():
        raise ValueError(f"{written!r} is not a whole number of bytes")
    return int(found)


def _from_text(text: str) -> Decimal:
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


class ByteRange(BaseModel):
    """Bounds of a number of bytes."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    min: ByteCount | None = None
    """Fewer bytes than this are an Error."""
    soft_min: ByteCount | None = None
    """Fewer bytes than this are a Warning."""
    soft_max: ByteCount | None = None
    """More bytes than this are a Warning."""
    max: ByteCount | None = None
    """More bytes than this are an Error."""
    exclusive: Exclusive | None = None
    """Which of ``min`` and ``max`` is an Error itself: ``min``, ``max`` or ``both``."""

    @model_validator(mode="after")
    def _bounds_make_sense(self) -> Self:
        check_bounds(self.min, self.soft_min, self.soft_max, self.max, exclusive=self.exclusive)
        return self

    @property
    def expected(self) -> SizeRange:
        bounds = (self.min, self.soft_min, self.soft_max, self.max)
        # Validation has made numbers of whatever was written.
        return SizeRange(*cast("tuple[int | None, ...]", bounds), exclusive=self.exclusive)
