"""The entries of an object in a plan's files: what is there, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from decimal import Decimal
from typing import Any

from dq_dagster.errors import DeclarationError, Problem, did_you_mean
from dq_dagster.plan.topnotch import Figure
from dq_dagster.sources.topnotch.json_text import Node, read_json, shortened
from dq_dagster.sources.topnotch.variables import refuse_ended_quotes
from dq_dagster.sql.refusal import Refusal

# Keys that begin so are notes of the author.
_NOTES = ("x-", "_", "//")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LONGEST = 1_000


class Fields:
    """The entries of one object; all problems are added to the list that it was given."""

    def __init__(self, node: Node, known: Collection[str], problems: list[Problem]) -> None:
        self.place = node.place
        self._problems = problems
        self._is_object = isinstance(node.value, dict)
        self._entries: dict[str, Node] = node.value if self._is_object else {}
        if not self._is_object:
            self.refuse(f"an object with {_listed(known)} is needed, not {node.kind}.")
        for key in self._entries:
            if key not in known and not key.startswith(_NOTES):
                hint = did_you_mean(key, known) or f" There is: {', '.join(known)}."
                message = f"unknown field '{shortened(key)}'.{hint}"
                problems.append(Problem(message, place=node.keys[key]))

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def refuse(self, message: str, name: str | None = None) -> None:
        """Adds a problem with a field, or with the whole."""
        field = "" if name is None else f"field '{name}' "
        self._problems.append(Problem(f"{field}{message}", place=self.place_of(name)))

    def place_of(self, name: str | None) -> str:
        found = self._entries.get(name or "")
        return self.place if found is None else found.place

    def node(self, name: str) -> Node | None:
        """The entry, if it is there; null counts as if it were not."""
        found = self._entries.get(name)
        return None if found is None or found.value is None else found

    def needed(self, name: str) -> Node | None:
        """The entry; if it is missing, that is a problem."""
        found = self.node(name)
        # Of what is no object, that alone is said.
        if found is None and self._is_object:
            self.refuse(f"field '{name}' is missing.")
        return found

    def text(self, name: str, *, needed: bool = True) -> str:
        """A text that is not empty, on one line; empty if there is none."""
        found = self.needed(name) if needed else self.node(name)
        if found is None:
            return ""
        return self._text(found, name)

    def name(self, name: str, *, needed: bool = True) -> str:
        """A text that is fit to be part of a key."""
        found = self.text(name, needed=needed)
        if found and not _NAME.fullmatch(found):
            self.refuse(
                f"may have letters, digits and '_', '.', '-', and at most 100 of them, but it is "
                f"{shortened(found)!r}.",
                name,
            )
        return found

    def texts(self, name: str, *, needed: bool = True) -> tuple[str, ...]:
        """A list of texts, each on one line."""
        return tuple(self._text(one, name) for one in self.entries(name, needed=needed))

    def words(self, name: str) -> tuple[str, ...]:
        """A list of names that need no quotes in SQL."""
        found = self.texts(name)
        for word in found:
            if word and not _WORD.fullmatch(word):
                self.refuse(f"has {shortened(word)!r}, but {_PLAIN_WORD}.", name)
        return found

    def entries(self, name: str, *, needed: bool = True) -> list[Node]:
        """The entries of a list."""
        found = self.needed(name) if needed else self.node(name)
        if found is None:
            return []
        if not isinstance(found.value, list):
            self.refuse(f"must be a list, not {found.kind}.", name)
            return []
        return list(found.value)

    def flag(self, name: str) -> bool:
        """True or false; false if it is not there."""
        return self.node(name) is not None and self.known_flag(name) is True

    def known_flag(self, name: str) -> bool | None:
        """True or false, which is needed; None if it cannot be known."""
        found = self.needed(name)
        value = None if found is None else _unquoted(found)
        if isinstance(value, bool):
            return value
        if found is not None and not found.open:
            self.refuse(f"must be true or false, not {found.kind}.", name)
        return None

    def number(self, name: str, default: Figure | None = None) -> Figure:
        """A number that is not negative; without a default it is needed."""
        found = self.needed(name) if default is None else self.node(name)
        if found is None:
            return 0 if default is None else default
        return self._number(found, name)

    def numbers(self, name: str) -> tuple[Figure, ...]:
        """A list of numbers that are not negative."""
        return tuple(self._number(one, name) for one in self.entries(name, needed=False))

    def sql(self, name: str, refusals: Callable[[str], Sequence[Refusal]]) -> str:
        """A text in SQL that nothing is to be said against."""
        found = self.needed(name)
        return "" if found is None else self._sql(found, f"field '{name}'", refusals)

    def sql_by_name(
        self, name: str, refusals: Callable[[str], Sequence[Refusal]]
    ) -> dict[str, str]:
        """Expressions in SQL by the names of the columns that they become."""
        found = self.node(name)
        if found is None:
            return {}
        if not isinstance(found.value, dict):
            self.refuse(f"must be an object with names and expressions, not {found.kind}.", name)
            return {}
        for key in found.value:
            if not _WORD.fullmatch(key):
                message = f"field '{name}' has {shortened(key)!r}, but {_PLAIN_WORD}."
                self._problems.append(Problem(message, place=found.keys[key]))
        return {
            key: self._sql(one, f"'{shortened(key)}' of field '{name}'", refusals)
            for key, one in found.value.items()
        }

    def within(self, name: str, known: Collection[str]) -> Fields | None:
        """The entries of an object that is needed."""
        found = self.needed(name)
        return None if found is None else Fields(found, known, self._problems)

    def _text(self, node: Node, name: str) -> str:
        if node.open:
            # What it is to be is not known, and that was said.
            return ""
        if not isinstance(node.value, str) or not node.value.strip():
            self._at(node, f"field '{name}' must be a text, not {_kind(node)}.")
            return ""
        if _CONTROL.search(node.value):
            self._at(node, f"field '{name}' has a control character in it.")
            return ""
        if len(node.value) > _LONGEST:
            self._at(node, f"field '{name}' has more than {_LONGEST:,} characters.")
            return ""
        return node.value

    def _number(self, node: Node, name: str) -> Figure:
        value = _unquoted(node)
        if node.open:
            return 0
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            self._at(node, f"field '{name}' must be a number, not {node.kind}.")
            return 0
        if not value >= 0:
            self._at(node, f"field '{name}' cannot be negative, but it is {value}.")
            return 0
        return value

    def _sql(self, node: Node, what: str, refusals: Callable[[str], Sequence[Refusal]]) -> str:
        if not isinstance(node.value, str) or not node.value.strip():
            self._at(node, f"{what} must be a text in SQL, not {_kind(node)}.")
            return ""
        if node.open:
            return ""
        ended = refuse_ended_quotes(node)
        self._problems += ended
        if not ended:
            for one in refusals(node.value):
                self._at(node, f"{what}: {one.reason}")
        return node.value

    def _at(self, node: Node, message: str) -> None:
        self._problems.append(Problem(message, place=node.place))


_PLAIN_WORD = (
    "a name here begins with a letter, and has letters, digits and underscores, at most 100"
)


def _kind(node: Node) -> str:
    return "an empty one" if isinstance(node.value, str) and not node.value.strip() else node.kind


def _unquoted(node: Node) -> Any:
    """The value; a text that comes from a variable is what it would be without quotes."""
    if not node.filled or not isinstance(node.value, str):
        return node.value
    try:
        return read_json(node.value, name="").value
    except DeclarationError:
        return node.value


def _listed(names: Collection[str]) -> str:
    return " and ".join(f"'{name}'" for name in list(names)[:2])
