"""How numbers, times and lists read in messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from math import isfinite
from typing import Any

from dq_dagster.metrics.constant import Single

# Stands where there is no value.
NOTHING = "\u2013"
_LONGEST_BOUND = 60
_LONGEST_VALUE, _MOST_VALUES = 60, 2
_MOST_DIGITS = 130
_TIME = re.compile(r"\d{4}-\d\d-\d\d")


def show(value: object) -> str:
    """A value as it reads in a sentence. Text from the data is never quoted: it may be private."""
    match value:
        case None:
            return "no value"
        case bool():
            return "true" if value else "false"
        case int():
            return f"{value:,}"
        case Single():
            return f"{value:,.7g}"
        case float():
            return _show_float(value)
        case Decimal():
            return _show_decimal(value)
        case datetime():
            return value.isoformat(" ")
        case date():
            return value.isoformat()
        case str():
            return f"a text of {plural(len(value), 'character')}"
        case _:
            return f"a value of type {type(value).__name__}"


def show_bound(value: object) -> str:
    """A bound as its author wrote it: text is theirs, so it may be quoted."""
    if isinstance(value, float | Decimal) and _is_number(value):
        exact = f"{Decimal(repr(value)) if isinstance(value, float) else value:,f}"
        written = exact.removesuffix(".0")
        return written if len(written) <= _LONGEST_BOUND else f"{value}"
    if not isinstance(value, str):
        return show(value)
    return value if _TIME.match(value) else f"'{value}'"


def show_apart(value: object, other: object) -> str:
    """A number with digits enough to see on which side of the other one it is.

    Never "1,000 is above 1,000".
    """
    shown = show(value)
    if not _is_number(value) or not _is_number(other):
        return shown
    exact, limit = _fraction(value), _fraction(other)
    if exact == limit:
        return shown
    finer = (f"{value:,.{digits}g}" for digits in range(7, _MOST_DIGITS))
    texts = (text for text in chain([shown], finer) if _keeps_side(text, exact, limit))
    return next(texts, str(value))


def shortened(sql: str, *, most: int = 200) -> str:
    """SQL of an author on one line, cut off where it is too long to read."""
    line = " ".join(sql.split())
    return line if len(line) <= most else f"{line[:most]}…"


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listing(words: Iterable[object], *, most: int = 10) -> str:
    """Quoted words in a row, cut off where there are too many to read."""
    every = [f"'{word}'" for word in words]
    shown = every[:most]
    if len(every) > most:
        return f"{', '.join(shown)} and {len(every) - most:,} more"
    if len(shown) > 1:
        return f"{', '.join(shown[:-1])} and {shown[-1]}"
    return "".join(shown)


def share(part: int, whole: int, noun: str, *, beside: Iterable[Fraction] = ()) -> str:
    """Such as "3 of 1,204 rows (0.25 %)"; ``beside`` are shares that it must not look like."""
    return f"{part:,} of {plural(whole, noun)} ({percent(part, whole, beside=beside)})"


def are(count: int) -> str:
    return "is" if count == 1 else "are"


def have(count: int) -> str:
    return "has" if count == 1 else "have"


def do(count: int) -> str:
    return "does" if count == 1 else "do"


def percent(part: int, whole: int, *, beside: Iterable[Fraction] = ()) -> str:
    """A share that never rounds something to nothing, nor nearly all to all."""
    exact = Fraction(part, whole) * 100
    others = [100 * other for other in beside if 0 < other < 1]
    texts = (f"{100 * part / whole:.{digits}f}" for digits in range(2, 15))
    text = next((t for t in texts if all(_keeps_side(t, exact, o) for o in others)), str(exact))
    text = text.rstrip("0").rstrip(".")
    if part and text == "0":
        return "<0.01 %"
    if part != whole and text == "100":
        return ">99.99 %"
    return f"{text} %"


def _keeps_side(text: str, exact: Fraction, other: Fraction) -> bool:
    """Whether a rounded number is on the same side of another as the exact one."""
    shown = Fraction(text.replace(",", ""))
    return (shown > other, shown < other) == (exact > other, exact < other)


def _is_number(value: object) -> bool:
    match value:
        case bool():
            return False
        case int():
            return True
        case float():
            return isfinite(value)
        case Decimal():
            return value.is_finite()
        case _:
            return False


def _fraction(value: Any) -> Fraction:
    # 0.1 means one tenth to the person who wrote it, and reads so.
    return Fraction(repr(float(value))) if isinstance(value, float) else Fraction(value)


def _show_float(value: float) -> str:
    """Six digits that matter; large numbers with two decimals rather than an exponent."""
    if 1e6 <= abs(value) < 1e15:
        return f"{value:,.2f}".removesuffix(".00")
    return f"{value:,.6g}"


def _show_decimal(value: Decimal) -> str:
    # A mean of decimals has up to 120 digits; the sentence needs few of them.
    if not value.is_finite():
        return str(value)
    exact = f"{value:,f}"
    return exact if len(exact) <= 24 else f"{value:,.10g}"


_SECRETS = (
    (re.compile(r"(?i)\b(password|passwd|pwd|secret|token|access_?key|api_?key)\b\s*[=:]\s*\S+"),
     r"\1=***"),
    (re.compile(r"(\w+://[^:/\s]+):[^@\s]+@"), r"\1:***@"),
)  # fmt: skip
_LONGEST = 300


def presentable(text: str) -> str:
    """The text in one line, cut off where it is long, with what looks like a secret masked."""
    line = " ".join(text.split())
    for pattern, replacement in _SECRETS:
        line = pattern.sub(replacement, line)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def value_words(value: Any) -> str:
    """What was observed, as it is on record, in few words: texts of records may be shown."""
    match value:
        case None:
            return NOTHING
        case Mapping():
            words = {str(name): value_words(one) for name, one in value.items()}
            if len(set(words.values())) == 1:
                return next(iter(words.values()))
            return ", ".join(f"{name}: {one}" for name, one in words.items())
        case list() | tuple():
            if len(value) > 1 and len(set(map(value_words, value))) == 1:
                return f"{len(value)} times {value_words(value[0])}"
            some = ", ".join(map(value_words, value[:_MOST_VALUES]))
            more = len(value) - _MOST_VALUES
            return f"{some} and {more} more" if more > 0 else some
        case str():
            return value if len(value) <= _LONGEST_VALUE else f"{value[: _LONGEST_VALUE - 1]}…"
        case bool() | int() | float() | Decimal() | date():
            return show(value)
        case _:
            return str(value)
