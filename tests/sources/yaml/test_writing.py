"""Rule sets as YAML: what is read back is the same, and only what was said is written."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

import dq_dagster as dq
from docs.catalogue.examples import load as examples
from dq_dagster.sources.yaml.writing import rule_sets_as_yaml


def again(folder: Path, *rule_sets: dq.RuleSet) -> list[dq.RuleSet]:
    file = folder / "rules.yaml"
    file.write_text(rule_sets_as_yaml(rule_sets), encoding="utf-8")
    return dq.load_rules(file)


def test_every_type_of_rule_is_read_back_as_it_was(tmp_path: Path) -> None:
    rules = dq.RuleSet(asset="shop/orders", rules=list(examples().values()))
    assert again(tmp_path, rules) == [rules]


def test_every_field_of_a_rule_set_is_read_back(tmp_path: Path) -> None:
    one = dq.RuleSet(
        asset="o",
        on_empty="warn",
        empty_includes_blank=True,
        metrics={"m": "record_count", "n": {"sql": "sum(a)"}},
        meanings={"code": {"pattern": "[A-Z]+"}},
        column_meanings={"a": "code"},
        declared_schema=[{"name": "a", "type": "int"}],
        reader={"files": "x/*.csv", "format": "csv", "options": {"header": "true"}},
        partition_expr="day",
        timeout="1 h",
        samples=["a"],
        rules=[
            dq.MetricInRange(metric="m", min=1),
            dq.ColumnNotEmpty(columns="a", on_empty="error", action_if_failed="ignore"),
            dq.ColumnValuesInSet(
                columns="b",
                values=["NO", "010", True, 1, 1.5, Decimal("0.12345678901234567890123"),
                        date(2024, 1, 31), datetime(2024, 1, 31, 10, tzinfo=UTC)],
                threshold=dq.AtMost(max=0.5),
            ),
        ],
    )  # fmt: skip
    other = dq.RuleSet(asset="p", rules=[dq.UniqueKey(columns=["a", "b"])])
    assert again(tmp_path, one, other) == [one, other]


def test_only_what_was_said_is_written() -> None:
    rules = [
        dq.ColumnNotEmpty(columns="a", action_if_failed="ignore", blocking=True),
        dq.RowExpectation(name="r", expectation="a > 0", tags=["x"]),
    ]
    assert rule_sets_as_yaml([dq.RuleSet(asset="o", rules=rules)]) == (
        "asset: o\n"
        "rules:\n"
        "  - type: column_not_empty\n"
        "    name: column_not_empty_a\n"
        "    action_if_failed: ignore\n"
        "    columns:\n"
        "      - a\n"
        "  - type: row_dq\n"
        "    name: r\n"
        "    tags:\n"
        "      - x\n"
        "    expectation: a > 0\n"
    )


def test_functions_cannot_be_written() -> None:
    def check(data: object, context: object) -> bool:
        return True

    rules = dq.RuleSet(asset="o", rules=[dq.PythonRule(function=check)])
    with pytest.raises(dq.DeclarationError, match="a function cannot be written into a file"):
        rule_sets_as_yaml([rules])
