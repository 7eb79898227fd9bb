"""Declarations that can not work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dq_dagster.errors.base import DqError


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a declaration, and where it stands."""

    message: str
    rule: str | None = None
    asset: str | None = None
    place: str | None = None
    field: str | None = None

    def __str__(self) -> str:
        where = []
        if self.place:
            where.append(self.place)
        if self.rule:
            where.append(f"rule '{self.rule}'")
        if self.asset:
            where.append(f"asset '{self.asset}'")
        return f"{', '.join(where)}: {self.message}" if where else self.message


class DeclarationError(DqError):
    """Rules, rule sets or files say something that can not work. Holds every problem found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        title = "1 problem in the rules" if count == 1 else f"{count} problems in the rules"
        lines = "\n".join(f"  - {problem}" for problem in self.problems)
        super().__init__(f"{title}:\n{lines}")

    @classmethod
    def of(cls, message: str) -> DeclarationError:
        return cls([Problem(message)])
