"""How numbers, shares, times and lists read in messages."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from dq_dagster.judging.wording import (
    are,
    do,
    have,
    listing,
    percent,
    plural,
    share,
    show,
    show_bound,
    value_words,
)


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [
        (0, 10, "0 %"),
        (10, 10, "100 %"),
        (1, 2, "50 %"),
        (1, 3, "33.33 %"),
        (1, 8, "12.5 %"),
        (1, 10_000, "0.01 %"),
        (1, 1_000_000, "<0.01 %"),
        (1, 10**15, "<0.01 %"),
        (999_999, 1_000_000, ">99.99 %"),
        (10**15 - 1, 10**15, ">99.99 %"),
        (99_994, 100_000, "99.99 %"),
        (4, 100_000, "<0.01 %"),
        (10**30 - 1, 10**30, ">99.99 %"),
        (10, 100, "10 %"),
        (200, 1000, "20 %"),
    ],
)
def test_percents_never_round_to_nothing_or_all(part: int, whole: int, words: str) -> None:
    assert percent(part, whole) == words


@pytest.mark.parametrize("whole", [1, 3, 7, 999, 10_001, 1_000_003])
def test_only_none_is_0_and_only_all_is_100_percent(whole: int) -> None:
    for part in {0, 1, whole // 2, whole - 1, whole}:
        words = percent(part, whole)
        assert (words == "0 %") is (part == 0)
        assert (words == "100 %") is (part == whole)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "no value"),
        (True, "true"),
        (0, "0"),
        (-1234567, "-1,234,567"),
        (1234567.891, "1,234,567.89"),
        (0.1 + 0.2, "0.3"),
        (1e300, "1e+300"),
        (float("inf"), "inf"),
        (Decimal("1234567.80"), "1,234,567.80"),
        (Decimal(1) / Decimal(3), "0.3333333333"),
        (Decimal("Infinity"), "Infinity"),
        (date(2024, 1, 2), "2024-01-02"),
        (datetime(2024, 1, 2, 3, 4, tzinfo=UTC), "2024-01-02 03:04:00+00:00"),
        ("secret", "a text of 6 characters"),
        ("s", "a text of 1 character"),
        ("", "a text of 0 characters"),
        (b"secret", "a value of type bytes"),
        (["secret"], "a value of type list"),
    ],
)
def test_values_in_words(value: Any, words: str) -> None:
    assert show(value) == words


@pytest.mark.parametrize(
    ("bound", "words"),
    [("a", "'a'"), ("2024-01-01", "2024-01-01"), (1000, "1,000"), (date(2024, 1, 2), "2024-01-02")],
)
def test_bounds_are_quoted_as_written(bound: Any, words: str) -> None:
    assert show_bound(bound) == words


@pytest.mark.parametrize(
    ("words", "most", "text"),
    [
        ([], 3, ""),
        (["a"], 3, "'a'"),
        (["a", "b"], 3, "'a' and 'b'"),
        (["a", "b", "c"], 3, "'a', 'b' and 'c'"),
        (["a", "b", "c", "d"], 3, "'a', 'b', 'c' and 1 more"),
        (range(2000), 2, "'0', '1' and 1,998 more"),
    ],
)
def test_lists_are_cut(words: Any, most: int, text: str) -> None:
    assert listing(words, most=most) == text


def test_sentences_agree_in_number() -> None:
    assert [plural(count, "row") for count in (0, 1, 2, 1000)] == [
        "0 rows",
        "1 row",
        "2 rows",
        "1,000 rows",
    ]
    assert share(3, 1204, "row") == "3 of 1,204 rows (0.25 %)"
    assert share(1, 1, "value") == "1 of 1 value (100 %)"
    assert [verb(1) for verb in (are, have, do)] == ["is", "has", "does"]
    assert [verb(2) for verb in (are, have, do)] == ["are", "have", "do"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "\u2013"),
        (1204, "1,204"),
        ({"a": 1, "b": 1}, "1"),
        ({"a": 1, "b": 2}, "a: 1, b: 2"),
        ([1, 2, 3], "1, 2 and 1 more"),
        (["a text of 2 characters"] * 4, "4 times a text of 2 characters"),
        ([1], "1"),
        ([], ""),
        ("x" * 70, "x" * 59 + "…"),
        (True, "true"),
    ],
)
def test_values_in_few_words(value: object, words: str) -> None:
    assert value_words(value) == words
