"""The grammar of Java's regular expressions, to find mistakes when rules load, without a JVM.

Follows java.util.regex.Pattern step by step, so that nothing is refused that Java takes. Where an
answer needs tables that only Java has (Unicode blocks, scripts and character names), or where its
versions differ, the pattern passes.
"""

from __future__ import annotations

import string

from dq_dagster.rules.fields.java_pattern_text import (
    DIGITS,
    END,
    POSIX,
    PROPERTIES,
    PROPERTY_KEYS,
    Mistake,
    PatternText,
)

_OCTAL = frozenset(string.octdigits)
_HEX = frozenset(string.hexdigits)
_LETTERS = frozenset(string.ascii_letters)
_FLAGS = frozenset("imsducxU")
# Escapes that stand for one character, for a set of characters, and for a place between them.
_CHARACTERS = frozenset("aefnrt")
_SETS = frozenset("DHSVWdhsvw")
_PLACES = frozenset("ABGRXZbz")
_UNKNOWN_ESCAPES = frozenset("CEFIJKLMOPQTUYgijlmopqy")
_LARGEST_COUNT = 2**31 - 1


def find_mistake(pattern: str) -> Mistake | None:
    """The first mistake in a pattern; None if Java takes it."""
    try:
        _Parser(pattern).parse()
    except Mistake as mistake:
        return mistake
    except RecursionError:
        # So deep that only Java can say.
        return None
    return None


