"""Names that rules get when their authors give them none: stable, readable, and distinct."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

import dq_dagster as dq
from dq_dagster.rules.base.rule import check_name, derived_name
from tests.oracle.names import HOSTILE_NAMES

CHECK_NAME = re.compile(r"[A-Za-z0-9_]+")


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        # Written down on purpose: history hangs on these names, so they must never change.
        ("a", "column_not_empty_a"),
        ("A", "column_not_empty_A"),
        ("a_b", "column_not_empty_a_b"),
        (["a", "b"], "column_not_empty_a_b"),
        ("a.b", "column_not_empty_a_b_bfbe99"),
        ("a b", "column_not_empty_a_b_ca0e2a"),
        ("Ä", "column_not_empty_A_8749a9"),
        ("\U0001f600", "column_not_empty_d3ab3c"),
    ],
)
def test_derived_names_are_stable(columns: str | list[str], name: str) -> None:
    rule = dq.ColumnNotEmpty(columns=columns)
    assert rule.name == name
    assert rule.check_name == name


def test_columns_that_look_alike_get_different_names() -> None:
    alike = ["a.b", "a_b", "a b", "a-b", "a  b", "a/b", "Ä", "A", "a", "ä", "Á", "ab", "A\u0308"]
    names = {column: dq.ColumnNotEmpty(columns=column).name for column in alike}
    assert len(set(names.values())) == len(alike), names


def test_hostile_columns_get_different_names_that_dagster_takes() -> None:
    names = [dq.ColumnNotEmpty(columns=column).check_name for column in HOSTILE_NAMES]
    assert len(set(names)) == len(HOSTILE_NAMES)
    assert [name for name in names if not CHECK_NAME.fullmatch(name)] == []


def test_long_names_are_cut_and_stay_apart() -> None:
    many = [f"column_number_{n}" for n in range(40)]
    one, other = (derived_name("t", *columns) for columns in (many, [*many, "last"]))
    assert one != other
    assert max(len(one), len(other)) <= 130
    assert CHECK_NAME.fullmatch(one)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("t", "a"), "t_a"),
        (("t", ""), "t"),
        (("t", "a_", "_b"), "t_a___b"),
        (("t", "x" * 118), "t_" + "x" * 118),
    ],
)
def test_plain_words_are_kept(words: tuple[str, ...], name: str) -> None:
    assert derived_name(*words) == name


def test_texts_of_sql_get_names_of_their_own() -> None:
    texts = ["a > 1", "a < 1", "a >1", "a > 10", "a > 1 or b"]
    names = [dq.RowExpectation(expectation=text).name for text in texts]
    assert len(set(names)) == len(texts)
    assert all(name.startswith("row_dq_a") for name in names)


@pytest.mark.parametrize(
    ("given", "name"),
    [("orders ok", "orders_ok"), ("a.b", "a_b"), ("Größe", "Groe"), ("x", "x")],
)
def test_given_names_become_check_names(given: str, name: str) -> None:
    assert check_name(given) == name


def test_names_without_a_letter_still_make_checks() -> None:
    names = [check_name(text) for text in ("日本", "日", "\U0001f600", "!!!")]
    assert len(set(names)) == 4
    assert all(re.fullmatch(r"rule_[0-9a-f]{6}", name) for name in names)


@pytest.mark.parametrize(("one", "other"), list(combinations(["a.b", "a b", "a_b"], 2)))
def test_names_that_become_the_same_check_are_refused(one: str, other: str) -> None:
    rules = tuple(dq.ColumnNotEmpty(columns="x", name=name) for name in (one, other))
    with pytest.raises(dq.DeclarationError, match="the same check 'a_b'"):
        dq.RuleSet(asset="orders", rules=rules)
