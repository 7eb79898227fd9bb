"""Literal values and type names of an expression."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dq_dagster.sql.keywords import (
    CHARACTER_TYPES,
    DECIMAL_TYPES,
    INTERVAL_RANGES,
    INTERVAL_UNITS,
    PLAIN_TYPES,
    TYPED_LITERALS,
)
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.tokens import Refused, TokenKind

if TYPE_CHECKING:
    from dq_dagster.sql.tokens import Cursor

_HEXADECIMAL = re.compile(r"(['\"])[0-9A-Fa-f]*\1")
_MOST_TYPES = 10
_AMOUNT = re.compile(r"[0-9]+|(['\"])[-+]?[0-9][-0-9 .:]*\1")


def text_literal(value: str) -> str:
    """A string literal that means the same under every parser setting.

    Backslashes and quotes read differently with ``escapedStringLiterals`` and between versions,
    and ``${...}`` is replaced with settings even between quotes, so anything beyond plain
    characters goes as the hexadecimal form of its UTF-8 bytes.
    """
    if value.isascii() and value.isprintable() and not set(value) & {"'", '"', "\\", "$"}:
        return f"'{value}'"
    return f"CAST(X'{value.encode().hex()}' AS STRING)"


def take_literal(cursor: Cursor) -> bool:
    """Moves over a literal value, if one is next."""
    token = cursor.peek()
    if token.key in TYPED_LITERALS and cursor.peek(1).kind is TokenKind.STRING:
        cursor.step()
        if token.key == "x" and not _HEXADECIMAL.fullmatch(cursor.peek().text):
            cursor.fail("a string of hexadecimal digits")
        token = cursor.peek()
    if token.kind is TokenKind.STRING:
        _take_string(cursor)
        return True
    is_parameter = token.kind is TokenKind.SLOT and token.text.startswith(":")
    if token.kind is TokenKind.NUMBER or is_parameter or token.key in {"null", "true", "false"}:
        cursor.step()
        return True
    if token.key == "interval":
        _take_interval(cursor)
        return True
    return False


def _take_string(cursor: Cursor) -> None:
    first = cursor.step()
    if cursor.peek().kind is TokenKind.STRING:
        cursor.step()
        # Spark would join them without a word; a forgotten comma is far more likely.
        problem = "are two strings side by side: put a comma or || between them"
        raise Refused(Refusal.spelling(cursor.since(first), problem))


def _take_interval(cursor: Cursor) -> None:
    """``interval '1 day'``, ``interval -1 day 2 hours``, ``interval '1-2' year to month``."""
    word = cursor.step()
    signed = cursor.take("-", "+")
    amount = cursor.step()
    if amount.kind is TokenKind.STRING and not signed and cursor.peek().key not in INTERVAL_UNITS:
        return
    unit = cursor.take_in(INTERVAL_UNITS)
    if unit is None or not _AMOUNT.fullmatch(amount.text):
        problem = (
            "is no interval: write interval '1' day or interval '1 day 2 hours'; "
            "if it is a column, write it in backquotes"
        )
        raise Refused(Refusal.spelling(word.text, problem))
    if amount.kind is TokenKind.STRING and cursor.take("to"):
        smaller = INTERVAL_RANGES.get(unit.key, frozenset())
        if not cursor.take_in(smaller):
            cursor.fail("a smaller unit")
        return
    while cursor.peek(1).key in INTERVAL_UNITS and _AMOUNT.fullmatch(cursor.peek().text):
        cursor.step()
        cursor.step()


def take_strings(cursor: Cursor) -> None:
    """Moves over a bracket with strings in it."""
    cursor.expect("(")
    while True:
        cursor.expect_kind(TokenKind.STRING, "a string")
        if not cursor.take(","):
            break
    cursor.expect(")")


def take_type(cursor: Cursor, within: int = 0) -> None:
    """Moves over the name of a type that values may be cast to."""
    if within > _MOST_TYPES:
        raise Refused(Refusal.too_deep(_MOST_TYPES))
    if cursor.take("array"):
        cursor.expect("<")
        take_type(cursor, within + 1)
        cursor.expect(">")
    elif cursor.take("map"):
        cursor.expect("<")
        take_plain_type(cursor)
        cursor.expect(",")
        take_type(cursor, within + 1)
        cursor.expect(">")
    else:
        take_plain_type(cursor)


def take_plain_type(cursor: Cursor) -> None:
    """Moves over the name of a type without elements."""
    if cursor.take_in(PLAIN_TYPES):
        return
    if cursor.take_in(DECIMAL_TYPES):
        if cursor.take("("):
            _take_size(cursor)
            if cursor.take(","):
                _take_size(cursor)
            cursor.expect(")")
    elif cursor.take_in(CHARACTER_TYPES):
        cursor.expect("(")
        _take_size(cursor)
        cursor.expect(")")
    else:
        cursor.fail("the name of a simple type")


def _take_size(cursor: Cursor) -> None:
    if not cursor.peek().text.isdigit():
        cursor.fail("a whole number")
    cursor.step()
