"""Matching whole values means to Java what its ``matches()`` means, for any pattern it takes."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from dq_dagster.rules.fields.regex import require_java_syntax, whole

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PIECES = [
    "a", "b", "(", ")", "(?:", "(?x)", "(?i)", "[", "]", "[^", "\\Q", "\\E", "\\", "|", "#", "*",
    "?", "\n", " ", "&&", "-", "^", "$", ".", "{2}", "\\(", "\\]", "\\\\",
]  # fmt: skip
TEXTS = ["a", "b", "ab", "aa", "a\n", "(a", "b)", "#a", ""]
KNOWN = [
    r"C:\\Quotes\\.*",
    "a\\",
    "[](]a)|(b[])]",
    "(?x)a#)|(b\n",
    "(?x)a # b",
    "\\Qa)",
    "[a[]b]",
    "(?x)[#]a",
    "\\\\Qa",
]


def _patterns(many: int) -> list[str]:
    random = Random(7)
    made = {"".join(random.choices(PIECES, k=random.randint(1, 7))) for _ in range(many)}
    return [*KNOWN, *sorted(made)]


@pytest.fixture
def java(spark: SparkSession) -> Any:
    return spark.sparkContext._jvm.java.util.regex.Pattern  # type: ignore[union-attr]  # noqa: SLF001


def _compiled(java: Any, pattern: str) -> Any:
    from pyspark.errors import IllegalArgumentException

    try:
        return java.compile(pattern)
    except IllegalArgumentException:
        return None


def _accepted(pattern: str) -> bool:
    try:
        require_java_syntax(pattern)
    except ValueError:
        return False
    return True


def test_accepted_patterns_mean_what_java_means(java: Any) -> None:
    refused, changed, compared = [], [], 0
    for pattern in _patterns(900):
        alone = _compiled(java, pattern)
        if not _accepted(pattern):
            refused += [pattern] if alone else []
            continue
        anchored = _compiled(java, whole(pattern))
        if (alone is None) != (anchored is None):
            changed.append(pattern)
        elif alone is not None:
            compared += 1
            changed += [pattern] * (_answers(alone, "matches") != _answers(anchored, "find"))
    assert compared > 150
    assert changed == []
    # Brackets in comments may be refused: that is said at once, and changes no answer.
    assert [pattern for pattern in refused if "x)" not in pattern or "#" not in pattern] == []


def _answers(compiled: Any, method: str) -> list[bool]:
    return [getattr(compiled.matcher(text), method)() for text in TEXTS]
