"""Whether a text is well-known text of a geometry, told by a parser that goes down by hand."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(r"[ \t\r\n]+|[(),]|[A-Za-z]+|[^ \t\r\n(),]+")
_NUMBERS = {"": 2, "Z": 3, "M": 3, "ZM": 4}
_DEEPEST = 2


class NotText(Exception):
    """It is no well-known text."""


def is_geometry(text: str) -> bool:
    tokens = _TOKEN.findall(text)
    if not tokens or tokens[0].isspace() or tokens[-1].isspace():
        return False
    try:
        parser = _Parser(tokens)
        parser.geometry(None, _DEEPEST)
    except NotText:
        return False
    return parser.at == len(tokens)


@dataclass
class _Parser:
    tokens: list[str]
    at: int = 0
    tag: str = ""

    def peek(self) -> str:
        self.blanks()
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def blanks(self) -> bool:
        before = self.at
        while self.at < len(self.tokens) and set(self.tokens[self.at]) <= set(" \t\r\n"):
            self.at += 1
        return self.at > before

    def take(self, *wanted: str) -> str:
        found = self.peek()
        if found.upper() not in wanted or not found.isascii():
            raise NotText
        self.at += 1
        return found.upper()

    def geometry(self, tag: str | None, depth: int) -> None:
        name = self.name(tag)
        if self.peek().upper() == "EMPTY":
            if not self.tokens[self.at - 1].isspace():
                raise NotText
            self.at += 1
        elif name == "GEOMETRYCOLLECTION":
            if not depth:
                raise NotText
            self.many(1, lambda: self.geometry(self.tag, depth - 1))
        else:
            self.shape(name)

    def name(self, tag: str | None) -> str:
        """The name of the type; its tag must be that of the collection around it."""
        word = self.peek().upper()
        names = ["POINT", "LINESTRING", "POLYGON"]
        known = [*names, *[f"MULTI{name}" for name in names], "GEOMETRYCOLLECTION"]
        glued = [(name, word.removeprefix(name)) for name in known if word.startswith(name)]
        found = [(name, rest) for name, rest in glued if rest in _NUMBERS]
        if not found:
            raise NotText
        self.at += 1
        name, mark = found[0]
        if not mark and self.peek().upper() in {"Z", "M", "ZM"}:
            mark = self.take("Z", "M", "ZM")
        if tag is not None and mark != tag:
            raise NotText
        self.tag = mark
        return name

    def shape(self, name: str) -> None:
        match name:
            case "POINT":
                self.take("(")
                self.point()
                self.take(")")
            case "LINESTRING":
                self.many(2, self.point)
            case "POLYGON":
                self.polygon()
            case "MULTIPOINT":
                self.many(1, self.loose_point)
            case "MULTILINESTRING":
                self.many(1, lambda: self.or_empty(lambda: self.many(2, self.point)))
            case _:
                self.many(1, lambda: self.or_empty(self.polygon))

    def polygon(self) -> None:
        self.many(1, lambda: self.or_empty(lambda: self.many(4, self.point)))

    def loose_point(self) -> None:
        if self.peek() == "(":
            self.take("(")
            self.point()
            self.take(")")
        else:
            self.or_empty(self.point)

    def or_empty(self, read) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
        if self.peek().upper() == "EMPTY":
            self.at += 1
        else:
            read()

    def many(self, least: int, read) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
        self.take("(")
        count = 0
        sign = ","
        while sign == ",":
            read()
            count += 1
            sign = self.take(",", ")")
        if count < least:
            raise NotText

    def point(self) -> None:
        self.blanks()
        words = []
        while self.at < len(self.tokens) and self.tokens[self.at] not in {"(", ")", ","}:
            words.append(self.tokens[self.at])
            self.at += 1
        numbers = re.split(r"[ \t\r\n]+", "".join(words).strip(" \t\r\n"))
        if len(numbers) != _NUMBERS[self.tag] or not all(map(is_number, numbers)):
            raise NotText


def is_number(text: str) -> bool:
    """What Python reads as a number, but for its names of odd ones and its underscores."""
    try:
        float(text)
    except ValueError:
        return False
    return set(text) <= set("0123456789+-.eE")
