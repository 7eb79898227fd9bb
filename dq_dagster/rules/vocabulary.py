"""The names that the rules of one rule set can use for meanings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from dq_dagster.errors import Problem, did_you_mean
from dq_dagster.metrics.meanings.definitions import DEFINITIONS
from dq_dagster.rules.meaning import Meaning
from dq_dagster.rules.problems import problems_of

FROM_SCHEMA = "from_schema"
# Stands for a meaning that could not be read: its problem is told, rules need not repeat it.
_UNREADABLE = Meaning(description="?")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The meanings a rule set declares, and by column the names of those its schema gives."""

    declared: Mapping[str, Meaning] = field(default_factory=dict)
    by_column: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        meanings: Mapping[str, Any],
        column_meanings: Mapping[str, str],
        problems: list[Problem],
    ) -> Vocabulary:
        """The vocabulary as it was declared; what is wrong with it is added to ``problems``."""
        declared = {name: _meaning(name, entry, problems) for name, entry in meanings.items()}
        problems += _unknown_names(cls(declared), column_meanings)
        return cls(declared, column_meanings)

    def beside(self, by_column: Mapping[str, str]) -> Vocabulary:
        """The same, with the meanings of further columns; its own come first."""
        return replace(self, by_column={**by_column, **self.by_column})

    def knows(self, name: str) -> bool:
        return name in DEFINITIONS or name in self.declared

    def unknown(self, name: str) -> str:
        """What to say about a name that stands for no meaning."""
        # A name of one's own that only differs in case from a built-in one is refused elsewhere.
        own = [one for one in self.declared if one.lower() not in DEFINITIONS]
        known = [*own, *DEFINITIONS]
        every = f" Known meanings: {', '.join(known)}."
        hint = did_you_mean(name, [*known, FROM_SCHEMA])
        return f"unknown meaning '{name}'.{hint or every}"

    def of_column(self, column: str) -> str | None:
        """The name of a column's meaning, found as Spark finds columns: without regard to case."""
        alike = {name.lower(): meaning for name, meaning in self.by_column.items()}
        return self.by_column.get(column) or alike.get(column.lower())


def _meaning(name: str, entry: Any, problems: list[Problem]) -> Meaning:
    taken = name.lower()
    if taken in DEFINITIONS or taken == FROM_SCHEMA:
        message = f"'{taken}' is a built-in meaning; call yours something else."
        problems.append(Problem(f"field 'meanings': {message}", field="meanings"))
    try:
        return Meaning.model_validate(entry)
    except ValidationError as error:
        problems += [
            Problem(f"meaning '{name}': {problem.message}", field="meanings")
            for problem in problems_of(error, Meaning, {})
        ]
        return _UNREADABLE


def _unknown_names(vocabulary: Vocabulary, by_column: Mapping[str, str]) -> list[Problem]:
    return [
        Problem(f"column '{column}': {vocabulary.unknown(name)}", field="column_meanings")
        for column, name in by_column.items()
        if not vocabulary.knows(name)
    ]
