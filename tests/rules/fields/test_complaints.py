"""What is wrong with a field reads as people would say it, without words of pydantic."""

from __future__ import annotations

from typing import Any

import pytest

import dq_dagster as dq


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"columns": 3}, "field 'columns': a list is needed, not 3."),
        ({"columns": []}, "field 'columns': at least one is needed."),
        ({"columns": "a", "values": "DE"}, "field 'values': a list is needed, not 'DE'."),
        ({"columns": "a", "values": []}, "field 'values': at least one is needed."),
        (
            {"columns": "a", "values": [None]},
            "field 'values.0': a number, a text, a date or a time is needed, not None.",
        ),
        ({"columns": "a", "top": 0}, "field 'top': must be at least 1."),
        ({"columns": "a", "top": 100}, "field 'top': must be at most 99."),
        ({"columns": "a", "top": "many"}, "field 'top': a whole number is needed, not 'many'."),
        (
            {"columns": "a", "enabled": "sometimes"},
            "field 'enabled': true or false is needed, not 'sometimes'.",
        ),
        (
            {"columns": "a", "on_empty": "fail"},
            "field 'on_empty': 'pass', 'warn' or 'error' is needed, not 'fail'.",
        ),
        ({"columns": "a", "name": ""}, "field 'name': must not be empty."),
        ({"columns": "a", "description": 3}, "field 'description': a text is needed, not 3."),
        (
            {"columns": "a", "description": list(range(99))},
            f"field 'description': a text is needed, not {str(list(range(99)))[:60]}….",
        ),
    ],
)
def test_a_field_of_the_wrong_kind(fields: dict[str, Any], said: str) -> None:
    rule = {"type": "column_top_values_in_set", "top": 1, "values": ["DE"], **fields}
    assert problem(rule).endswith(said)


@pytest.mark.parametrize(
    ("threshold", "said"),
    [
        ({"type": "percent", "max": 3}, "'count' or 'proportion' is needed, not 'percent'."),
        ({"type": "count", "soft_max": 3, "max": 2}, "soft_max must not be greater than max."),
        ({"min": 0.5, "max": 0.9}, "Known fields: min, soft_min, type."),
    ],
)
def test_a_threshold_that_cannot_be(threshold: Any, said: str) -> None:
    rule = {"type": "column_not_empty", "columns": "a", "threshold": threshold}
    assert problem(rule).endswith(said)


def problem(rule: dict[str, Any]) -> str:
    with pytest.raises(dq.DeclarationError) as caught:
        dq.RuleSet(asset="orders", rules=[rule])
    [found] = caught.value.problems
    return str(found)


def test_rules_are_a_list() -> None:
    rule: Any = dq.RecordCountInRange(min=1)
    with pytest.raises(dq.DeclarationError, match="field 'rules': a list is needed, not Record"):
        dq.RuleSet(asset="orders", rules=rule)
    data: Any = None
    also: Any = {"type": "record_count_in_range", "min": 1}
    for one in (rule, also):
        with pytest.raises(dq.DeclarationError, match="a list of rules is needed"):
            dq.evaluate(data, one)


@pytest.mark.parametrize(
    ("part", "fields", "said"),
    [
        (dq.AtMost, {}, "a threshold needs soft_max or max."),
        (dq.AtMost, {"max": "3"}, "field 'max': a number is needed, not '3'."),
        (dq.AtMost, {"min": 3}, "unknown field 'min'. Known fields: max, soft_max, type."),
        (dq.AtLeast, {"soft_min": 0.9, "min": 3}, "soft_min (0.9) is a share and min (3) a number"),
        (dq.Reference, {}, "one of asset, table and files is needed, not none of them."),
        (dq.Reference, {"tabel": "t"}, "unknown field 'tabel'. Did you mean 'table'?"),
        (dq.Meaning, {}, "a meaning needs values, a mapping, a pattern or a description."),
        (dq.Meaning, {"pattern": "(?P<x>a)"}, "field 'pattern': (?P<name>...) is Python's;"),
        (dq.MetricSource, {}, "one of measure, sql, query, python, metadata is needed, not"),
    ],
)
def test_parts_of_a_rule_on_their_own(part: Any, fields: dict[str, Any], said: str) -> None:
    with pytest.raises(dq.DeclarationError) as caught:
        part(**fields)
    [found] = caught.value.problems
    assert str(found).startswith(said)
