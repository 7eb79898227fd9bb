"""Spark's type names as plain trees, read without Spark.

Upper and lower case are the same, white space does not matter, and the several names of a type
(``int`` and ``integer``) become the one that Spark itself writes.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from dq_dagster.errors import did_you_mean
from dq_dagster.metrics.schema import ARRAY, ITEMS, KEYS, MAP, STRING, STRUCT, VALUES, Field, Shape

_ALIASES = {
    "byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint", "real": "float",
    "timestamp_ltz": "timestamp",
}  # fmt: skip
_SIMPLE = {
    "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary",
    "date", "timestamp", "timestamp_ntz", "variant", "void", *_ALIASES,
}  # fmt: skip
_DECIMALS = ("decimal", "dec", "numeric")
_TEXTS = ("varchar", "char", "character")
_PLANES = ("geometry", "geography")
_WORDS = {*_SIMPLE, *_DECIMALS, *_TEXTS, *_PLANES, "time", "interval", ARRAY, MAP, STRUCT}
# What the types of other systems are called here.
_OTHER_SYSTEMS = {
    "str": "string", "text": "string", "object": "string", "bool": "boolean", "null": "void",
    "number": "decimal", "bytes": "binary", "datetime": "timestamp", "list": "array",
    "dict": "map", "record": "struct", "int32": "int", "int64": "bigint", "float32": "float",
    "float64": "double",
}  # fmt: skip
# The units of an interval type go from the first to the last, within one of these rows.
_INTERVALS = (("year", "month"), ("day", "hour", "minute", "second"))
_SIGNS = "<>(),:"
_TOKEN = re.compile(r"\s*(?:[<>(),:]|`(?P<name>(?:[^`]|``)+)`|'(?:[^'\\]|\\.)*'|[^\s<>(),:`']+)")
_DEEPEST = 50
_MOST_DIGITS = 38
_MICROSECONDS = 6


class _Token(NamedTuple):
    text: str
    # A quoted name is only ever a name, whatever it reads like.
    quoted: bool = False


_END = _Token("", quoted=True)


class Typed(NamedTuple):
    """A type, and the length that its name limits texts to."""

    shape: Shape
    max_length: int | None = None


def parse_type(text: str) -> Typed:
    """The type that a text names; raises ValueError if Spark has none of that name.

    Spark's tables hold ``varchar(n)`` and ``char(n)`` as strings, so they are strings of at most
    n characters here.
    """
    reader = _TypeReader(text)
    found = reader.type(depth=0)
    reader.finish()
    return found


class _TypeReader:
    """Reads one type name from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._split(text.strip())
        self._next = 0

    def type(self, depth: int) -> Typed:
        if depth > _DEEPEST:
            raise ValueError(f"a type nested more than {_DEEPEST} levels deep is a mistake")
        word = self._word().lower()
        if word == ARRAY:
            return Typed(Shape(ARRAY, (self._part(ITEMS, depth, "<", ">"),)))
        if word == MAP:
            return Typed(Shape(MAP, (self._part(KEYS, depth, "<", ","),
                                     self._part(VALUES, depth, "", ">"))))  # fmt: skip
        if word == STRUCT:
            return Typed(Shape(STRUCT, self._fields(depth)))
        return self._leaf(word)

    def finish(self) -> None:
        if self._peek() is not _END:
            raise self._error(f"what does '{self._peek().text}' mean there?")

    def _leaf(self, word: str) -> Typed:
        if word in _SIMPLE:
            return Typed(Shape(self._simple(_ALIASES.get(word, word))))
        if word in _DECIMALS:
            return Typed(Shape(self._decimal()))
        if word in _TEXTS:
            return Typed(Shape(STRING), max_length=self._number_in_brackets(word))
        if word in _PLANES:
            return Typed(Shape(f"{word}({self._in_brackets(word)[0].lower()})"))
        if word == "time":
            self._zone("time")
            return Typed(Shape(f"time({self._digits_of_seconds()})"))
        if word == "interval":
            return Typed(Shape(self._interval()))
        known = _OTHER_SYSTEMS.get(word)
        hint = f" Did you mean '{known}'?" if known else did_you_mean(word, _WORDS)
        raise self._error(f"Spark has no type '{word}'.{hint}")

    def _simple(self, word: str) -> str:
        if word == STRING and self._take("collate"):
            return f"{STRING} collate {self._word().upper()}"
        if word == "timestamp":
            word = self._zone("timestamp") or word
        if word.startswith("timestamp") and self._digits_of_seconds() != _MICROSECONDS:
            raise self._error(f"a timestamp has {_MICROSECONDS} digits of seconds")
        return word

    def _digits_of_seconds(self) -> int:
        if not self._is_next("("):
            return _MICROSECONDS
        digits = self._number_in_brackets("time")
        if digits > _MICROSECONDS:
            raise self._error(f"seconds have at most {_MICROSECONDS} digits")
        return digits

    def _zone(self, word: str) -> str | None:
        """Reads the long names, such as ``timestamp without time zone``."""
        if self._take("without"):
            self._require("time", "zone")
            return f"{word}_ntz"
        if word == "timestamp" and self._take("with"):
            self._require("local", "time", "zone")
        return None

    def _decimal(self) -> str:
        if not self._is_next("("):
            return "decimal(10,0)"
        digits = [self._number(part) for part in self._in_brackets("decimal")]
        precision, scale = (*digits, 0)[:2]
        if not (len(digits) <= 2 and 1 <= precision <= _MOST_DIGITS and scale <= precision):
            raise self._error(
                f"decimal(p,s) needs 1 to {_MOST_DIGITS} digits p, and s of them after the point"
            )
        return f"decimal({precision},{scale})"

    def _interval(self) -> str:
        first = self._peek().text.lower()
        units = next((units for units in _INTERVALS if first in units), None)
        if units is None:
            return "interval"
        self._next += 1
        if not self._take("to"):
            return f"interval {first}"
        last = self._word().lower()
        if last not in units or units.index(last) <= units.index(first):
            raise self._error(f"an interval does not go from {first} to {last}")
        return f"interval {first} to {last}"

    def _fields(self, depth: int) -> tuple[Field, ...]:
        self._require("<")
        fields: list[Field] = []
        while not self._take(">"):
            if fields:
                self._require(",")
            name = self._word()
            self._take(":")
            fields.append(Field(name, *self._typed_field(depth)))
        _refuse_twins([field.name for field in fields])
        return tuple(fields)

    def _typed_field(self, depth: int) -> tuple[Shape, None, int | None]:
        shape, longest = self.type(depth + 1)
        if self._take("not"):
            self._require("null")
        if self._take("comment"):
            self._word()
        return shape, None, longest

    def _part(self, name: str, depth: int, before: str, after: str) -> Field:
        if before:
            self._require(before)
        shape, longest = self.type(depth + 1)
        self._require(after)
        return Field(name, shape, None, longest)

    def _number_in_brackets(self, word: str) -> int:
        return self._number(self._in_brackets(word)[0])

    def _number(self, text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise self._error(f"a number is needed, not '{text}'")
        return int(text)

    def _in_brackets(self, word: str) -> list[str]:
        if not self._take("("):
            raise self._error(f"{word} needs a number in brackets")
        found = [self._word()]
        while self._take(","):
            found.append(self._word())
        self._require(")")
        return found

    def _peek(self) -> _Token:
        return self._tokens[self._next] if self._next < len(self._tokens) else _END

    def _is_next(self, wanted: str) -> bool:
        token = self._peek()
        return not token.quoted and token.text.lower() == wanted

    def _take(self, wanted: str) -> bool:
        found = self._is_next(wanted)
        self._next += found
        return found

    def _require(self, *wanted: str) -> None:
        for text in wanted:
            if not self._take(text):
                raise self._error(f"'{text}' is missing {self._place()}")

    def _word(self) -> str:
        token = self._peek()
        if token is _END or (not token.quoted and token.text in _SIGNS):
            raise self._error(f"a name is missing {self._place()}")
        self._next += 1
        return token.text

    def _place(self) -> str:
        return "at the end" if self._peek() is _END else f"before '{self._peek().text}'"

    def _split(self, text: str) -> list[_Token]:
        tokens = []
        at = 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise self._error(f"what does '{text[at : at + 10]}' mean?")
            name = found["name"]
            tokens.append(
                _Token(found[0].strip())
                if name is None
                else _Token(name.replace("``", "`"), quoted=True)
            )
            at = found.end()
        return tokens

    def _error(self, reason: str) -> ValueError:
        shown = self._text if len(self._text) <= 80 else f"{self._text[:80]}…"
        return ValueError(f"'{shown}' is not a type: {reason}")


def _refuse_twins(names: list[str]) -> None:
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise ValueError(f"the field '{twins[0]}' is there twice")
