"""Change detection in Dagster: bounds learnt from what earlier checks recorded."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from collections.abc import Sequence
from datetime import date
from typing import Any

import dagster as dg
import numpy as np
import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from tests.integration.calendar import (
    DAILY,
    RANGE_END,
    RANGE_START,
    Shop,
    day,
    orders_asset,
    results,
    statuses,
)
from tests.integration.shelf import asset_of, metadata_of, record_of, run, status_of

DAYS = 40
# An ordinary week, with an incident on two days.
ROWS = [20 + (7 * n) % 11 + (n % 7 == 6) * 3 for n in range(1, DAYS + 1)]
ROWS[25] = 2
ROWS[33] = 90
AMOUNTS = {
    day(n): [10.0 + (n * 13 + k * 7) % 17 for k in range(rows)] for n, rows in enumerate(ROWS, 1)
}
RULES = [
    dq.RecordCountTypical(name="rows", learning_period=7, lookback_window=20, blocking=False),
    dq.ColumnAvgTypical(
        name="average", columns="amount", soft_iqr_factor=0.5, iqr_factor=1.0, blocking=False
    ),
    dq.ColumnMaxTypical(
        name="largest",
        columns="amount",
        period_unit="days",
        learning_period=5,
        lookback_window=10,
        exclude_errors=True,
        blocking=False,
    ),
]


def expected(
    values: Sequence[float],
    *,
    learning: int,
    window: int,
    hard: float,
    soft: float | None = None,
    exclude: bool = False,
) -> list[str]:
    """The statuses by numpy, one value a day."""
    found: list[str] = []
    for n, value in enumerate(values):
        past = [(k, values[k]) for k in range(n) if not (exclude and found[k] == "Error")]
        if not past or (len(past) < learning if not exclude else n - past[0][0] < learning):
            found.append("Empty")
            continue
        kept = past[-window:] if not exclude else [one for one in past if n - one[0] < window]
        if exclude and len(kept) < 3:
            found.append("Warning")
            continue
        low, high = np.percentile([one for _, one in kept], [25, 75])
        found.append(_place(value, float(low), float(high), hard, soft))
    return found


def _place(value: float, low: float, high: float, hard: float, soft: float | None) -> str:
    spread = high - low
    if not low - hard * spread <= value <= high + hard * spread:
        return "Error"
    if soft is not None and not low - soft * spread <= value <= high + soft * spread:
        return "Warning"
    return "Ok"


EXPECTED = {
    "rows": expected(ROWS, learning=7, window=20, hard=1.5),
    "average": expected(
        [sum(of) / len(of) for of in AMOUNTS.values()], learning=7, window=30, hard=1.0, soft=0.5
    ),
    "largest": expected(
        [max(of) for of in AMOUNTS.values()], learning=5, window=10, hard=1.5, exclude=True
    ),
}


def test_the_example_has_all_statuses() -> None:
    assert {status for of in EXPECTED.values() for status in of} == {
        "Empty",
        "Ok",
        "Warning",
        "Error",
    }
    assert EXPECTED["rows"][25] == EXPECTED["rows"][33] == "Error"


@pytest.mark.deep
def test_forty_days_one_after_the_other(spark: SparkSession) -> None:
    asset = orders_asset(spark, AMOUNTS)
    checks = dq.build_asset_checks(dq.RuleSet(asset=asset, rules=RULES))
    instance = dg.DagsterInstance.ephemeral()
    found: dict[str, list[str]] = {name: [] for name in EXPECTED}
    for number in range(1, DAYS + 1):
        result = dg.materialize_to_memory(
            [asset, *checks], partition_key=day(number), instance=instance
        )
        for (name, _), status in statuses(result).items():
            found[name].append(status)
    assert found == EXPECTED


def test_forty_days_in_one_run(spark: SparkSession) -> None:
    shop = Shop(orders_asset(spark, AMOUNTS), RULES)
    said = statuses(shop.build(day(1), day(DAYS)))
    found = {name: [said[name, day(n)] for n in range(1, DAYS + 1)] for name in EXPECTED}
    assert found == EXPECTED


def test_a_backfill_in_any_order_is_judged_by_the_days_before(spark: SparkSession) -> None:
    shop = Shop(orders_asset(spark, AMOUNTS), RULES[:1])
    shop.build(day(21), day(DAYS))
    shop.build(day(1), day(20))
    # Once all days are there, each is judged as if they had come in order.
    again = statuses(shop.build(day(26)))
    assert again["rows", day(26)] == EXPECTED["rows"][25]
    later = statuses(shop.build(day(30), day(DAYS)))
    assert [later["rows", day(n)] for n in range(30, DAYS + 1)] == EXPECTED["rows"][29:]


def test_a_day_that_is_built_again_takes_the_place_of_its_earlier_self(
    spark: SparkSession,
) -> None:
    amounts = {day(n): [1.0] * (10 + n % 2) for n in range(1, 10)}
    amounts[day(9)] = [1.0] * 500
    shop = Shop(orders_asset(spark, amounts), RULES[:1])
    first = shop.build(day(1), day(9))
    assert statuses(first)["rows", day(9)] == "Error"
    amounts[day(9)] = [1.0] * 11
    again = shop.build(day(9))
    assert statuses(again)["rows", day(9)] == "Ok"
    # Neither of its own values takes part in its bounds.
    assert record_of(results(again)["rows", day(9)]).bounds["max"] < 20


def test_unpartitioned_runs_and_checks_that_are_run_again(spark: SparkSession) -> None:
    instance = dg.DagsterInstance.ephemeral()
    rules = dq.RuleSet(
        asset="orders",
        rules=[dq.RecordCountTypical(name="rows", learning_period=3, blocking=False)],
    )

    def build(rows: int, selection: Any = None) -> Any:
        frame = spark.range(rows)
        return run([asset_of(frame)], rules, instance=instance, selection=selection)

    said = [statuses(build(rows))["rows", None] for rows in (10, 11, 12)]
    assert said == ["Empty", "Empty", "Empty"]
    unusual = build(100)
    assert statuses(unusual)["rows", None] == "Error"
    [result] = unusual.get_asset_check_evaluations()
    assert result.description == (
        "The number of rows is 100, above the typical maximum of 13 (3 earlier values: half of "
        "them between 10.5 and 11.5)."
    )


def test_runs_of_learning_are_no_errors_to_exclude(spark: SparkSession) -> None:
    instance = dg.DagsterInstance.ephemeral()
    rule = dq.RecordCountTypical(
        name="rows", learning_period=3, exclude_errors=True, on_empty="error", blocking=False
    )
    rules = dq.RuleSet(asset="orders", rules=[rule])
    said = [
        statuses(run([asset_of(spark.range(rows))], rules, instance=instance))["rows", None]
        for rows in (10, 11, 12, 11)
    ]
    assert said == ["Error", "Error", "Error", "Ok"]


def test_a_rule_that_becomes_typical_has_bounds_at_once(spark: SparkSession) -> None:
    instance = dg.DagsterInstance.ephemeral()
    frames = [spark.range(rows).selectExpr("CAST(id AS INT) AS amount") for rows in range(10, 18)]
    before = dq.RuleSet(
        asset="orders", rules=[dq.ColumnAvgInRange(name="average", columns="amount", min=0)]
    )
    after = dq.RuleSet(
        asset="orders", rules=[dq.ColumnAvgTypical(name="average", columns="amount")]
    )
    for frame in frames[:-1]:
        run([asset_of(frame)], before, instance=instance)
    result = run([asset_of(frames[-1])], after, instance=instance)
    assert statuses(result) == {("average", None): "Ok"}
    [one] = result.get_asset_check_evaluations()
    assert set(record_of(one).bounds) == {"min", "max"}


@pytest.mark.parametrize("regions", [("north", "south")])
def test_partitions_that_are_no_times_are_compared_with_themselves(
    spark: SparkSession, regions: tuple[str, ...]
) -> None:
    sizes = {"north": 10, "south": 1_000}
    static = dg.StaticPartitionsDefinition(list(regions))

    @dg.asset(partitions_def=static, metadata={"partition_expr": "region"})
    def orders(context: dg.AssetExecutionContext) -> Any:
        region = context.partition_key
        return spark.range(sizes[region]).selectExpr(f"'{region}' AS region")

    shop = Shop(orders, [dq.RecordCountTypical(name="rows", learning_period=3, blocking=False)])
    for grow in (0, 1, 2):
        sizes |= {"north": 10 + grow, "south": 1_000 + grow}
        for region in regions:
            assert statuses(shop.build(region)) == {("rows", region): "Empty"}
    assert statuses(shop.build("north")) == {("rows", "north"): "Ok"}
    sizes["south"] = 12
    assert statuses(shop.build("south")) == {("rows", "south"): "Error"}


def test_groups_have_a_past_of_their_own(spark: SparkSession) -> None:
    instance = dg.DagsterInstance.ephemeral()
    rules = dq.RuleSet(
        asset="orders",
        rules=[
            dq.RecordCountTypical(
                name="rows", learning_period=3, dimensions="country", blocking=False
            )
        ],
    )

    def build(german: int, french: int) -> Any:
        rows = [("DE",)] * german + [("FR",)] * french
        frame = spark.createDataFrame(rows, "country string")
        return run([asset_of(frame)], rules, instance=instance)

    for more in (0, 1, 2):
        build(20 + more, 20 - more)
    # The number of rows is as ever, but not that of each country.
    [one] = build(35, 5).get_asset_check_evaluations()
    table = (
        [record.data for record in metadata_of(one)["dq/dimensions"].records]
        if hasattr(metadata_of(one)["dq/dimensions"], "records")
        else [record.data for record in metadata_of(one)["dq/dimensions"]]
    )
    assert {row["group"]: row["status"] for row in table} == {"DE": "Error", "FR": "Error"}
    assert status_of(one) == "Ok"


# --- which values were Errors --------------------------------------------------------------------


def two_columns(
    spark: SparkSession, partitions_def: dg.PartitionsDefinition[Any] | None, number: int
) -> dg.AssetsDefinition:
    """A row a region; in the fifth build, "b" is wrong in the east."""

    def rows(n: int) -> list[tuple[Any, ...]]:
        when = date.fromisoformat(day(n))
        wrong = 500.0 if n == 5 else 20.0 + n % 2
        return [(when, "east", 10.0 + n % 2, wrong), (when, "west", 10.0 + n % 2, 20.0 + n % 2)]

    @dg.asset(
        name="orders",
        partitions_def=partitions_def,
        backfill_policy=dg.BackfillPolicy.single_run() if partitions_def else None,
        metadata={"partition_expr": "day"} if partitions_def else None,
    )
    def orders(context: dg.AssetExecutionContext) -> Any:
        keys = context.partition_keys if partitions_def else [day(number)]
        numbers = [n for n in range(1, 9) if day(n) in keys]
        return spark.createDataFrame(
            [row for n in numbers for row in rows(n)],
            "day date, region string, a double, b double",
        )

    return orders


def build_two(spark: SparkSession, instance: dg.DagsterInstance, way: str, *numbers: int) -> Any:
    """One build and its checks; the sixth wants five values of the past, all before it four."""
    partitions_def = None if way == "the same slice" else DAILY
    asset = two_columns(spark, partitions_def, numbers[0])
    rule = dq.ColumnAvgTypical(
        name="average",
        columns=["a", "b"],
        dimensions="region",
        learning_period=5 if numbers[0] == 6 else 4,
        exclude_errors=True,
        blocking=False,
    )
    checks = dq.build_asset_checks(dq.RuleSet(asset=asset, rules=[rule]), assets=[asset])
    where: dict[str, Any] = {}
    if len(numbers) > 1:
        where = {"tags": {RANGE_START: day(numbers[0]), RANGE_END: day(numbers[-1])}}
    elif partitions_def is not None:
        where = {"partition_key": day(numbers[0])}
    return dg.materialize_to_memory([asset, *checks], instance=instance, **where)


@pytest.mark.parametrize("way", ["in one run", "day by day", "the same slice"])
def test_only_the_column_and_the_group_that_were_errors_are_left_out(
    spark: SparkSession, way: str
) -> None:
    instance = dg.DagsterInstance.ephemeral()
    builds = [range(1, 6)] if way == "in one run" else [range(n, n + 1) for n in range(1, 6)]
    [*_, wrong] = [results(build_two(spark, instance, way, *numbers)) for numbers in builds]
    where = None if way == "the same slice" else day(5)
    entries = metadata_of(wrong["average", where])["dq/record"]
    assert entries["status"] == "Error"
    assert entries["statuses"] == {
        "": "Ok",
        "column_avg:b": "Error",
        "count_value:b": "Error",
    }
    apart = {"": "Ok", "column_avg:b": "Error", "count_value:b": "Error"}
    assert entries["group_statuses"] == {"region": {"": "Ok", '"east"': apart}}
    [last] = results(build_two(spark, instance, way, 6)).values()
    tables = metadata_of(last)
    assert "group_statuses" in tables["dq/record"]
    by_column = record_of(last).statuses
    assert {by_column["column_avg:a"], by_column["column_avg:b"]} == {"Ok", "Empty"}
    assert by_column["column_avg:b"] == "Empty"
    by_group = {row.data["group"]: row.data["status"] for row in tables["dq/dimensions"].records}
    assert by_group == {"east": "Empty", "west": "Ok"}


def test_records_without_statuses_of_their_own_are_what_their_evaluation_was(
    spark: SparkSession,
) -> None:
    instance = dg.DagsterInstance.ephemeral()
    for number in range(1, 5):
        build_two(spark, instance, "the same slice", number)
    numbers = {"column_avg:a": 10.0, "column_avg:b": 20.0}
    written = {
        "v": 1,
        "status": "Error",
        "metrics": numbers,
        "groups": {"region": {'"west"': numbers}},
    }
    old: dict[str, Any] = {"dq/record": written}
    instance.report_runless_asset_event(
        dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey("orders"), check_name="average", passed=False, metadata=old
        )
    )
    [last] = results(build_two(spark, instance, "the same slice", 6)).values()
    tables = metadata_of(last)
    by_column = record_of(last).statuses
    assert {by_column.get(f"column_avg:{name}", "Empty") for name in "ab"} == {"Empty"}
    assert status_of(last) == "Empty"
    by_group = {row.data["group"]: row.data["status"] for row in tables["dq/dimensions"].records}
    assert by_group == {"east": "Empty", "west": "Empty"}
