"""The base of all errors, and what helps to word them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class DqError(Exception):
    """The base of all errors raised on purpose: `except DqError` catches them all."""


def did_you_mean(word: str, known: Iterable[str], *, most: int = 1) -> str:
    """The end of a sentence that names the nearest known words, or nothing."""
    # Lower case on both sides: most slips are in the case of letters.
    names: dict[str, list[str]] = {}
    for name in known:
        names.setdefault(name.lower(), []).append(name)
    near = difflib.get_close_matches(word.lower(), names, n=most, cutoff=0.6)
    # Names that differ only in case are equally near.
    found = [f"'{name}'" for one in near for name in sorted(names[one])]
    *others, last = found or [""]
    return f" Did you mean {', '.join(others)}{' or ' if others else ''}{last}?" if found else ""


def near_or_all(word: str, known: Sequence[str]) -> str:
    """The nearest known word, or else all that are known."""
    more = f" and {len(known) - 20:,} more" if len(known) > 20 else ""
    listed = f" There is: {', '.join(known[:20])}{more}." if known else ""
    return did_you_mean(word, known) or listed
