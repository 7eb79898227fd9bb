"""What becomes of rows in flight: which rules say what, and what is said of mistakes."""

from __future__ import annotations

from typing import Any

import pytest

import dq_dagster as dq
from dq_dagster.rules.base.change_detection import ChangeDetection
from dq_dagster.rules.base.rule import Rule
from dq_dagster.rules.catalogue import BUILT_IN, parse_rule
from dq_dagster.sql.expressions import OrderTerm

ROW: dict[str, Any] = {"type": "column_not_empty", "columns": "id", "name": "r"}
RANGE: dict[str, Any] = {"type": "column_values_in_range", "columns": "id", "name": "r"}
UNIQUE: dict[str, Any] = {"type": "column_unique", "columns": "id", "name": "r"}
KEY: dict[str, Any] = {"type": "unique_key", "columns": ["a", "b"], "name": "r"}
WHOLE: dict[str, Any] = {"type": "record_count_in_range", "min": 1, "name": "r"}
TYPICAL: dict[str, Any] = {"type": "record_count_typical", "name": "r"}


@pytest.mark.parametrize(
    ("rule", "reported"),
    [
        (
            ROW | {"action_if_failed": "delete"},
            "field 'action_if_failed': 'ignore', 'drop' or 'fail' is needed, not 'delete'.",
        ),
        (
            WHOLE | {"action_if_failed": "drop"},
            (
                "field 'action_if_failed': no single row can be blamed here, so that there is "
                "none to drop: write 'ignore' or 'fail'."
            ),
        ),
        (
            TYPICAL | {"action_if_failed": "drop"},
            (
                "field 'action_if_failed': no single row can be blamed here, so that there is "
                "none to drop: write 'ignore' or 'fail'."
            ),
        ),
        (
            WHOLE | {"action_if_failed": "stop"},
            "field 'action_if_failed': 'ignore' or 'fail' is needed, not 'stop'.",
        ),
        (
            WHOLE | {"action_if_failed": None},
            "field 'action_if_failed': 'ignore' or 'fail' is needed, not None.",
        ),
        (
            WHOLE | {"on": "target"},
            "field 'on': 'source', 'validated' or 'both' is needed, not 'target'.",
        ),
        (
            ROW | {"on": "source"},
            "'on' means nothing here: rows are judged one by one, as they come.",
        ),
        (
            UNIQUE | {"on": "both"},
            "'on' means nothing here: rows are judged one by one, as they come.",
        ),
        (ROW | {"keep": {"order_by": "id"}}, None),
        (UNIQUE | {"keep": {}}, "field 'keep.order_by' is missing."),
        (
            UNIQUE | {"keep": {"order": "id"}},
            [
                "unknown field 'keep.order'. Did you mean 'order_by'?",
                "field 'keep.order_by' is missing.",
            ],
        ),
        (
            UNIQUE | {"keep": {"order_by": ""}},
            "field 'keep.order_by': the expression is empty: write a condition.",
        ),
        (
            UNIQUE | {"keep": {"order_by": "id, desc"}},
            (
                "field 'keep.order_by': syntax error: the expression ends where something to "
                "order by is expected."
            ),
        ),
        (
            KEY | {"keep": {"order_by": "(select 1)"}},
            (
                "field 'keep.order_by': '(select 1)' is a subquery, and subqueries are not "
                "possible here: write a condition on the columns of this table, or a rule of type "
                "query_dq. (A column of that name needs backquotes.)"
            ),
        ),
        (KEY | {"keep": {"order_by": "rand()"}}, None),
        (KEY | {"keep": {"order_by": "max(id)"}}, None),
        (KEY | {"keep": {"order_by": "id) OVER (ORDER BY (id"}}, None),
    ],
)
def test_one_mistake_one_sentence(rule: dict[str, Any], reported: str | list[str] | None) -> None:
    with pytest.raises(dq.DeclarationError) as caught:
        dq.RuleSet(asset="orders", rules=[rule])
    found = [str(problem) for problem in caught.value.problems]
    place = "rule 'r', asset 'orders': "
    assert all(text.startswith(place) for text in found)
    if reported is not None:
        listed = [reported] if isinstance(reported, str) else reported
        assert sorted(found) == sorted(f"{place}{text}" for text in listed)


