"""The benchmark: what it measures is right, and so are its ratios and verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest

import dq_dagster as dq
from examples.bench.answers import (
    evaluate,
    evaluate_days,
    require_equal_answers,
    require_equal_days,
    require_same,
)
from examples.bench.data import COLUMNS, DAY_KEYS, DAYS, orders, orders_of_days
from examples.bench.growing import FIRST_DAY, GrowingDataset, Growth, require_full_answers
from examples.bench.in_dagster import checks_of, new_instance, run_checks
from examples.bench.in_flight import build_of, rules_of_orders, rules_of_wide, wide_table
from examples.bench.peers.installing import installed
from examples.bench.peers.spark_expectations import expectation_of
from examples.bench.report import Difference, SameJobs, Target, table
from examples.bench.stopwatch import Action, Lap, Laps, measure
from examples.bench.suites import EVERYDAY, FROM_STATES, many_rules
from examples.bench.targets import SUITES
from examples.bench.two_tables import (
    SHAPES,
    by_diff,
    by_hand,
    of_days,
    pair,
    require_same_counts,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    Count = Callable[[Callable[[], object]], int]

LAPS = Laps(
    {
        "hand": (Lap(2.0, 4.0, 7), Lap(20.0, 40.0, 7), Lap(2.0, 4.0, 7)),
        "rules": (Lap(1.0, 3.0, 5), Lap(10.0, 30.0, 6), Lap(1.8, 2.0, 5)),
    }
)


def test_rules_and_work_by_hand_give_the_same_answers(spark: SparkSession) -> None:
    require_equal_answers(orders(spark, 300))


def test_days_and_the_whole_table_are_answered_as_by_hand(spark: SparkSession) -> None:
    require_equal_days(orders(spark, 2_000))


def test_days_cost_no_further_jobs(spark: SparkSession, count_jobs: Count) -> None:
    table = orders(spark, 400)
    few = DAY_KEYS[:5]
    smaller = table.where(f"day <= DATE'{few[-1]}'")
    every = count_jobs(lambda: evaluate_days(table))
    assert count_jobs(lambda: evaluate_days(table, few)) == every
    assert count_jobs(lambda: evaluate_days(smaller)) == every


def test_different_answers_are_reported() -> None:
    with pytest.raises(SystemExit, match="differ on 2024-03-01:\nrows: 4 by rules, 5 by hand"):
        require_same("2024-03-01", {"rows": 4, "sum": 1}, {"rows": 5, "sum": 1})


def test_a_new_day_is_answered_from_the_record(spark: SparkSession, tmp_path: Path) -> None:
    dataset = GrowingDataset(spark, tmp_path / "days", rows_a_day=40, most_days=5)
    dataset.build(3)
    with pytest.raises(SystemExit, match="Expected of all checks: 1 of 3 partitions was read"):
        dataset.check_new_day()
    dataset.build()
    found = dataset.check_new_day()
    assert len(found) == len(FROM_STATES)
    require_full_answers(found, dataset.in_full())
    dataset.days -= 1
    with pytest.raises(SystemExit, match="rows: 160 from the record, 120 in full"):
        require_full_answers(found, dataset.in_full())


def test_all_everyday_rules_are_checks_of_a_run(spark: SparkSession, tmp_path: Path) -> None:
    run = run_checks(checks_of(orders(spark, 300)), new_instance(tmp_path / "instance"))
    assert len(run.get_asset_check_evaluations()) == len(EVERYDAY)


@pytest.mark.parametrize(
    ("table", "rules"),
    [(orders, rules_of_orders), (wide_table, rules_of_wide)],
    ids=["orders", "wide"],
)
def test_guarded_tables_leave_out_few_rows(
    table: Any, rules: Any, spark: SparkSession, tmp_path: Path
) -> None:
    frame = table(spark, 600)
    chosen = rules(30)
    assert len({rule.name for rule in chosen}) == 30
    run = build_of(frame, tmp_path, chosen)()
    failed = [one.check_name for one in run.get_asset_check_evaluations() if not one.passed]
    assert failed == ["few"]
    [built] = [
        one.step_materialization_data.materialization
        for one in run.get_asset_materialization_events()
        if one.asset_key == dg.AssetKey("table")
    ]
    good, _ = dq.split(frame, chosen)
    assert built.metadata["dq/rows_published"].value == good.count()
    assert 0.95 < good.count() / 600 < 1


@pytest.mark.parametrize(
    ("table", "rules"),
    [(orders, rules_of_orders), (wide_table, rules_of_wide)],
    ids=["orders", "wide"],
)
def test_others_are_given_the_same_rules(table: Any, rules: Any, spark: SparkSession) -> None:
    frame = table(spark, 300)
    chosen = [rule.model_copy(update={"action_if_failed": "drop"}) for rule in rules(120)]
    good, _ = dq.split(frame, chosen)
    by_others = frame.where(" AND ".join(f"({expectation_of(rule)})" for rule in chosen))
    assert 0 < good.count() < 300
    assert sorted(good.collect()) == sorted(by_others.collect())


def test_what_cannot_be_had_is_named(tmp_path: Path) -> None:
    (tmp_path / "no-such-package").mkdir()
    found = installed("no-such-package", "no_such_module", tmp_path)
    assert found is not None
    assert found.startswith("no-such-package cannot be imported: ModuleNotFoundError")


@pytest.mark.parametrize("shape", [*SHAPES, "days"])
def test_diffs_and_joins_by_hand_count_the_same(spark: SparkSession, shape: str) -> None:
    frame = orders(spark, 1_200)
    left, right = of_days(frame) if shape == "days" else pair(shape, frame)
    hand = by_hand(left, right)
    assert hand["changed"] > 0
    found = by_diff(left, right, **({"partition_by": "day"} if shape == "days" else {}))
    require_same_counts(shape, [hand, found])
    with pytest.raises(SystemExit, match="The counts of orders differ"):
        require_same_counts("orders", [hand, {**hand, "changed": 0}])


def test_days_can_be_added_one_by_one(spark: SparkSession) -> None:
    both = orders_of_days(spark, FIRST_DAY, range(3, 5), 10)
    later = orders_of_days(spark, FIRST_DAY, range(4, 5), 10)
    assert {str(row["day"]) for row in both.collect()} == {"2001-01-04", "2001-01-05"}
    assert sorted(both.where("day = DATE'2001-01-05'").collect()) == sorted(later.collect())


def test_what_has_to_be_done_before_is_not_measured(spark: SparkSession) -> None:
    done: list[str] = []
    before = Action(lambda: done.append("run"), before=lambda: spark.range(3).collect())
    laps = measure(spark, {"one": before}, rounds=2)
    assert done == ["run"] * 3
    assert laps.jobs("one") == 0


def test_suites_are_measured_against_what_they_measure() -> None:
    assert list(SUITES) == ["A", "W", "B", "I", "D", "G", "T"]
    for letter, suite in SUITES.items():
        assert suite.title.startswith(f"Suite {letter}: ")
        assert suite.references
        assert suite.verdicts


def test_the_table_is_the_same_every_time(spark: SparkSession) -> None:
    table = orders(spark, 40)
    assert table.columns == [*COLUMNS, "day"]
    assert table.collect() == orders(spark, 40).collect()
    assert {row["count"] for row in table.groupBy("day").count().collect()} == {40 // DAYS}


def test_many_rules_are_as_many_as_said_and_all_hold(spark: SparkSession) -> None:
    rules = many_rules(120)
    assert len({rule.name for rule in rules}) == 120
    assert len(evaluate(orders(spark, 40), rules)) == 120


def test_ratios_are_taken_within_a_round() -> None:
    assert LAPS.ratio("rules", "hand", "wall") == 0.5
    assert LAPS.ratio("rules", "hand", "cpu") == 0.75
    assert LAPS.jobs("rules") == 6


@pytest.mark.parametrize(
    ("target", "verdict"),
    [
        (
            Target("rules", "hand", 1.0, aim=0.4),
            "held    rules take 0.50 x hand (at most 1.00, aim 0.40); CPU 0.75 x",
        ),
        (
            Target("hand", "rules", 1.5),
            "MISSED  hand take 2.00 x rules (at most 1.50); CPU 1.33 x",
        ),
    ],
)
def test_verdicts_say_what_was_found_and_what_was_wanted(target: Target, verdict: str) -> None:
    assert target.verdict(LAPS) == verdict


def test_jobs_are_to_be_the_same() -> None:
    same = SameJobs("days", {5: "rules", 20: "rules"})
    assert same.verdict(LAPS) == "held    jobs for 5 / 20 days: 6 / 6 (to be the same)"
    other = SameJobs("days", {5: "rules", 20: "hand"})
    assert other.verdict(LAPS) == "MISSED  jobs for 5 / 20 days: 6 / 7 (to be the same)"


def test_most_days_are_compared_with_fewest() -> None:
    laps = Laps({"10": LAPS.by_name["hand"], "30": (), "100": LAPS.by_name["rules"]})
    verdict = Growth(1.5).verdict(laps)
    assert verdict == "held    100 take 0.50 x 10 (at most 1.50); CPU 0.75 x"


def test_a_difference_is_given_in_seconds() -> None:
    verdict = Difference("hand", "rules").verdict(LAPS)
    assert verdict == "        hand: 0.20 s more than rules (2.00 x)"


def test_the_table_shows_seconds_jobs_and_ratios() -> None:
    assert list(table(LAPS, ["hand"])) == [
        "          wall s    CPU s  jobs          x hand    CPU",
        "  hand      2.00     4.00     7            1.00   1.00",
        "  rules     1.80     3.00     6            0.50   0.75",
    ]
