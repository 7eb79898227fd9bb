"""Which bounds can stand together in one range."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

import dq_dagster as dq

NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "bounds",
    [
        {"min": 0},
        {"soft_max": 0},
        {"min": 1, "soft_min": 1, "soft_max": 1, "max": 1},
        {"min": 0.5, "max": Decimal("0.5")},
        {"min": Decimal("0.1"), "max": 0.1},
        {"min": 2**53, "max": 2.0**53},
        {"min": -(10**300), "max": 1e300},
        {"min": False, "max": True},
        {"min": "a", "max": "b"},
        {"min": "", "max": ""},
        {"min": "2024-01-01", "max": "2024-01-01"},
        {"min": date(2024, 1, 1), "max": date(2024, 1, 2)},
        {"min": date(2024, 1, 1), "max": "2024-01-02"},
        {"min": "2024-01-01", "max": date(2024, 1, 2)},
        {"min": NOON, "max": NOON},
        # In order as instants, though not as texts.
        {"min": "2024-01-01T10:00:00+00:00", "max": "2024-01-01T09:00:00-05:00"},
        # In order in New York: which zone the naive one is in is not known here.
        {"min": "2024-01-01T10:00:00+00:00", "max": "2024-01-01T08:00:00"},
        # Texts that may be dates and may be codes.
        {"min": "20240101", "max": "99999999"},
        {"min": "10", "max": "2024-01-01"},
    ],
    ids=str,
)
def test_bounds_in_order_are_taken(bounds: dict[str, Any]) -> None:
    rule = dq.ColumnValuesInRange(columns="x", **bounds)
    assert rule.expected.given() == bounds


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({}, "at least one of min, soft_min, soft_max and max is needed"),
        ({"min": 2, "max": 1}, "but min is 2 and max is 1"),
        ({"soft_min": 2, "soft_max": 1.5}, "but soft_min is 2 and soft_max is 1.5"),
        ({"min": 1, "soft_min": 0}, "but min is 1 and soft_min is 0"),
        ({"soft_max": 2, "max": 1}, "but soft_max is 2 and max is 1"),
        ({"min": 5, "soft_max": 4, "max": 9}, "but min is 5 and soft_max is 4"),
        ({"min": "b", "max": "a"}, "but min is b and max is a"),
        ({"min": 1, "max": "a"}, "of different kinds"),
        ({"min": True, "max": 2}, "of different kinds"),
        ({"min": date(2024, 1, 1), "max": 5}, "of different kinds"),
        ({"min": "2024-01-02", "max": "2024-01-01"}, "must be ordered"),
        (
            {"min": "2024-01-01T10:00:00+00:00", "max": "2024-01-01T11:00:00+09:00"},
            "must be ordered",
        ),
        ({"min": float("nan")}, "finite"),
        ({"max": float("inf")}, "finite"),
        ({"min": Decimal("NaN")}, "finite"),
    ],
    ids=str,
)
def test_bounds_that_make_no_range_are_refused(bounds: dict[str, Any], words: str) -> None:
    with pytest.raises(dq.DeclarationError, match=words):
        dq.ColumnValuesInRange(columns="x", **bounds)


@pytest.mark.parametrize("bound", [True, "3", date(2024, 1, 1), None])
def test_statistics_take_numbers_only(bound: Any) -> None:
    with pytest.raises(dq.DeclarationError, match=r"number is needed|at least one of"):
        dq.ColumnAvgInRange(columns="x", min=bound)
