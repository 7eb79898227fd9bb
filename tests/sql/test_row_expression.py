"""The front door for row expressions, without Spark."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from dq_dagster.sql import Refusal, columns_used, refusals
from tests.sql.benign import BENIGN
from tests.sql.hostile import HOSTILE
from tests.sql.soup import expressions, quote_soup, quoted_texts

HOSTILE_CASES = [(text, words, fits) for words, fits, texts in HOSTILE for text in texts]


def only(text: str) -> Refusal:
    (refusal,) = refusals(text)
    return refusal


def test_the_corpora_are_large_and_without_repetition() -> None:
    texts = [text for text, _, _ in HOSTILE_CASES]
    assert len(set(texts)) == len(texts) >= 400
    assert len(set(BENIGN)) == len(BENIGN) >= 170


@pytest.mark.parametrize("text", BENIGN)
def test_benign_texts_are_accepted(text: str) -> None:
    assert refusals(text) == ()


@pytest.mark.parametrize(("text", "words", "fits"), HOSTILE_CASES)
def test_hostile_texts_are_refused_for_the_right_reason(
    text: str, words: str, fits: str | None
) -> None:
    started = time.perf_counter()
    first = refusals(text)[0]
    assert time.perf_counter() - started < 1
    assert words in first.reason
    assert first.fits == fits


@pytest.mark.parametrize(
    "text", [text for text, words, _ in HOSTILE_CASES if words.startswith("is a")]
)
def test_no_place_within_an_expression_hides_a_subquery_or_an_aggregate(text: str) -> None:
    for around in ("id > 0 and (%s)", "coalesce(active, %s)", "exists(tags, x -> %s)"):
        assert refusals(around % text) != ()


@pytest.mark.parametrize("text", [text for text, _, _ in HOSTILE_CASES])
def test_reasons_are_sentences_on_one_line(text: str) -> None:
    for refusal in refusals(text):
        assert refusal.reason.isprintable()
        assert refusal.reason.endswith((".", "?", ")"))
        assert len(refusal.reason) < 400


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("sum(amount) > 0", "'sum(amount)' is an aggregate", "a rule of type agg_dq."),
        (
            "id in (select 1)",
            "'(select 1)' is a subquery",
            "(A column of that name needs backquotes.)",
        ),
        ("uper(name) = 'A'", "The function 'uper' is not among", "Did you mean 'upper'?"),
        ("id > 0) or (1 = 1", "Syntax error: the bracket ')' closes nothing.", "the expression."),
        ("id >", "Syntax error: the expression ends", "where a value is expected."),
        ("id 1", "Syntax error: '1' stands", "where an operator or the end is expected."),
    ],
)
def test_the_reason_names_the_fragment_and_what_to_do(text: str, start: str, end: str) -> None:
    assert only(text).reason.startswith(start)
    assert only(text).reason.endswith(end)


@pytest.mark.parametrize(
    "text",
    ["comment is not null", "start between 1 and 2", "list in (1)", "load not like 'x'",
     "set is null", "update and `delete`", "use ilike 'x'", "replace collate unicode = 'x'"],
)  # fmt: skip
def test_columns_may_be_called_like_commands(text: str) -> None:
    assert refusals(text) == ()


@pytest.mark.parametrize("word", ["end", "interval", "to", "on", "END", "Interval"])
@pytest.mark.parametrize("place", ["{} > 1", "a = {}", "abs({}) > 1", "{} is null", "not {}"])
def test_columns_called_like_keywords_are_told_to_be_quoted(word: str, place: str) -> None:
    reason = only(place.format(word)).reason
    assert reason.startswith(("Syntax error: ", f"'{word}' is no interval"))
    assert reason.endswith("if it is a column, write it in backquotes.")
    assert refusals(place.format(f"`{word}`")) == ()


def test_a_long_fragment_is_cut() -> None:
    reason = only(f"sum({' + '.join(['amount'] * 50)}) > 0").reason
    assert reason.startswith("'sum(amount + amount + ")
    assert "…' is an aggregate" in reason


def test_all_faults_that_do_not_stop_reading_are_told_once() -> None:
    text = "sum(a) > 0 and rand() < 1 and sum(a) > 0 and my_udf(b) and lag(c) over (order by d) > 0"
    assert [refusal.reason.split("'")[1] for refusal in refusals(text)] == [
        "sum(a)",
        "rand()",
        "my_udf",
        "lag(c) over (order by d)",
    ]


def test_endless_faults_are_cut_short() -> None:
    text = " and ".join(f"unheard_of_{number}(id)" for number in range(300))
    started = time.perf_counter()
    assert len(refusals(text)) == 10
    assert time.perf_counter() - started < 1


NESTED = {
    "brackets": ("(", "id", ")"),
    "calls": ("bigint(", "id", ")"),
    "negations": ("not ", "active", ""),
    "exclamation marks": ("!", "active", ""),
    "signs": ("- ", "id", ""),
    "cases": ("case when ", "active", " then 1 end"),
    "open cases": ("case when ", "active", ""),
    "lambdas": ("exists(tags, x -> ", "x", ")"),
    "bare lambdas": ("x -> ", "x", ""),
    "indexes": ("tags[", "0", "]"),
    "casts": ("cast(", "id", " as int)"),
    "colon casts": ("", "id", "::int"),
    "fields": ("", "address", ".city"),
    "lists": ("id in (", "1", ")"),
    "types": ("cast(id as ", "array<", "array<"),
    "conjunctions": ("active and ", "active", ""),
    "alternatives": ("", "active", " or not active"),
    "sums": ("id + ", "id", ""),
    "comparisons": ("active = ", "active", ""),
    "concatenations": ("name || ", "name", ""),
    "unclosed brackets": ("(", "id", ""),
    "closing brackets": ("", "id", ")"),
    "quotes": ("", "name = ", "'"),
    "aggregates": ("sum(", "id", ")"),
    "unknown functions": ("f(", "id", ")"),
    "units": ("dateadd(day, 1, ", "ts", ")"),
    "trims": ("trim(", "name", " from name)"),
    "positions": ("position(name in ", "name", ")"),
    "parts": ("substring(", "name", " from 1 for 2)"),
    "collations": ("", "name", " collate unicode"),
    "gathered": ("size(collect_set(", "name", "))"),
    "long intervals": ("interval 1 day", " 2 hours", " 2 hours"),
}


@pytest.mark.parametrize("times", [60, 500, 3_000, 30_000])
@pytest.mark.parametrize("shape", NESTED)
def test_deep_and_long_texts_are_answered_at_once(shape: str, times: int) -> None:
    before, middle, after = NESTED[shape]
    text = before * times + middle + after * times
    started = time.perf_counter()
    answer = refusals(text)
    assert time.perf_counter() - started < 1
    if len(text) > 10_000:
        assert [refusal.reason.split(":")[0] for refusal in answer] == [
            "The expression is too long"
        ]


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("(" * 38 + "id" + ")" * 38, True),
        ("(" * 41 + "id" + ")" * 41, False),
        ("not " * 150 + "active", True),
        ("not " * 250 + "active", False),
        (" + ".join(["id"] * 190), True),
        (" + ".join(["id"] * 250), False),
        (" and ".join(["active"] * 900), True),
        (" or ".join(["id > 1 and active"] * 450), True),
        ("id in (" + ", ".join(["1"] * 3_000) + ")", True),
        ("name = '" + "a" * 9_000 + "'", True),
        ("name = '" + "a" * 10_000 + "'", False),
    ],
)
def test_the_limits_leave_room_for_real_rules(text: str, accepted: bool) -> None:
    assert (refusals(text) == ()) is accepted


def test_a_nearly_full_stack_is_a_refusal_not_a_crash() -> None:
    # A text of its own: answers are remembered.
    text = "(" * 38 + "depth" + ")" * 38

    def call_with(frames: int) -> tuple[Refusal, ...]:
        return call_with(frames - 1) if frames else refusals(text)

    (refusal,) = call_with(sys.getrecursionlimit() - 150)
    assert "nested too deeply" in refusal.reason
    # That answer is not remembered.
    assert call_with(0) == ()


@pytest.mark.parametrize("seed", range(3))
def test_random_texts_never_raise(seed: int) -> None:
    for texts in (quote_soup, quoted_texts, expressions):
        for text in texts(seed, 2_000):
            columns_used(text)
            assert all(isinstance(refusal, Refusal) for refusal in refusals(text))


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("1 = 1", ()),
        ("amount > 0 and qty > amount", ("amount", "qty")),
        ("Amount > 0 and amount > 0", ("Amount", "amount")),
        ("address.city = `a.b`", ("address", "a.b")),
        ("`a``b`.c[0] = attrs['k']", ("a`b", "attrs")),
        ("exists(tags, t -> t = name)", ("tags", "name")),
        ("exists(tags, `t` -> T = x) and t = 1", ("tags", "x", "t")),
        ("aggregate(tags, 0, (acc, t) -> acc + t.x + y)", ("tags", "y")),
        ("exists(a, x -> exists(b, y -> x = y and z = 1) and y = 2)", ("a", "b", "z", "y")),
        ("array_sort(tags, (left, right) -> left - right)", ("tags",)),
        ("order_date <= current_date and ts < current_timestamp", ("order_date", "ts")),
        ("dateadd(day, 1, ts) > datediff(day, ts)", ("ts", "day")),
        ("extract(year from ts) = 2024", ("ts",)),
        ("cast(x as date) > date '2024-01-01' + interval 1 day", ("x",)),
        ("name = 'amount'", ("name",)),
        ('name = "amount"', ("name",)),
        ("`user` = 'x' and `session`.id = 1", ("user", "session")),
        (
            "date > timestamp and x = 1 and time < offset",
            ("date", "timestamp", "x", "time", "offset"),
        ),
    ],
)
def test_columns_used(text: str, columns: tuple[str, ...]) -> None:
    assert refusals(text) == ()
    assert columns_used(text) == columns


def test_importing_it_loads_neither_spark_nor_a_parser() -> None:
    code = (
        "import sys, dq_dagster.sql; "
        "print(*{'pyspark', 'py4j', 'sqlglot', 'dagster'} & set(sys.modules))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == []
