"""What became of rules that were written for another tool: one entry for each of them."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import DeclarationError, Problem, in_one_line
from dq_dagster.judging.wording import plural
from dq_dagster.rules.base.rule import check_name
from dq_dagster.ruleset import RuleSet

if TYPE_CHECKING:
    import pandas as pd


class Untranslatable(Exception):
    """What cannot be taken, with the reason."""


class Taken(StrEnum):
    """What became of a rule; reports have them in this order."""

    REFUSED = "refused"
    OTHERWISE = "means something else here"
    AS_IT_IS = "taken as it is"
    NO_RULE = "documentation"
    NOT_CHOSEN = "not chosen"


_HEADINGS = {
    Taken.REFUSED: "Refused",
    Taken.OTHERWISE: "Mean something else here",
    Taken.AS_IT_IS: "Taken as they are",
    Taken.NO_RULE: "Documentation, of which no rule is made",
    Taken.NOT_CHOSEN: "Not chosen",
}


_COUNTED = {
    Taken.REFUSED: "refused",
    Taken.OTHERWISE: "with another meaning here",
    Taken.AS_IT_IS: "taken as they are",
    Taken.NO_RULE: "documentation",
    Taken.NOT_CHOSEN: "not chosen",
}


@dataclass(frozen=True, slots=True)
class MigrationEntry:
    """One rule of the other tool: what it is called there, what it became here, and why."""

    rule: str
    kind: str
    of: str
    """The table that it is about."""
    place: str
    taken: Taken
    notes: tuple[str, ...] = ()
    """The reasons, and what else there is to know."""
    becomes: str = ""
    """The type of the rule here; empty if there is none."""
    name: str = ""
    """Its name here."""
    text: str = ""
    """What it says here, where that is an expression."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "kind": self.kind,
            "of": self.of,
            "place": self.place,
            "taken": self.taken.value,
            "notes": list(self.notes),
            "becomes": self.becomes,
            "name": self.name,
            "text": self.text,
        }

    @property
    def title(self) -> str:
        """Such as "complete_duplicate (row_dq -> unique_key)"."""
        changed = f" -> {self.becomes}" if self.becomes not in {"", self.kind} else ""
        renamed = f", here {self.name}" if self.name not in {"", self.rule} else ""
        return f"{self.rule or '(no name)'} ({self.kind or 'no type'}{changed}{renamed})"


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """Every rule of the other tool, in the order in which they stand there."""

    entries: tuple[MigrationEntry, ...]
    noun: str = "rule"
    """What its entries are called."""

    def __iter__(self) -> Iterator[MigrationEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def of(self, taken: Taken | str) -> tuple[MigrationEntry, ...]:
        """Those that became that."""
        return tuple(entry for entry in self.entries if entry.taken == taken)

    @property
    def refused(self) -> tuple[MigrationEntry, ...]:
        return self.of(Taken.REFUSED)

    @property
    def counts(self) -> dict[str, int]:
        """How many rules became what."""
        return {taken.value: len(self.of(taken)) for taken in Taken}

    @property
    def headline(self) -> str:
        counted = [f"{len(self.of(taken))} {words}" for taken, words in _COUNTED.items()]
        there = ", ".join(words for words in counted if not words.startswith("0 "))
        return f"{plural(len(self), self.noun)}: {there or 'nothing to take'}"

    def __str__(self) -> str:
        return "\n".join([self.headline, *self._lines()])

    def _lines(self) -> Iterator[str]:
        for taken in Taken:
            entries = self.of(taken)
            if entries:
                yield f"\n{_HEADINGS[taken]}"
            for entry in entries:
                yield in_one_line(f"  {entry.title}  [{entry.of}; {entry.place}]")
                yield from (in_one_line(f"    {note}") for note in entry.notes)

    def to_markdown(self) -> str:
        """A table for pages and tickets."""
        rows = ["| Rule | Of | Place | Here | Notes |", "|---|---|---|---|---|"]
        for taken in Taken:
            for entry in self.of(taken):
                cells = (entry.title, entry.of, entry.place, taken.value, " ".join(entry.notes))
                rows.append(f"| {' | '.join(map(_cell, cells))} |")
        return "\n".join([f"{self.headline}.", "", *rows])

    def to_dict(self) -> dict[str, Any]:
        return {"counts": self.counts, "rules": [entry.to_dict() for entry in self.entries]}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2)

    def to_pandas(self) -> pd.DataFrame:
        import pandas as pd

        empty = MigrationEntry("", "", "", "", Taken.REFUSED).to_dict()
        rows = [{**one.to_dict(), "notes": " ".join(one.notes)} for one in self.entries]
        return pd.DataFrame(rows, columns=list(empty))

    def require_all(self) -> None:
        """Raises DeclarationError with all rules that are refused, if there are any."""
        if self.refused:
            raise DeclarationError(
                [
                    Problem(" ".join(entry.notes), rule=entry.rule, place=entry.place)
                    for entry in self.refused
                ]
            )


def unused_name(name: str, kind: str, taken: Container[str]) -> str:
    """The name, or else one that says which of several it is; ``taken`` are names of checks."""
    candidate, number = name, 1
    while check_name(candidate) in taken:
        candidate = f"{name}_{kind}" if number == 1 else f"{name}_{kind}_{number}"
        number += 1
    return candidate


def sentence(text: str) -> str:
    """A reason with a capital letter, unless it begins with the name of a field."""
    is_name = "_" in text.partition(" ")[0]
    return text if is_name else text[:1].upper() + text[1:]


@dataclass(frozen=True, slots=True)
class Migration:
    """Rules that were written for another tool: rule sets of this one, and what became of each."""

    rule_sets: list[RuleSet]
    report: MigrationReport


def _cell(text: str) -> str:
    plain = in_one_line(" ".join(text.split()))
    for sign in "\\|<>[]*_`":
        plain = plain.replace(sign, f"\\{sign}")
    return plain
