"""The front door for conditions on aggregates, without Spark."""

from __future__ import annotations

import time

import pytest

from dq_dagster.sql import Refusal, aggregate_columns_used, aggregate_refusals, refusals
from dq_dagster.sql.expressions import aggregate_calls, handles_nan, restricted
from dq_dagster.sql.functions import AGGREGATES
from tests.sql.aggregate_benign import BENIGN_AGGREGATES
from tests.sql.aggregate_hostile import HOSTILE_AGGREGATES
from tests.sql.benign import BENIGN
from tests.sql.hostile import HOSTILE
from tests.sql.soup import expressions, quote_soup, quoted_texts

HOSTILE_CASES = [(text, words, fits) for words, fits, texts in HOSTILE_AGGREGATES for text in texts]
# Aggregates are what is wanted here, and what closes a bracket too many could close one of ours.
HOSTILE_ROWS = [
    text
    for words, _, texts in HOSTILE
    for text in texts
    if not words.startswith(("is an aggregate", "closes nothing"))
]


def test_the_corpora_are_large_and_without_repetition() -> None:
    texts = [text for text, _, _ in HOSTILE_CASES]
    assert len(set(texts)) == len(texts) >= 300
    assert len(set(BENIGN_AGGREGATES)) == len(BENIGN_AGGREGATES) >= 130
    together = " ".join(BENIGN_AGGREGATES).lower()
    assert {name for name in AGGREGATES if f"{name}(" not in together} == set()


@pytest.mark.parametrize("text", BENIGN_AGGREGATES)
def test_benign_texts_are_accepted(text: str) -> None:
    assert aggregate_refusals(text) == ()


@pytest.mark.parametrize(("text", "words", "fits"), HOSTILE_CASES)
def test_hostile_texts_are_refused_for_the_right_reason(
    text: str, words: str, fits: str | None
) -> None:
    first = aggregate_refusals(text)[0]
    assert words in first.reason
    assert first.fits == fits
    for refusal in aggregate_refusals(text):
        assert refusal.reason.isprintable()
        assert refusal.reason.endswith((".", "?", ")"))
        assert len(refusal.reason) < 400


@pytest.mark.parametrize("text", HOSTILE_ROWS)
def test_what_no_row_expression_may_hold_no_aggregate_may(text: str) -> None:
    for around in ("%s", "count(*) > 0 and (%s)", "max(%s) > 0", "count(*) filter (where %s) > 0"):
        assert aggregate_refusals(around % text) != ()


@pytest.mark.parametrize("text", BENIGN)
def test_a_row_expression_is_told_the_type_that_fits(text: str) -> None:
    (refusal,) = aggregate_refusals(text)
    assert refusal.fits == "row_dq"
    # Within an aggregate it is welcome.
    assert aggregate_refusals(f"bool_and({text})") == ()
    assert aggregate_refusals(f"count(*) filter (where {text}) > 0") == ()


@pytest.mark.parametrize("text", BENIGN_AGGREGATES)
def test_an_aggregate_among_row_expressions_is_told_the_type_that_fits(text: str) -> None:
    assert {refusal.fits for refusal in refusals(text)} == {"agg_dq"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "amount > 0",
            (
                "There is no aggregate such as sum(amount) in the expression: put a condition on "
                "single rows into a rule of type row_dq."
            ),
        ),
        (
            "amount > avg(amount)",
            (
                "The column 'amount' stands outside an aggregate, while the condition is on all "
                "rows together: put it into one, such as max() or sum()."
            ),
        ),
        (
            "(select 1) > count(*)",
            (
                "'(select 1)' is a subquery, and subqueries are not possible here: write a "
                "condition on the columns of this table, or a rule of type query_dq. (A column of "
                "that name needs backquotes.)"
            ),
        ),
        ("mode(a) = 1", "'mode(a)': mode() takes 2 arguments: a value of each row; the word true."),
        ("max() = 1", "'max()': max() takes 1 argument."),
        ("count() = 1", "'count()': count() takes at least 1 argument."),
        (
            "percentile(a, b) > 1",
            "Argument 2 of percentile() must be a number from 0 to 1, written as such.",
        ),
        (
            "summ(a) > 1",
            (
                "The function 'summ' is not among the functions allowed here: only Spark's own "
                "are, no user-defined ones. Did you mean 'sum'?"
            ),
        ),
    ],
)
def test_the_reason_says_what_to_do(text: str, reason: str) -> None:
    assert [refusal.reason for refusal in aggregate_refusals(text)] == [reason]


