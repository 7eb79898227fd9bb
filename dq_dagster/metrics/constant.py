"""Values that people write into rules: bounds and members of sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Self, TypeAlias

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
