"""How numbers, times and lists read in messages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal

from dq_dagster.metrics.single import Single

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
    if not isinstance(value, str):
        return show(value)
    return value if _TIME.match(value) else f"'{value}'"


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


def share(part: int, whole: int, noun: str) -> str:
    """Such as "3 of 1,204 rows (0.25 %)"."""
    return f"{part:,} of {plural(whole, noun)} ({percent(part, whole)})"


def are(count: int) -> str:
    return "is" if count == 1 else "are"


def have(count: int) -> str:
    return "has" if count == 1 else "have"


def do(count: int) -> str:
    return "does" if count == 1 else "do"


def percent(part: int, whole: int) -> str:
    """A share that never rounds something to nothing, nor nearly all to all."""
    share = 100 * part / whole
    text = f"{share:.2f}".rstrip("0").rstrip(".")
    if part and text == "0":
        return "<0.01 %"
    if part != whole and text == "100":
        return ">99.99 %"
    return f"{text} %"


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
