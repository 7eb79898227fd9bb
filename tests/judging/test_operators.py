"""Comparing two observed values."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from dq_dagster.judging.comparison import Operator, holds, is_member
from dq_dagster.metrics.constant import Single, rounded

INF = float("inf")
# Left, right, and whether left is less than, equal to or greater than right.
CASES: list[tuple[Any, Any, str]] = [
    (1, 2, "<"),
    (2, 2.0, "="),
    (2**53 + 1, 2.0**53, ">"),
    (Decimal("0.1"), 0.1, "="),
    (0.1, Decimal("0.1"), "="),
    (Decimal("1e-30"), 0, ">"),
    (Single(rounded(0.1)), Decimal("0.1"), "="),
    (0.1, Single(rounded(0.1)), "="),
    (-INF, -(10**400), "<"),
    (INF, 10**400, ">"),
    # Not both numbers: the alphabet.
    (10, "9", "<"),
    ("b", "a", ">"),
    ("a", "B", ">"),
    ("", "a", "<"),
    ("é", "z", ">"),
    (True, "true", "="),
    (False, True, "<"),
    (True, 1, ">"),
    (date(2024, 1, 2), date(2024, 1, 10), "<"),
    (date(2024, 1, 2), "2024-01-02", "="),
    (datetime(2024, 1, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC), ">"),
    (datetime(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC), "<"),  # noqa: DTZ001 (a wall clock)
]
TRUE_FOR: dict[Operator, str] = {
    "<": "<",
    "<=": "<=",
    "=": "=",
    "!=": "<>",
    ">=": ">=",
    ">": ">",
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]!r} {case[2]} {case[1]!r}")
def test_every_operator(case: tuple[Any, Any, str]) -> None:
    left, right, relation = case
    for sign, relations in TRUE_FOR.items():
        assert holds(left, sign, right) is (relation in relations), sign


@pytest.mark.parametrize(
    ("value", "values", "inside"),
    [
        (1, [1], True),
        (1, [1.0, "x"], True),
        (Decimal("0.10"), [0.1], True),
        (Single(rounded(0.1)), [0.1], True),
        (1, [2, True], False),
        ("a", ["a", 1], True),
        ("1", [1, "x"], False),
        (float("nan"), [float("nan")], False),
        (date(2024, 1, 1), ["2024-01-01"], True),
        (True, [True], True),
    ],
)
def test_membership(value: Any, values: list[Any], *, inside: bool) -> None:
    assert is_member(value, values, what="Metric 'm'") is inside
