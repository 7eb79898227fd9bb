"""Texts: order, case, blanks, line breaks, and characters that SQL and patterns read as theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import dq_dagster as dq
from tests.oracle.cases import Case, judge_all, labels, rule

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SMILE = "\U0001f600"
#: In the order of their code points; in UTF-16 the last two would stand before the third to last.
ASCENDING = ["", "\x00", "\n", " ", "A", "Z", "a", "ab", "b", "é", "\uffff", "\U00010000", SMILE]
AWKWARD = [
    "'", '"', "\\", "\\'", "a'b", 'a"b', "a\\nb", "a\nb", "\x00", "--", "/*", "*/", ";", "`", "%",
    "_", "${spark.app.name}", "${env:HOME}", "$", "{}", "\\u0041", "X'41'", "\r\n", "\u2028", SMILE,
]  # fmt: skip


def each(**bounds: object) -> dict[str, object]:
    return rule("column_values_in_range", **bounds)


def one_of(*values: object, **fields: object) -> dict[str, object]:
    return rule("column_values_in_set", values=list(values), **fields)


def matching(pattern: str, **fields: object) -> dict[str, object]:
    return rule("column_values_match", pattern=pattern, **fields)


def lengths(**bounds: object) -> dict[str, object]:
    return rule("column_value_lengths_in_range", **bounds)


def _order() -> list[Case]:
    cases = []
    for n, bound in enumerate(ASCENDING):
        cases += [
            Case(f"below {bound!r}", "string", ASCENDING, each(min=bound), "Error" if n else "Ok",
                 n),
            Case(f"above {bound!r}", "string", ASCENDING, each(max=bound),
                 "Ok" if bound == SMILE else "Error", len(ASCENDING) - n - 1),
        ]  # fmt: skip
    return cases


#: Texts of no to five characters, of one to four bytes each.
WIDTHS = [character * n for character in ("a", "é", "漢", SMILE) for n in range(6)]


def _lengths() -> list[Case]:
    """Characters count, not bytes: at every bound, and on either side of it."""
    cases = []
    for bound in (0, 0.5, 1, 2, 3, 4.5, 5):
        short = sum(len(text) < bound for text in WIDTHS)
        long = sum(len(text) > bound for text in WIDTHS)
        at = len(WIDTHS) - short - long
        for fields, bad in (
            ({"min": bound}, short),
            ({"max": bound}, long),
            ({"min": bound, "exclusive": "min"}, short + at),
            ({"max": bound, "exclusive": "max"}, long + at),
        ):
            status = "Error" if bad else "Ok"
            cases.append(Case(f"length {fields}", "string", WIDTHS, lengths(**fields), status, bad))
    return cases


BLANK = {"empty_includes_blank": True}
BLANKS = ["", " ", "\t", "\n", "\x0b", "\x0c", "\r", " \t\r\n "]
CASES = [
    *_order(),
    *_lengths(),
    Case("minimum", "string", ASCENDING[1:], rule("column_min_in_range", min="\x00"), "Ok", "\x00"),
    Case("maximum", "string", ASCENDING, rule("column_max_in_range", max=SMILE), "Ok", SMILE),
    Case("maximum above", "string", ASCENDING, rule("column_max_in_range", max="\uffff"), "Error"),
    # Sets of awkward texts: every one is found, and none for another.
    Case("awkward set", "string", AWKWARD, one_of(*AWKWARD), "Ok", 0),
    *[
        Case(f"only {text!r}", "string", AWKWARD, one_of(text), "Error", len(AWKWARD) - 1)
        for text in AWKWARD
    ],
    Case("case matters", "string", ["a", "A"], one_of("a"), "Error", 1),
    Case("case ignored", "string", ["a", "A", "É", "é"], one_of("A", "é", ignore_case=True), "Ok",
         0),
    Case("accents matter", "string", ["e", "é", "e\u0301"], one_of("é", ignore_case=True), "Error",
         2),
    Case("spaces matter", "string", ["a", "a ", " a"], one_of("a"), "Error", 2),
    # Blanks.
    Case("blanks are values", "string", BLANKS, lengths(min=1), "Error", 1),
    Case("blanks are empty", "string", BLANKS, lengths(min=1) | BLANK, "Empty", None),
    Case("minimum of blanks", "string", [*BLANKS, "a"], rule("column_min_in_range", **BLANK,
         min="a"), "Ok", "a"),
    Case("a wide space is no blank", "string", ["\xa0", "\u3000", "\u200b"], one_of("x") | BLANK,
         "Error", 3),
    Case("blanks in a pattern", "string", [*BLANKS, "a"], matching("a") | BLANK, "Ok", 0),
    # Lengths count characters, not bytes nor halves of them.
    Case("length of smiles", "string", [SMILE * 3, "é", "e\u0301", ""], lengths(max=3), "Ok", 0),
    Case("length of NUL", "string", ["\x00\x00"], lengths(min=2, max=2), "Ok", 0),
    Case("length, soft", "string", ["a" * 5, "a"], lengths(soft_max=4.5, max=10), "Warning", 1),
    # Patterns match the whole value, and no line break at its end is forgiven.
    Case("line break at the end", "string", ["a\n", "a\r\n", "a\r", "a"], matching("a"), "Error",
         3),
    Case("dollar does not help", "string", ["a\n", "a"], matching("^a$"), "Error", 1),
    Case("alternatives", "string", ["a", "b", "ab", "bc"], matching("a|b"), "Error", 2),
    Case("longer alternative", "string", ["ab"], matching("a|ab"), "Ok", 0),
    Case("search", "string", ["xax", "b"], matching("a", match="search"), "Error", 1),
    Case("search keeps anchors", "string", ["ba", "ab"], matching("^a", match="search"), "Error",
         1),
    Case("quoted", "string", ["a.b", "axb"], matching(r"\Qa.b\E"), "Error", 1),
    Case("quoted to the end", "string", ["a.b", "axb"], matching(r"\Qa.b"), "Error", 1),
    Case("comments", "string", ["ab", "a b"], matching("(?x) a b # both letters"), "Error", 1),
    Case("hash without comments", "string", ["a#", "a"], matching("a#"), "Error", 1),
    Case("backslashes", "string", ["\\", "a"], matching(r"\\"), "Error", 1),
    Case("settings", "string", ["${spark.app.name}", "x"], matching(r"\$\{spark\.app\.name\}"),
         "Error", 1),
    Case("settings, quoted", "string", ["x"], matching(r"x(\Q${spark.app.name}\E)?"), "Ok", 0),
    Case("smile", "string", [SMILE, "ab"], matching("(?s)."), "Error", 1),
    Case("unicode case", "string", ["É"], matching("(?iu)é"), "Ok", 0),
    Case("invalid to Java alone", "string", ["a"], matching(r"\p{IsNonsense}"), "Error", None,
         "not a regular expression"),
    Case("not matching", "string", ["a\n", "b"], rule("column_values_not_match", pattern="a"), "Ok",
         0),
]  # fmt: skip


@pytest.fixture(scope="module")
def outcomes(spark: SparkSession) -> dict[str, dq.Outcome]:
    return judge_all(spark, CASES)


@pytest.mark.parametrize("case", CASES, ids=labels(CASES))
def test_texts(outcomes: dict[str, dq.Outcome], case: Case) -> None:
    case.check(outcomes[case.label])


def test_messages_quote_no_text_of_the_data(outcomes: dict[str, dq.Outcome]) -> None:
    assert "a text of 1 character" in outcomes["maximum"].message
    assert SMILE not in outcomes["maximum above"].message


def test_the_same_under_the_other_reading_of_string_literals(spark: SparkSession) -> None:
    setting = "spark.sql.parser.escapedStringLiterals"
    spark.conf.set(setting, "true")
    try:
        cases = [case for case in CASES if case.label in {"awkward set", "backslashes", "quoted"}]
        for label, outcome in judge_all(spark, cases).items():
            next(case for case in cases if case.label == label).check(outcome)
    finally:
        spark.conf.unset(setting)


def test_collated_texts_are_answered(spark: SparkSession) -> None:
    data = spark.createDataFrame([("Ab",), (" ",), (None,)], "x string")
    collated = data.selectExpr("x COLLATE UTF8_LCASE AS x")
    evaluation = dq.evaluate(
        collated,
        [
            rule("column_not_empty", columns="x", **BLANK),
            one_of("AB", columns="x", **BLANK),
            lengths(max=2) | {"columns": "x"},
        ],
    )
    assert [(o.status, o.observed) for o in evaluation] == [("Error", 2), ("Ok", 0), ("Ok", 0)]
