"""Values that people write into rules: bounds and members of sets."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Self, TypeAlias


class Single(float):
    """A value that a 32-bit column held; what it is compared with is rounded likewise."""

    __slots__ = ()


def rounded(value: float) -> float:
    """The nearest 32-bit number, or the value itself if it is beyond all of those."""
    try:
        nearest: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return value
    return nearest


def nearest_float(value: float | Decimal) -> float | None:
    """The nearest double of a number; None for a finite one that is beyond all doubles."""
    try:
        nearest = float(value)
    except OverflowError:
        return None
    beyond = math.isinf(nearest) and isinstance(value, Decimal) and value.is_finite()
    return None if beyond else nearest


Scalar: TypeAlias = bool | int | float | Decimal | str | date | datetime


@dataclass(frozen=True, slots=True)
class Constant:
    """A value together with its kind.

    Python holds 1, 1.0 and True for equal; metrics that differ in such a constant must not
    collapse into one, so a constant compares by kind and text.
    """

    kind: str
    text: str

    @classmethod
    def of(cls, value: Scalar) -> Self:
        match value:
            case bool():
                return cls("bool", "true" if value else "false")
            case int():
                return cls("int", str(value))
            case float():
                return cls("float", repr(value))
            case Decimal():
                return cls("decimal", str(value))
            case datetime():
                return cls("datetime", value.isoformat())
            case date():
                return cls("date", value.isoformat())
            case str():
                return cls("str", value)

    @property
    def value(self) -> Scalar:
        return _PARSERS[self.kind](self.text)

    @property
    def key(self) -> str:
        """A text that tells it from constants of other kinds."""
        return f"{self.text}BD" if self.kind == "decimal" else str(self)

    def __str__(self) -> str:
        return repr(self.text) if self.kind == "str" else self.text


_PARSERS: dict[str, Callable[[str], Scalar]] = {
    "bool": lambda text: text == "true",
    "int": int,
    "float": float,
    "decimal": Decimal,
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "str": str,
}
