"""The benchmark: what it measures is right, and so are its ratios and verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from examples.bench.answers import evaluate, require_equal_answers
from examples.bench.data import COLUMNS, DAYS, orders
from examples.bench.report import Target, table
from examples.bench.stopwatch import Lap, Laps
from examples.bench.suites import many_rules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LAPS = Laps(
    {
        "hand": (Lap(2.0, 4.0, 7), Lap(20.0, 40.0, 7), Lap(2.0, 4.0, 7)),
        "rules": (Lap(1.0, 3.0, 5), Lap(10.0, 30.0, 6), Lap(1.8, 2.0, 5)),
    }
)


def test_rules_and_work_by_hand_give_the_same_answers(spark: SparkSession) -> None:
    require_equal_answers(orders(spark, 300))


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


def test_the_table_shows_seconds_jobs_and_ratios() -> None:
    assert list(table(LAPS, ["hand"])) == [
        "          wall s    CPU s  jobs          x hand    CPU",
        "  hand      2.00     4.00     7            1.00   1.00",
        "  rules     1.80     3.00     6            0.50   0.75",
    ]
