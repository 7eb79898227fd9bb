"""Fifty column names that break careless SQL; no two are alike when case is ignored."""

from __future__ import annotations

HOSTILE_NAMES = (
    "a.b", "a`b", "``", "`", ".", "..a", "length", "Ä", "with space", " leading", "trailing ",
    "select", "from", "null", "true", "case", "end", "interval", "current_date", "order by",
    'a"b', "a'b", "''", "a\\b", "\\", "\U0001f600", "日本語", "e\u0301", "\u017f", "count(1)",
    "count", "sum(x)", "x" * 60, "1st", "123", "-1", "a-b", "a+b", "a/b", "*", "a,b", "a;b", "--",
    "/* a */", "a)b", "(", "a%b", "{c}", "$a", "a:b", "@x", "?", "line\nbreak", "tab\there",
    "dq_0", "value", "row",
)  # fmt: skip
