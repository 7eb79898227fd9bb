"""Ages and sizes in words."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from dq_dagster.judging.ranges import AgeRange, SizeRange, duration, size

HOUR, DAY = 3_600, 86_400


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (Decimal("1.50"), "1.5 seconds"),
        (Decimal("0.000001"), "0.000001 seconds"),
        (60, "1 minute"),
        (61, "1 minute 1 second"),
        (HOUR, "1 hour"),
        (DAY + 12 * HOUR, "1 day 12 hours"),
        (DAY + 1, "1 day 1 second"),
        (3 * DAY + 4 * HOUR + 5 * 60 + 6, "3 days 4 hours 5 minutes 6 seconds"),
        (1000 * DAY, "1,000 days"),
        (-90, "-1 minute 30 seconds"),
    ],
)
def test_durations(seconds: Decimal, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("age", "bounds", "status", "message"),
    [
        (3 * DAY + 4 * HOUR + 59, {"max": DAY}, "Error",
         "It is 3 days 4 hours old, above the maximum of 1 day."),
        (DAY, {"max": DAY}, "Ok", "It is 1 day old, as expected (at most 1 day)."),
        (DAY + 1, {"max": DAY}, "Error",
         "It is 1 day 1 second old, above the maximum of 1 day."),
        (DAY + Decimal("0.000001"), {"max": DAY}, "Error",
         "It is 1 day 0.000001 seconds old, above the maximum of 1 day."),
        (3 * DAY, {"soft_max": 2 * DAY, "max": 5 * DAY}, "Warning",
         "It is 3 days old, above the soft maximum of 2 days."),
        (-2 * HOUR, {"max": DAY}, "Ok",
         "It is 2 hours in the future, as expected (at most 1 day)."),
        (-2 * HOUR, {"min": 0}, "Error",
         "It is 2 hours in the future, below the minimum of 0 seconds."),
        (Decimal("75.25"), {"min": 1}, "Ok",
         "It is 1 minute 15 seconds old, as expected (at least 1 second)."),
        (0, {"min": 0}, "Ok", "It is 0 seconds old, as expected (at least 0 seconds)."),
    ],
)  # fmt: skip
def test_ages(age: Decimal, bounds: dict[str, Any], status: str, message: str) -> None:
    judgement = AgeRange(**bounds).judge(Decimal(age), what="It")
    assert (judgement.status, judgement.message) == (status, message)


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1,000 bytes (1 kB)"),
        (1_234_567, "1,234,567 bytes (1.23 MB)"),
        (999_999, "999,999 bytes (1,000 kB)"),
        (5 * 10**20, "500,000,000,000,000,000,000 bytes (500 EB)"),
    ],
)
def test_sizes(count: int, words: str) -> None:
    assert size(count) == words


@pytest.mark.parametrize(
    ("bound", "words"),
    [
        (0, "at most 0 bytes"),
        (1, "at most 1 byte"),
        (1500, "at most 1.5 kB"),
        (1234, "at most 1,234 bytes"),
        (10_000_000, "at most 10 MB"),
        (1024, "at most 1 KiB"),
        (3 * 2**30, "at most 3 GiB"),
        (2**30 + 1, "at most 1,073,741,825 bytes"),
    ],
)
def test_bounds_of_sizes_read_as_they_were_written(bound: int, words: str) -> None:
    assert SizeRange(max=bound).words() == words
