"""What can be told of a regular expression without Java."""

from __future__ import annotations

from dataclasses import dataclass


def require_closed_groups(pattern: str) -> str:
    """Refuses groups that are closed before they are opened, or never.

    A pattern is later wrapped as ``(?:pattern)`` to match whole values; ``a)|(b`` would be valid
    there and mean something else. Everything else is left to Java, whose syntax this is.
    """
    depth = 0
    for position, char in _scan(pattern).plain:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth < 0:
            raise ValueError(f"unmatched ')' at position {position} of the pattern")
    if depth:
        raise ValueError("a '(' of the pattern is never closed")
    if _scan(pattern).ends_in_escape:
        raise ValueError("the pattern ends in a lone backslash")
    return pattern


def whole(pattern: str) -> str:
    r"""The pattern as one that only whole values match.

    Not ``^...$``, which stops before a final line break. An open ``\Q`` is closed, and a comment
    of ``(?x)`` ended, before the bracket that is put behind them.
    """
    if _scan(pattern).ends_in_quote:
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


@dataclass(frozen=True, slots=True)
class _Scanned:
    r"""The characters that are neither escaped, nor quoted by \Q...\E, nor in [...]."""

    plain: list[tuple[int, str]]
    ends_in_quote: bool
    ends_in_escape: bool


def _scan(pattern: str) -> _Scanned:
    kept: list[tuple[int, str]] = []
    position, in_class, in_quote = 0, 0, False
    while position < len(pattern):
        char = pattern[position]
        if char == "\\":
            after = _after_escape(pattern, position)
            in_quote = after == len(pattern) and pattern.startswith("\\Q", position)
            in_quote = in_quote and not pattern.endswith("\\E")
            position = after
            continue
        if char == "[":
            in_class += 1
            position = _after_class_start(pattern, position)
            continue
        if char == "]" and in_class:
            in_class -= 1
        elif not in_class:
            kept.append((position, char))
        position += 1
    return _Scanned(kept, in_quote, position > len(pattern))


def _after_class_start(pattern: str, position: int) -> int:
    """Behind ``[`` or ``[^``, and behind a ``]`` right there, which is a plain character."""
    position += 2 if pattern.startswith("[^", position) else 1
    return position + 1 if pattern.startswith("]", position) else position


def _after_escape(pattern: str, position: int) -> int:
    if pattern[position + 1 : position + 2] != "Q":
        return position + 2
    end = pattern.find("\\E", position + 2)
    return len(pattern) if end < 0 else end + 2
