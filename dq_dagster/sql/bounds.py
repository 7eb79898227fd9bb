"""Conditions that do nothing but bound a column by a constant, like ``amount < 100``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache

from dq_dagster.sql.tokens import NAMES, Refused, Token, TokenKind, tokenise

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_WHOLE = re.compile(r"[0-9]+")
_FRACTION = re.compile(r"[0-9]+\.[0-9]+")
_DAY = re.compile(r"'([0-9]{4}-[0-9]{2}-[0-9]{2})'")
_INT, _BIGINT = 2**31, 2**63
_MOST_DIGITS = 38


@dataclass(frozen=True, slots=True)
class ColumnBound:
    """What a column has to be less or greater than.

    ``kind`` is Spark's type of the constant: of bounds of one kind the tighter one implies the
    other, whatever the column's type makes of both.
    """

    column: str
    operator: str
    kind: str
    value: Decimal | date

    def is_as_tight_as(self, other: ColumnBound) -> bool:
        """Whether what meets this bound meets the other one, if only the values differ."""
        mine, theirs = (
            one.toordinal() if isinstance(one, date) else one for one in (self.value, other.value)
        )
        return mine <= theirs if self.operator in {"<", "<="} else mine >= theirs


@lru_cache(maxsize=4096)
def column_bound(sql: str) -> ColumnBound | None:
    """The bound that is all of the condition; None if there is more to it."""
    try:
        tokens = tokenise(sql)[:-1]
    except Refused:
        return None
    for place, token in enumerate(tokens):
        if token.key in _MIRRORED:
            left, right = tokens[:place], tokens[place + 1 :]
            mirrored = _MIRRORED[token.key]
            return _bound(left, token.key, right) or _bound(right, mirrored, left)
    return None


def _bound(
    column: tuple[Token, ...], operator: str, constant: tuple[Token, ...]
) -> ColumnBound | None:
    found = _constant(constant)
    if found is None or len(column) != 1 or column[0].kind not in NAMES:
        return None
    # The name as it is written: another spelling may be another column.
    return ColumnBound(column[0].text, operator, *found)


def _constant(tokens: tuple[Token, ...]) -> tuple[str, Decimal | date] | None:
    match [one.kind for one in tokens]:
        case [TokenKind.NUMBER]:
            return _number(tokens[0].text)
        case [TokenKind.SYMBOL, TokenKind.NUMBER] if tokens[0].key == "-":
            found = _number(tokens[1].text)
            return None if found is None else (found[0], -found[1])
        case [TokenKind.WORD, TokenKind.STRING] if tokens[0].key == "date":
            return _day(tokens[1].text)
    return None


def _number(text: str) -> tuple[str, Decimal] | None:
    if _WHOLE.fullmatch(text):
        number = Decimal(text)
        kind = "int" if number < _INT else "bigint" if number < _BIGINT else None
        return None if kind is None else (kind, number)
    if _FRACTION.fullmatch(text):
        whole, fraction = text.split(".")
        digits = len(whole.lstrip("0")) + len(fraction)
        if digits <= _MOST_DIGITS:
            return f"decimal({digits}, {len(fraction)})", Decimal(text)
    return None


def _day(text: str) -> tuple[str, date] | None:
    found = _DAY.fullmatch(text)
    try:
        return None if found is None else ("date", date.fromisoformat(found[1]))
    except ValueError:
        return None
