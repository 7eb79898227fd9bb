"""Comparing schemas: which lines there are, and what each says."""

from __future__ import annotations

from typing import Any

import pytest

from dq_dagster.errors import Misfit
from dq_dagster.judging.schemas import Comparison
from dq_dagster.metrics.schema import Field
from dq_dagster.rules.fields.type_names import parse_type

Columns = dict[str, str]


def fields(columns: Columns) -> tuple[Field, ...]:
    return tuple(Field(name, parse_type(kind).shape) for name, kind in columns.items())


def lines(expected: Columns, actual: Columns, *, exact: bool = True) -> list[tuple[Any, ...]]:
    found = Comparison(exact).lines(fields(expected), fields(actual))
    return [(line.column, line.verdict) for line in found]


@pytest.mark.parametrize(
    ("expected", "actual", "exactly", "containing"),
    [
        ({"a": "int"}, {"a": "int"}, [], []),
        ({"a": "int"}, {"a": "long"}, ["a wrong type"], ["a wrong type"]),
        ({"a": "int", "b": "int"}, {"a": "int"}, ["b missing"], ["b missing"]),
        ({"a": "int"}, {"a": "int", "b": "int"}, ["b unexpected"], []),
        ({"a": "int"}, {"b": "int", "a": "int"}, ["b unexpected"], []),
        ({"a": "int", "b": "int"}, {"b": "int", "a": "int"}, ["a wrong order"], []),
        # One column moved is one column out of order, however far it went.
        (
            {"a": "int", "b": "int", "c": "int", "d": "int"},
            {"d": "int", "a": "int", "b": "int", "c": "int"},
            ["d wrong order"],
            [],
        ),
        # Missing and unexpected columns put no other out of order.
        (
            {"a": "int", "b": "int", "c": "int"},
            {"x": "int", "a": "int", "y": "int", "c": "int"},
            ["b missing", "x unexpected", "y unexpected"],
            ["b missing"],
        ),
        ({"A": "int"}, {"a": "int"}, ["A missing", "a unexpected"], ["A missing"]),
        ({"a": "array<int>"}, {"a": "array<date>"}, ["a wrong type"], ["a wrong type"]),
        ({"a": "array<int>"}, {"a": "int"}, ["a wrong type"], ["a wrong type"]),
        (
            {"a": "map<string,int>"},
            {"a": "map<string,date>"},
            ["a wrong type"],
            ["a wrong type"],
        ),
        ({"a": "struct<b:int>"}, {"a": "string"}, ["a wrong type"], ["a wrong type"]),
        (
            {"a": "struct<b:int,c:int>"},
            {"a": "struct<c:int,b:date,d:int>"},
            ["a.b wrong type, wrong order", "a.d unexpected"],
            ["a.b wrong type"],
        ),
        (
            {"a": "array<struct<b:int,c:int>>", "z": "int"},
            {"a": "array<struct<b:int>>", "y": "int"},
            ["a.items.c missing", "z missing", "y unexpected"],
            ["a.items.c missing", "z missing"],
        ),
        (
            {"a": "map<struct<b:int>,struct<c:int>>"},
            {"a": "map<struct<b:date>,struct<d:int>>"},
            ["a.keys.b wrong type", "a.values.c missing", "a.values.d unexpected"],
            ["a.keys.b wrong type", "a.values.c missing"],
        ),
        ({"a": "struct<>"}, {"a": "struct<b:int>"}, ["a.b unexpected"], []),
        ({"a": "array<struct<b:int>>"}, {"a": "array<int>"}, ["a.items wrong type"],
         ["a.items wrong type"]),
        # A field that is called like a part is not one.
        ({"a": "array<struct<b:int>>"}, {"a": "struct<items:struct<b:int>>"}, ["a wrong type"],
         ["a wrong type"]),
    ],
)  # fmt: skip
def test_what_is_wrong(
    expected: Columns, actual: Columns, exactly: list[str], containing: list[str]
) -> None:
    for exact, wrong in ((True, exactly), (False, containing)):
        found = lines(expected, actual, exact=exact)
        assert [f"{column} {verdict}" for column, verdict in found if verdict != "ok"] == wrong


