"""The one reading of declared fields: places of all problems, and sources that are not trusted."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import dq_dagster as dq
from dq_dagster.rules.catalogue import RULE_TYPES
from dq_dagster.sources.reading import Declaration, Reading, plain


def rule_set(*rules: Any, **fields: Any) -> Declaration:
    entries = [
        Declaration(one, f"table 't', row {number}") if isinstance(one, dict) else one
        for number, one in enumerate(rules, 1)
    ]
    return Declaration({"asset": "o", **fields, "rules": entries}, "table 't'")


def problems(*declared: Declaration, trusted: bool = True) -> list[str]:
    reading = Reading(trusted=trusted)
    found = [one for one in map(reading.rule_set, declared) if one is not None]
    with pytest.raises(dq.DeclarationError) as caught:
        reading.finished(found)
    return [str(problem) for problem in caught.value.problems]


def test_declared_fields_become_rule_sets_that_know_where_they_stand() -> None:
    reading = Reading()
    declared = rule_set({"type": "column_unique", "columns": "a"}, on_empty="warn")
    found = reading.rule_set(declared)
    assert found == dq.RuleSet(asset="o", on_empty="warn", rules=[dq.ColumnUnique(columns="a")])
    assert found is not None
    assert found.origin.of(found.rules[0]) == "table 't', row 1"
    assert reading.finished([found]) == [found]


def test_every_problem_has_the_place_of_its_field_or_else_of_its_rule() -> None:
    places = {"columns": "cell B2"}
    wrong = Declaration({"type": "column_unique", "columns": 1, "keep": 2}, "row 2", places)
    assert problems(
        rule_set(wrong, 7, {"type": "column_unqiue", "columns": "a"}, timeout="soon"),
        rule_set(asset="", frequency=1),
        Declaration({"asset": "p"}, "table 'p'"),
    ) == [
        "cell B2, rule 'column_unique', asset 'o': field 'columns': a list is needed, not 1.",
        "row 2, rule 'column_unique', asset 'o': field 'keep': a set of fields is needed, not 2.",
        "table 't', asset 'o': a rule is fields such as 'type: row_dq', not 7.",
        (
            "table 't', row 3, rule 'column_unqiue a', asset 'o': unknown type 'column_unqiue'. "
            "Did you mean 'column_unique'?"
        ),
        (
            "table 't', asset 'o': field 'timeout': 'soon' is not a length of time: write '2 "
            "hours', '90 min', '1d 12h', 'PT2H' or a number of seconds."
        ),
        "table 't': unknown field 'frequency'.",
        (
            "table 't': field 'asset' must be the asset's key as text, such as 'asset: "
            "warehouse/orders'."
        ),
        "table 'p', asset 'p': field 'rules' must be a list of rules.",
    ]


def test_hostile_names_forge_no_line_and_move_no_cursor() -> None:
    name = "x\n  - table 't', row 9: forged\x1b[31m"
    [said] = problems(rule_set({"type": name, "name": name}))
    shown = "x   - table 't', row 9: forged\\x1b[31m"
    start = f"table 't', row 1, rule '{shown}', asset 'o': unknown type '{shown}'. Known types: "
    assert said.startswith(start)
    assert said.isprintable()


def test_one_rule_by_itself() -> None:
    reading = Reading()
    assert reading.rule(Declaration({"type": "record_count_in_range", "min": 1}, "row 1")) == (
        dq.RecordCountInRange(min=1)
    )
    assert reading.rule(Declaration({"type": "record_count_in_range"}, "row 2")) is None
    assert [problem.place for problem in reading.problems] == ["row 2"]


def test_places_are_left_behind_at_every_depth() -> None:
    inner = Declaration({"max": 3}, "here")
    declared = Declaration({"a": [inner, 1], "b": inner}, "there")
    assert plain(declared) == {"a": [{"max": 3}, 1], "b": {"max": 3}}


CODE: list[tuple[dict[str, Any], str]] = [
    ({"type": "query_dq", "expectation": "(select 1) = 1"}, "a query"),
    ({"type": "python", "function": "tests.sources.untrusted:check"}, "a function of Python"),
    ({"type": "metric_in_range", "metric": {"query": "select 1 from {table}"}}, "a query"),
    (
        {"type": "metric_typical", "metric": {"python": "tests.sources.untrusted:check"}},
        "a function of Python",
    ),
    (
        {
            "type": "compare_metrics",
            "metric": "record_count",
            "operator": "=",
            "other": {"query": "select 1 from {table}"},
        },
        "a query",
    ),
    (
        {"type": "column_values_in_reference", "columns": "a", "reference": {"files": "/etc"}},
        "the path of files",
    ),
]


@pytest.mark.parametrize(("fields", "what"), CODE)
def test_code_is_refused_where_it_is_not_trusted(fields: dict[str, Any], what: str) -> None:
    [found] = problems(rule_set({**fields, "name": "r"}), trusted=False)
    assert found == (
        f"table 't', row 1, rule 'r', asset 'o': it has {what}, and this source is not trusted "
        "with that: declare it in Python or in a file, or load it with trusted=True."
    )
    # Not even to be looked at: a module does something when it is imported.
    assert "tests.sources.untrusted" not in sys.modules


def test_rules_without_code_need_no_trust() -> None:
    code = {fields["type"] for fields, _ in CODE}
    assert {kind for kind, rule in RULE_TYPES.items() if rule.trusted} <= code
    for kind, rule in RULE_TYPES.items():
        assert rule.code_in({"type": kind}) is None or kind in code


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"metrics": {"m": {"query": "select 1 from {table}"}}}, "field 'metrics': it has a query"),
        ({"metrics": {"m": {"python": "tests.sources.untrusted:f"}}}, "it has a function of Pyth"),
        ({"reader": {"files": "/etc"}}, "field 'reader': it has data of its author's choice"),
    ],
)
def test_code_of_a_rule_set_is_refused_too(fields: dict[str, Any], what: str) -> None:
    [found] = problems(
        rule_set({"type": "record_count_in_range", "min": 1}, **fields), trusted=False
    )
    assert what in found
    assert "tests.sources.untrusted" not in sys.modules
