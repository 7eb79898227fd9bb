"""Counted rows against thresholds: exact, also where shares are no binary fractions."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dq_dagster.judging.thresholds import Tolerance


@pytest.mark.parametrize(
    ("limit", "bad", "considered", "status"),
    [
        (Tolerance("count", hard=0), 0, 10, "Ok"),
        (Tolerance("count", hard=0), 1, 10, "Error"),
        (Tolerance("count", hard=3), 3, 10, "Ok"),
        (Tolerance("count", hard=3), 4, 10, "Error"),
        (Tolerance("count", hard=3.5), 3, 10, "Ok"),
        (Tolerance("count", hard=3.5), 4, 10, "Error"),
        (Tolerance("count", soft=1), 2, 10, "Warning"),
        (Tolerance("count", soft=1), 1, 10, "Ok"),
        (Tolerance("count", soft=1, hard=3), 2, 10, "Warning"),
        (Tolerance("count", soft=1, hard=3), 4, 10, "Error"),
        (Tolerance("count", soft=0, hard=0), 1, 10, "Error"),
        (Tolerance("proportion", hard=0.1), 1, 10, "Ok"),
        (Tolerance("proportion", hard=0.1), 11, 100, "Error"),
        # 0.1 is no binary fraction: 3 of 30 is exactly one tenth all the same.
        (Tolerance("proportion", hard=0.1), 3, 30, "Ok"),
        (Tolerance("proportion", hard=0.3), 3, 10, "Ok"),
        (Tolerance("proportion", hard=0.7), 7, 10, "Ok"),
        (Tolerance("proportion", hard=Decimal("0.1")), 1, 10, "Ok"),
        (Tolerance("proportion", hard=Decimal("0.1")), 2, 10, "Error"),
        (Tolerance("proportion", hard=1e-6), 1, 1_000_000, "Ok"),
        (Tolerance("proportion", hard=1e-6), 2, 1_000_001, "Error"),
        (Tolerance("proportion", hard=0), 0, 10, "Ok"),
        (Tolerance("proportion", hard=0), 1, 10**12, "Error"),
        (Tolerance("proportion", hard=1), 10, 10, "Ok"),
        (Tolerance("proportion", soft=0.01, hard=0.05), 2, 100, "Warning"),
        (Tolerance("proportion", soft=0.01, hard=0.05), 5, 100, "Warning"),
        (Tolerance("proportion", soft=0.01, hard=0.05), 6, 100, "Error"),
        (Tolerance("proportion", soft=0.01, hard=0.05), 1, 100, "Ok"),
    ],
)
def test_bad_rows_are_limited(limit: Tolerance, bad: int, considered: int, status: str) -> None:
    assert limit.judge(bad, considered).status == status


@pytest.mark.parametrize(
    ("requirement", "good", "considered", "status"),
    [
        (Tolerance("proportion", hard=1, of_good=True), 10, 10, "Ok"),
        (Tolerance("proportion", hard=1, of_good=True), 10**15 - 1, 10**15, "Error"),
        (Tolerance("proportion", hard=0.9, of_good=True), 9, 10, "Ok"),
        (Tolerance("proportion", hard=0.9, of_good=True), 89, 100, "Error"),
        (Tolerance("proportion", soft=0.9, hard=0.5, of_good=True), 8, 10, "Warning"),
        (Tolerance("proportion", soft=0.9, hard=0.5, of_good=True), 5, 10, "Warning"),
        (Tolerance("proportion", soft=0.9, hard=0.5, of_good=True), 4, 10, "Error"),
        (Tolerance("proportion", hard=0, of_good=True), 0, 10, "Ok"),
        (Tolerance("count", hard=5, of_good=True), 5, 5, "Ok"),
        (Tolerance("count", hard=5, of_good=True), 4, 100, "Error"),
        (Tolerance("count", soft=5, of_good=True), 4, 100, "Warning"),
        (Tolerance("count", hard=Decimal("4.5"), of_good=True), 4, 100, "Error"),
    ],
)
def test_good_rows_are_required(
    requirement: Tolerance, good: int, considered: int, status: str
) -> None:
    assert requirement.judge(considered - good, considered).status == status


@pytest.mark.parametrize(
    ("threshold", "words", "given"),
    [
        (Tolerance("count", hard=0), "none allowed", {"max": 0}),
        (Tolerance("count", soft=1), "ideally at most 1", {"soft_max": 1}),
        (Tolerance("count", hard=2000.0), "at most 2,000 allowed", {"max": 2000.0}),
        (
            Tolerance("proportion", soft=0.005, hard=0.01),
            "at most 1 % allowed, ideally at most 0.5 %",
            {"soft_max": 0.005, "max": 0.01},
        ),
        (Tolerance("proportion", hard=1e-7), "at most 1e-05 % allowed", {"max": 1e-7}),
        (
            Tolerance("proportion", hard=Decimal("0.07")),
            "at most 7 % allowed",
            {"max": Decimal("0.07")},
        ),
        (Tolerance("proportion", hard=0.99, of_good=True), "at least 99 % required", {"min": 0.99}),
        (Tolerance("proportion", hard=0.29, of_good=True), "at least 29 % required", {"min": 0.29}),
        (
            Tolerance("count", hard=3, soft=5, of_good=True),
            "at least 3 required, ideally at least 5",
            {"soft_min": 5, "min": 3},
        ),
    ],
)
def test_thresholds_in_words(threshold: Tolerance, words: str, given: dict[str, float]) -> None:
    assert threshold.words() == words
    assert threshold.given() == given


@pytest.mark.parametrize(
    ("tolerance", "bad", "counts_good", "observed", "limits"),
    [
        # As they were said: of bad rows that are counted.
        (Tolerance("count", soft=1, hard=3), 2, False, 2, {}),
        (Tolerance("proportion", hard=0), 2, False, 2, {}),
        (Tolerance("proportion", soft=0.01, hard=0.05), 25, False, 25, {"soft_max": 10, "max": 50}),
        (Tolerance("proportion", hard=0.0015), 1, False, 1, {"max": 1.5}),
        (Tolerance("proportion", hard=0.99, of_good=True), 10, False, 10, {"max": 10}),
        (Tolerance("count", hard=990, of_good=True), 10, False, 10, {"max": 10}),
        (Tolerance("proportion", hard=1, of_good=True), 0, True, 1000, {"min": 1000}),
        (Tolerance("proportion", hard=0.05), 10, True, 990, {"min": 950}),
        (Tolerance("count", hard=990, of_good=True), 10, True, 990, {}),
    ],
)
def test_limits_compare_with_what_was_observed(
    tolerance: Tolerance, bad: int, counts_good: bool, observed: int, limits: dict[str, object]
) -> None:
    judged = tolerance.judge(bad, 1_000).judgement("are bad", counts_good=counts_good)
    assert (judged.observed, judged.limits) == (observed, limits)
