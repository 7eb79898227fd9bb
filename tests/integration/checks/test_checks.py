"""Rules as Dagster checks: real runs, with status, description and metadata."""

from __future__ import annotations

from typing import Any

import dagster as dg
import pandas as pd
import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from tests.integration.shelf import asset_of, by_name, check, metadata_of, run, status_of

ROWS = [(1, 2.5, "a"), (2, None, "b"), (3, 900.0, "c")]
SCHEMA = "id int, amount double, name string"


def test_every_status_as_dagster_shows_it(spark: SparkSession) -> None:
    found = check(
        spark,
        ROWS,
        SCHEMA,
        [
            dq.RecordCountInRange(name="ok", min=1),
            dq.ColumnAvgInRange(name="warning", columns="amount", soft_max=100, max=1000),
            dq.ColumnNotEmpty(name="error", columns="amount", blocking=False),
            dq.ColumnAvgInRange(name="empty", columns="amount", max=1, where="id > 9"),
        ],
    )
    told = {
        name: (e.passed, e.severity.value, e.blocking, status_of(e), e.description)
        for name, e in found.items()
    }
    assert told == {
        "ok": (True, "ERROR", True, "Ok", "The number of rows is 3, as expected (at least 1)."),
        "warning": (
            False,
            "WARN",
            True,
            "Warning",
            "The average of 'amount' is 451.25, above the soft maximum of 100.",
        ),
        "error": (
            False,
            "ERROR",
            False,
            "Error",
            "1 of 3 rows (33.33 %) has no 'amount' (none allowed).",
        ),
        "empty": (
            True,
            "ERROR",
            True,
            "Empty",
            ("Nothing to judge: the average of 'amount' needs some values (rows where id > 9)."),
        ),
    }


def test_people_see_numbers_and_programs_a_record(spark: SparkSession) -> None:
    rule = dq.ColumnAvgInRange(columns="amount", soft_max=100, max=1000)
    found = check(spark, ROWS, SCHEMA, [rule])
    entries = metadata_of(found["column_avg_in_range_amount"])
    record = entries.pop("dq/record")
    assert list(entries.items()) == [
        ("dq/status", "Warning"),
        ("dq/observed", 451.25),
        ("dq/expected", "at most 1,000, ideally at most 100"),
        ("dq/rows", 2),
    ]
    # The number of the materialization that was judged.
    assert record.pop("data").isdigit()
    assert record == {
        "v": 1,
        "status": "Warning",
        "type": "column_avg_in_range",
        "observed": {"column_avg:amount": 451.25},
        "metrics": {"count_value:amount": 2},
        "bounds": {"soft_max": 100, "max": 1000},
        "rows": 2,
    }


def test_dagsters_own_word_is_not_repeated(spark: SparkSession) -> None:
    rules = [
        dq.RecordCountInRange(name="ok", min=1),
        dq.RecordCountInRange(name="warning", soft_min=9),
        dq.RecordCountInRange(name="error", min=9, blocking=False),
        dq.ColumnAvgInRange(name="empty", columns="amount", max=1, where="id > 9"),
    ]
    found = check(spark, ROWS, SCHEMA, rules)
    said = {name: metadata_of(one).get("dq/status") for name, one in found.items()}
    assert said == {"ok": None, "warning": "Warning", "error": None, "empty": "Empty"}


def test_several_columns_come_as_a_table(spark: SparkSession) -> None:
    found = check(spark, ROWS, SCHEMA, [dq.ColumnNotEmpty(columns=["id", "amount"])])
    evaluation = found["column_not_empty_id_amount"]
    table: Any = evaluation.metadata["dq/columns"]
    rows = [record.data for record in table.records]
    assert [(row["column"], row["status"], row["observed"]) for row in rows] == [
        ("id", "Ok", 0),
        ("amount", "Error", 1),
    ]
    assert metadata_of(evaluation)["dq/observed"] == {"id": 0, "amount": 1}


def test_only_selected_checks_give_results(spark: SparkSession) -> None:
    rules = [dq.RecordCountInRange(min=1), dq.ColumnNotEmpty(columns="id")]
    asset = asset_of(spark.createDataFrame(ROWS, SCHEMA))
    only = dg.AssetSelection.assets("orders").without_checks() | dg.AssetSelection.checks(
        dg.AssetCheckKey(dg.AssetKey("orders"), "column_not_empty_id")
    )
    result = run([asset], dq.RuleSet(asset="orders", rules=rules), selection=only)
    assert result.success
    assert list(by_name(result)) == ["column_not_empty_id"]


def test_a_disabled_rule_is_no_check(spark: SparkSession) -> None:
    rules = [dq.RecordCountInRange(min=1), dq.ColumnNotEmpty(columns="id", enabled=False)]
    assert list(check(spark, ROWS, SCHEMA, rules)) == ["record_count_in_range"]
    off = [dq.RecordCountInRange(min=1, enabled=False)]
    built = dq.build_asset_checks(dq.RuleSet(asset="orders", rules=off))
    assert [key for one in built for key in one.check_keys] == []
    # Nor is it a step of any job.
    orders = dg.AssetSpec("orders")
    defs = dg.Definitions(assets=[orders], asset_checks=built)
    dg.Definitions.validate_loadable(defs)
    assert not defs.resolve_implicit_global_asset_job_def().nodes


