"""Functions that the tests of Python rules and metrics name."""

from __future__ import annotations

from typing import Any


def fine(data: Any, context: Any) -> bool:
    return True


def with_limit(data: Any, context: Any, *, limit: int, note: str = "") -> tuple[str, int, str]:
    return ("Ok" if limit > 1 else "Error", limit, f"The limit is {limit}{note}.")


def only_data(data: Any) -> bool:
    return True


class Nested:
    @staticmethod
    def inside(data: Any, context: Any) -> bool:
        return False


NOT_CALLABLE = 3
