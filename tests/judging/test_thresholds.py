"""Counted rows against thresholds: exact, also where shares are no binary fractions."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dq_dagster.judging.thresholds import Limit, Requirement


@pytest.mark.parametrize(
    ("limit", "bad", "considered", "status"),
    [
        (Limit("count", max=0), 0, 10, "Ok"),
        (Limit("count", max=0), 1, 10, "Error"),
        (Limit("count", max=3), 3, 10, "Ok"),
        (Limit("count", max=3), 4, 10, "Error"),
        (Limit("count", max=3.5), 3, 10, "Ok"),
        (Limit("count", max=3.5), 4, 10, "Error"),
        (Limit("count", soft_max=1), 2, 10, "Warning"),
        (Limit("count", soft_max=1), 1, 10, "Ok"),
        (Limit("count", soft_max=1, max=3), 2, 10, "Warning"),
        (Limit("count", soft_max=1, max=3), 4, 10, "Error"),
        (Limit("count", soft_max=0, max=0), 1, 10, "Error"),
        (Limit("proportion", max=0.1), 1, 10, "Ok"),
        (Limit("proportion", max=0.1), 11, 100, "Error"),
        # 0.1 is no binary fraction: 3 of 30 is exactly one tenth all the same.
        (Limit("proportion", max=0.1), 3, 30, "Ok"),
        (Limit("proportion", max=0.3), 3, 10, "Ok"),
        (Limit("proportion", max=0.7), 7, 10, "Ok"),
        (Limit("proportion", max=Decimal("0.1")), 1, 10, "Ok"),
        (Limit("proportion", max=Decimal("0.1")), 2, 10, "Error"),
        (Limit("proportion", max=1e-6), 1, 1_000_000, "Ok"),
        (Limit("proportion", max=1e-6), 2, 1_000_001, "Error"),
        (Limit("proportion", max=0), 0, 10, "Ok"),
        (Limit("proportion", max=0), 1, 10**12, "Error"),
        (Limit("proportion", max=1), 10, 10, "Ok"),
        (Limit("proportion", soft_max=0.01, max=0.05), 2, 100, "Warning"),
        (Limit("proportion", soft_max=0.01, max=0.05), 5, 100, "Warning"),
        (Limit("proportion", soft_max=0.01, max=0.05), 6, 100, "Error"),
        (Limit("proportion", soft_max=0.01, max=0.05), 1, 100, "Ok"),
    ],
)
def test_bad_rows_are_limited(limit: Limit, bad: int, considered: int, status: str) -> None:
    assert limit.judge(bad, considered) == status


@pytest.mark.parametrize(
    ("requirement", "good", "considered", "status"),
    [
        (Requirement("proportion", min=1), 10, 10, "Ok"),
        (Requirement("proportion", min=1), 10**15 - 1, 10**15, "Error"),
        (Requirement("proportion", min=0.9), 9, 10, "Ok"),
        (Requirement("proportion", min=0.9), 89, 100, "Error"),
        (Requirement("proportion", soft_min=0.9, min=0.5), 8, 10, "Warning"),
        (Requirement("proportion", soft_min=0.9, min=0.5), 5, 10, "Warning"),
        (Requirement("proportion", soft_min=0.9, min=0.5), 4, 10, "Error"),
        (Requirement("proportion", min=0), 0, 10, "Ok"),
        (Requirement("count", min=5), 5, 5, "Ok"),
        (Requirement("count", min=5), 4, 100, "Error"),
        (Requirement("count", soft_min=5), 4, 100, "Warning"),
        (Requirement("count", min=Decimal("4.5")), 4, 100, "Error"),
    ],
)
def test_good_rows_are_required(
    requirement: Requirement, good: int, considered: int, status: str
) -> None:
    assert requirement.judge(good, considered) == status


@pytest.mark.parametrize(
    ("threshold", "words", "given"),
    [
        (Limit("count", max=0), "none allowed", {"max": 0}),
        (Limit("count", soft_max=1), "ideally at most 1", {"soft_max": 1}),
        (Limit("count", max=2000.0), "at most 2,000 allowed", {"max": 2000.0}),
        (
            Limit("proportion", soft_max=0.005, max=0.01),
            "at most 1 % allowed, ideally at most 0.5 %",
            {"soft_max": 0.005, "max": 0.01},
        ),
        (Limit("proportion", max=1e-7), "at most 1e-05 % allowed", {"max": 1e-7}),
        (Limit("proportion", max=Decimal("0.07")), "at most 7 % allowed", {"max": Decimal("0.07")}),
        (Requirement("proportion", min=0.99), "at least 99 % required", {"min": 0.99}),
        (Requirement("proportion", min=0.29), "at least 29 % required", {"min": 0.29}),
        (
            Requirement("count", min=3, soft_min=5),
            "at least 3 required, ideally at least 5",
            {"soft_min": 5, "min": 3},
        ),
    ],
)
def test_thresholds_in_words(
    threshold: Limit | Requirement, words: str, given: dict[str, float]
) -> None:
    assert threshold.words() == words
    assert threshold.given() == given