def test_specs_say_what_is_demanded(spark: SparkSession) -> None:
    rules = [
        dq.ColumnValuesInSet(columns="name", values=["a", "b"], blocking=False, owners="data@shop"),
        dq.RecordCountInRange(min=1, description="There are orders."),
        dq.ColumnMaxInRange(columns="amount", max=10, where="name = 'a'"),
    ]
    [checks] = dq.build_asset_checks(dq.RuleSet(asset="shop/orders", rules=rules))
    specs = {spec.name: spec for spec in checks.check_specs}
    assert {name: (spec.description, spec.blocking) for name, spec in specs.items()} == {
        "column_values_in_set_name": ("Every value of 'name' is one of 'a' and 'b'.", False),
        "record_count_in_range": ("There are orders.\nThe number of rows is at least 1.", True),
        "column_max_in_range_amount": (
            "Where name = 'a': the maximum of 'amount' is at most 10.",
            True,
        ),
    }
    assert all(spec.asset_key == dg.AssetKey(["shop", "orders"]) for spec in specs.values())
    assert specs["column_values_in_set_name"].metadata == {
        "dq/type": "column_values_in_set",
        "dq/quality_dimension": "validity",
        "dq/owners": ["data@shop"],
    }


def _with_downstream(spark: SparkSession, rule: dq.Rule) -> dg.ExecuteInProcessResult:
    @dg.asset(deps=["orders"])
    def report() -> None: ...

    orders = asset_of(spark.createDataFrame(ROWS, SCHEMA))
    customers = asset_of(spark.createDataFrame([(1,)], "id int"), "customers")
    rule_sets = [
        dq.RuleSet(asset="orders", rules=[rule]),
        dq.RuleSet(asset="customers", rules=[dq.RecordCountInRange(min=1, name="some")]),
    ]
    return run([orders, customers, report], rule_sets)


@pytest.mark.parametrize(
    ("rule", "goes_on"),
    [
        (dq.RecordCountInRange(min=9), False),
        (dq.RecordCountInRange(min=9, blocking=False), True),
        (dq.RecordCountInRange(soft_min=9), True),
        (dq.ColumnAvgInRange(columns="nope", min=1), False),
    ],
    ids=["blocking error", "advisory error", "blocking warning", "blocking rule that can not run"],
)
def test_only_a_blocking_error_stops_what_is_downstream(
    spark: SparkSession, rule: dq.Rule, *, goes_on: bool
) -> None:
    result = _with_downstream(spark, rule)
    built = {str(event.asset_key) for event in result.get_asset_materialization_events()}
    assert result.success is goes_on
    assert (str(dg.AssetKey("report")) in built) is goes_on
    # The other asset's checks are recorded all the same.
    assert by_name(result)["some"].passed


def test_every_check_gets_a_result_when_the_data_cannot_be_read(spark: SparkSession) -> None:
    def broken() -> Any:
        raise ConnectionError("postgres://reader:hunter2@db refused, password=hunter3")

    rules = [dq.RecordCountInRange(min=1), dq.ColumnNotEmpty(columns="id", blocking=False)]
    result = run(
        [asset_of(spark.createDataFrame(ROWS, SCHEMA))],
        dq.RuleSet(asset="orders", rules=rules, reader=broken),
    )
    assert not result.success
    found = by_name(result)
    assert set(found) == {"record_count_in_range", "column_not_empty_id"}
    for evaluation in found.values():
        assert not evaluation.passed
        assert evaluation.severity is dg.AssetCheckSeverity.ERROR
        assert evaluation.description == (
            "The data of asset 'orders' could not be read (ConnectionError: "
            "postgres://reader:***@db refused, password=***)."
        )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "A Spark or pandas DataFrame is needed, not builtins.NoneType."),
        ([1, 2], "A Spark or pandas DataFrame is needed, not builtins.list."),
        ({}, "Asset 'orders' is materialized in Dagster, but its IO manager has stored nothing"),
    ],
)
def test_a_value_that_is_no_table_is_told(value: Any, message: str) -> None:
    result = run(
        [asset_of(value)], dq.RuleSet(asset="orders", rules=[dq.RecordCountInRange(min=1)])
    )
    [evaluation] = result.get_asset_check_evaluations()
    assert not evaluation.passed
    assert str(evaluation.description).startswith(message)


def test_pandas_and_dicts_of_partitions_are_tables_too(spark: SparkSession) -> None:
    rule = dq.ColumnSumInRange(columns="id", min=6, max=6)
    for value in (
        pd.DataFrame({"id": [1, 2, 3]}),
        {"a": spark.createDataFrame([(1,), (2,)], "id int"), "b": pd.DataFrame({"id": [3]})},
    ):
        result = run([asset_of(value)], dq.RuleSet(asset="orders", rules=[rule]))
        [evaluation] = result.get_asset_check_evaluations()
        assert evaluation.description == ("The sum of 'id' is 6, as expected (exactly 6).")


def test_the_same_rule_set_twice_is_refused() -> None:
    one = dq.RuleSet(asset="orders", rules=[dq.RecordCountInRange(min=1)])
    with pytest.raises(dq.DeclarationError, match="2 rules become the same check"):
        dq.build_asset_checks([one, one])
