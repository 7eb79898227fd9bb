"""References to partitioned assets: values are looked up in all partitions that there are."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from collections.abc import Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from tests.integration.calendar import results
from tests.integration.io_manager.warehouse import DAILY, build, days, orders_of, rows

REGIONS = dg.StaticPartitionsDefinition(["north", "south", "east"])
# The amounts of orders are the keys of customers. On the third day comes one that nobody knows.
ORDERED = {"2024-03-01": [1], "2024-03-02": [1, 2], "2024-03-03": [1, 2, 7]}
NEW = {"2024-03-01": [1], "2024-03-02": [2], "2024-03-03": [3], "north": [1, 3], "south": [2]}


def customers_of(
    spark: SparkSession, partitions_def: dg.PartitionsDefinition[Any]
) -> dg.AssetsDefinition:
    """A row a customer, in the partition in which they came."""

    @dg.asset(name="customers", partitions_def=partitions_def)
    def customers(context: dg.AssetExecutionContext) -> Any:
        return spark.createDataFrame([(key,) for key in NEW[context.partition_key]], "key int")

    return customers


RULES = [
    dq.ColumnValuesInReference(
        name="known",
        columns="amount",
        reference=dq.Reference(asset="customers"),
        reference_columns="key",
        scope="both",
        blocking=False,
    ),
    dq.CompareMetrics(
        name="fewer",
        metric="column_max:amount",
        operator="<",
        other="record_count",
        other_asset="customers",
        blocking=False,
    ),
]


@pytest.mark.parametrize(
    ("partitions_def", "built"),
    [(DAILY, days(1, 3)), (REGIONS, ["north", "south"])],
    ids=["by day", "by region"],
)
def test_all_partitions_of_the_other_asset_are_looked_in(
    spark: SparkSession,
    tmp_path: Path,
    partitions_def: dg.PartitionsDefinition[Any],
    built: list[str],
) -> None:
    customers = customers_of(spark, partitions_def)
    orders = orders_of(lambda keys: rows(spark, {key: ORDERED[key] for key in keys}))
    checks = dq.build_asset_checks(dq.RuleSet(asset=orders, rules=RULES), assets=[orders])
    assets = [orders, customers, *checks]
    with dg.DagsterInstance.ephemeral() as instance:
        for key in built:
            build(tmp_path, assets, key, selection=[customers], instance=instance)
        selection = dg.AssetSelection.assets(orders)
        found: dict[tuple[str, str], str] = {}
        for key in days(1, 3):
            run = build(tmp_path, assets, key, selection=selection, instance=instance)
            found |= {
                (name, where or f"all up to {key}"): str(one.description)
                for (name, where), one in results(run).items()
            }
    none = "(0 %) of 'amount' are not in 'key' of asset 'customers' (none allowed)."
    one = "of 'amount' is not in 'key' of asset 'customers' (none allowed)."
    known = {where: told for (name, where), told in found.items() if name.startswith("known")}
    assert known == {
        "2024-03-01": f"0 of 1 value {none}",
        "all up to 2024-03-01": f"0 of 1 value {none}",
        "2024-03-02": f"0 of 2 values {none}",
        "all up to 2024-03-02": f"0 of 3 values {none}",
        "2024-03-03": f"1 of 3 values (33.33 %) {one}",
        "all up to 2024-03-03": f"1 of 6 values (16.67 %) {one}",
    }
    assert found["fewer", "2024-03-02"] == (
        "Metric 'column_max:amount' is 2, less than metric 'record_count' of asset 'customers', "
        "which is 3."
    )


def test_an_asset_of_which_nothing_is_built(spark: SparkSession, tmp_path: Path) -> None:
    customers = customers_of(spark, DAILY)
    orders = orders_of(lambda keys: rows(spark, {key: ORDERED[key] for key in keys}))
    checks = dq.build_asset_checks(dq.RuleSet(asset=orders, rules=RULES[:1]), assets=[orders])
    selection = dg.AssetSelection.assets(orders)
    run = build(tmp_path, [orders, customers, *checks], "2024-03-01", selection=selection)
    found = results(run)["known", "2024-03-01"]
    assert not found.passed
    assert "customers" in str(found.description)


# Each order names the one that it follows. On the third day one follows an order that nobody knows.
FOLLOWED: dict[str, list[tuple[int, int | None]]] = {
    "2024-03-01": [(1, None)],
    "2024-03-02": [(2, 1)],
    "2024-03-03": [(3, 1), (4, 9)],
}
OF_ITSELF: list[dq.Rule] = [
    dq.ColumnValuesInReference(
        name="follows",
        columns="follows",
        reference=dq.Reference(asset="orders"),
        reference_columns="key",
        blocking=False,
    ),
    dq.CompareMetrics(
        name="as_wide",
        metric="column_count",
        operator="=",
        other="column_count",
        other_asset="orders",
        blocking=False,
    ),
]
FOLLOWS = {
    "2024-03-01": "Nothing to judge: 'follows' has no value.",
    "2024-03-02": "0 of 1 value (0 %) of 'follows' are not in 'key' of asset 'orders' (none "
    "allowed).",
    "2024-03-03": "1 of 2 values (50 %) of 'follows' is not in 'key' of asset 'orders' (none "
    "allowed).",
}  # fmt: skip


def follows_of(spark: SparkSession, keys: Sequence[str]) -> DataFrame:
    found = [(date.fromisoformat(key), *order) for key in keys for order in FOLLOWED[key]]
    return spark.createDataFrame(found, "day date, key int, follows int")


@pytest.mark.parametrize("incremental", [False, True])
@pytest.mark.parametrize("expression", ["day", None])
def test_what_refers_to_its_own_asset_looks_in_all_partitions(
    spark: SparkSession, tmp_path: Path, expression: str | None, incremental: bool
) -> None:
    def value(keys: Sequence[str]) -> Any:
        if expression is not None:
            return follows_of(spark, keys)
        return {key: follows_of(spark, [key]) for key in keys}

    orders = orders_of(value, expression=expression)
    rule_set = dq.RuleSet(asset=orders, rules=OF_ITSELF, incremental=incremental)
    assets = [orders, *dq.build_asset_checks(rule_set, assets=[orders])]
    with dg.DagsterInstance.ephemeral() as instance:
        told: dict[Any, str] = {}
        for key in days(1, 3):
            found = results(build(tmp_path, assets, key, instance=instance))
            told |= {where: str(one.description) for where, one in found.items()}
        again = results(build(tmp_path, assets, *days(2, 3), instance=instance))
    assert {key: told["follows", key] for key in days(1, 3)} == FOLLOWS
    for key in days(2, 3):
        assert again["follows", key].description == FOLLOWS[key]
        # The key that tells partitions apart where nothing else does is none of the columns.
        assert again["as_wide", key].description == told["as_wide", key]
    assert told["as_wide", "2024-03-02"].endswith("of asset 'orders', which is 3.")


@pytest.mark.parametrize("rule", OF_ITSELF)
def test_all_partitions_are_read_only_for_rules_that_refer_to_them(
    spark: SparkSession, tmp_path: Path, rule: dq.Rule
) -> None:
    read: list[list[str]] = []

    def reader(partitions: Any) -> DataFrame:
        read.append(list(partitions))
        return follows_of(spark, partitions)

    orders = orders_of(partial(follows_of, spark))
    plain: dq.Rule = dq.RecordCountInRange(min=1)
    with dg.DagsterInstance.ephemeral() as instance:
        rule_lists: list[list[dq.Rule]] = [[plain], [plain, rule]]
        for rules in rule_lists:
            rule_set = dq.RuleSet(asset=orders, rules=rules, reader=reader)
            assets = [orders, *dq.build_asset_checks(rule_set, assets=[orders])]
            for key in days(1, 2):
                build(tmp_path, assets, key, instance=instance)
    alone = [["2024-03-01"], ["2024-03-02"]]
    assert read == [*alone, alone[0], days(1, 2), alone[1], days(1, 2)]
