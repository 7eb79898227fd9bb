"""Patterns of contracts, which are found anywhere in a value, as rules on the whole value."""

from __future__ import annotations

from typing import Any

from dq_dagster.sources.migration import Untranslatable

_OPEN, _CLOSE = "^(?:", ")$"


def pattern_fields(pattern: Any) -> dict[str, Any]:
    """The fields of a rule on a pattern in the syntax of ECMA-262.

    One that is tied to both ends means the whole value, which is asked for as such: to Java, "$"
    may also stand before a last line break.
    """
    if not isinstance(pattern, str) or not pattern:
        raise Untranslatable("'pattern' must be a regular expression.")
    whole = _whole(pattern)
    if whole is not None:
        return {"pattern": whole}
    return {"pattern": pattern, "match": "search"}


def pattern_text(pattern: str, *, whole: bool) -> str:
    """The pattern of a rule as contracts have it."""
    return f"{_OPEN}{pattern}{_CLOSE}" if whole else pattern


def _whole(pattern: str) -> str | None:
    """What lies between the two ends, if nothing else of the pattern does; None if not."""
    if pattern.startswith(_OPEN) and pattern.endswith(_CLOSE):
        inner = pattern[len(_OPEN) : -len(_CLOSE)]
        if inner and _closes_nothing(inner):
            return inner
    if not (pattern.startswith("^") and pattern.endswith("$") and len(pattern) > 2):
        return None
    inner = pattern[1:-1]
    # An alternative would belong to one end only, and an escaped sign is no end.
    return None if "|" in inner or _ends_escaped(inner) or "^" in inner[:1] else inner


def _ends_escaped(text: str) -> bool:
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1


def _closes_nothing(inner: str) -> bool:
    """Whether the brackets of a pattern are its own, so that the ones around it are one pair."""
    depth, position, in_class = 0, 0, False
    while position < len(inner):
        sign = inner[position]
        if sign == "\\":
            position += 2
            continue
        if sign == "[":
            in_class = True
        elif sign == "]":
            in_class = False
        elif not in_class:
            depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
        position += 1
    return depth == 0 and not _ends_escaped(inner)
