"""Declaring schemas: good ones in every form, and what is said of bad ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dq_dagster as dq

NESTED: list[dict[str, Any]] = [
    {"name": "id", "type": "INTEGER"},
    {"name": "tags", "type": "array", "items": "string"},
    {
        "name": "address",
        "type": "struct",
        "fields": [
            {"name": "city", "type": "varchar(40)", "meaning": "Any"},
            {"name": "names", "type": "map", "keys": "string", "values": {"type": "date"}},
        ],
    },
]
FLAT: list[dict[str, Any]] = [
    {"name": "id", "type": "int"},
    {"name": "tags", "type": "array<string>"},
    {"name": "address", "type": "struct<city:varchar(40),names:map<string,date>>"},
]


def said(**fields: Any) -> list[str]:
    with pytest.raises(dq.DeclarationError) as caught:
        dq.RuleSet(asset="o", rules=[{"type": "schema_equals", "name": "n", **fields}])
    return [problem.message for problem in caught.value.problems]


def test_nested_forms_and_type_names_mean_the_same() -> None:
    keys = [
        [metric.key for metric in dq.SchemaEquals(expected=columns).metrics()]
        for columns in (NESTED, FLAT)
    ]
    assert keys == [["schema", "longest_text:address.city"]] * 2
    demands = {dq.SchemaContains(expected=columns).demand() for columns in (NESTED, FLAT)}
    said = "'id' int, 'tags' array<string>, 'address' struct<city:string,names:map<string,date>>"
    assert demands == {f"The columns contain {said}."}


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ([], "a list of columns is needed, each with a name and a type."),
        ("all", "a list of columns or 'declared' is needed, not 'all'."),
        ({"id": "int"}, "a list of columns is needed, each with a name and a type."),
        ([1], "column 'number 1': fields such as {name: id, type: int} are needed."),
        ([{"name": "a"}], "column 'a': field 'type' is missing."),
        ([{"type": "int"}], "column 'number 1': field 'name' is missing."),
        ([{"name": "", "type": "int"}], "column 'number 1': field 'name': string should have"),
        ([{"name": "a", "typ": "int"}], "column 'a': unknown field 'typ'. Did you mean 'type'?"),
        ([{"name": "a", "type": 5}], "column 'a': field 'type': input should be a valid string."),
        ([{"name": "a", "type": "strng"}], "column 'a': 'strng' is not a type"),
        ([{"name": "a", "type": "array"}], "column 'a': the type 'array' needs 'items', or write"),
        ([{"name": "a", "type": "struct"}], "the type 'struct' needs 'fields'"),
        ([{"name": "a", "type": "map", "keys": "int"}], "the type 'map' needs 'values'"),
        (
            [{"name": "a", "type": "int", "items": "int"}],
            "column 'a': 'items' does not belong to the type 'int'.",
        ),
        (
            [{"name": "a", "type": "struct<b:int>", "fields": [{"name": "b", "type": "int"}]}],
            "'fields' does not belong to the type 'struct<b:int>'.",
        ),
        (
            [{"name": "a", "type": "array", "items": {"type": "struct", "fields": [
                {"name": "b", "type": "foo"}]}}],
            "column 'a.items.b': 'foo' is not a type: Spark has no type 'foo'.",
        ),
        (
            [{"name": "a", "type": "map", "keys": "strin", "values": "int"}],
            "column 'a.keys': 'strin' is not a type",
        ),
        (
            [{"name": "a", "type": "int", "max_length": 3}],
            "column 'a': max_length is for strings, not for int.",
        ),
        (
            [{"name": "a", "type": "string", "max_length": -2}],
            "column 'a': field 'max_length': input should be greater than or equal to -1.",
        ),
        ([{"name": "a", "type": "string", "max_length": True}], "field 'max_length': input"),
        ([{"name": "a", "type": "int"}, {"name": "a", "type": "date"}], "'a' is named twice."),
        (
            [{"name": "a", "type": "struct", "fields": [{"name": "x", "type": "int"}] * 2}],
            "column 'a': 'x' is named twice.",
        ),
    ],
)  # fmt: skip
def test_a_bad_schema_is_reported(columns: Any, problem: str) -> None:
    [message] = said(expected=columns)
    assert message.startswith("field 'expected': ")
    assert problem in message


def test_all_columns_are_told_together() -> None:
    [message] = said(
        expected=[
            {"name": "a", "type": "strng"},
            {"name": "b", "type": "int"},
            {"name": "c", "type": "struct", "fields": [{"name": "d", "type": "in"}, {"name": "e"}]},
            {"name": "b", "type": "int"},
        ]
    )
    for part in ("column 'a': ", "column 'c.d': ", "column 'c.e': ", "'b' is named twice"):
        assert part in message


def test_fields_that_mean_nothing_are_refused() -> None:
    columns = [{"name": "a", "type": "int"}]
    assert said(expected=columns, where="a > 0") == [
        "'where' means nothing here: the rule is not about rows."
    ]
    assert said() == ["field 'expected' is missing."]


def test_names_may_differ_in_case_only() -> None:
    rule = dq.SchemaEquals(expected=[{"name": "a", "type": "int"}, {"name": "A", "type": "int"}])
    assert rule.demand() == "The columns are exactly 'a' int, 'A' int."


def test_a_declared_schema_gives_meanings() -> None:
    city = {"name": "c", "type": "string", "meaning": "country"}
    columns: list[dict[str, Any]] = [
        {"name": "email", "type": "string", "meaning": "email"},
        {"name": "free", "type": "string", "meaning": "any"},
        {"name": "a.b", "type": "int", "meaning": "integer"},
        {"name": "s", "type": "struct", "fields": [city]},
        {"name": "l", "type": "array", "items": {"type": "string", "meaning": "url"}},
    ]
    rule_set = dq.RuleSet(asset="o", declared_schema=columns)
    # What is inside an array is no column of its own.
    assert rule_set.declared_meanings == {"email": "email", "a.b": "integer", "s.c": "country"}
    assert dq.RuleSet(asset="o").declared_meanings == {}


def test_a_bad_declared_schema_is_reported() -> None:
    with pytest.raises(
        dq.DeclarationError, match="field 'declared_schema': column 'a': 'x' is not"
    ):
        dq.RuleSet(asset="o", declared_schema=[{"name": "a", "type": "x"}])


def test_yaml_and_python_give_the_same(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(
        """
        asset: o
        declared_schema:
          - {name: id, type: INTEGER}
          - {name: tags, type: array, items: string}
          - name: address
            type: struct
            fields:
              - {name: city, type: varchar(40), meaning: Any}
              - {name: names, type: map, keys: string, values: {type: date}}
        rules:
          - {type: schema_equals, expected: declared}
        """,
        encoding="utf-8",
    )
    [loaded] = dq.load_rules(file)
    assert loaded == dq.RuleSet(
        asset="o", declared_schema=NESTED, rules=[dq.SchemaEquals(expected="declared")]
    )


def test_problems_in_yaml_have_their_line(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(
        "asset: o\ndeclared_schema:\n  - {name: id, type: x}\nrules:\n"
        "  - type: schema_equals\n    expected: [{name: id, type: y}]\n",
        encoding="utf-8",
    )
    with pytest.raises(dq.DeclarationError) as caught:
        dq.load_rules(file)
    places = {problem.field: problem.place for problem in caught.value.problems}
    assert places == {"expected": "rules.yaml:6", "declared_schema": "rules.yaml:2"}


def test_the_json_schema_knows_columns() -> None:
    schema = dq.json_schema()
    column = {"$ref": "#/$defs/SchemaColumn"}
    assert schema["$defs"]["rule_set"]["properties"]["declared_schema"]["items"] == column
    expected = schema["$defs"]["schema_equals"]["properties"]["expected"]["anyOf"]
    assert expected == [
        {"const": "declared", "type": "string"},
        {"type": "array", "items": column},
    ]
    assert set(schema["$defs"]["SchemaColumn"]["required"]) == {"name", "type"}