def test_lines_follow_the_expected_order_and_unexpected_columns_come_last() -> None:
    expected = {"s": "struct<a:int,b:int>", "x": "array<int>"}
    actual = {"u": "int", "x": "array<int>", "s": "struct<c:int,a:int>"}
    assert lines(expected, actual) == [
        ("s", "wrong order"),
        ("s.a", "ok"),
        ("s.b", "missing"),
        ("x", "ok"),
        ("u", "unexpected"),
        ("s.c", "unexpected"),
    ]


def sentence(wanted: Field, there: Field | None, comparison: Comparison) -> str:
    found = comparison.lines((wanted,), () if there is None else (there,))
    return "; ".join(line.sentence() for line in found if line.faults)


def text(name: str = "t", **known: Any) -> Field:
    return Field(name, parse_type("string").shape, **known)


@pytest.mark.parametrize(
    ("wanted", "there", "known", "said"),
    [
        (text(meaning="email"), text(meaning="email"), None, ""),
        (text(meaning="email"), text(meaning="url"), None,
         "'t' has the meaning 'url' instead of 'email'"),
        (text(meaning="email"), text(), None, "'t' has no meaning instead of 'email'"),
        (text(), text(meaning="url"), None, ""),
        # What the data says goes before what was declared for it.
        (text(meaning="email"), text(), "email", ""),
        (text(meaning="email"), text(), "url", "'t' has the meaning 'url' instead of 'email'"),
        (text(meaning="email"), text(meaning="email"), "url", ""),
        (text(meaning="email"), None, "email", "'t' is missing"),
        (text("T"), text(), None,
         "'T' is missing (there is 't': upper and lower case differ); 't' is unexpected"),
    ],
)  # fmt: skip
def test_meanings(wanted: Field, there: Field | None, known: str | None, said: str) -> None:
    comparison = Comparison(exact=True, meanings={("t",): known} if known else {})
    assert sentence(wanted, there, comparison) == said


@pytest.mark.parametrize(
    ("length", "said"),
    [
        (None, ""),
        (0, ""),
        (3, ""),
        (4, "'t' has a text of 4 characters (at most 3 allowed)"),
        (Misfit("Too odd."), "'t' could not be measured (Too odd)"),
    ],
)
def test_lengths(length: Any, said: str) -> None:
    comparison = Comparison(exact=True, lengths={("t",): length})
    assert sentence(text(max_length=3), text(), comparison) == said


def test_a_length_of_something_else_is_not_asked_for() -> None:
    comparison = Comparison(exact=True, lengths={("t",): Misfit("not a string")})
    there = Field("t", parse_type("int").shape)
    assert sentence(text(max_length=3), there, comparison) == "'t' is of type int instead of string"


def test_several_faults_of_one_column_are_told_together() -> None:
    wanted = text(meaning="email", max_length=3)
    comparison = Comparison(exact=True, lengths={("t",): 9})
    [line] = comparison.lines((wanted,), (text(),))
    assert line.row(1) == {
        "index": 1,
        "column": "t",
        "expected": "string, at most 3 characters, meaning email",
        "actual": "string, up to 9 characters",
        "verdict": "too long, wrong meaning",
    }


def test_a_column_that_is_there_twice() -> None:
    one = Field("a", parse_type("int").shape)
    found = Comparison(exact=True).lines((one,), (one, one))
    assert [line.sentence() for line in found if line.faults] == ["'a' is there twice"]
    assert not [line for line in Comparison(exact=False).lines((one,), (one, one)) if line.faults]


def test_long_types_are_cut_off() -> None:
    wide = "struct<" + ",".join(f"field_{n}:int" for n in range(500)) + ">"
    [line] = Comparison(exact=True).lines(fields({"a": "int"}), fields({"a": wide}))
    assert len(line.sentence()) < 200
    assert len(line.actual) <= 120


def test_very_many_columns_are_compared_quickly() -> None:
    names = [f"c{n}" for n in range(5_000)]
    expected = fields(dict.fromkeys(names, "int"))
    found = Comparison(exact=True).lines(expected, tuple(reversed(expected)))
    assert sum(line.verdict == "wrong order" for line in found) == 4_999