def test_all_faults_that_do_not_stop_reading_are_told() -> None:
    text = "sum(max(a)) > 0 and first(b) = 1 and sum(rand()) > 1 and my_udaf(c) > 0"
    assert [refusal.reason.split("'")[1] for refusal in aggregate_refusals(text)] == [
        "max(a)",
        "first(b)",
        "rand()",
        "my_udaf",
    ]


def test_each_loose_column_is_told_once() -> None:
    text = "a > sum(b) and A > 1 and c = 1 and a < 5"
    assert [refusal.reason.split("'")[1] for refusal in aggregate_refusals(text)] == ["a", "A", "c"]


@pytest.mark.parametrize("times", [60, 500, 3_000])
@pytest.mark.parametrize(
    ("before", "middle", "after"),
    [
        ("sum(", "id", ")"),
        ("abs(", "sum(id)", ")"),
        ("", "count(*)", " + count(*)"),
        ("", "count(*)", " filter (where true)"),
        ("count(*) filter (where ", "true", ")"),
        ("sum(distinct ", "id", ")"),
    ],
)
def test_deep_and_long_texts_are_answered_at_once(
    before: str, middle: str, after: str, times: int
) -> None:
    started = time.perf_counter()
    assert aggregate_refusals(before * times + middle + after * times) != ()
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize("seed", range(3))
def test_random_texts_never_raise(seed: int) -> None:
    for texts in (quote_soup, quoted_texts, expressions):
        for text in texts(seed, 1_000):
            around = f"max({text}) = {text}"
            restricted(around, "a > 0")
            aggregate_calls(around)
            assert all(isinstance(refusal, Refusal) for refusal in aggregate_refusals(around))


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("count(*) > 0", ()),
        ("sum(amount) > count(distinct country, `a.b`)", ("amount", "country", "a.b")),
        ("sum(x) filter (where y > 0 and exists(tags, t -> t = z)) > 0", ("x", "y", "tags", "z")),
        ("percentile(x, 0.5, w) > max(address.zip)", ("x", "w", "address")),
    ],
)
def test_columns_used(text: str, columns: tuple[str, ...]) -> None:
    assert aggregate_refusals(text) == ()
    assert aggregate_columns_used(text) == columns


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("count(*) > 0", ["count(*)"]),
        ("sum(a) > 0 and SUM( a ) < 9 and sum(A) <> 5", ["sum(a)"]),
        ("max(b) - min(b) > max(b)", ["max(b)", "min(b)"]),
        ("max('a  b') <> max('a b')", ["max('a  b')", "max('a b')"]),
        (
            "sum(a) filter (where b) > sum(a) FILTER (WHERE c)",
            ["sum(a) filter (where b)", "sum(a) FILTER (WHERE c)"],
        ),
        ("round(avg(x), 2) > 1 or if(count(*) > 1, true, bool_or(y))", None),
    ],
)
def test_calls(text: str, calls: list[str] | None) -> None:
    expected = calls or ["avg(x)", "count(*)", "bool_or(y)"]
    assert [call.text for call in aggregate_calls(text)] == expected


@pytest.mark.parametrize(
    ("text", "plain", "filtered"),
    [
        ("count(*) > 0", "count(1) > 0", "count(if((w), 1, NULL)) > 0"),
        ("COUNT ( * )=1", "count(1)=1", "count(if((w), 1, NULL))=1"),
        ("1 < sum(a) and b", "1 < sum(a) and b", "1 < sum(if((w), a, NULL)) and b"),
        (
            "count(distinct a, b or c) > 1",
            "count(DISTINCT a, b or c) > 1",
            "count(DISTINCT if((w), a, NULL), if((w), b or c, NULL)) > 1",
        ),
        (
            "percentile(a, 0.5, b) > mode(a, true)",
            "percentile(a, 0.5, b) > mode(a, true)",
            "percentile(if((w), a, NULL), 0.5, if((w), b, NULL)) > mode(if((w), a, NULL), true)",
        ),
        (
            "sum(a) filter (where c) > 1",
            "sum(if((c), a, NULL)) > 1",
            "sum(if(if((w), (c), false), a, NULL)) > 1",
        ),
    ],
)
def test_rows_are_left_out_by_their_values(text: str, plain: str, filtered: str) -> None:
    assert restricted(text, None) == plain
    assert restricted(text, "w") == filtered


@pytest.mark.parametrize(
    ("text", "handles"),
    [
        ("avg(a) > 0", False),
        ("isnan(avg(a)) or avg(a) > 0", True),
        ("avg(nanvl(a, 0)) > 0", True),
        ("max('isnan(a)') = ''", False),
    ],
)
def test_who_speaks_of_nan_handles_it(text: str, handles: bool) -> None:
    assert handles_nan(text) is handles
