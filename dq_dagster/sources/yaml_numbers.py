"""Numbers and times of YAML without loss: a float only where it is what was written."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from dq_dagster.rules.fields import refuse_vast

_MICROSECONDS = re.compile(r"\.\d{6}\d*[1-9]")
_PLAIN = re.compile(r"[-+]?\d+")


def number(text: str) -> int | float | Decimal:
    """The number that a text writes; a decimal where a float would have other digits.

    0.1 stays a float: it reads 0.1 everywhere, and bounds mean what their text says. Raises
    ValueError for numbers of absurd size.
    """
    if not any(digit in text for digit in "0123456789"):
        # .inf and .nan
        return float(text.replace(".", ""))
    exact = _decimal(text)
    refuse_vast(exact)
    if _PLAIN.fullmatch(text):
        return int(text)
    nearest = float(text)
    return nearest if _is_written(nearest, exact) else exact


def refuse_lost_fraction(text: str) -> None:
    """A time is held to the microsecond; digits beyond would be dropped without a word."""
    if _MICROSECONDS.search(text):
        raise ValueError("a time has at most six digits behind the point")


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except ArithmeticError:
        raise ValueError("a number of that size is a slip") from None


def _is_written(nearest: float, exact: Decimal) -> bool:
    return math.isfinite(nearest) and Decimal(repr(nearest)) == exact
