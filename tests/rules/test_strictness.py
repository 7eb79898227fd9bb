"""What a change of a field does to the promise of a rule, for every field that there is."""

# ruff: noqa: E501 (one case a line)
from __future__ import annotations

from typing import Any

import pytest

import dq_dagster as dq
from dq_dagster.rules.catalogue import RULE_TYPES
from dq_dagster.rules.strictness import Effect, field_changes, is_advice, together

WEAKER, TIGHTER, SAME = Effect.WEAKER, Effect.TIGHTER, Effect.SAME
ADVICE, DIFFERENT = Effect.ADVICE, Effect.DIFFERENT


def effect(kind: str, old: dict[str, Any], new: dict[str, Any]) -> Effect:
    before, after = (RULE_TYPES[kind](name="x", **fields) for fields in (old, new))
    return together([one.effect for one in field_changes(before, after)])


COLUMN = {"columns": ["a"]}
IN_SET = {**COLUMN, "values": ["x", "y"]}
SCHEMA = [{"name": "a", "type": "int"}, {"name": "b", "type": "varchar(5)"}]
TEMPLATE = {"template": "duplicate_keys", "parameters": {"columns": ["a"]}}
REFERENCE = {**COLUMN, "reference": {"asset": "b"}}
# The type, its fields, those that change, and what the change and its reverse do.
CASES: list[tuple[str, dict[str, Any], dict[str, Any], Effect, Effect]] = [
    ("record_count_in_range", {"min": 1}, {"min": 5}, TIGHTER, WEAKER),
    ("record_count_in_range", {"max": 1}, {"max": 5}, WEAKER, TIGHTER),
    ("record_count_in_range", {"min": 1}, {"min": 1, "max": 9}, TIGHTER, WEAKER),
    ("record_count_in_range", {"min": 1, "max": 9}, {"min": 0, "max": 8}, DIFFERENT, DIFFERENT),
    ("record_count_in_range", {"min": 1}, {"min": 1, "exclusive": "min"}, TIGHTER, WEAKER),
    ("record_count_in_range", {"min": 1}, {"min": 0, "exclusive": "min"}, WEAKER, TIGHTER),
    ("record_count_in_range", {"min": 1}, {"min": 1, "soft_max": 5}, ADVICE, ADVICE),
    ("record_count_in_range", {"min": 1}, {"soft_min": 1}, WEAKER, TIGHTER),
    ("column_min_in_range", {**COLUMN, "min": "2024-01-01"}, {**COLUMN, "min": 5}, DIFFERENT, DIFFERENT),
    ("column_values_in_range", {**COLUMN, "min": "2024-01-01"}, {**COLUMN, "min": "2024-02-01"}, TIGHTER, WEAKER),
    ("freshness", {**COLUMN, "max": "1 day"}, {**COLUMN, "max": "36 h"}, WEAKER, TIGHTER),
    ("file_size_in_range", {"max": "1 GB"}, {"max": "1 GiB"}, WEAKER, TIGHTER),
    ("column_not_empty", COLUMN, {**COLUMN, "threshold": 0.1}, WEAKER, TIGHTER),
    ("column_not_empty", COLUMN, {**COLUMN, "threshold": 3}, WEAKER, TIGHTER),
    ("column_not_empty", COLUMN, {**COLUMN, "threshold": {"max": 0}}, SAME, SAME),
    ("column_not_empty", COLUMN, {**COLUMN, "threshold": {"min": 0.9}}, WEAKER, TIGHTER),
    ("column_not_empty", {**COLUMN, "threshold": 0.1}, {**COLUMN, "threshold": {"min": 0.95}}, TIGHTER, WEAKER),
    ("column_not_empty", {**COLUMN, "threshold": 3}, {**COLUMN, "threshold": 0.1}, DIFFERENT, DIFFERENT),
    ("column_not_empty", COLUMN, {**COLUMN, "threshold": {"min": 3}}, DIFFERENT, DIFFERENT),
    ("column_not_empty", {**COLUMN, "threshold": {"min": 3}}, {**COLUMN, "threshold": {"min": 5}}, TIGHTER, WEAKER),
    ("column_not_empty", {**COLUMN, "threshold": 3}, {**COLUMN, "threshold": {"soft_max": 3}}, WEAKER, TIGHTER),
    ("column_not_empty", {**COLUMN, "threshold": 3}, {**COLUMN, "threshold": {"soft_max": 1, "max": 3}}, ADVICE, ADVICE),
    ("column_not_empty", COLUMN, {"columns": ["a", "b"]}, TIGHTER, WEAKER),
    ("column_not_empty", {"columns": ["b", "a"]}, {"columns": ["a", "b"]}, SAME, SAME),
    ("column_not_empty", COLUMN, {"columns": ["b"]}, DIFFERENT, DIFFERENT),
    ("column_not_empty", COLUMN, {**COLUMN, "where": "b > 0"}, WEAKER, TIGHTER),
    ("column_not_empty", {**COLUMN, "where": "b >  0"}, {**COLUMN, "where": "b > 0"}, SAME, SAME),
    ("column_not_empty", {**COLUMN, "where": "b > 1"}, {**COLUMN, "where": "b > 0"}, DIFFERENT, DIFFERENT),
    ("column_not_empty", {**COLUMN, "threshold": 0.1}, {**COLUMN, "threshold": 0.1, "where": "b"}, DIFFERENT, DIFFERENT),
    ("column_not_empty", COLUMN, {**COLUMN, "empty_includes_blank": True}, TIGHTER, WEAKER),
    ("column_empty", COLUMN, {**COLUMN, "empty_includes_blank": True}, WEAKER, TIGHTER),
    ("column_unique", COLUMN, {**COLUMN, "empty_includes_blank": True}, WEAKER, TIGHTER),
    ("column_avg_in_range", {**COLUMN, "min": 1}, {**COLUMN, "min": 1, "empty_includes_blank": True}, DIFFERENT, DIFFERENT),
    ("column_avg_in_range", {**COLUMN, "min": 1}, {**COLUMN, "min": 1, "where": "b"}, DIFFERENT, DIFFERENT),
    ("column_values_in_set", IN_SET, {**IN_SET, "values": ["x"]}, TIGHTER, WEAKER),
    ("column_values_in_set", IN_SET, {**IN_SET, "values": ["x", "z"]}, DIFFERENT, DIFFERENT),
    ("column_values_in_set", IN_SET, {**IN_SET, "ignore_case": True}, WEAKER, TIGHTER),
    ("column_values_not_in_set", IN_SET, {**IN_SET, "values": ["x"]}, WEAKER, TIGHTER),
    ("column_values_not_in_set", IN_SET, {**IN_SET, "ignore_case": True}, TIGHTER, WEAKER),
    ("column_values_match", {**COLUMN, "pattern": "a"}, {**COLUMN, "pattern": "a", "match": "search"}, WEAKER, TIGHTER),
    ("column_values_not_match", {**COLUMN, "pattern": "a"}, {**COLUMN, "pattern": "a", "match": "search"}, TIGHTER, WEAKER),
    ("column_values_match", {**COLUMN, "pattern": "a"}, {**COLUMN, "pattern": "ab?"}, DIFFERENT, DIFFERENT),
    ("column_top_values_in_set", {**IN_SET, "top": 2}, {**IN_SET, "top": 3}, TIGHTER, WEAKER),
    ("column_most_frequent_in_set", IN_SET, {**IN_SET, "ties": "any"}, WEAKER, TIGHTER),
    ("column_valid_meaning", {**COLUMN, "meaning": "url"}, {**COLUMN, "meaning": "url", "empty_is_valid": True}, WEAKER, TIGHTER),
    ("column_valid_meaning", {**COLUMN, "meaning": "url"}, {**COLUMN, "meaning": "email"}, DIFFERENT, DIFFERENT),
    ("unique_key", COLUMN, {**COLUMN, "empty_includes_blank": True}, WEAKER, TIGHTER),
    ("unique_key", {"columns": ["a", "b"]}, {"columns": ["a", "b"], "empty_includes_blank": True}, DIFFERENT, DIFFERENT),
    ("unique_key", {**COLUMN, "empty_is_key": True}, {**COLUMN, "empty_is_key": True, "empty_includes_blank": True}, DIFFERENT, DIFFERENT),
    ("template", TEMPLATE, {**TEMPLATE, "expected": 5}, DIFFERENT, DIFFERENT),
    ("template", {**TEMPLATE, "expected": 3}, {**TEMPLATE, "expected": 5}, DIFFERENT, DIFFERENT),
    ("template", {**TEMPLATE, "operator": ">="}, {**TEMPLATE, "operator": ">"}, DIFFERENT, DIFFERENT),
    ("unique_key", COLUMN, {"columns": ["a", "b"]}, WEAKER, DIFFERENT),
    ("unique_key", {**COLUMN, "empty_is_key": True}, {"columns": ["a", "b"], "empty_is_key": True}, WEAKER, TIGHTER),
    ("unique_key", COLUMN, {**COLUMN, "empty_is_key": True}, TIGHTER, WEAKER),
    ("unique_key", COLUMN, {**COLUMN, "keep": {"order_by": "t"}}, DIFFERENT, DIFFERENT),
    ("column_unique", COLUMN, {**COLUMN, "approximate": True}, WEAKER, TIGHTER),
    ("column_values_in_reference", REFERENCE, {**REFERENCE, "reference": {"asset": "c"}}, DIFFERENT, DIFFERENT),
    ("schema_contains", {"expected": SCHEMA}, {"expected": SCHEMA[:1]}, WEAKER, TIGHTER),
    ("schema_contains", {"expected": SCHEMA}, {"expected": SCHEMA[::-1]}, SAME, SAME),
    ("schema_contains", {"expected": SCHEMA}, {"expected": [SCHEMA[0], {"name": "b", "type": "varchar(9)"}]}, WEAKER, TIGHTER),
    ("schema_contains", {"expected": SCHEMA}, {"expected": [SCHEMA[0], {"name": "b", "type": "string"}]}, WEAKER, TIGHTER),
    ("schema_contains", {"expected": SCHEMA}, {"expected": [{"name": "a", "type": "long"}, SCHEMA[1]]}, DIFFERENT, DIFFERENT),
    ("schema_equals", {"expected": SCHEMA}, {"expected": SCHEMA[:1]}, DIFFERENT, DIFFERENT),
    ("row_inserted_count_in_range", {**COLUMN, "window": "1 d", "min": 1}, {**COLUMN, "window": "2 d", "min": 1}, WEAKER, TIGHTER),
    ("row_inserted_count_in_range", {**COLUMN, "window": "1 d", "max": 1}, {**COLUMN, "window": "2 d", "max": 1}, TIGHTER, WEAKER),
    ("row_inserted_count_in_range", {**COLUMN, "window": "1 d", "min": 1, "max": 3}, {**COLUMN, "window": "2 d", "min": 1, "max": 3}, DIFFERENT, DIFFERENT),
    ("row_dq", {"expectation": "a > 0"}, {"expectation": "a > 0", "null_is": "pass"}, WEAKER, TIGHTER),
    ("row_dq", {"expectation": "a > 0"}, {"expectation": "a >\n 0", "tags": ["t"], "owners": ["o"]}, SAME, SAME),
    ("row_dq", {"expectation": "a > 0"}, {"expectation": "a > 1"}, DIFFERENT, DIFFERENT),
    ("row_dq", {"expectation": "a > 0"}, {"expectation": "a>0", "tags": ["t"]}, SAME, SAME),
    ("row_dq", {"expectation": "a <> 'x  y'"}, {"expectation": "a <> 'x y'"}, DIFFERENT, DIFFERENT),
    ("row_dq", {"expectation": "`a  b` > 0"}, {"expectation": "`a b` > 0"}, DIFFERENT, DIFFERENT),
    ("record_count_typical", {}, {"iqr_factor": 3}, WEAKER, TIGHTER),
    ("record_count_typical", {}, {"min_iqr": 3}, WEAKER, TIGHTER),
    ("record_count_typical", {}, {"learning_period": 9}, WEAKER, TIGHTER),
    ("record_count_typical", {}, {"soft_iqr_factor": 1}, ADVICE, ADVICE),
    ("record_count_typical", {}, {"lookback_window": 9}, DIFFERENT, DIFFERENT),
    ("compare_metrics", {"metric": "record_count", "operator": "<", "other": "column_count"},
     {"metric": "record_count", "operator": "<=", "other": "column_count"}, WEAKER, TIGHTER),
    ("compare_metrics", {"metric": "record_count", "operator": "<", "other": "column_count"},
     {"metric": "record_count", "operator": ">", "other": "column_count"}, DIFFERENT, DIFFERENT),
    ("record_count_in_range", {"min": 1}, {"min": 1, "blocking": False}, WEAKER, TIGHTER),
    ("record_count_in_range", {"min": 1}, {"min": 1, "enabled": False}, WEAKER, TIGHTER),
    ("record_count_in_range", {"min": 1}, {"min": 1, "scope": "both"}, TIGHTER, WEAKER),
    ("record_count_in_range", {"min": 1}, {"min": 1, "scope": "whole_dataset"}, DIFFERENT, DIFFERENT),
    ("record_count_in_range", {"min": 1}, {"min": 1, "on": "source"}, WEAKER, TIGHTER),
    ("record_count_in_range", {"min": 1}, {"min": 1, "action_if_failed": "fail"}, TIGHTER, WEAKER),
    ("record_count_in_range", {"min": 1}, {"min": 1, "on_empty": "error"}, TIGHTER, WEAKER),
    ("record_count_in_range", {"min": 1}, {"min": 1, "on_empty": "warn"}, ADVICE, ADVICE),
    ("record_count_in_range", {"min": 1}, {"min": 1, "run": "on_demand"}, WEAKER, TIGHTER),
    ("column_not_empty", COLUMN, {**COLUMN, "action_if_failed": "drop"}, TIGHTER, WEAKER),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "old", "new", "there", "back"), CASES)
