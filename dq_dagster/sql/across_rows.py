"""Row expressions that look beyond their row: at others by windows, at tables by subqueries.

They are written by somebody who is trusted. Still the text is one expression, which calls only what
a row expression, a window or a query may call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dq_dagster.sql.expressions import read
from dq_dagster.sql.findings import Findings, Place
from dq_dagster.sql.queries import query_refusals
from dq_dagster.sql.refusal import Refusal
from dq_dagster.sql.tokens import NAMES, Refused, tokenise, unquoted
from dq_dagster.sql.window_calls import WindowCall

_NUMBER = re.compile(r"[0-9]{1,18}")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def across_rows_refusals(text: str) -> tuple[Refusal, ...]:
    """Why the text is not taken as a row expression that looks beyond its row."""
    found = _findings(text)
    within = [
        refusal for one in found.subqueries for refusal in query_refusals(one.text[1:-1].strip())
    ]
    return tuple(dict.fromkeys([*found.refusals, *within]))


def across_rows_columns(text: str) -> tuple[str, ...]:
    """The columns an accepted text names, in order; subqueries have columns of their own."""
    return tuple(_findings(text).columns)


def needs_other_rows(text: str) -> bool:
    """Whether an accepted text needs more than its own row."""
    found = _findings(text)
    return bool(found.windows or found.subqueries)


def only_lacks_windows(text: str) -> bool:
    """Whether the text would be taken if window functions were."""
    return bool(_findings(text).windows) and not across_rows_refusals(text)


def among(text: str, keys: Sequence[str], where: str | None = None) -> str:
    """The same expression, whose windows hold only rows that are alike in these keys too.

    Values of rows for which ``where`` is not true are not computed.
    """
    pieces, position = [], 0
    for call in _findings(text).windows:
        pieces += [text[position : call.start], call.within(keys, where)]
        position = call.stop
    return "".join([*pieces, text[position:]])


@dataclass(frozen=True, slots=True)
class WindowComparison:
    """A text that compares what one call over a window gives with a whole number."""

    call: WindowCall
    operator: str
    number: int

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The columns that the window is divided by; None if it is anything but columns."""
        names = [_column(text) for text in self.call.among]
        return None if not names or None in names else tuple(name for name in names if name)

    @property
    def means_at_most_one(self) -> bool:
        """Whether it holds for a count, which is at least one, if and only if that is one."""
        limits = {("=", 1), ("==", 1), ("<=", 1), ("<", 2), ("<=>", 1)}
        return (self.operator, self.number) in limits


def window_comparison(text: str) -> WindowComparison | None:
    """The comparison, if the text is nothing else; brackets around all of it make no difference."""
    found = _findings(text)
    if found.refusals or len(found.windows) != 1:
        return None
    [call] = found.windows
    before, after = text[: call.start].strip(), text[call.stop :].strip()
    while before.endswith("(") and after.startswith(")"):
        before, after = before[:-1].strip(), after[1:].strip()
    while before.startswith("(") and after.endswith(")"):
        before, after = before[1:].strip(), after[:-1].strip()
    right = re.fullmatch(r"(<=>|==|<=|>=|=|<|>)\s*([0-9]{1,18})", after)
    if not before and right:
        return WindowComparison(call, right[1], int(right[2]))
    left = re.fullmatch(r"([0-9]{1,18})\s*(<=>|==|<=|>=|=|<|>)", before)
    if not after and left:
        return WindowComparison(call, _MIRRORED.get(left[2], left[2]), int(left[1]))
    return None


def is_constant(text: str) -> bool:
    """Whether an order is none: a literal, which is the same for all rows."""
    return _NUMBER.fullmatch(text) is not None or re.fullmatch(r"'[^'\\]*'", text) is not None


def _column(text: str) -> str | None:
    try:
        first, *others = tokenise(text)[:-1]
    except Refused:
        return None
    return unquoted(first) if first.kind in NAMES and not others else None


def _findings(text: str) -> Findings:
    return read(text, Place.ACROSS_ROWS)
