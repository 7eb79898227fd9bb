"""What is said of patterns without Java."""

from __future__ import annotations

import re

import pytest

import dq_dagster as dq
from dq_dagster.rules.fields.regex import require_java_syntax, whole

CLOSED = [
    "a", "", "(a)", "(a)(b)", "((a)|(b))", "(?:a)", "(?i)a", "(?<name>a)", "(?=a)b", "(?<!a)b",
    r"\(", r"\)", r"\\(a)", "[(]", "[)]", "[()]", "[^(]", "[](]", "[^](]", r"[\]()]", "[a[(]b]",
    r"\Q(\E", r"\Q)", r"\Q(\E(a)", "a{2}", "(a)*", r"\p{L}", r"a\\", r"C:\\Quotes\\.*",
]  # fmt: skip


@pytest.mark.parametrize("pattern", CLOSED)
def test_patterns_with_closed_groups_are_taken_as_they_are(pattern: str) -> None:
    assert require_java_syntax(pattern) == pattern


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(", "'(' of the pattern is never closed"),
        ("(a", "never closed"),
        ("((a)", "never closed"),
        (r"\\(a", "never closed"),
        (")", "unmatched ')', at position 0"),
        ("a)|(b", "unmatched ')', at position 1"),
        ("(a))(b", "unmatched ')', at position 3"),
        ("[(]a)|(b", "unmatched ')', at position 4"),
        (r"\Q(\E)|(b", "unmatched ')', at position 5"),
        ("[](]a)|(b[])]", "unmatched ')', at position 5"),
        (r"(a\)", "never closed"),
        ("a\\", "ends in a lone backslash"),
        ("a\\\\\\", "ends in a lone backslash"),
    ],
)
def test_patterns_that_would_reach_out_of_a_group_are_refused(pattern: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        require_java_syntax(pattern)


def test_a_rule_says_which_field_is_wrong() -> None:
    with pytest.raises(dq.DeclarationError, match="field 'pattern': unmatched"):
        dq.ColumnValuesMatch(columns="x", pattern="a)|(b")


@pytest.mark.parametrize(
    ("pattern", "anchored"),
    [
        ("a|b", r"\A(?:a|b)\z"),
        ("", r"\A(?:)\z"),
        (r"\Qa.b", r"\A(?:\Qa.b\E)\z"),
        (r"\Qa\E.b", r"\A(?:\Qa\E.b)\z"),
        (r"C:\\Quotes", r"\A(?:C:\\Quotes)\z"),
        ("(?x)a # comment", "\\A(?:(?x)a # comment\n)\\z"),
        ("a#", r"\A(?:a#)\z"),
    ],
)
def test_whole_values_are_matched(pattern: str, anchored: str) -> None:
    assert whole(pattern) == anchored
