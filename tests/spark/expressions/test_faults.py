"""The rows that have a rule's fault are the rows that the rule counts, whatever they hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from dq_dagster.metrics.metric import ConditionCount
from dq_dagster.rules.base.column_rules import ColumnRule
from dq_dagster.rules.base.rule import Rule
from dq_dagster.rules.catalogue import BUILT_IN, parse_rule
from dq_dagster.spark.frames.columns import JudgedTable
from dq_dagster.spark.frames.other_datasets import OtherDatasets
from dq_dagster.spark.passes.faults import judged_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = [
    (1.0, "a", 1, "x"),
    (math.nan, " ", 2, "x"),
    (None, None, 3, "y"),
    (50.0, "abc", None, None),
    (-3.0, "", 5, "y"),
]
SOME = "i > 1"  # The second, third and fifth row; it is unknown for the fourth.


def on_s(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "columns": "s", **fields}


# Each rule with the rows that have each of its faults: among all, and among some.
CASES: list[tuple[dict[str, Any], list[int], list[int]]] = [
    (on_s("column_not_empty"), [1], [1]),
    (on_s("column_not_empty", empty_includes_blank=True), [3], [3]),
    (on_s("column_empty"), [4], [2]),
    (on_s("column_empty", empty_includes_blank=True), [2], [0]),
    (on_s("column_values_in_set", values=["a"]), [3], [2]),
    (on_s("column_values_in_set", values=["a"], empty_includes_blank=True), [1], [0]),
    (on_s("column_values_not_in_set", values=["a", "abc"]), [2], [0]),
    (
        {"type": "column_values_in_range", "columns": "n", "min": 0, "max": 10, "soft_max": 0.5},
        [3, 3],
        [2, 1],
    ),
    (on_s("column_value_lengths_in_range", max=1), [1], [0]),
    (on_s("column_values_match", pattern="[a-z]+"), [2], [2]),
    (on_s("column_values_not_match", pattern="a.*"), [2], [0]),
    (on_s("column_valid_meaning", meaning="integer"), [5], [3]),
    (on_s("column_valid_meaning", meaning="integer", empty_is_valid=True), [4], [2]),
    (on_s("column_values_in_reference", reference={"asset": "known"}), [3], [2]),
    ({"type": "column_unique", "columns": "g"}, [4], [2]),
    ({"type": "column_unique", "columns": "g", "keep": {"order_by": "i"}}, [2], [1]),
    ({"type": "unique_key", "columns": ["g"]}, [4], [2]),
    ({"type": "unique_key", "columns": ["g", "i"]}, [0], [0]),
    ({"type": "row_dq", "expectation": "n > 0"}, [2], [2]),
    ({"type": "row_dq", "expectation": "n > 0", "null_is": "pass"}, [1], [1]),
]


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(ROWS, "n double, s string, i int, g string").coalesce(1)


@pytest.fixture(scope="module")
def known(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([("a",)], "s string")


@pytest.mark.parametrize("where", [None, SOME], ids=["all", "some"])
@pytest.mark.parametrize(("fields", "of_all", "of_some"), CASES, ids=str)
def test_rows_with_a_fault_are_those_that_are_counted(
    rows: DataFrame,
    known: DataFrame,
    fields: dict[str, Any],
    of_all: list[int],
    of_some: list[int],
    where: str | None,
) -> None:
    rule = parse_rule({**fields, "where": where})
    found = _rows_with_each_fault(rows, known, rule)
    assert found == (of_all if where is None else of_some)
    outcome = next(iter(dq.evaluate(rows, [rule], references={"known": known})))
    counts = [ConditionCount.of(fault).key for fault in rule.faults()]
    if set(counts) <= set(outcome.metrics):
        assert [outcome.metrics[key] for key in counts] == found
    if "keep" not in fields:
        assert outcome.failed_rows in found


def _rows_with_each_fault(rows: DataFrame, known: DataFrame, rule: Rule) -> list[int]:
    others = OtherDatasets(asset="data", references={"known": known})
    judged = judged_rows(rows, [rule], JudgedTable.of(rows, other_datasets=others))
    [of_rule] = judged.rules
    for sql in of_rule.sql.values():
        # A row has the fault or has not: then a split by it loses no row.
        assert judged.frame.where(f"({sql}) IS NULL").isEmpty()
    return [judged.frame.where(sql).count() for sql in of_rule.sql.values()]


def test_soft_bounds_are_a_fault_of_their_own() -> None:
    rule = dq.ColumnValuesInRange(columns=["n"], max=10, soft_max=5)
    assert [fault.severity for fault in rule.faults()] == ["error", "warning"]


def test_every_rule_that_counts_rows_is_here() -> None:
    assert {fields["type"] for fields, _, _ in CASES} == {
        rule.model_fields["type"].default for rule in BUILT_IN if rule.counts_rows
    }
    blaming = {rule for rule in BUILT_IN if _blames_rows(rule)}
    assert blaming == {rule for rule in BUILT_IN if rule.counts_rows}


def _blames_rows(rule: type[Rule]) -> bool:
    if issubclass(rule, ColumnRule) and rule.column_faults is not ColumnRule.column_faults:
        return True
    return rule.faults not in {Rule.faults, ColumnRule.faults}
