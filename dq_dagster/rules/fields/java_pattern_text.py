"""The characters of a pattern as Java reads them: without quotations, and without comments."""

from __future__ import annotations

import string
from collections.abc import Sequence

END = "\0"
DIGITS = frozenset(string.digits)
_SPACES = frozenset(" \t\n\x0b\f\r")
_CATEGORIES = (
    "Cn Lu Ll Lt Lm Lo Mn Me Mc Nd Nl No Zs Zl Zp Cc Cf Co Cs Pd Ps Pe Pc Po Sm Sc Sk So Pi Pf "
    "L M N Z C P S LC LD L1 all ASCII Alnum Alpha Blank Cntrl Digit Graph Lower Print Punct Space "
    "Upper XDigit"
)
_OF_JAVA = (
    "LowerCase UpperCase Alphabetic Ideographic TitleCase Digit Defined Letter LetterOrDigit "
    "JavaIdentifierStart JavaIdentifierPart UnicodeIdentifierStart UnicodeIdentifierPart "
    "IdentifierIgnorable SpaceChar Whitespace ISOControl Mirrored"
)
PROPERTIES = frozenset([*_CATEGORIES.split(), *(f"java{name}" for name in _OF_JAVA.split())])
POSIX = frozenset(
    "ALPHA LOWER UPPER SPACE PUNCT XDIGIT ALNUM CNTRL DIGIT BLANK GRAPH PRINT".split()
)
PROPERTY_KEYS = frozenset(["sc", "script", "blk", "block", "gc", "general_category"])


class Mistake(ValueError):
    """What Java would say of a pattern, and at which of its characters."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


def _unquoted(pattern: str) -> tuple[list[str], list[int]]:
    r"""The characters without \Q...\E, each with its place in the pattern."""
    chars: list[str] = []
    places: list[int] = []

    def add(text: str, place: int) -> None:
        chars.extend(text)
        places.extend([place] * len(text))

    at, quoted, first = 0, False, False
    while at < len(pattern):
        char = pattern[at]
        if quoted:
            if pattern.startswith("\\E", at):
                quoted, at = False, at + 2
                continue
            # A digit must not become part of an escape before the quotation.
            prefix = "\\x3" if char in DIGITS and first else ""
            escaped = char.isascii() and not char.isalnum()
            add(f"\\{char}" if escaped else f"{prefix}{char}", at)
            at, first = at + 1, False
        elif pattern.startswith("\\Q", at):
            quoted, first, at = True, True, at + 2
        else:
            width = 2 if char == "\\" else 1
            for offset, one in enumerate(pattern[at : at + width]):
                add(one, at + offset)
            at += width
    return chars, places


class PatternText:
    """Reads a pattern character by character; which of them count depends on its flags."""

    def __init__(self, pattern: str) -> None:
        chars, places = _unquoted(pattern)
        self.text: Sequence[str] = [*chars, END, END, END]
        self.places = [*places, len(pattern)]
        self.length = len(chars)
        self.at = 0
        self.comments = False
        self.unicode_classes = False
        self.unix_lines = False

    def mistake(self, message: str, at: int) -> Mistake:
        return Mistake(message, self.places[min(max(at, 0), len(self.places) - 1)])

    def char(self, at: int) -> str:
        return self.text[at] if at < len(self.text) else END

    @property
    def ended(self) -> bool:
        return self.at >= self.length

    def peek(self) -> str:
        if self.comments:
            self.skip_comments()
        return self.char(self.at)

    def next(self) -> str:
        self.at += 1
        return self.peek()

    def read(self) -> str:
        found = self.peek()
        self.at += 1
        return found

    def skip_comments(self) -> None:
        while (char := self.char(self.at)) in _SPACES or char == "#":
            if char in _SPACES:
                self.at += 1
                continue
            while self.at < self.length and not self.ends_line(self.char(self.at)):
                self.at += 1

    def ends_line(self, char: str) -> bool:
        return char == "\n" if self.unix_lines else char in "\n\r\u2028\u2029\x85"