@pytest.mark.parametrize(
    ("rule", "actions"),
    [
        (ROW, [("error", "ignore", False)]),
        (ROW | {"action_if_failed": "ignore"}, [("error", "ignore", False)]),
        (ROW | {"action_if_failed": "drop"}, [("error", "drop", True)]),
        (ROW | {"action_if_failed": "fail"}, [("error", "fail", True)]),
        (
            RANGE | {"max": 9, "soft_max": 5, "action_if_failed": "drop"},
            [("error", "drop", True), ("warning", "ignore", False)],
        ),
        (RANGE | {"soft_max": 5, "action_if_failed": "fail"}, [("warning", "ignore", False)]),
        (UNIQUE | {"action_if_failed": "drop"}, [("error", "drop", True)]),
        (KEY | {"action_if_failed": "fail"}, [("error", "fail", True)]),
        (WHOLE | {"action_if_failed": "fail"}, []),
    ],
)
def test_what_becomes_of_a_row_with_each_fault(
    rule: dict[str, Any], actions: list[tuple[str, str, bool]]
) -> None:
    faults = parse_rule(rule).faults()
    assert [(fault.severity, fault.action, fault.keeps_out) for fault in faults] == actions


@pytest.mark.parametrize("kind", BUILT_IN, ids=lambda kind: str(kind.__name__))
def test_every_rule_has_an_action_and_says_where_it_is_judged(kind: type[Rule]) -> None:
    fields = kind.model_fields
    assert fields["action_if_failed"].default == "ignore"
    # What is typical is learnt from what was published.
    learns = issubclass(kind, ChangeDetection)
    assert fields["on"].default == ("validated" if learns else "both")
    action = kind.model_json_schema()["properties"]["action_if_failed"]
    assert action["enum"] == ["ignore", "drop", "fail"][:: 1 if kind.counts_rows else 2]


@pytest.mark.parametrize("phase", ["source", "validated", "both"])
def test_rules_about_all_rows_say_where(phase: str) -> None:
    assert parse_rule(WHOLE | {"on": phase}).on == phase


@pytest.mark.parametrize(
    ("written", "terms"),
    [
        ("id", [OrderTerm("id")]),
        ("id desc", [OrderTerm("id", "DESC")]),
        ("`a,b` ASC nulls last, id", [OrderTerm("`a,b`", "ASC NULLS LAST"), OrderTerm("id")]),
        (
            "coalesce(a, b) NULLS FIRST, a[0] desc",
            [OrderTerm("coalesce(a, b)", "NULLS FIRST"), OrderTerm("a[0]", "DESC")],
        ),
        ("`desc` desc", [OrderTerm("`desc`", "DESC")]),
    ],
)
def test_what_is_kept_of_repeated_values(written: str, terms: list[OrderTerm]) -> None:
    rule = dq.UniqueKey(columns=["a", "b"], keep={"order_by": written})  # type: ignore[arg-type]
    assert rule.keep is not None
    assert list(rule.keep.terms) == terms


def test_the_order_is_part_of_the_question() -> None:
    rules = [
        dq.ColumnUnique(columns="id", keep=None if order is None else {"order_by": order})  # type: ignore[arg-type]
        for order in (None, "a", "a DESC")
    ]
    conditions = [rule.faults()[0].condition for rule in rules]
    assert len({condition.key for condition in conditions}) == 3
    assert len({getattr(condition, "flag", None) for condition in conditions}) == 3
    # What is measured for a check is the same: it has no flight to keep rows in.
    assert len({rule.metrics() for rule in rules}) == 1
