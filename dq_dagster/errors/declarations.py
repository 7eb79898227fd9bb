"""Declarations that can not work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dq_dagster.errors.base import DqError, near_or_all


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a declaration, and where it stands."""

    message: str
    rule: str | None = None
    asset: str | None = None
    place: str | None = None
    field: str | None = None

    @classmethod
    def unknown_asset(cls, name: str, known: Sequence[str], *, place: str | None) -> Problem:
        return cls(
            f"there is no such asset.{near_or_all(name, sorted(known))} Its rules would never "
            f"run. What others build is named by dg.AssetSpec('{name}').",
            asset=name,
            place=place,
        )

    @classmethod
    def unknown_other_asset(
        cls, rule: str, asset: str, other: str, known: Sequence[str], *, place: str | None
    ) -> Problem:
        message = f"it looks at asset '{other}', which there is not."
        hint = near_or_all(other, sorted(known))
        return cls(f"{message}{hint}", rule=rule, asset=asset, place=place)

    @classmethod
    def built_twice(cls, asset: str) -> Problem:
        return cls(
            "its checks were built twice. Give all of its rule sets to one call: "
            "dq.build_asset_checks([*dq.load_rules(...), rule_set]).",
            asset=asset,
        )

    @classmethod
    def other_partitions(cls, asset: str) -> Problem:
        return cls(
            "its checks were built without its partitions, or with others. Give its definition: "
            "dq.build_asset_checks(rule_sets, assets=[...]).",
            asset=asset,
        )

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
