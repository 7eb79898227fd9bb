"""Patterns that mean the same to Java and to Python's ``re`` with ASCII classes.

Left out on purpose: ``.`` without ``(?s)`` and ``$``, which take different line breaks.
"""

from __future__ import annotations

import re

PATTERNS = (
    "a",
    "[a-z]*",
    "[^ ]+",
    r"\d+",
    r"[+-]?\d+(\.\d+)?",
    "a|ab",
    "ab|a",
    "|x",
    "(?s).*",
    "(?s).{1,3}",
    r"(?s)\w(.*)",
    "(?i)ABC",
    "[\U0001f600-\U0001f64f]",
    "é+|ü",
    r"\s+",
    r"['\"\\]",
    r"\Aa",
    "[)(]",
    r"\$\{a\}",
    "\n",
    "\x00",
    "(a)(b)?",
    r"a\\b",
    "(?:x|y|a)b?",
)


def matches(pattern: str, text: str, *, whole: bool) -> bool:
    compiled = re.compile(pattern, re.ASCII)
    return bool(compiled.fullmatch(text) if whole else compiled.search(text))
