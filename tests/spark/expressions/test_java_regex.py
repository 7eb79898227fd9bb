"""The grammar of patterns against Java's own: nothing is refused that Java takes."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from dq_dagster.rules.fields.java_regex import find_mistake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: As people write them, and every part of the grammar.
VALID = [
    "", "a", "[A-Z]{2}[0-9]+", r"[^@\s]+@[^@\s]+", r"\d{4}-\d{2}-\d{2}", r"\+?[0-9 ()-]{7,20}",
    r"^(?:[a-z0-9-]+\.)+[a-z]{2,}$", r"(?<year>\d{4})-(?<month>\d\d)", r"(a)\1", r"(?<x>a)\k<x>",
    r"\9", r"(a)\12", "(?i)abc", "(?i:abc)", "(?i-s:abc)", "(?-i)abc", "(?imsdxuU)a", "(?c)a",
    "(?=a)b", "(?!a)b", "(?<=a)b", "(?<!ab{2,3})b", "(?>a+)b", "a*?", "a*+", "a++", "a??", "a?+",
    "a{2}", "a{2,}", "a{2,3}", "a{2,3}?", "a{2,3}+", "a{0}", "{2}", "a{2}{3}", "a*{2}", "(a){2}",
    "}", "]", "a}", "a]", "a-b", "[]a]", "[^]a]", "[a-]", "[-a]", "[a-c-e]", "[a&b]", "[a&&b]",
    "[a-z&&[^aeiou]]", "[a-z&&[def]]", "[a-z&&def]", "[&&a]", "[a&&]", "[a[b]]", "[[a]b]", "[^[a]]",
    "[a^b]", "[^^]", r"[\]]", r"[\[]", r"[\d-]", r"[\w.-]", r"[+--]", r"[a-\x7a]", r"[\x00-\x1f]",
    r"\x41", r"\x{1F600}", r"\u0041", r"\ud83d\ude00", r"[\ud83d\ude00-\ud83d\ude4f]", r"\0101",
    r"\07", r"\018", r"\cA", r"\cx", r"\N{LATIN SMALL LETTER A}", r"\t\n\r\f\a\e", r"\h\H\v\V\R\X",
    r"\b\B\A\G\Z\z", r"\b{g}", r"\pL", r"\PL", r"\p{L}", r"\p{Lu}", r"\p{IsAlphabetic}",
    r"\p{IsLatin}", r"\p{InGreek}", r"\p{Alpha}", r"\p{javaLowerCase}", r"\p{sc=Greek}",
    r"\p{script=GREEK}", r"\p{blk=GREEK}", r"\p{gc=Lu}", r"\p{general_category=Lu}",
    r"(?U)\p{alpha}", r"[\p{L}&&[^\p{Lu}]]", r"[\p{L}\d_]", r"\Qa.b\E", r"\Q(\E", r"\Q)", r"\Q",
    r"a\Q1\E", r"\\", r"\.", r"\_", r"\-", r"\/", r"\ ", r"\"", "\\é",
    "(?x) a b # (", "(?x)a # ) comment\nb", "(?x)[a # ]\n]", "(?x: a )b", "(?x)a",
    "(?d)^a$", "((((a))))", "(|a)", "a||b", "|", "()", "(?:)", "[\U0001f600]",
    "\U0001f600+", r"[a-z]+(?:'[a-z]+)?", r"\$\{a\}", r"[\p{Punct}]", "(?<=a*?)b", "(?<=(?=a*))b",
    r"[\v-\x0e]", "[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+", r"\A\p{ASCII}*\z", "[[:alpha:]]",
    r"(?s).*", "a|b|c", "^$", "a^", "$a", "(?i)(a)(?-i)b", "(?<a1>x)", "\n", "\x00", "a\x00b",
]  # fmt: skip
INVALID = [
    "(", ")", "a)", "(a", "a)|(b", "((a)", "[", "[a", "[^", "[]", "[^]", "[a-", "[a&&", "[&&]",
    "*", "+a", "?", "a**", "a+*", "a{2}*x*+*", "(*a)", "a|*", "{", "a{", "a{,3}", "a{x}", "a{2",
    "a{2,", "a{2,x}", "a{3,2}", "a{99999999999}", "(?P<x>a)", "(?P=x)", "(?#a)", "(?(1)a)", "(?",
    "(?y)", "(?i", "(?i-", "(?<>a)", "(?<1>a)", "(?<a_b>a)", "(?<a", "(?<a>x)(?<a>y)", "(?$a)",
    "(?@a)", r"\k<x>", r"\k", r"\kx", r"\k<x", r"\x", r"\x4", r"\xg", r"\x{}", r"\x{110000}",
    r"\x{41", r"\u004", r"\u004g", r"\0", r"\08", r"\c", r"\N", r"\N{", r"\g", r"\g<1>", r"\i",
    r"\j", r"\l", r"\m", r"\o", r"\q", r"\y", r"\C", r"\E", r"\F", r"\I", r"\J", r"\K", r"\L",
    r"\M", r"\O", r"\T", r"\U", r"\Y", r"\p{Foo}", r"\p{", r"\p{}", r"\p{L", r"\pX", r"\p",
    r"\p{alpha}", r"\p{Latin}", r"\p{foo=bar}", r"[\b]", r"[\B]", r"[\A]", r"[\z]", r"[\1]",
    r"[\k<a>]", r"[\R]", r"[\X]", "[z-a]", r"[a-\d]", r"[\x7a-a]", "a\\", "[a\\", r"\b{g",
]  # fmt: skip
PIECES = [
    "a", "b", "(?<=a)", "(a)", "[a]", "(", ")", "(?:", "(?x)", "(?i)", "(?=", "(?<=", "(?<n>", "[",
    "]", "[^", "\\Q", "\\E", "\\", "|", "#", "*", "+", "?", "\n", " ", "&&", "&", "-", "^", "$",
    ".", "{2}", "{2,}", "{", "}", "1", ",", "\\(", "\\]", "\\\\", "\\d", "\\b", "\\p{L}", "\\1",
    "\\k<n>", "\\x41", "é",
]  # fmt: skip


@pytest.fixture
def java(spark: SparkSession) -> Any:
    return spark.sparkContext._jvm.java.util.regex.Pattern  # type: ignore[union-attr]  # noqa: SLF001


def java_takes(java: Any, pattern: str) -> bool:
    from pyspark.errors import IllegalArgumentException

    try:
        java.compile(pattern)
    except IllegalArgumentException:
        return False
    return True


def test_java_and_the_grammar_agree_on_every_part_of_it(java: Any) -> None:
    assert len(VALID) + len(INVALID) > 250
    wrongly_listed = [p for p in VALID if not java_takes(java, p)]
    wrongly_listed += [p for p in INVALID if java_takes(java, p)]
    assert wrongly_listed == []
    assert [(p, str(m)) for p in VALID if (m := find_mistake(p))] == []
    assert [p for p in INVALID if find_mistake(p) is None] == []


@pytest.mark.deep
def test_nothing_is_refused_that_java_takes(java: Any) -> None:
    random = Random(11)
    made = {"".join(random.choices(PIECES, k=random.randint(1, 9))) for _ in range(4_000)}
    refused, missed, invalid = [], [], 0
    for pattern in sorted(made):
        takes = java_takes(java, pattern)
        mistake = find_mistake(pattern)
        invalid += not takes
        if takes and mistake:
            refused.append((pattern, str(mistake)))
        if not takes and mistake is None:
            missed.append(pattern)
    assert refused == []
    assert 500 < invalid < len(made) - 500
    # What is left is shown when the rule runs.
    assert len(missed) < invalid * 0.02, missed


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (
            r"(?P<year>\d{4})",
            (
                "(?P<name>...) is Python's; Java writes (?<name>...), at position 0 of the pattern "
                "'(?P<year>\\d{4})'."
            ),
        ),
        ("a{,3}", "'{' begins a number of repetitions such as {0,3}; as a character it is \\{, at"),
        ("ab**", "nothing stands before '*' that it could repeat, at position 3 of the pattern"),
        ("x[z-a]", "the range of characters is not in order, at position 2 of the pattern"),
        (r"\Qab\E[c", "'[' is never closed, at position 6 of the pattern"),
        ("(?<a_b>x)", "the name of a group has letters and digits only, and ends in '>', at"),
    ],
)
def test_a_mistake_is_shown_when_the_rule_is_declared(pattern: str, said: str) -> None:
    for declare in (
        lambda: dq.ColumnValuesMatch(name="n", columns="a", pattern=pattern),
        lambda: dq.ColumnValuesNotMatch(name="n", columns="a", pattern=pattern),
        lambda: dq.RuleSet(asset="o", rules=[], meanings={"m": {"pattern": pattern}}),
    ):
        with pytest.raises(dq.DeclarationError) as caught:
            declare()
        assert f"field 'pattern': {said}" in str(caught.value)
