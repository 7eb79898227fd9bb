"""What can be told of a regular expression without Java."""

from __future__ import annotations

from dq_dagster.rules.java_regex import find_mistake

_LONGEST = 80


def require_java_syntax(pattern: str) -> str:
    """Refuses what Java would refuse, and says where.

    Above all groups that are closed before they are opened, or never: a pattern is later wrapped
    as ``(?:pattern)`` to match whole values; ``a)|(b`` would be valid there and mean something
    else.
    """
    mistake = find_mistake(pattern)
    if mistake is None:
        return pattern
    shown = pattern if len(pattern) <= _LONGEST else f"{pattern[:_LONGEST]}…"
    raise ValueError(f"{mistake.message}, at position {mistake.position} of the pattern '{shown}'")


def whole(pattern: str) -> str:
    r"""The pattern as one that only whole values match.

    Not ``^...$``, which stops before a final line break. An open ``\Q`` is closed, and a comment
    of ``(?x)`` ended, before the bracket that is put behind them.
    """
    if _ends_in_quote(pattern):
        pattern += "\\E"
    end = "\n" if "#" in pattern and _allows_comments(pattern) else ""
    return rf"\A(?:{pattern}{end})\z"


def _allows_comments(pattern: str) -> bool:
    """Whether a flag group such as ``(?x)`` or ``(?ix:`` switches comments on."""
    for part in pattern.split("(?")[1:]:
        flags = part[: len(part) - len(part.lstrip("idmsuxU"))]
        if "x" in flags:
            return True
    return False


def _ends_in_quote(pattern: str) -> bool:
    r"""Whether a ``\Q`` is still open at the end."""
    position = 0
    while (position := pattern.find("\\", position)) >= 0:
        if pattern.startswith("\\Q", position):
            position = pattern.find("\\E", position + 2)
            if position < 0:
                return True
        position += 2
    return False