def test_a_change_and_its_reverse(
    kind: str, old: dict[str, Any], new: dict[str, Any], there: Effect, back: Effect
) -> None:
    assert (effect(kind, old, new), effect(kind, new, old)) == (there, back)


def test_types_that_imply_each_other() -> None:
    equals = dq.SchemaEquals(name="x", expected=SCHEMA)
    contains = dq.SchemaContains(name="x", expected=SCHEMA)
    [change] = field_changes(equals, contains)
    assert (change.effect, change.words) == (
        WEAKER,
        "type: schema_contains instead of schema_equals",
    )
    assert field_changes(contains, equals)[0].effect is TIGHTER
    [change] = field_changes(equals, dq.RecordCountInRange(name="x", min=1))
    assert change.effect is DIFFERENT


def test_changes_in_words() -> None:
    old = dq.ColumnValuesInSet(columns=["a"], values=["x", "y"], threshold=0.1)
    new = dq.ColumnValuesInSet(columns=["a", "b"], values=["x", "z"], where="a > 0")
    assert {one.field: one.words for one in field_changes(old, new)} == {
        "where": "where: a > 0, not given before",
        "columns": "columns: also b",
        "threshold": "threshold: all instead of at most 10 % allowed",
        "values": "values: without y, and also z",
    }
    wide = dq.SchemaContains(expected=[{"name": "a", "type": "int"}, {"name": "b", "type": "int"}])
    narrow = dq.SchemaContains(expected=[{"name": "a", "type": "long"}])
    assert field_changes(wide, narrow)[0].words == "expected: without b, a changed"


def test_rules_that_are_never_an_error() -> None:
    assert is_advice(dq.RecordCountInRange(soft_min=1))
    assert is_advice(dq.ColumnNotEmpty(columns=["a"], threshold=dq.AtMost(soft_max=1)))
    assert not is_advice(dq.ColumnNotEmpty(columns=["a"]))
    assert not is_advice(dq.RecordCountTypical())
    assert not is_advice(dq.RecordCountInRange(soft_min=1, max=9))
