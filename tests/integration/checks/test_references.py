"""Rules that look into other assets: read by their IO managers, lazily, once a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dagster as dg
import pandas as pd
from pyspark.sql import SparkSession

import dq_dagster as dq
from tests.integration.shelf import asset_of, by_name, run

ORDERS = pd.DataFrame({"id": [1, 2, 3], "customer": [7, 8, 8]})
CUSTOMERS = pd.DataFrame({"key": [7, 7, 9]})
MISSING = "2 of 3 values (66.67 %) of 'customer' are not in 'key' of asset 'customers'"


def known_customer(**fields: Any) -> dq.Rule:
    return dq.ColumnValuesInReference(
        columns="customer",
        reference=dq.Reference(asset="customers"),
        reference_columns="key",
        blocking=False,
        **fields,
    )


def orders_rules(*rules: dq.Rule) -> dq.RuleSet:
    return dq.RuleSet(asset="orders", rules=[known_customer(name="known"), *rules])


def test_an_asset_that_is_not_upstream(spark: SparkSession) -> None:
    # The reference comes after the checked asset in the list; the check waits for it.
    result = run([asset_of(ORDERS), asset_of(CUSTOMERS, "customers")], orders_rules())
    assert str(by_name(result)["known"].description).startswith(MISSING)


def test_an_asset_that_memory_does_not_hold(spark: SparkSession) -> None:
    assets = [asset_of(ORDERS), asset_of(CUSTOMERS, "customers")]
    result = dg.materialize_to_memory(
        [*assets, *dq.build_asset_checks(orders_rules(), assets=assets)], selection=["orders"]
    )
    assert by_name(result)["known"].description == (
        "Asset 'customers' was not built in this run, and its IO manager keeps values in memory, "
        "for one run only. Select it as well, or store it."
    )


class Shelf(dg.IOManager):
    """Keeps values across runs, and a list of what was loaded."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.loaded: list[str] = []

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        self.values[context.asset_key.to_user_string()] = obj

    def load_input(self, context: dg.InputContext) -> Any:
        name = context.asset_key.to_user_string()
        self.loaded.append(name)
        return self.values[name]


def run_job(shelf: Shelf, rule_set: dq.RuleSet, selection: Sequence[str]) -> Any:
    @dg.asset(name="customers", io_manager_key="shelf")
    def customers() -> Any:
        return CUSTOMERS

    @dg.asset(name="orders", io_manager_key="shelf")
    def orders() -> Any:
        return ORDERS

    defs = dg.Definitions(
        assets=[customers, orders],
        asset_checks=dq.build_asset_checks(rule_set),
        resources={"shelf": shelf},
        jobs=[dg.define_asset_job("some", selection=list(selection))],
    )
    dg.Definitions.validate_loadable(defs)
    return defs.resolve_job_def("some").execute_in_process(raise_on_error=False)


def test_a_job_without_the_reference_reads_what_an_earlier_run_stored(spark: SparkSession) -> None:
    shelf = Shelf()
    assert run_job(shelf, orders_rules(), ["customers"]).success
    result = run_job(shelf, orders_rules(), ["orders"])
    assert str(by_name(result)["known"].description).startswith(MISSING)


def test_a_reference_is_loaded_once_and_only_if_it_is_needed(spark: SparkSession) -> None:
    shelf = Shelf()
    twice = orders_rules(known_customer(name="again", where="id > 1"))
    run_job(shelf, twice, ["customers", "orders"])
    assert sorted(shelf.loaded) == ["customers", "orders"]
    shelf.loaded.clear()
    counted = dq.RuleSet(asset="orders", rules=[dq.RecordCountInRange(min=1)])
    run_job(shelf, counted, ["customers", "orders"])
    assert shelf.loaded == ["orders"]


def test_a_reference_that_cannot_be_read_fails_its_rules_only(spark: SparkSession) -> None:
    found = by_name(run_job(Shelf(), orders_rules(dq.RecordCountInRange(min=1)), ["orders"]))
    assert found["record_count_in_range"].passed
    assert not found["known"].passed
    assert found["known"].description == (
        "The data of asset 'customers' could not be read (KeyError was raised in load_input "
        f"(test_references.py, line {Shelf.load_input.__code__.co_firstlineno + 3}))."
    )


def test_an_asset_may_look_into_itself(spark: SparkSession) -> None:
    staff = pd.DataFrame({"id": [1, 2, 3], "boss": [2.0, None, 2.0]}).astype({"boss": "Int64"})
    rule = dq.ColumnValuesInReference(
        columns="boss", reference=dq.Reference(asset="staff"), reference_columns="id"
    )
    result = run([asset_of(staff, "staff")], dq.RuleSet(asset="staff", rules=[rule]))
    [evaluation] = result.get_asset_check_evaluations()
    assert evaluation.description == (
        "0 of 2 values (0 %) of 'boss' are not in 'id' of asset 'staff' (none allowed)."
    )


def test_a_query_beside_other_assets(spark: SparkSession) -> None:
    rule = dq.QueryExpectation(
        name="query",
        expectation="(select count(distinct customer) from {table} where id > :id)"
        " < (select count(distinct key) from {customers})",
        references={"customers": dq.Reference(asset="customers")},
        parameters={"id": 1},
        blocking=False,
    )
    assets = [asset_of(ORDERS), asset_of(CUSTOMERS, "customers")]
    found = by_name(run(assets, dq.RuleSet(asset="orders", rules=[rule])))["query"]
    assert found.passed
    assert str(found.description).endswith(
        "holds: (select count(distinct customer) from {table} where id > :id) = 1, "
        "(select count(distinct key) from {customers}) = 2."
    )
    assert found.metadata["dq/expected"].value == rule.expectation


def test_an_asset_named_by_its_definition() -> None:
    customers = asset_of(CUSTOMERS, "customers")
    assert dq.Reference(asset=customers).asset == "customers"
    assert dq.Reference(asset=dg.AssetKey(["db", "customers"])).asset == "db/customers"
