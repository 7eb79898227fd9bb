"""The front door for conditions on queries, without Spark."""

from __future__ import annotations

import time

import pytest

from dq_dagster.sql.queries import AggregateForm, aggregate_form, query_refusals, read_query
from dq_dagster.sql.tokens import Refused, tokenise
from tests.sql.hostile import HOSTILE
from tests.sql.query_texts import BENIGN_QUERIES, HOSTILE_QUERIES
from tests.sql.soup import expressions, quote_soup, quoted_texts

REFUSED_EVERYWHERE = {
    "comment or hint",
    "depends on the session",
    "ends a statement",
    "how files and partitions are laid out",
    "is a control character",
    "is not deterministic",
    "runs arbitrary Java code",
    "Spark replaces '${...}'",
    "takes a key",
    "to raise an error",
    "turns a text into a name",
}
HOSTILE_CASES = [(text, words, fits) for words, fits, texts in HOSTILE_QUERIES for text in texts]


def test_the_corpora_are_large_and_without_repetition() -> None:
    texts = [text for text, _, _ in HOSTILE_CASES]
    assert len(set(texts)) == len(texts) >= 130
    assert len(BENIGN_QUERIES) >= 60


@pytest.mark.parametrize(("text", "words", "fits"), HOSTILE_CASES)
def test_hostile_texts_are_refused_for_the_right_reason(
    text: str, words: str, fits: str | None
) -> None:
    first = query_refusals(text)[0]
    assert words in first.reason
    assert first.fits == fits
    for refusal in query_refusals(text):
        assert refusal.reason.isprintable()
        assert refusal.reason.endswith((".", "?", ")"))
        assert len(refusal.reason) < 400


@pytest.mark.parametrize(("text", "plain"), BENIGN_QUERIES.items())
def test_benign_texts_are_accepted_and_only_plain_ones_are_aggregates(
    text: str, plain: bool
) -> None:
    assert query_refusals(text) == ()
    assert (aggregate_form(text, ()) is not None) is plain


@pytest.mark.parametrize(
    "text",
    [text for words, _, texts in HOSTILE for text in texts if words in REFUSED_EVERYWHERE],
)
def test_what_reaches_outside_is_refused_within_queries_too(text: str) -> None:
    for around in (
        "(select max(%s) from {table}) = 1",
        "select %s from {table}",
        "(select 1) = %s",
    ):
        assert query_refusals(around % text) != ()


@pytest.mark.parametrize(
    ("text", "slots", "condition", "parts"),
    [
        (
            "(select sum(amount) from {table}) > :least",
            {":least": "10"},
            "(sum(amount)) > 10",
            {"(select sum(amount) from {table})": "sum(amount)"},
        ),
        (
            "(select sum({of}) from {table} t where x > :least) > (select count(*) from {table})",
            {":least": "(-1)", "{of}": "`a``b`"},
            "(sum(if((x > (-1)), `a``b`, NULL))) > (count(*))",
            {
                "(select sum({of}) from {table} t where x > :least)": (
                    "sum(if((x > (-1)), `a``b`, NULL))"
                ),
                "(select count(*) from {table})": "count(*)",
            },
        ),
        (
            "select sum(a) > 1 and count(*) filter (where b) < :n as x from {table} where c in :d",
            {":n": "5", ":d": "('x', 'y')"},
            (
                "sum(if((c in ('x', 'y')), a, NULL)) > 1 and "
                "count(if(if((c in ('x', 'y')), (b), false), 1, NULL)) < 5"
            ),
            {
                "sum(a)": "sum(if((c in ('x', 'y')), a, NULL))",
                "count(*) filter (where b)": (
                    "count(if(if((c in ('x', 'y')), (b), false), 1, NULL))"
                ),
            },
        ),
        (
            " (select max(a) > 1 from {table}) ",
            {},
            "max(a) > 1",
            {"max(a)": "max(a)"},
        ),
    ],
)
def test_queries_that_only_aggregate_become_aggregates(
    text: str, slots: dict[str, str], condition: str, parts: dict[str, str]
) -> None:
    found = aggregate_form(text, tuple(slots.items()))
    assert found == AggregateForm(condition, tuple(parts.items()))


def test_a_value_that_is_not_given_leaves_a_query() -> None:
    assert aggregate_form("(select sum(a) from {table}) > :least", ()) is None


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("(select 1) > 0", ()),
        ("(select '{a} :b' from {table} where `{c}` = :d and x::int = :d) > {e}", None),
        ("select true from {a} join {b} join {a}", ("{a}", "{b}")),
    ],
)
def test_slots_are_what_stands_outside_quotes(text: str, slots: tuple[str, ...] | None) -> None:
    if slots is None:
        assert "Syntax error: '{e}'" in query_refusals(text)[0].reason
        text, slots = text.replace("{e}", "0"), ("{table}", ":d")
    assert read_query(text).slots == slots


def test_slots_are_filled_and_nothing_else_is_touched() -> None:
    text = "(select max('{a} :b') from {table} where x = :b and `:b` = {c}) > :b"
    slots = {"{table}": "T", ":b": ":m", "{c}": "`{c}`"}
    filled = "(select max('{a} :b') from T where x = :m and `:b` = `{c}`) > :m"
    assert read_query(text).filled(slots) == filled
    escaped = read_query(text).filled(slots, literally=lambda piece: piece.replace("{", "{{"))
    assert escaped == filled.replace("'{a}", "'{{a}")
    with pytest.raises(KeyError):
        read_query(text).filled({})


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("(select count(*) from {table} where a in :x) > 0", True),
        ("(select count(*) from {table} where a not in :x) > 0", True),
        ("1 in :x and (select true)", True),
        ("(select count(*) from {table} where a = :x) > 0", False),
        ("(select count(*) from {table} where a in :x and b = :x) > 0", False),
        ("(select count(*) from {table} where a in (:x)) > 0", False),
    ],
)
def test_lists_stand_behind_in(text: str, listed: bool) -> None:
    assert query_refusals(text) == ()
    assert read_query(text).is_listed(":x") is listed


@pytest.mark.parametrize(
    ("text", "handles"),
    [
        ("(select avg(a) from {table}) > 0", False),
        ("not isnan((select avg(a) from {table}))", True),
        ("(select avg(nanvl(a, 0)) from {table}) > 0", True),
        ("(select max('isnan(a)') from {table}) = ''", False),
    ],
)
def test_who_speaks_of_nan_handles_it(text: str, handles: bool) -> None:
    assert read_query(text).handles_nan is handles


@pytest.mark.parametrize("times", [60, 500, 3_000])
@pytest.mark.parametrize(
    ("before", "middle", "after"),
    [
        ("(select ", "1", ")"),
        ("not ", "(select true)", ""),
        ("", "(select 1)", " + (select 1)"),
        ("select * from (", "select 1", ")"),
        ("abs(", "(select 1)", ")"),
    ],
)
def test_deep_and_long_texts_are_answered_at_once(
    before: str, middle: str, after: str, times: int
) -> None:
    started = time.perf_counter()
    query_refusals(before * times + middle + after * times)
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize("seed", range(3))
def test_random_texts_never_raise(seed: int) -> None:
    for texts in (quote_soup, quoted_texts, expressions):
        for text in texts(seed, 1_000):
            for around in (text, f"(select max({text}) from {{table}}) = {text}", f"select {text}"):
                found = read_query(around)
                aggregate_form(around, ())
                assert found.refusals or found.is_query or found.subqueries


def test_slots_are_for_queries_only() -> None:
    for text in ("{table}", ":x", "a > :x"):
        with pytest.raises(Refused):
            tokenise(text)
