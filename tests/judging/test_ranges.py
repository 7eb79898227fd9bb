"""One value, hard and soft bounds: the verdict and its sentence."""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from dq_dagster.errors import Misfit
from dq_dagster.judging.ranges import Range

FULL = Range(min=0, soft_min=2, soft_max=8, max=10)
NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("bounds", "value", "status", "words"),
    [
        (FULL, -1, "Error", "The size is -1, below the minimum of 0."),
        (FULL, 0, "Warning", "The size is 0, below the soft minimum of 2."),
        (FULL, 1.999, "Warning", "The size is 1.999, below the soft minimum of 2."),
        (FULL, 2, "Ok", "(at least 0 and at most 10, ideally at least 2 and at most 8)"),
        (FULL, 8, "Ok", "The size is 8, as expected"),
        (FULL, 9, "Warning", "The size is 9, above the soft maximum of 8."),
        (FULL, 10, "Warning", "above the soft maximum of 8"),
        (FULL, 11, "Error", "The size is 11, above the maximum of 10."),
        (FULL, INF, "Error", "The size is inf, above the maximum of 10."),
        (FULL, -INF, "Error", "below the minimum of 0"),
        (FULL, NAN, "Error", "The size is NaN (not a number), which fits no range."),
        (FULL, Decimal("NaN"), "Error", "is NaN"),
        (FULL, None, "Empty", "Nothing to judge: the size needs"),
        (Range(soft_max=5), NAN, "Error", "is NaN"),
        (Range(min=0), INF, "Ok", "as expected (at least 0)"),
        (Range(soft_max=5), 6, "Warning", "above the soft maximum of 5"),
        (Range(soft_max=5), 5, "Ok", "as expected (ideally at most 5)"),
        (Range(min=3, max=3), 3, "Ok", "as expected (exactly 3)"),
        (Range(min=3, max=3), 4, "Error", "above the maximum of 3"),
        (Range(max=1_000_000), 1_234_567, "Error", "is 1,234,567, above the maximum of 1,000,000"),
        (Range(max=0.1), Decimal("0.1"), "Ok", "as expected"),
        (Range(max=0.1), Decimal("0.10000000000000000001"), "Error", "above"),
        (Range(max=2**53), 2**53 + 1, "Error", "above"),
        (Range(max=Decimal("0.1")), 0.1, "Ok", "as expected"),
        (Range(max=10**400), INF, "Error", "above"),
        (Range(max=10**400), 1e308, "Ok", "as expected"),
        (Range(min="b"), "a", "Error", "is a text of 1 character, below the minimum of 'b'"),
        (Range(min=True), False, "Error", "The size is false, below the minimum of true"),
        (Range(max="2024-01-01"), date(2024, 1, 2), "Error", "is 2024-01-02, above the maximum of"),
    ],
)  # fmt: skip
def test_a_value_is_placed(bounds: Range, value: Any, status: str, words: str) -> None:
    judgement = bounds.judge(value, what="The size", rows=3)
    assert judgement.status == status
    assert words in judgement.message
    assert judgement.rows == 3
    assert judgement.bounds == bounds.given()
    assert judgement.observed is value or judgement.observed == value


@pytest.mark.parametrize(
    ("bounds", "value"),
    [
        (Range(min=1), "a"),
        (Range(min="a"), 1),
        (Range(min=True), 1),
        (Range(min=1), True),
        (Range(max="2024-01-01"), 1.5),
        (Range(max=5), date(2024, 1, 1)),
        (Range(max="soon"), date(2024, 1, 1)),
        (Range(max=5), b"\x00"),
    ],
)
def test_a_bound_of_another_kind_is_never_compared(bounds: Range, value: Any) -> None:
    with pytest.raises(Misfit, match="The size"):
        bounds.judge(value, what="The size")


def test_only_the_bounds_that_were_set_are_reported() -> None:
    assert Range(min=0, soft_max=0).given() == {"min": 0, "soft_max": 0}
    assert FULL.given() == {"min": 0, "soft_min": 2, "soft_max": 8, "max": 10}
