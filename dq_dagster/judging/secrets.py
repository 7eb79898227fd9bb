"""Texts of foreign errors, fit to be shown: one line, not too long, and without passwords."""

from __future__ import annotations

import re

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
