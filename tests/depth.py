"""Which cases of a table run every time, and which only with ``--deep``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def deep_after(count: int, cases: Iterable[Any]) -> list[Any]:
    """All cases, of which those after the first ``count`` are marked deep."""
    listed = list(cases)
    return [*listed[:count], *(deep(case) for case in listed[count:])]


def deep(case: Any) -> Any:
    """One case of a table, marked deep; it keeps the marks that it has."""
    if isinstance(case, type(pytest.param())):
        return pytest.param(*case.values, marks=[*case.marks, pytest.mark.deep], id=case.id)
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.deep)
