"""Which patterns tell the length of the texts that match them."""

from __future__ import annotations

import pytest

from dq_dagster.rules.fields.regex import FixedWidth, fixed_width


@pytest.mark.parametrize(
    ("pattern", "width", "fast"),
    [
        ("[A-Z]{3}", 3, r"\A[A-Z]+\z"),
        (r"\+\d{2} \d{8}", 12, r"\A\+\d{2} \d+\z"),
        (r"\d\d\d\d-\d\d-\d\d", 10, r"\A\d+-\d{2}-\d{2}\z"),
        ("[A-Z]{2}[0-9]{2}[A-Z0-9]{11}", 15, r"\A[A-Z]{2}[0-9]{2}[A-Z0-9]+\z"),
        ("aab", 3, r"\Aa+b\z"),
        (r"[a-z_.-]{4}\.\w{3}", 8, r"\A[a-z_.-]+\.\w{3}\z"),
        (r"\[\d{999}\]", 1001, r"\A\[\d+\]\z"),
    ],
)
def test_patterns_of_one_length(pattern: str, width: int, fast: str) -> None:
    assert fixed_width(pattern) == FixedWidth(width, fast)


@pytest.mark.parametrize(
    "pattern",
    [
        "", "abc", r"\d", "a{2,3}", "a{2,}", "a{0}", "a{2}+", "a{2}?", "a{2}{3}", "a+", "a*", "aa?",
        "(a){2}", "a{2}|b{2}", "(?i)a{2}", "[^a]{2}", "[a&&b]{2}", "[+-9]{2}", "[a[b]]{2}",
        ".{3}", r"\D{3}", r"\s{3}", r"\Qa\E{3}", r"a{2}\b", "^a{2}$", r"\p{L}{2}", r"\x41{2}",
        "[]a]{2}", "é{2}", "٣{2}", "a{٣}", "a{2}#", "{2}", "\\", "a{2}\\", "[a-", "\n{2}",
        "[a-Z]{2}",
    ],
)  # fmt: skip
def test_anything_else_is_left_to_java(pattern: str) -> None:
    assert fixed_width(pattern) is None
