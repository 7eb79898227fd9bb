"""Templates as checks: numbers of periods ago come from the event log; in flight; other assets."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from pathlib import Path
from typing import Any

import dagster as dg
from pyspark.sql import SparkSession

import dq_dagster as dq
from tests.integration.calendar import DAILY, Shop, day, orders_asset, orders_of, results, statuses
from tests.integration.guarded.gate import Gate, orders
from tests.integration.shelf import PYSPARK, asset_of, by_name, run, status_of

untyped: Any = dq


def test_periods_are_windows_of_time(spark: SparkSession, tmp_path: Path) -> None:
    amounts: dict[str, list[float | None]] = {day(n): [1.0] * n for n in range(1, 12)}
    rule = dq.TemplateRule(
        name="week", template="row_count_change_7", fails_when="> 1.5", blocking=False
    )
    io_manager = dq.SparkIOManager(pyspark=PYSPARK, path=str(tmp_path))
    shop = Shop(orders_asset(spark, amounts), [rule], io_manager=io_manager)
    # The third day is missing, and the eleventh comes before the tenth.
    shop.build(day(1), day(2))
    shop.build(day(4), day(9))
    shop.build(day(11))
    found = {
        key: one.description
        for built in (shop.build(day(8)), shop.build(day(9)), shop.build(day(10)))
        for (_, key), one in results(built).items()
    }
    assert found == {
        day(8): "'week' changed by 7".replace("week", "row_count_change_7")
        + ", as a share, from 1 (that of 7 periods ago) to 8, but at most 1.5 is expected.",
        day(9): "'row_count_change_7' changed by 3.5, as a share, from 2 (that of 7 periods ago) "
        "to 9, but at most 1.5 is expected.",
        day(10): "Nothing to judge: 'row_count_change_7' was 10, and there is none on record of 7 "
        "periods ago to compare with.",
    }
    # Built late, it is what the tenth is compared with from then on.
    shop.build(day(3))
    assert statuses(shop.build(day(10))) == {("week", day(10)): "Error"}
    assert statuses(shop.build(day(11))) == {("week", day(11)): "Error"}


def test_without_partitions_each_build_is_a_period(spark: SparkSession) -> None:
    instance = dg.DagsterInstance.ephemeral()
    rule = dq.TemplateRule(name="change", template="row_count_change_1", blocking=False)

    def built(rows: int) -> str:
        asset = asset_of(orders(spark, *range(rows)))
        done = run([asset], dq.RuleSet(asset="orders", rules=[rule]), instance=instance)
        return status_of(by_name(done)["change"])

    assert [built(10), built(11), built(20), built(20)] == ["Empty", "Ok", "Error", "Ok"]


def test_templates_in_flight(spark: SparkSession, tmp_path: Path) -> None:
    fields: dict[str, Any] = {"template": "negative_values", "parameters": {"column": "amount"}}
    own = {"sql": "select max(n) from (select count(*) n from {table} group by amount)"}
    rules = [
        dq.TemplateRule(name="reported", **fields),
        dq.TemplateRule(name="stops", **fields, expected=1, action_if_failed="fail"),
        untyped.TemplateRule(name="often", template=own, fails_when="> 2", action_if_failed="fail"),
        dq.TemplateRule(name="change", template="row_count_change_1", blocking=False),
    ]
    gate = Gate(tmp_path, orders(spark, 1, 2, -3), rules)
    first = {name: status_of(one) for name, one in by_name(gate.build()).items()}
    assert first == {"reported": "Error", "stops": "Ok", "often": "Ok", "change": "Empty"}
    gate.value = orders(spark, 1, -2, -3, 4)
    stopped = gate.build()
    assert not stopped.success
    assert by_name(stopped)["stops"].description == (
        "'negative_values' (column: amount) is 2, but at most 1 is expected."
    )


def test_templates_look_at_other_assets(spark: SparkSession) -> None:
    asset = asset_of(orders_of(spark, {day(1): [1.0, 2.0, 5.0]}))
    other = asset_of(spark.createDataFrame([(1.0,), (2.0,)], "paid double"), "payments")
    rules = [
        dq.TemplateRule(
            name="orphans",
            template="orphan_keys",
            parameters={"column": "amount", "other": "payments", "other_column": "paid"},
        ),
        dq.TemplateRule(
            name="rows",
            template="row_count_difference",
            parameters={"other": {"asset": "payments"}},
        ),
        dq.TemplateRule(name="wrong", template="negative_values", parameters={"column": "amuont"}),
        untyped.TemplateRule(
            name="text", template={"sql": "select 'x' from {table} limit 1"}, fails_when="> 1"
        ),
        untyped.TemplateRule(
            name="many", template={"sql": "select amount from {table}"}, fails_when="> 1"
        ),
    ]
    done = run([asset, other], dq.RuleSet(asset="orders", rules=rules))
    said = {name: one.description for name, one in by_name(done).items()}
    assert said["orphans"] == (
        "'orphan_keys' (column: amount, other: payments, other_column: paid) is 1, but at most 0 "
        "is expected."
    )
    assert "is 1, but at most 0 is expected" in str(said["rows"])
    assert "Did you mean 'amount'?" in str(said["wrong"])
    number = "The template must give one row with one number, and it gives "
    assert said["text"] == f"{number}a column of type string."
    assert said["many"] == f"{number}more than one row."


def test_checks_of_templates_load_with_partitions() -> None:
    spec = dg.AssetSpec("orders", partitions_def=DAILY)
    [rule_set] = dq.bind([dq.TemplateRule(template="row_count")], assets=[spec])
    [checks] = dq.build_asset_checks(rule_set)
    [check] = checks.check_specs
    assert check.metadata["dq/quality_dimension"] == "completeness"
    assert check.description == "'row_count' is at least 1. The number of rows."
