"""Declaring rules: good ones in every form, and what is said of bad ones."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

import dq_dagster as dq


def problems(**rule: Any) -> list[str]:
    """What is said about one rule, without the title."""
    with pytest.raises(dq.DeclarationError) as caught:
        dq.RuleSet(asset="orders", rules=[rule])
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("rule", "reported"),
    [
        (
            {"type": "column_not_empty", "columns": "id", "treshold": "all"},
            (
                "rule 'column_not_empty id', asset 'orders': unknown field 'treshold'. "
                "Did you mean 'threshold'?"
            ),
        ),
        (
            {"type": "column_not_emty", "columns": "id"},
            (
                "rule 'column_not_emty id', asset 'orders': unknown type 'column_not_emty'. "
                "Did you mean 'column_not_empty'?"
            ),
        ),
        (
            {"name": "n", "columns": "id"},
            "rule 'n', asset 'orders': field 'type' is missing.",
        ),
        (
            {"type": "column_not_empty", "name": "n"},
            "rule 'n', asset 'orders': field 'columns' is missing.",
        ),
        (
            {"type": "column_not_empty", "columns": ["a", "a"], "name": "n"},
            "rule 'n', asset 'orders': field 'columns': 'a' is named twice.",
        ),
        (
            {"type": "record_count_in_range", "name": "n"},
            "rule 'n', asset 'orders': at least one of min, soft_min, soft_max and max is needed.",
        ),
        (
            {"type": "record_count_in_range", "name": "n", "min": 3, "soft_max": 2},
            (
                "rule 'n', asset 'orders': bounds must be ordered "
                "min <= soft_min <= soft_max <= max, but min is 3 and soft_max is 2."
            ),
        ),
        (
            {"type": "record_count_in_range", "name": "n", "min": "3"},
            "rule 'n', asset 'orders': field 'min': a number is needed, not '3'.",
        ),
        (
            {"type": "record_count_in_range", "name": "n", "min": float("inf")},
            "rule 'n', asset 'orders': field 'min': a bound must be a finite number.",
        ),
        (
            {"type": "column_max_in_range", "name": "n", "columns": "d", "min": 1, "max": "b"},
            "rule 'n', asset 'orders': the bounds 1 and 'b' are of different kinds.",
        ),
        (
            {"type": "column_not_empty", "name": "n", "columns": "a", "threshold": "most"},
            (
                "rule 'n', asset 'orders': field 'threshold': 'all', a share such as 0.01, or "
                "bounds such as {max: 3} needed."
            ),
        ),
        (
            {
                "type": "column_not_empty",
                "name": "n",
                "columns": "a",
                "threshold": {"type": "proportion", "max": 5},
            },
            "rule 'n', asset 'orders': field 'threshold': a proportion lies between 0 and 1.",
        ),
        (
            {
                "type": "column_empty",
                "name": "n",
                "columns": "a",
                "threshold": {"type": "count", "mn": 5},
            },
            "rule 'n', asset 'orders': unknown field 'threshold.mn'. Did you mean 'min'?",
        ),
        (
            {"type": "column_values_match", "name": "n", "columns": "a", "pattern": "a)|(b"},
            (
                "rule 'n', asset 'orders': field 'pattern': unmatched ')', at position 1 of the "
                "pattern 'a)|(b'."
            ),
        ),
        (
            {"type": "row_dq", "name": "n", "expectation": "x in (select 1)"},
            (
                "rule 'n', asset 'orders': field 'expectation': '(select 1)' is a subquery, and "
                "subqueries are not possible here: write a condition on the columns of this "
                "table, or a rule of type query_dq. (A column of that name needs backquotes.)"
            ),
        ),
        (
            {"type": "record_count_in_range", "name": "n", "min": 1, "where": "rand() < 0.5"},
            None,
        ),
        (
            {"type": "record_count_in_range", "name": "n", "min": 1, "scope": "partition"},
            (
                "rule 'n', asset 'orders': field 'scope': 'partitions', 'whole_dataset' or "
                "'both' is needed, not 'partition'."
            ),
        ),
    ],
)
def test_one_mistake_one_sentence(rule: dict[str, Any], reported: str | None) -> None:
    found = problems(**rule)
    assert len(found) == 1
    if reported is not None:
        assert found == [reported]
    assert found[0].startswith("rule '")


def test_all_mistakes_are_told_together() -> None:
    with pytest.raises(dq.DeclarationError) as caught:
        dq.RuleSet(
            asset="shop/orders",
            rules=[
                {"type": "column_not_empty", "columns": "id", "thresold": 1, "on_empty": "fail"},
                {"type": "nonsense"},
                7,
                {"type": "record_count_in_range", "min": 1},
                {"type": "record_count_in_range", "min": 2},
            ],
        )
    assert len(caught.value.problems) == 5
    assert str(caught.value).startswith("5 problems in the rules:\n  - rule 'column_not_empty id'")
    assert all(problem.asset == "shop/orders" for problem in caught.value.problems)
    assert "2 rules become the same check 'record_count_in_range'" in str(caught.value)


def test_a_rule_class_tells_the_same() -> None:
    with pytest.raises(dq.DeclarationError, match=r"unknown field 'mn'\. Did you mean 'min'"):
        dq.RecordCountInRange(mn=1)  # type: ignore[call-arg]


def test_rules_are_frozen() -> None:
    rule = dq.RecordCountInRange(min=1)
    with pytest.raises(ValidationError, match="frozen"):
        rule.min = 2  # type: ignore[misc]


def test_names_that_become_one_check_collide() -> None:
    rules = [
        {"type": "record_count_in_range", "min": 1, "name": "a.b"},
        {"type": "record_count_in_range", "min": 1, "name": "a b"},
        {"type": "record_count_in_range", "min": 1, "name": "c", "scope": "both"},
        {"type": "record_count_in_range", "min": 1, "name": "c__dataset"},
    ]
    with pytest.raises(dq.DeclarationError) as caught:
        dq.RuleSet(asset="orders", rules=rules)
    reported = [problem.message for problem in caught.value.problems]
    assert [text.split(" (")[0] for text in reported] == [
        "2 rules become the same check 'a_b'",
        "2 rules become the same check 'c__dataset'",
    ]


def test_dicts_and_objects_are_the_same() -> None:
    as_object = dq.ColumnValuesInSet(
        columns=["a", "b"],
        values=[1, Decimal("1.5"), date(2024, 1, 1), "x", True],
        threshold=dq.AtMost(type="count", max=3),
        where="a > 0",
    )
    as_dict = {
        "type": "column_values_in_set",
        "columns": ["a", "b"],
        "values": [1, Decimal("1.5"), date(2024, 1, 1), "x", True],
        "threshold": {"type": "count", "max": 3},
        "where": "a > 0",
    }
    [parsed] = dq.RuleSet(asset="o", rules=[as_dict]).rules
    [same] = dq.RuleSet(asset="o", rules=[as_object]).rules
    assert parsed == same
    assert [type(value) for value in parsed.values] == [int, Decimal, date, str, bool]


def test_a_rule_set_fills_in_what_rules_leave_open() -> None:
    rule_set = dq.RuleSet(
        asset="orders",
        on_empty="warn",
        empty_includes_blank=True,
        rules=[
            dq.ColumnNotEmpty(columns="a"),
            dq.ColumnNotEmpty(columns="b", on_empty="error", empty_includes_blank=False),
        ],
    )
    assert [(r.on_empty, r.empty_includes_blank) for r in rule_set.rules] == [
        ("warn", True),
        ("error", False),
    ]


def test_shorthand_thresholds_of_row_expectations() -> None:
    def limit(threshold: Any) -> Any:
        return dq.RowExpectation(expectation="a > 0", threshold=threshold).threshold

    assert limit(0.01) == dq.AtMost(type="proportion", max=0.01)
    assert limit(3) == dq.AtMost(type="count", max=3)
    assert limit("all") == "all"


def test_equal_looking_constants_are_different_metrics() -> None:
    rules = [
        dq.ColumnValuesInSet(name=type(value).__name__, columns="a", values=[value])
        for value in (1, 1.0, True, "1", Decimal(1))
    ]
    # Five different counts, one shared number of values.
    assert len(dq.explain(rules).metrics) == 6


def test_an_asset_is_named_in_every_way_dagster_people_do() -> None:
    import dagster as dg

    @dg.asset(key_prefix="shop")
    def orders() -> None: ...

    key = dg.AssetKey(["shop", "orders"])
    for asset in (orders, key, "shop/orders", ["shop", "orders"], dg.AssetSpec(key)):
        assert dq.RuleSet(asset=asset, rules=[]).asset_path == ("shop", "orders")
    with pytest.raises(dq.DeclarationError, match="7 is not an asset"):
        dq.RuleSet(asset=7, rules=[])


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ("Balances are positive", "Balances are positive.\n"),
        ("Balances are positive. ", "Balances are positive.\n"),
        ("Are balances positive?", "Are balances positive?\n"),
        ("", ""),
    ],
)
def test_a_description_is_a_sentence_of_its_own(description: str, said: str) -> None:
    rule = dq.ColumnNotEmpty(columns=["balance"], description=description)
    assert rule.summary() == f"{said}{rule.demand()}"