class _Parser(PatternText):
    """Reads a pattern as Java does; raises Mistake where Java would."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.groups: set[str] = set()

    def parse(self) -> None:
        self.alternatives()
        if self.at < self.length:
            raise self.mistake("unmatched ')'", self.at)
        if self.at > self.length:
            raise self.mistake("the pattern ends in a lone backslash", self.length - 1)

    # --- alternatives, sequences and what is repeated --------------------------------------------

    def alternatives(self) -> None:
        self.sequence()
        while self.peek() == "|":
            self.next()
            self.sequence()

    def sequence(self) -> None:
        while True:
            char = self.peek()
            if char == "(":
                self.group()
                continue
            if char in "|)" or (char == END and self.ended):
                return
            if char in "?*+":
                raise self.mistake(f"nothing stands before '{char}' that it could repeat", self.at)
            self.item(char)
            self.repetition()

    def item(self, char: str) -> None:
        """Reads what may be repeated."""
        if char == "[":
            self.character_class()
        elif char == "\\" and self.char(self.at + 1) in {"p", "P"}:
            self.at += 1
            self.family()
        elif char == "\\":
            self.escape(in_class=False)
        elif char != "{":
            # Before a { Java takes nothing at all for what is repeated.
            self.next()

    def repetition(self) -> None:
        """Reads what says how often."""
        char = self.peek()
        if char == "{":
            self.counted()
        elif char in {"?", "*", "+"}:
            self.next()
        else:
            return
        if self.peek() in {"?", "+"}:
            self.next()

    def counted(self) -> None:
        start = self.at
        if self.char(self.at + 1) not in DIGITS:
            raise self.mistake(
                "'{' begins a number of repetitions such as {0,3}; as a character it is \\{", start
            )
        self.at += 1
        least, char = self.number()
        most: int | None = least
        if char == ",":
            char = self.read()
            most = None
            if char != "}":
                self.at -= 1
                most, char = self.number()
        if char != "}":
            raise self.mistake("'{' is never closed", start)
        if max(least, most or 0) > _LARGEST_COUNT or (most is not None and most < least):
            raise self.mistake("the numbers of repetitions are not in order, or too large", start)

    def number(self) -> tuple[int, str]:
        """Some digits, perhaps none, as a number, and the character behind them."""
        digits = ""
        while (char := self.read()) in DIGITS:
            digits += char
        return int(digits[:20] or "0"), char

    # --- groups ---------------------------------------------------------------------------------

    def group(self) -> None:
        start = self.at
        saved = self.comments, self.unicode_classes, self.unix_lines
        if self.next() == "?":
            kind = self.char(self.at + 1)
            self.at += 2
            if kind == "<":
                self.after_angle(start)
            elif kind not in {":", ">", "=", "!"}:
                self.at -= 1
                if self.flags(start):
                    return
        self.alternatives()
        if self.read() != ")":
            raise self.mistake("a '(' of the pattern is never closed", start)
        self.comments, self.unicode_classes, self.unix_lines = saved
        self.repetition()

    def after_angle(self, start: int) -> None:
        """Behind ``(?<``: it looks back, or it has a name."""
        char = self.read()
        if char in {"=", "!"}:
            # Which lengths it can look back on depends on Java's version.
            return
        name = self.group_name(char, start)
        if name in self.groups:
            raise self.mistake(f"there are two groups named '{name}'", start)
        self.groups.add(name)

    def group_name(self, char: str, start: int) -> str:
        if char not in _LETTERS:
            raise self.mistake("the name of a group begins with a letter from a to z", start)
        name = ""
        while char in _LETTERS or char in DIGITS:
            name += char
            char = self.read()
        if char != ">":
            raise self.mistake(
                "the name of a group has letters and digits only, and ends in '>'", start
            )
        return name

    def flags(self, start: int) -> bool:
        """Reads flags such as ``(?i)`` or ``(?i-x:``; whether that was all."""
        on = True
        while (char := self.peek()) in _FLAGS or (char == "-" and on):
            if char == "-":
                on = False
            else:
                self.set_flag(char, on=on)
            self.next()
        char = self.read()
        if char not in {")", ":"}:
            raise self.mistake(_strange_group("".join(self.text[start : start + 5])), start)
        return char == ")"

    def set_flag(self, flag: str, *, on: bool) -> None:
        if flag == "x":
            self.comments = on
        elif flag == "U":
            self.unicode_classes = on
        elif flag == "d":
            self.unix_lines = on

    # --- classes --------------------------------------------------------------------------------

    def character_class(self, *, consume: bool = True, opened: int | None = None) -> None:
        start = self.at if opened is None else opened
        some = False
        char = self.next()
        while char != "]" or not some:
            if char == "^" and self.char(self.at - 1) == "[":
                char = self.next()
                continue
            if char == END and self.ended:
                raise self.mistake("'[' is never closed", start)
            char = self.class_part(char, start, some=some)
            some = True
        if consume:
            self.next()

    def class_part(self, char: str, start: int, *, some: bool) -> str:
        """Reads one part of a class; the character that comes next."""
        if char == "[":
            self.character_class()
        elif char == "&" and self.next() == "&":
            return self.intersection(start, some=some)
        else:
            # One & is a character like others.
            self.at -= char == "&"
            self.class_range(start)
        return self.peek()

    def intersection(self, start: int, *, some: bool) -> str:
        """Reads what stands behind ``&&``; the character that comes next."""
        char = self.next()
        right = False
        while char not in {"]", "&"}:
            if char == "[":
                self.character_class()
            else:
                self.at -= 1
                self.character_class(consume=False, opened=start)
            right = True
            char = self.peek()
        if not some and not right:
            raise self.mistake("'&&' needs something on one of its sides", self.at)
        return char

    def class_range(self, start: int) -> None:
        begin = self.at
        first: str | None
        if self.peek() == "\\":
            if self.char(self.at + 1) in {"p", "P"}:
                self.at += 1
                self.family()
                return
            first = self.escape(in_class=True, in_range=self.char(self.at + 2) == "-")
            if first is None:
                return
        else:
            first = self.peek()
            self.next()
        if self.peek() != "-" or self.char(self.at + 1) in {"[", "]"}:
            return
        self.next()
        last: str | None = self.peek()
        if last == END and self.ended:
            raise self.mistake("'[' is never closed", start)
        if last == "\\":
            last = self.escape(in_class=True, in_range=True)
        else:
            self.next()
        if last is None or (last != "" and first != "" and last < first):
            raise self.mistake("the range of characters is not in order", begin)

    # --- escapes --------------------------------------------------------------------------------

    def escape(self, *, in_class: bool, in_range: bool = False) -> str | None:
        """Reads an escape; its character, empty if only Java knows it, None if it is not one."""
        start = self.at
        kind = self.char(self.at + 1)
        self.at += 2
        if kind == END and self.at > self.length:
            raise self.mistake("the pattern ends in a lone backslash", start)
        if kind == "v" and in_range:
            return "\x0b"
        if kind in _SETS:
            return None
        if kind in _CHARACTERS:
            return {"a": "\a", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}[kind]
        reader = {"0": self.octal, "x": self.hexadecimal, "u": self.code_unit, "c": self.control,
                  "N": self.character_name}.get(kind)  # fmt: skip
        if reader is not None:
            return reader(start)
        place = kind in _PLACES or kind in "123456789k"
        if kind in _UNKNOWN_ESCAPES or (place and in_class):
            raise self.mistake(f"\\{kind} means nothing {'in [...]' if place else 'here'}", start)
        if place:
            self.place(kind, start)
            return None
        return kind

    def place(self, kind: str, start: int) -> None:
        if kind == "k":
            if self.read() != "<":
                raise self.mistake("\\k is followed by the name of a group in <...>", start)
            name = self.group_name(self.read(), start)
            if name not in self.groups:
                raise self.mistake(f"there is no group named '{name}' before \\k<{name}>", start)
        if kind == "b" and self.peek() == "{" and self.char(self.at + 1) == "g":
            self.at += 2
            if self.read() != "}":
                raise self.mistake("\\b{g is never closed", start)

    def octal(self, start: int) -> str:
        digits = ""
        while len(digits) < 3 and self.peek() in _OCTAL:
            if len(digits) == 2 and digits[0] > "3":
                break
            digits += self.read()
        if not digits:
            raise self.mistake("\\0 is followed by octal digits", start)
        return chr(int(digits, 8))

    def hexadecimal(self, start: int) -> str:
        char = self.read()
        if char in _HEX:
            second = self.read()
            if second in _HEX:
                return chr(int(char + second, 16))
        elif char == "{" and self.peek() in _HEX:
            digits = ""
            while (char := self.read()) in _HEX:
                digits += char
            if char != "}":
                raise self.mistake("\\x{ is never closed", start)
            if int(digits, 16) > 0x10FFFF:
                raise self.mistake("there is no character of that number", start)
            return chr(int(digits, 16))
        raise self.mistake("\\x is followed by two hexadecimal digits, or {...}", start)

    def code_unit(self, start: int) -> str:
        digits = [self.read() for _ in range(4)]
        if not set(digits) <= _HEX:
            raise self.mistake("\\u is followed by four hexadecimal digits", start)
        unit = int("".join(digits), 16)
        if 0xD800 <= unit <= 0xDFFF:
            # Two of them may be one character.
            return ""
        return chr(unit)

    def control(self, start: int) -> str:
        if self.ended:
            raise self.mistake("\\c is followed by a character", start)
        return chr(ord(self.read()) ^ 64)

    def character_name(self, start: int) -> str:
        if self.read() != "{":
            raise self.mistake("\\N is followed by the name of a character in {...}", start)
        while self.read() != "}":
            if self.at >= self.length:
                raise self.mistake("\\N{ is never closed", start)
        return ""

    def family(self) -> None:
        r"""Reads a property behind ``\p``."""
        start = self.at - 1
        if self.next() != "{":
            name = self.char(self.at)
            self.read()
        else:
            self.next()
            begin = self.at
            while self.at < self.length and self.char(self.at) != "}":
                self.at += 1
            if self.at >= self.length:
                raise self.mistake(f"\\{self.char(start + 1)}{{ is never closed", start)
            name = "".join(self.text[begin : self.at])
            self.at += 1
        self.check_property(name, start)

    def check_property(self, name: str, start: int) -> None:
        key, equals, _ = name.partition("=")
        if equals:
            known = key.lower() in PROPERTY_KEYS
        else:
            posix = self.unicode_classes and name.upper() in POSIX
            # Names of blocks and scripts are Java's to know.
            known = posix or name in PROPERTIES or (name[:2] in {"In", "Is"} and len(name) > 2)
        if not known:
            forms = "scripts are written \\p{IsGreek}, blocks \\p{InGreek}"
            raise self.mistake(f"'{name}' is no property of characters; {forms}", start)


def _strange_group(beginning: str) -> str:
    """What is wrong with ``(?`` and what follows, above all if that is Python's way to say it."""
    if beginning.startswith("(?P<"):
        return "(?P<name>...) is Python's; Java writes (?<name>...)"
    if beginning.startswith("(?P="):
        return "(?P=name) is Python's; Java writes \\k<name>"
    if beginning.startswith("(?#"):
        return "Java has no comments in (?#...)"
    if beginning.startswith("(?("):
        return "Java has no conditions in (?(...)"
    return "'(?' begins no kind of group that Java knows"
