"""Which patterns repeat one thing so often as the length of the text tells."""

from __future__ import annotations

import pytest

from dq_dagster.rules.fields.regex import PatternLength, pattern_length


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
    assert pattern_length(pattern) == PatternLength(width, width, fast)


@pytest.mark.parametrize(
    ("pattern", "least", "most", "fast"),
    [
        ("a{2,3}", 2, 3, r"\Aa+\z"),
        ("[ -~]{1,94}", 1, 94, r"\A[ -~]+\z"),
        (r"[A-Z]{2}\d{0,8}", 2, 10, r"\A[A-Z]{2}\d*\z"),
        (r"[A-Z]{2}\d{3,}", 5, None, r"\A[A-Z]{2}\d+\z"),
        ("a{2}a{1,3}b", 4, 6, r"\Aa+b\z"),
        (r"\w{1,5}\d{7}", 8, 12, r"\A\w+\d{7}\z"),
    ],
)
def test_patterns_of_which_one_part_varies(
    pattern: str, least: int, most: int | None, fast: str
) -> None:
    assert pattern_length(pattern) == PatternLength(least, most, fast)


@pytest.mark.parametrize(
    "pattern",
    [
        "", "abc", r"\d", "a{3,2}", "a{0}", "a{0,0}", "a{2}+", "a{2}?", "a{2}{3}", "a+", "a*",
        "aa?", "a{1,2}b{1,2}", "a{1,2}+", "a{1,2}?", "a{,2}", "a{2,}?", "a{2,3}{4}", "a{02}",
        "(a){2}", "a{2}|b{2}", "(?i)a{2}", "[^a]{2}", "[a&&b]{2}", "[+-9]{2}", "[a[b]]{2}",
        ".{3}", r"\D{3}", r"\s{3}", r"\Qa\E{3}", r"a{2}\b", "^a{2}$", r"\p{L}{2}", r"\x41{2}",
        "[]a]{2}", "é{2}", "٣{2}", "a{٣}", "a{2}#", "{2}", "\\", "a{2}\\", "[a-", "\n{2}",
        "[a-Z]{2}", "[~- ]{2}",
    ],
)  # fmt: skip
def test_anything_else_is_left_to_java(pattern: str) -> None:
    assert pattern_length(pattern) is None
