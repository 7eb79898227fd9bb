"""Rules that call functions, on Spark."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import dq_dagster as dq
from tests.rules.types import functions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def at_least(data: DataFrame, context: dq.CallContext, *, rows: int) -> tuple[str, int, str]:
    found = data.count()
    return ("Ok" if found >= rows else "Error"), found, f"There are {found} rows."


def the_context(data: DataFrame, context: dq.CallContext) -> tuple[str, str]:
    said = f"{context.caller}, {context.asset}, {context.partition}, {context.now:%Y-%m-%d}."
    return "Ok", said


def divides(data: DataFrame, context: dq.CallContext) -> bool:
    return bool(data.selectExpr("10 / (id - 1) AS x").agg({"x": "sum"}).collect())


def casts(data: DataFrame, context: dq.CallContext) -> bool:
    return bool(data.selectExpr("CAST('canary' || id AS INT) AS x").collect())


def raises(data: DataFrame, context: dq.CallContext) -> bool:
    raise ValueError("the service\n  said no: token=abc")


def exits(data: DataFrame, context: dq.CallContext) -> bool:
    raise SystemExit(3)


def returns_rows(data: DataFrame, context: dq.CallContext) -> DataFrame:
    return data


def test_functions_see_the_data_and_a_context(spark: SparkSession) -> None:
    rules: list[Any] = [
        dq.PythonRule(name="all", function=at_least, arguments={"rows": 3}),
        dq.PythonRule(name="some", function=at_least, arguments={"rows": 3}, where="id > 0"),
        dq.PythonRule(name="context", function=the_context),
        {"type": "python", "name": "place", "function": "tests.rules.types.functions:fine"},
        dq.PythonRule(name="lambda", function=lambda data, context: len(data.columns) == 2),
        dq.RecordCountInRange(min=1),
    ]
    now = datetime(2024, 3, 1, tzinfo=UTC)
    found = dq.evaluate(spark.range(3), dq.RuleSet(asset="shop/orders", rules=rules), now=now)
    assert [(o.status.value, o.observed, o.message) for o in found] == [
        ("Ok", 3, "There are 3 rows."),
        ("Error", 2, "There are 2 rows (rows where id > 0)."),
        ("Ok", None, "context, shop/orders, None, 2024-03-01."),
        ("Ok", None, "The function answered Ok."),
        ("Error", None, "The function answered Error."),
        ("Ok", 3, "The number of rows is 3, as expected (at least 1)."),
    ]


def test_what_a_function_raises_stays_with_its_rule(spark: SparkSession) -> None:
    rules = [
        dq.PythonRule(name=function.__name__, function=function)
        for function in (divides, casts, raises, exits, returns_rows, functions.fine)
    ]
    rules.append(dq.PythonRule(name="filter", function=functions.fine, where="idd > 1"))
    found = {o.rule.name: o for o in dq.evaluate(spark.range(3), rules)}
    assert {o.status.value for name, o in found.items() if name != "fine"} == {"Error"}
    assert found["fine"].status == "Ok"
    assert found["raises"].message == (
        "The function raised ValueError: the service said no: token=***."
    )
    assert found["exits"].message == "The function raised SystemExit: 3."
    assert "DIVIDE_BY_ZERO" in found["divides"].message
    # The texts of Spark's errors quote rows.
    assert "CAST_INVALID_INPUT" in found["casts"].message
    assert "canary" not in found["casts"].message
    assert "(of type DataFrame)" in found["returns_rows"].message
    assert "Column 'idd' is not in the table." in found["filter"].message


def test_numbers_that_functions_name_are_observed(spark: SparkSession) -> None:
    def measured(data: DataFrame, context: dq.CallContext) -> dq.plugins.Judgement:
        bad = data.where("id % 2 = 1").count()
        return dq.plugins.Judgement(
            dq.Status.WARNING, f"{bad} odd ids.", observed=bad, failed_rows=bad
        )

    [outcome] = dq.evaluate(spark.range(5), [dq.PythonRule(name="odd", function=measured)])
    assert (outcome.status, outcome.observed, outcome.failed_rows) == ("Warning", 2, 2)
