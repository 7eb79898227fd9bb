"""The example shop day by day: what is typical, and the days that are not."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import dagster as dg
import pytest
from rich.console import Console

from definitions import defs
from examples.shop import assets, data, days, demo
from tests.examples.shop_run import DEFECTS, Defect, ShopRun, io_manager

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KEYS = assets.DAYS.get_partition_keys()
KEY = dg.AssetKey(demo.BY_DAY)
OF_DAYS = [d for d in DEFECTS if d.table == demo.BY_DAY and not d.check.endswith("__dataset")]
OF_ALL = [d for d in DEFECTS if d.table == demo.BY_DAY and d.check.endswith("__dataset")]
LEARNING = KEYS[:14]


@pytest.fixture(scope="module")
def verdicts(shop: ShopRun) -> list[days.Verdict]:
    return days.verdicts_of(shop.by_day)


@pytest.fixture(scope="module")
def orders(spark: SparkSession) -> DataFrame:
    return data.orders_by_day(spark, KEYS[0], KEYS[-1])


def test_six_weeks_are_built_and_checked_in_one_run(
    shop: ShopRun, verdicts: list[days.Verdict]
) -> None:
    assert len(KEYS) == 42
    assert shop.by_day.success
    built = shop.instance.get_materialized_partitions(KEY)
    assert sorted(built) == KEYS
    checks = {verdict.check for verdict in verdicts}
    for check in checks - {"order_unique__dataset"}:
        assert [one.day for one in verdicts if one.check == check] == KEYS


@pytest.mark.parametrize("defect", OF_DAYS, ids=lambda defect: defect.check)
def test_a_rule_finds_its_planted_day_and_no_other(
    defect: Defect, verdicts: list[days.Verdict], orders: DataFrame
) -> None:
    wrong = {str(row.day) for row in orders.where(defect.rows).select("day").distinct().collect()}
    assert wrong
    statuses = {one.day: str(one.status) for one in verdicts if one.check == defect.check}
    assert statuses == {
        **{day: "Empty" if day in LEARNING else "Ok" for day in KEYS},
        **dict.fromkeys(wrong, defect.status),
    }


@pytest.mark.parametrize("defect", OF_ALL, ids=lambda defect: defect.check)
def test_all_days_together_show_what_no_single_day_does(
    defect: Defect, verdicts: list[days.Verdict], orders: DataFrame
) -> None:
    [found] = [one for one in verdicts if one.check == defect.check]
    rows, every = orders.where(defect.rows).count(), orders.count()
    assert (found.day, found.status) == (None, defect.status)
    assert found.message.startswith(f"{rows} of {every:,} values ")
    of_days = [one for one in verdicts if f"{one.check}__dataset" == defect.check]
    assert {str(one.status) for one in of_days} == {"Ok"}


def test_no_other_rule_finds_anything(verdicts: list[days.Verdict]) -> None:
    caught = {one.check for one in verdicts if one.catches}
    assert caught == {defect.check for defect in OF_DAYS + OF_ALL}


@pytest.mark.parametrize(
    ("check", "day", "message"),
    [
        (
            "orders_come_in",
            "2024-03-12",
            (
                "The number of rows is 56, below the typical minimum of 97.625 "
                "(22 earlier values: half of them between 116 and 128.25)."
            ),
        ),
        (
            "usual_basket",
            "2024-03-21",
            (
                "The average of 'amount' is 61.9001, above the typical soft maximum of 56.7788 "
                "(28 earlier values: half of them between 49.0442 and 51.6224)."
            ),
        ),
        (
            "guest_orders",
            "2024-02-20",
            (
                "The number of empty values of 'customer_id' is 9. Still learning: 1 of 14 earlier "
                "values are there, 13 to go."
            ),
        ),
    ],
)
def test_what_is_said_of_a_day(
    check: str, day: str, message: str, verdicts: list[days.Verdict]
) -> None:
    [found] = [one for one in verdicts if (one.check, one.day) == (check, day)]
    assert found.message == message


def test_the_demo_shows_the_days(shop: ShopRun) -> None:
    assert "orders_by_day: built, 42 partitions\n" in shop.progress
    assert "orders_by_day: checked, 3 Error, 1 Warning, 42 Empty, 165 Ok\n" in shop.progress
    output = io.StringIO()
    demo.show(shop.result, shop.replayed, shop.by_day, Console(file=output, width=120), saved=True)
    text = output.getvalue()
    assert "in one run for 42 days, from 2024-02-19 to 2024-03-31" in text
    assert f"orders_come_in         {'.' * 14}{'+' * 8}E{'+' * 19} " in text
    assert f"usual_basket           {'.' * 14}{'+' * 17}W{'+' * 10} " in text
    assert "order_unique__dataset  E (all days together)" in text
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert any(
        line.startswith("2024-03-12 orders_come_in Error The number of rows is 56, below")
        for line in lines
    )
    assert any(line.startswith("all days order_unique__dataset Error 10 of") for line in lines)
    assert "/orders_by_day?view=checks&checkDetail=orders_come_in" in text


def test_a_second_demo_says_the_same(shop: ShopRun, verdicts: list[days.Verdict]) -> None:
    console = Console(file=io.StringIO())
    again = demo.run_days(shop.instance, console, resources=io_manager(shop.folder))
    assert days.verdicts_of(again) == verdicts


def test_one_day_by_itself(shop: ShopRun) -> None:
    result = defs.resolve_job_def("orders_by_day_job").execute_in_process(
        run_config={"resources": io_manager(shop.folder)},
        instance=shop.instance,
        partition_key="2024-03-12",
    )
    assert result.success
    caught = [(one.check, one.day) for one in days.verdicts_of(result) if one.catches]
    assert caught == [("orders_come_in", "2024-03-12"), ("order_unique__dataset", None)]


def test_dagster_can_launch_a_backfill_of_the_job() -> None:
    job = defs.resolve_job_def("orders_by_day_job")
    assert job.partitions_def == assets.DAYS
    policy = assets.orders_by_day.backfill_policy
    assert policy is not None
    assert policy.max_partitions_per_run is None
    built = {key.to_user_string() for key in job.asset_layer.executable_asset_keys}
    assert built == {demo.BY_DAY}
    assert len(job.asset_layer.asset_graph.asset_check_keys) == 6
