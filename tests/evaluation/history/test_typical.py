"""Change detection on data: partitions, groups, and what is handed over as history."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import dq_dagster as dq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOW = datetime(2024, 3, 20, tzinfo=UTC)
FIRST = date(2024, 1, 1)
DAYS = [str(FIRST + timedelta(days=n)) for n in range(40)]


@pytest.fixture(scope="module")
def sales(spark: SparkSession) -> DataFrame:
    """Forty days of some rows, two of them with too many; "west" has odd days of its own."""
    random = Random(7)
    rows = []
    for n, day in enumerate(DAYS):
        size = 60 if n in {20, 30} else random.randint(6, 14)
        for _ in range(size):
            region = random.choice(["east", "west", None])
            amount = random.randint(90, 110) * (3.0 if region == "west" and n % 13 == 12 else 1.0)
            rows.append((day, region, amount))
    frame = spark.createDataFrame(rows, "day string, region string, amount double")
    return frame.repartition(2).cache()


def counts_by_day(sales: DataFrame) -> dict[str, int]:
    return {row["day"]: row["count"] for row in sales.groupBy("day").count().collect()}


def expected(values: list[float], *, exclude_errors: bool = False) -> list[str]:
    """Day by day, by NumPy: learning 7, window 10, soft 1."""
    found: list[str] = []
    for n, value in enumerate(values):
        pairs = zip(values[:n], found, strict=True)
        past = [v for v, status in pairs if not (exclude_errors and status == "Error")]
        if len(past) < 7:
            found.append("Empty")
            continue
        q1, q3 = np.percentile(past[-10:], [25, 75])
        beyond, iqr = max(q1 - value, value - q3), q3 - q1
        found.append("Error" if beyond > 1.5 * iqr else "Warning" if beyond > iqr else "Ok")
    return found


def rows_rule(**fields: Any) -> dq.RecordCountTypical:
    return dq.RecordCountTypical(
        name="rows", learning_period=7, lookback_window=10, soft_iqr_factor=1, **fields
    )


def statuses(outcomes: Iterable[dq.Outcome]) -> list[str]:
    return [str(outcome.status) for outcome in outcomes]


def test_days_of_learning_are_no_errors_to_exclude(sales: DataFrame) -> None:
    rule = rows_rule(exclude_errors=True, on_empty="error")
    counts = counts_by_day(sales)
    right = expected([counts[day] for day in DAYS], exclude_errors=True)
    found = dq.evaluate(sales, [rule], partition_by="day", now=NOW)
    assert statuses(found) == [status.replace("Empty", "Error") for status in right]
    assert "Ok" in right


@pytest.mark.parametrize("exclude_errors", [False, True])
def test_forty_days_at_once_are_judged_as_if_day_by_day(
    sales: DataFrame, exclude_errors: bool
) -> None:
    rule = rows_rule(exclude_errors=exclude_errors)
    counts = counts_by_day(sales)
    right = expected([counts[day] for day in DAYS], exclude_errors=exclude_errors)
    assert {"Empty", "Ok", "Error"} <= set(right)
    at_once = dq.evaluate(sales, [rule], partition_by="day", now=NOW)
    assert [outcome.partition for outcome in at_once] == DAYS
    assert statuses(at_once) == right
    # Whatever order they are asked for in.
    backwards = dq.evaluate(sales, [rule], partition_by="day", partitions=DAYS[::-1], now=NOW)
    assert statuses(backwards)[::-1] == right


@pytest.mark.parametrize("exclude_errors", [False, True])
def test_day_by_day_with_a_growing_history_gives_the_same(
    sales: DataFrame, exclude_errors: bool
) -> None:
    rule = rows_rule(exclude_errors=exclude_errors, dimensions=["region"])
    at_once = dq.evaluate(sales, [rule], partition_by="day", now=NOW)
    recorded: list[dq.Recorded] = []
    # A few days at a time: a query costs Spark more than a day does.
    for start in range(0, 40, 8):
        found = dq.evaluate(
            sales,
            [rule],
            partition_by="day",
            partitions=DAYS[start : start + 8],
            now=NOW,
            history={"rows": recorded},
        )
        for outcome in found:
            assert outcome == at_once["rows", outcome.partition]
            evaluated = datetime.fromisoformat(f"{outcome.partition}T06:00+00:00")
            recorded.append(dq.Recorded.of(outcome, at=evaluated + timedelta(days=1)))


def test_a_backfill_supersedes_what_was_recorded(sales: DataFrame) -> None:
    wrong = [
        dq.Recorded(NOW, {"record_count": 10**6}, partition=day) for day in [*DAYS, "2024-03-01"]
    ]
    with_past = dq.evaluate(
        sales, [rows_rule()], partition_by="day", now=NOW, history={"rows": wrong}
    )
    without = dq.evaluate(sales, [rows_rule()], partition_by="day", now=NOW)
    # The one day that is not judged now is later than all that are.
    assert statuses(with_past) == statuses(without)


def test_groups_are_judged_by_their_own_past(sales: DataFrame) -> None:
    rule = dq.ColumnAvgTypical(
        name="mean", columns="amount", dimensions="region", iqr_factor=6, top_dimensions=1
    )
    evaluation = dq.evaluate(sales, [rule], partition_by="day", now=NOW)
    odd = evaluation["mean", DAYS[25]]
    [first, others] = odd.details["dimensions"]["region"]
    assert (first["group"], str(first["status"])) == ("west", "Error")
    assert "above the typical maximum" in first["message"]
    assert re.search(r"\(2[345] earlier values: half", first["message"])
    assert (others["groups"], str(others["status"])) == (2, "Empty")
    assert others["message"] == (
        "Nothing to judge: together these groups have no past of their own."
    )
    assert set(odd.group_metrics["region"]) == {'"east"', '"west"', "null"}
    assert set(odd.group_metrics["region"]["null"]) == {"column_avg:amount", "count_value:amount"}
    quiet = evaluation["mean", DAYS[24]].details["dimensions"]["region"][0]
    assert str(quiet["status"]) == "Ok", quiet["message"]


def test_the_whole_dataset_has_its_own_past(sales: DataFrame) -> None:
    rule = rows_rule(scope="both")
    evaluation = dq.evaluate(
        sales, [rule], partition_by="day", now=NOW, history={"record_count": [2] * 8}
    )
    whole = evaluation["rows"]
    assert str(whole.status) == "Error"
    assert whole.message.endswith("(8 earlier values: all 2).")
    # Numbers are of the whole dataset, not of a partition.
    assert "Still learning: 0 of 7" in evaluation["rows", DAYS[0]].message
    points = whole.details["typical"]["values"]
    assert (points[0]["at"], points[-1]["at"]) == (
        "2024-03-12T00:00:00+00:00",
        "2024-03-19T00:00:00+00:00",
    )


def test_partitions_without_times_have_their_own_past(sales: DataFrame) -> None:
    counts = {row["region"]: row["count"] for row in sales.groupBy("region").count().collect()}
    past = [
        dq.PastValue(counts[region] + n % 3, NOW - timedelta(days=9 - n), partition=region)
        for region in ("east", "west")
        for n in range(9 if region == "east" else 5)
    ]
    evaluation = dq.evaluate(
        sales.where("region IS NOT NULL"),
        [rows_rule()],
        partition_by="region",
        now=NOW,
        history={"record_count": past},
    )
    assert statuses(evaluation) == ["Ok", "Empty"]
    assert "9 earlier values: half of them" in evaluation["rows", "east"].message
    assert "5 of 7 earlier values are there, 2 to go" in evaluation["rows", "west"].message
    wrong = dq.evaluate(
        sales, [rows_rule(baseline="previous_partitions")], partition_by="region", now=NOW
    )["rows", "east"]
    assert str(wrong.status) == "Error"
    assert "Partition 'east' stands for no time" in wrong.message


def test_a_day_can_be_compared_with_itself(sales: DataFrame) -> None:
    count = counts_by_day(sales)[DAYS[0]]
    past = [
        dq.Recorded(NOW - timedelta(days=n), {"record_count": count}, partition=DAYS[0])
        for n in range(1, 8)
    ]
    outcome = dq.evaluate(
        sales,
        [rows_rule(baseline="same_slice")],
        partition_by="day",
        partitions=[DAYS[0]],
        now=NOW,
        history={"rows": past},
    )["rows", DAYS[0]]
    assert str(outcome.status) == "Ok"
    assert f"7 earlier values: all {count})" in outcome.message


def test_several_columns_are_judged_each_by_its_own_past(sales: DataFrame) -> None:
    rule = dq.ColumnMaxTypical(name="max", columns=["amount", "day"], learning_period=2)
    other = dq.ColumnEmptyCountTypical(name="empty", columns=["region", "day"], learning_period=2)
    history: dict[str, list[int | float]] = {
        "column_max:amount": [1000.0, 1001.0, 1002.0],
        "count_empty:region": [10**4, 10**4 + 1],
        "count_empty:day": [0, 0],
    }
    found = dq.evaluate(sales, [rule, other], now=NOW, history=history)
    assert str(found["max"].status) == "Error"
    assert "The maximum of 'day' is a text, and change detection needs numbers." in (
        found["max"].message
    )
    columns = found["empty"].details["columns"]
    assert [str(columns[name]["status"]) for name in ("region", "day")] == ["Error", "Ok"]
    assert found["empty"].bounds == {
        "region": {"min": 9999.5, "max": 10001.5},
        "day": {"min": 0.0, "max": 0.0},
    }
    assert columns["day"]["typical"]["points"] == 2


def test_a_rule_keeps_its_history_when_its_type_changes(sales: DataFrame) -> None:
    before = dq.ColumnAvgInRange(name="mean", columns="amount", min=0)
    [outcome] = dq.evaluate(sales, [before], now=NOW)
    past = [dq.Recorded.of(outcome, at=NOW - timedelta(days=n)) for n in range(1, 9)]
    after = dq.ColumnAvgTypical(name="mean", columns="amount")
    [judged] = dq.evaluate(sales, [after], now=NOW, history={"mean": past})
    assert str(judged.status) == "Ok"
    assert "8 earlier values: all" in judged.message


def test_a_past_that_cannot_be_read_is_an_error(sales: DataFrame) -> None:
    class Broken:
        def of(self, rule: dq.Rule, *, by_partition: bool) -> Iterable[dq.Recorded]:
            raise OSError("no such file")

        def time_of(self, partition: str) -> datetime | None:
            return None

        def series_of(self, partition: str) -> str:
            return ""

        def data_of(self, partition: str | None) -> str | None:
            return None

    rules = [rows_rule(), dq.RecordCountInRange(name="range", min=1)]
    evaluation = dq.evaluate(sales, rules, now=NOW, history=Broken())
    assert statuses(evaluation) == ["Error", "Ok"]
    assert evaluation["rows"].message == (
        "What is on record of 'rule rows' could not be read: OSError was raised."
    )
    assert evaluation["rows"].metrics["record_count"] > 0


@pytest.mark.parametrize("value", [None, math.nan, Decimal("NaN")])
@pytest.mark.parametrize("form", ["records", "values"])
def test_a_given_evaluation_without_a_number_supersedes_the_one_before(
    sales: DataFrame, value: Any, form: str
) -> None:
    """Built again, the third of ten days has no number any more."""
    first, again = NOW - timedelta(days=30), NOW - timedelta(days=1)
    key, days = "column_avg:amount", [f"2023-12-{n:02}" for n in range(1, 11)]
    numbers = [(first, 10.0 + n, name) for n, name in enumerate(days)]
    evaluated: list[Any] = [*numbers, (first, 1e9, days[2]), (again, value, days[2])]
    # The one that is superseded has the place of the number above.
    del evaluated[2]
    rules: list[dq.Rule] = [
        dq.MetricTypical(name="metric", metric=key, learning_period=3),
        dq.ColumnAvgTypical(name="column", columns="amount", learning_period=3),
    ]
    history: Any = {
        "records": {
            rule.name: [dq.Recorded(at, {key: one}, partition=name) for at, one, name in evaluated]
            for rule in rules
        },
        "values": {key: [dq.PastValue(one, at, partition=name) for at, one, name in evaluated]},
    }[form]
    found = dq.evaluate(
        sales, rules, partition_by="day", partitions=[DAYS[0]], now=NOW, history=history
    )
    for outcome in found:
        assert outcome.details["typical"]["points"] == 9, outcome.rule.name
        assert outcome.details["typical"]["bounds"]["max"] < 100


@pytest.mark.parametrize("given", [{"record_count": ["a"]}, {"record_count": 3}, [1, 2], "rows"])
def test_what_is_no_history_is_told(sales: DataFrame, given: Any) -> None:
    with pytest.raises(dq.DeclarationError, match="history is sequences of Recorded by rule name"):
        dq.evaluate(sales, [rows_rule()], now=NOW, history=given)


# --- which values were Errors --------------------------------------------------------------------


@pytest.fixture(scope="module")
def odd_day(spark: SparkSession) -> DataFrame:
    """Eight days of two regions; on the sixth, "b" is wrong in the east."""
    rows = [
        (day, region, 10.0 + n % 2, 500.0 if (n, region) == (5, "east") else 20.0 + n % 2)
        for n, day in enumerate(DAYS[:8])
        for region in ("east", "west")
    ]
    return spark.createDataFrame(rows, "day string, region string, a double, b double")


def strict_rule(*columns: str, **fields: Any) -> dq.ColumnAvgTypical:
    return dq.ColumnAvgTypical(
        name="mean", columns=columns, learning_period=4, exclude_errors=True, **fields
    )


def points(outcome: dq.Outcome) -> dict[str, int]:
    columns = outcome.details["columns"]
    return {name: one["typical"]["points"] for name, one in columns.items()}


def days_of(
    frame: DataFrame, rule: dq.Rule, *, at_once: bool, again: bool = False
) -> dict[str, dq.Outcome]:
    """The outcomes by day: of one evaluation, or of one a day that knows those before it."""
    if at_once:
        found = dq.evaluate(frame, [rule], partition_by="day", now=NOW)
        return {str(one.partition): one for one in found}
    past: list[dq.Recorded] = []
    by_day: dict[str, dq.Outcome] = {}
    for n, day in enumerate(DAYS[:8]):
        rows = frame.where(f"day = '{day}'")
        now = NOW + timedelta(days=n)
        # Again the same slice, or one after the other.
        [found_one] = dq.evaluate(
            rows,
            [rule],
            partition_by=None if again else "day",
            now=now,
            history={"mean": past},
        )
        past.append(dq.Recorded.of(found_one, at=now))
        by_day[day] = found_one
    return by_day


WAYS = [
    pytest.param({"at_once": True}, id="in one run"),
    pytest.param({"at_once": False}, id="day by day"),
    pytest.param({"at_once": False, "again": True}, id="the same slice"),
]


@pytest.mark.parametrize("way", WAYS)
def test_only_the_column_that_was_an_error_is_left_out(odd_day: DataFrame, way: Any) -> None:
    found = days_of(odd_day, strict_rule("a", "b"), **way)
    assert statuses(found.values()) == ["Empty"] * 4 + ["Ok", "Error", "Ok", "Ok"]
    wrong = found[DAYS[5]]
    assert wrong.judged_of("column_avg:a") == "Ok"
    assert wrong.judged_of("column_avg:b") == wrong.judged_of("count_value:b") == "Error"
    assert points(wrong) == {"a": 5, "b": 5}
    assert points(found[DAYS[6]]) == {"a": 6, "b": 5}
    assert points(found[DAYS[7]]) == {"a": 7, "b": 6}


@pytest.mark.parametrize("way", WAYS)
def test_only_the_group_that_was_an_error_is_left_out(odd_day: DataFrame, way: Any) -> None:
    found = days_of(odd_day, strict_rule("b", dimensions="region"), **way)
    wrong = found[DAYS[5]]
    assert wrong.status == "Error"
    assert wrong.group_statuses["region"] == {
        '"east"': {"column_avg:b": "Error", "count_value:b": "Error"},
        '"west"': {"column_avg:b": "Ok", "count_value:b": "Ok"},
    }
    later = found[DAYS[7]]
    assert "6 earlier values: " in later.message
    told = {one["group"]: one["message"] for one in later.details["dimensions"]["region"]}
    assert "6 earlier values: " in told["east"]
    assert "7 earlier values: " in told["west"]


def test_values_that_are_handed_over_have_statuses_of_their_own(odd_day: DataFrame) -> None:
    at = [NOW - timedelta(days=n) for n in range(6, 0, -1)]
    past = {
        f"column_avg:{name}": [
            dq.PastValue(value + n % 2, moment, dq.Status.ERROR if n in wrong else dq.Status.OK)
            for n, moment in enumerate(at)
        ]
        for name, value, wrong in (("a", 10.0, ()), ("b", 20.0, (1, 2)))
    }
    [outcome] = dq.evaluate(odd_day, [strict_rule("a", "b")], now=NOW, history=past)
    assert points(outcome) == {"a": 6, "b": 4}
