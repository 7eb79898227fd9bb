"""Meanings as values: what a valid value of a column is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dq_dagster.metrics.constant import Constant

Match: TypeAlias = Literal["exact", "ignore_case", "ignore_accents"]


@dataclass(frozen=True, slots=True)
class Meaning(ABC):
    """Tells valid values from invalid ones."""

    @property
    @abstractmethod
    def key(self) -> str:
        """A stable text that tells this meaning from all others."""

    @property
    def from_user(self) -> bool:
        """Whether it holds text that Java may refuse, or fail on with some values."""
        return False


@dataclass(frozen=True, slots=True)
class BuiltIn(Meaning):
    """One of the meanings that every installation knows."""

    name: str

    @property
    def key(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class OneOf(Meaning):
    """The value is one of these.

    ``as_text``: the values were written as text whatever the column's type, as the keys of a
    mapping in YAML are.
    """

    values: tuple[Constant, ...]
    match: Match = "exact"
    as_text: bool = False

    @property
    def key(self) -> str:
        listed = ", ".join(value.key for value in self.values)
        how = "" if self.match == "exact" else f" ({self.match})"
        return f"one_of [{listed}]{how}{' (as text)' if self.as_text else ''}"


@dataclass(frozen=True, slots=True)
class Shaped(Meaning):
    """The whole value matches a regular expression."""

    pattern: str

    @property
    def key(self) -> str:
        return f"pattern {self.pattern!r}"

    @property
    def from_user(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Anything(Meaning):
    """Every value is valid: the meaning is there to be read."""

    @property
    def key(self) -> str:
        return "anything"
