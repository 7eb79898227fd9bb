"""Time windows without a formula: a search among their starts, written as SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dq_dagster.spark.quoting import text


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """A span of seconds since 1970, its end excluded, and the key of what lies in it."""

    start: int
    end: int
    key: str


def key_of_window(seconds: str, windows: Sequence[Window]) -> str:
    """The key of the window that holds the moment; NULL where there is none.

    A balanced tree of comparisons: eleven of them find one of two thousand windows.
    """
    steps: list[tuple[int, str]] = []
    for window in sorted(windows):
        if steps and steps[-1][0] == window.start:
            steps.pop()
        steps += [(window.start, text(window.key)), (window.end, _NOTHING)]
    return _tree(seconds, [(None, _NOTHING), *steps])


_NOTHING = "CAST(NULL AS STRING)"


def _tree(seconds: str, steps: Sequence[tuple[int | None, str]]) -> str:
    if len(steps) == 1:
        return steps[0][1]
    middle = len(steps) // 2
    before, after = _tree(seconds, steps[:middle]), _tree(seconds, steps[middle:])
    return f"IF({seconds} < {steps[middle][0]}L, {before}, {after})"
