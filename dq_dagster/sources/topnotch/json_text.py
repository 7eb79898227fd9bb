"""JSON as people write it, as values that know where they stand.

Beyond the standard, a comma may stand behind the last entry, a text may go over several lines, and
there may be comments (``//``, ``#`` and ``/* */``): files that TopNotch takes have all of these.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from dq_dagster.errors import DeclarationError, Problem
from dq_dagster.sources.yaml.text import number

_DEEPEST = 50
_MOST_NODES = 100_000
_SHOWN = 20

_BLANKS = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|\#[^\n]*|/\*.*?\*/)+", re.DOTALL)
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?![\w.])")
_WORD = re.compile(r"\w+")
_WORDS = {"true": True, "false": False, "null": None}
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Filled:
    """A value that was put in the place of a variable: which one, and where it stood before."""

    variable: str
    value: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place; of an object also the places of its keys.

    ``written`` is a text as the file has it, where ``filled`` says what became of its variables.
    One that has variables without a value is ``open``.
    """

    value: Any
    place: str
    keys: Mapping[str, str] = field(default_factory=dict)
    written: str = ""
    filled: tuple[Filled, ...] = ()
    open: bool = False

    @property
    def plain(self) -> Any:
        """The value without any places."""
        if isinstance(self.value, dict):
            return {key: node.plain for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain for node in self.value]
        return self.value

    @property
    def kind(self) -> str:
        """What the value is, in words."""
        match self.value:
            case dict():
                return "an object"
            case list():
                return "a list"
            case str():
                return f"the text {shortened(self.value)!r}"
            case bool():
                return str(self.value).lower()
            case None:
                return "null"
        return f"the number {self.value}"


def shortened(text: str, longest: int = 60) -> str:
    """As much of a text as fits into a message."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def read_json(text: str, *, name: str) -> Node:
    """The one value of a text. Raises DeclarationError with the place of the first mistake."""
    return _JsonReader(text, name).document()


class _JsonReader:
    """Goes through the text once."""

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name
        self._position = 1 if text.startswith("\ufeff") else 0
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]
        self._nodes = 0

    def document(self) -> Node:
        found = self._value(0)
        self._skip()
        if self._position < len(self._text):
            self._fail(f"{self._next()} follows, but a file has a single value.")
        return found

    def _value(self, depth: int) -> Node:
        self._skip()
        start = self._position
        self._nodes += 1
        if depth > _DEEPEST:
            self._fail(f"nested more than {_DEEPEST} levels deep.")
        if self._nodes > _MOST_NODES:
            self._fail(f"more than {_MOST_NODES:,} values.")
        match self._text[start : start + 1]:
            case "{":
                return self._object(depth)
            case "[":
                return self._list(depth)
            case '"':
                text = self._string()
                return Node(text, self._place(start), written=text)
        return Node(self._scalar(), self._place(start))

    def _object(self, depth: int) -> Node:
        start = self._position
        self._position += 1
        entries: dict[str, Node] = {}
        places: dict[str, str] = {}
        while not self._closed("}", start, follows=bool(entries)):
            place = self._place(self._position)
            if self._text[self._position : self._position + 1] != '"':
                self._fail(f"a key between double quotes is needed, not {self._next()}.")
            key = self._string()
            if key in entries:
                raise _problem(f"'{shortened(key)}' stands here twice.", place)
            self._skip()
            if self._text[self._position : self._position + 1] != ":":
                self._fail(f"':' is needed behind the key '{shortened(key)}', not {self._next()}.")
            self._position += 1
            entries[key] = self._value(depth + 1)
            places[key] = place
        return Node(entries, self._place(start), places)

    def _list(self, depth: int) -> Node:
        start = self._position
        self._position += 1
        entries: list[Node] = []
        while not self._closed("]", start, follows=bool(entries)):
            entries.append(self._value(depth + 1))
        return Node(entries, self._place(start))

    def _closed(self, bracket: str, start: int, *, follows: bool) -> bool:
        """Whether the bracket comes next, else the next entry; moves there."""
        self._skip()
        comma = self._text[self._position : self._position + 1] == ","
        if follows and comma:
            self._position += 1
            self._skip()
        if self._text[self._position : self._position + 1] == bracket:
            self._position += 1
            return True
        if self._position >= len(self._text):
            opening = self._text[start]
            raise _problem(f"this '{opening}' is never closed.", self._place(start))
        if follows and not comma:
            self._fail(f"',' or '{bracket}' is needed here, not {self._next()}.")
        return False

    def _string(self) -> str:
        start = self._position
        found = _TEXT.match(self._text, start)
        if found is None:
            raise _problem("this text is never closed.", self._place(start))
        try:
            text: str = json.loads(found[0], strict=False)
        except json.JSONDecodeError as error:
            self._position = start + error.pos
            self._fail("this is no escape of JSON: write '\\\\' for a backslash.")
        if _SURROGATE.search(text):
            raise _problem(
                "this text has half a character in it (\\ud800 to \\udfff).", self._place(start)
            )
        self._position = found.end()
        return text

    def _scalar(self) -> Any:
        word = _WORD.match(self._text, self._position)
        if word and word[0] in _WORDS:
            self._position = word.end()
            return _WORDS[word[0]]
        found = _NUMBER.match(self._text, self._position)
        if found is None:
            self._fail(f"a value is needed, not {self._next()}.{self._hint()}")
        try:
            value = number(found[0])
        except ValueError as error:
            self._fail(f"{error}.")
        self._position = found.end()
        return value

    def _hint(self) -> str:
        if self._text.startswith("${", self._position):
            return " Put a variable between double quotes."
        word = _WORD.match(self._text, self._position)
        return " Put texts between double quotes." if word else ""

    def _skip(self) -> None:
        found = _BLANKS.match(self._text, self._position)
        self._position = found.end() if found else self._position

    def _next(self) -> str:
        """What stands at the position, for a message."""
        if self._position >= len(self._text):
            return "the end of the file"
        found = _WORD.match(self._text, self._position)
        what = found[0] if found else self._text[self._position]
        return repr(shortened(what, _SHOWN))

    def _place(self, position: int) -> str:
        line = bisect_right(self._lines, position)
        return f"{self._name}:{line}:{position - self._lines[line - 1] + 1}"

    def _fail(self, message: str) -> NoReturn:
        # The end of a file has a line of its own, but not for an editor.
        at = self._position
        if at >= len(self._text):
            at = max(0, len(self._text.rstrip()) - 1)
        raise _problem(f"not valid JSON: {message}", self._place(at))


def _problem(message: str, place: str) -> DeclarationError:
    return DeclarationError([Problem(message, place=place)])
