"""Messages say what became of the rows that break a rule: nothing that did not happen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest

import dq_dagster as dq
from tests.integration.shelf import by_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HARD = "1 of 3 values (33.33 %) of 'n' is outside the range (at least 0 and at most 100)."
SOFT = "1 of 3 values (33.33 %) of 'n' is outside the soft range (at most 100, ideally at most 20)."


@pytest.mark.parametrize(
    ("bounds", "action", "message"),
    [
        ({"min": 0, "max": 100}, "drop", f"{HARD} Such rows are left out."),
        ({"min": 0, "max": 100}, "ignore", f"{HARD} Such rows are kept."),
        # Beyond a soft bound, a row is kept whatever the action.
        ({"soft_max": 20, "max": 100}, "drop", f"{SOFT} Such rows are kept."),
        ({"soft_max": 20, "max": 100}, "ignore", f"{SOFT} Such rows are kept."),
    ],
)
def test_what_became_of_bad_rows(
    bounds: dict[str, Any], action: Any, message: str, spark: SparkSession
) -> None:
    rule = dq.ColumnValuesInRange(columns=["n"], action_if_failed=action, **bounds)
    odd = 50 if "soft_max" in bounds else 200
    assert messages(spark, [1, 2, odd], [rule]) == {"column_values_in_range_n": message}


@pytest.mark.parametrize(("action", "fate"), [("drop", "left out"), ("fail", "kept")])
def test_what_becomes_of_a_tolerated_row(action: Any, fate: str, spark: SparkSession) -> None:
    rule = dq.ColumnValuesInRange(columns=["n"], max=100, action_if_failed=action, threshold=0.5)
    found = messages(spark, [1, 2, 200], [rule])["column_values_in_range_n"]
    assert found.endswith(f"at most 50 % allowed). Such rows are {fate}.")


def test_nothing_is_said_of_rows_where_nothing_is_published(spark: SparkSession) -> None:
    rules: list[dq.Rule] = [
        dq.ColumnValuesInRange(columns=["n"], min=0, max=100, action_if_failed="drop"),
        dq.RecordCountInRange(min=10, action_if_failed="fail"),
    ]
    assert messages(spark, [1, 2, 200], rules)["column_values_in_range_n"] == HARD


def messages(spark: SparkSession, values: list[int], rules: list[dq.Rule]) -> dict[str, str]:
    @dq.guarded_asset(rules=rules, quarantine=False)
    def table() -> Any:
        return spark.createDataFrame([(n,) for n in values], "n int")

    result = dg.materialize_to_memory([table], raise_on_error=False)
    return {name: str(one.description) for name, one in by_name(result).items()}
