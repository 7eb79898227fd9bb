"""Variables such as ``${date}`` in the texts of a plan.

Each is replaced once, in keys and in values, and what is put there is not searched for further
ones. It cannot end the text that it stands in: neither that of the file, which was read before, nor
one between quotes in SQL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

from dq_dagster.errors import DeclarationError, Problem, did_you_mean
from dq_dagster.sources.topnotch.json_text import Filled, Node, shortened
from dq_dagster.sources.yaml.text import LARGEST_FILE
from dq_dagster.sql.tokens import Refused, TokenKind, tokenise

_VARIABLE = re.compile(r"\$\{([^{}$\n]*)\}")
_QUOTED = {TokenKind.STRING, TokenKind.QUOTED}


def as_texts(variables: Any) -> dict[str, str]:
    """Variables as they were given, as texts; raises DeclarationError if they are none."""
    if not isinstance(variables, Mapping):
        raise DeclarationError.of(
            f"variables is a dict of names and values, not a {type(variables).__name__}."
        )
    problems = []
    found: dict[str, str] = {}
    for name, value in variables.items():
        if isinstance(name, str) and isinstance(value, str | int | float | Decimal | date):
            found[name] = str(value).lower() if isinstance(value, bool) else str(value)
        else:
            kind = type(value).__name__
            problems.append(Problem(f"variable {name!r} needs a text or a number, not a {kind}."))
    if problems:
        raise DeclarationError(problems)
    return found


def fill(node: Node, variables: Mapping[str, str], problems: list[Problem]) -> Node:
    """The same with values in the place of variables; what is wrong is added to ``problems``."""
    return _Filling(variables, problems).of(node)


class _Filling:
    def __init__(self, variables: Mapping[str, str], problems: list[Problem]) -> None:
        self._variables = variables
        self._problems = problems
        self._added = 0

    def of(self, node: Node) -> Node:
        match node.value:
            case str():
                before = len(self._problems)
                text, filled = self._text(node.value, node.place)
                unknown = len(self._problems) > before
                return replace(node, value=text, filled=filled, open=unknown)
            case list():
                return replace(node, value=[self.of(entry) for entry in node.value])
            case dict():
                return self._object(node)
        return node

    def _object(self, node: Node) -> Node:
        entries: dict[str, Node] = {}
        places: dict[str, str] = {}
        for key, entry in node.value.items():
            name, _ = self._text(key, node.keys[key])
            if name in entries:
                message = f"'{shortened(name)}' stands here twice, with the values of variables."
                self._problems.append(Problem(message, place=node.keys[key]))
            entries[name] = self.of(entry)
            places[name] = node.keys[key]
        return replace(node, value=entries, keys=places)

    def _text(self, text: str, place: str) -> tuple[str, tuple[Filled, ...]]:
        filled: list[Filled] = []

        def value(found: re.Match[str]) -> str:
            name = found[1]
            if name not in self._variables:
                self._problems.append(_unknown(name, self._variables, place))
                return found[0]
            filled.append(Filled(name, self._variables[name], found.start(), found.end()))
            self._added += len(self._variables[name])
            # A few characters of a file could be made any number of them.
            if self._added > LARGEST_FILE:
                message = f"variables make the file longer than {LARGEST_FILE:,} characters."
                raise DeclarationError([*self._problems, Problem(message, place=place)])
            return self._variables[name]

        return _VARIABLE.sub(value, text), tuple(filled)


def _unknown(name: str, known: Mapping[str, str], place: str) -> Problem:
    return Problem(
        f"the variable '{shortened(name)}' has no value: give it one by variables={{...}}, or on "
        f"the command line by --variable NAME=VALUE.{did_you_mean(name, known)}",
        place=place,
    )


def refuse_ended_quotes(node: Node) -> list[Problem]:
    """Values of variables that would end the quotes around them in SQL, or change their meaning."""
    if not node.filled:
        return []
    # A word of the same length stands for each, so that places stay what they are.
    masked = _VARIABLE.sub(lambda found: "x" * len(found[0]), node.written)
    try:
        tokens = tokenise(masked, slots=True)
    except Refused:
        # Whatever is wrong with it is said of the whole text.
        return []
    found = []
    for token in tokens:
        quote = token.text[-1:] if token.kind in _QUOTED else ""
        for one in node.filled if quote else ():
            within = token.start <= one.start < token.stop
            if within and set(one.value) & {quote, "\\"}:
                found.append(_ends_quotes(one.variable, node.place))
    return found


def _ends_quotes(name: str, place: str) -> Problem:
    return Problem(
        f"the value of variable '{name}' has a quote or a backslash in it, and stands between "
        "quotes. Write the variable without quotes around it, and give the quotes with its value.",
        place=place,
    )
