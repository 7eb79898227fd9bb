"""Change detection tried out on the past says what the live rule would have said."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import dq_dagster as dq

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START = datetime(2024, 3, 1, 6, tzinfo=UTC)
DAY = timedelta(days=1)
KEY = "record_count"
SHORT: dict[str, Any] = {"learning_period": 3, "lookback_window": 5}


def records(*values: float, key: str = KEY, **fields: Any) -> list[dq.Recorded]:
    """One evaluation a day."""
    return [dq.Recorded(START + n * DAY, {key: v}, **fields) for n, v in enumerate(values)]


def day(number: int) -> str:
    return (START + number * DAY).date().isoformat()


def of_days(*values: float) -> list[dq.Recorded]:
    """One partition a day, all of them evaluated on one day, the last one first."""
    late = START + 100 * DAY
    return [
        dq.Recorded(late - timedelta(minutes=n), {KEY: v}, partition=day(n))
        for n, v in enumerate(values)
    ]


def words(result: dq.Backtest) -> list[str]:
    return [point.verdict for point in result]


def test_each_point_is_judged_by_those_before_it() -> None:
    result = dq.backtest(records(10, 20, 30, 25, 100, 24), dq.RecordCountTypical(**SHORT))
    assert words(result) == ["learning", "learning", "learning", "Ok", "Error", "Ok"]
    odd = result.points[4]
    assert (odd.at, odd.partition, odd.metric, odd.value) == (START + 4 * DAY, None, KEY, 100)
    assert odd.message == (
        "The number of rows is 100, above the typical maximum of 39.375 (4 earlier values: half "
        "of them between 17.5 and 26.25)."
    )
    assert odd.bounds == {"min": 4.375, "max": 39.375}


def test_it_reads_well() -> None:
    result = dq.backtest(records(10, 20, 30, 25, 100), dq.RecordCountTypical(**SHORT))
    assert repr(result) == (
        "5 points: 1 Error, 0 Warning, 1 Ok, 3 learning\n"
        "record_count\n"
        "  2024-03-01 06:00:00  learning   10\n"
        "  2024-03-02 06:00:00  learning   20\n"
        "  2024-03-03 06:00:00  learning   30\n"
        "  2024-03-04 06:00:00  Ok         25  (typical: 0 to 40)\n"
        "  2024-03-05 06:00:00  Error     100  (typical: 4.375 to 39.375)"
    )


def test_the_table_has_a_row_a_point() -> None:
    frame = dq.backtest(
        records(10, 20, 30, 25), iqr_factor=2, soft_iqr_factor=1, **SHORT
    ).to_pandas()
    assert list(frame.columns) == [
        "time", "partition", "metric", "value", "status", "min", "soft_min", "soft_max", "max",
        "message",
    ]  # fmt: skip
    assert list(frame["status"]) == ["Empty", "Empty", "Empty", "Ok"]
    last = frame.iloc[3]
    assert (last["min"], last["soft_min"], last["soft_max"], last["max"]) == (-5, 5, 35, 45)


@pytest.mark.parametrize(
    "rule",
    [
        dq.RecordCountTypical(**SHORT),
        dq.RecordCountInRange(min=1),
        {"type": "record_count_in_range", "min": 1},
        dq.MetricInRange(metric="record_count", min=1),
        dq.MetricInSet(metric="record_count", values=[1, 2]),
        None,
    ],
    ids=["typical", "in range", "as dict", "metric", "no twin", "no rule"],
)
def test_any_rule_on_the_same_metric_will_do(rule: Any) -> None:
    result = dq.backtest(records(10, 20, 30, 25, 100), rule, **SHORT)
    assert result.metrics == (KEY,)
    assert words(result) == ["learning"] * 3 + ["Ok", "Error"]


def test_a_twin_keeps_columns_and_filter() -> None:
    rule = dq.ColumnAvgInRange(columns=["a", "b"], where="c > 0", max=1)
    keys = [f"column_avg:{name} where c > 0" for name in "ab"]
    past = [dq.Recorded(START + n * DAY, dict.fromkeys(keys, n % 3)) for n in range(9)]
    result = dq.backtest(past, rule, **SHORT)
    assert result.metrics == tuple(keys)
    assert result.points[0].message.startswith("The average of 'a' is 0. Still learning: 0 of 3")
    assert [len(part) for part in result.parts().values()] == [9, 9]
    assert result.headline() == "18 points: 0 Error, 0 Warning, 12 Ok, 6 learning"


def test_given_parameters_win_over_those_of_the_rule() -> None:
    past = records(*range(10, 20), 40)
    rule = dq.RecordCountTypical(learning_period=8, iqr_factor=100)
    assert dq.backtest(past, rule).counts == {dq.Status.EMPTY: 8, dq.Status.OK: 3}
    strict = dq.backtest(past, rule, learning_period=5, iqr_factor=2)
    assert strict.headline() == "11 points: 1 Error, 0 Warning, 5 Ok, 5 learning"
    assert strict.typical.learning_period == 5


@pytest.mark.parametrize(
    ("parameters", "reported"),
    [
        ({"soft_iqr_factor": 2}, "soft_iqr_factor must be smaller than iqr_factor, but it is 2"),
        ({"learning_period": 0}, "field 'learning_period': must be at least 1."),
        ({"metrics": ["record_counts"]}, "No number of 'record_counts' is on record. Did you mean"),
        ({"metrics": ["x"]}, "No number of 'x' is on record. There is: record_count."),
        ({"partition": "2024"}, "Partition '2024' has no number on record."),
    ],
)
def test_what_cannot_be_tried_is_reported(parameters: Any, reported: str) -> None:
    with pytest.raises(dq.DqError) as raised:
        dq.backtest(records(1, 2, 3), dq.RecordCountTypical(), **parameters)
    assert reported in str(raised.value)


def test_without_a_past_there_are_no_points() -> None:
    result = dq.backtest([])
    assert (len(result), repr(result)) == (0, "0 points: 0 Error, 0 Warning, 0 Ok, 0 learning")
    with pytest.raises(dq.DqError, match="must be at least 1"):
        dq.backtest([], lookback_window=0)


def test_evaluations_without_a_number_are_counted() -> None:
    past = [*records(1, 2, 3), dq.Recorded(START + 9 * DAY, {}), *records(9, key="other")]
    result = dq.backtest(past, dq.RecordCountTypical())
    assert (len(result), result.left_out) == (3, 2)


def test_a_nan_is_an_error_and_no_past() -> None:
    result = dq.backtest(records(10, 20, math.nan, 30, 25), dq.RecordCountTypical(**SHORT))
    assert words(result) == ["learning", "learning", "Error", "learning", "Ok"]


def test_errors_are_those_of_this_replay() -> None:
    """What the recording rule held for an Error does not matter."""
    past = [replace(one, status=dq.Status.ERROR) for one in records(10, 20, 30, 25, 100, 100, 90)]
    kept = dq.backtest(past, **SHORT)
    assert words(kept)[3:] == ["Ok", "Error", "Error", "Ok"]
    left_out = dq.backtest(past, exclude_errors=True, **SHORT)
    assert words(left_out)[3:] == ["Ok", "Error", "Error", "Error"]


@pytest.mark.parametrize("partitioned", [False, True])
def test_only_the_column_that_was_an_error_is_left_out(partitioned: bool) -> None:
    rule = dq.ColumnMaxTypical(columns=["a", "b"], exclude_errors=True, **SHORT)
    values = [(1, 1), (2, 2), (3, 3), (2, 99), (50, 2)]
    past = [
        dq.Recorded(
            START + n * DAY,
            {"column_max:a": a, "column_max:b": b},
            partition=day(n) if partitioned else None,
            # What the rule said that recorded them does not matter.
            statuses={"column_max:a": dq.Status.ERROR},
        )
        for n, (a, b) in enumerate(values)
    ]
    found = dq.backtest(past, rule)
    assert words(found.of("column_max:a")) == ["learning"] * 3 + ["Ok", "Error"]
    assert words(found.of("column_max:b")) == ["learning"] * 3 + ["Error", "Ok"]
    assert "(4 earlier values" in found.of("column_max:a").points[4].message
    assert "; 3 earlier values" in found.of("column_max:b").points[4].message


def test_the_same_state_of_the_data_is_one_point() -> None:
    past = records(10, 20, 30, 25)
    past[1] = replace(past[1], data="7")
    again = replace(past[1], at=past[1].at + timedelta(hours=1), metrics={KEY: 21})
    result = dq.backtest([*past, again], **SHORT)
    assert [point.value for point in result] == [10, 21, 30, 25]
    assert result.left_out == 0
    unknown = [replace(one, data=None) for one in [*past, again]]
    assert [point.value for point in dq.backtest(unknown)] == [10, 20, 21, 30, 25]


def test_partitions_are_judged_in_the_order_of_their_times() -> None:
    result = dq.backtest(of_days(10, 20, 30, 25, 100), **SHORT)
    assert [point.partition for point in result] == [day(n) for n in range(5)]
    assert words(result) == ["learning"] * 3 + ["Ok", "Error"]
    assert result.points[4].at == datetime(2024, 3, 5, tzinfo=UTC)
    assert f"  {day(4)}  Error     100  (typical: 4.375 to 39.375)" in repr(result)


def test_a_partition_that_was_built_again_counts_once() -> None:
    again = dq.Recorded(START + 200 * DAY, {KEY: 26}, partition=day(4))
    broken = dq.Recorded(START + 201 * DAY, {}, partition=day(4))
    result = dq.backtest([*of_days(10, 20, 30, 25, 100), again, broken], **SHORT)
    assert [point.value for point in result] == [10, 20, 30, 25, 26]
    assert (words(result)[4], result.left_out) == ("Ok", 1)


@pytest.mark.parametrize("value", [None, float("inf")])
def test_a_partition_that_was_built_again_without_a_number_is_no_point_for_others(
    value: float | None,
) -> None:
    again = dq.Recorded(START + 200 * DAY, {KEY: value}, partition=day(2))
    result = dq.backtest([*of_days(10, 20, 900, 25, 15, 12), again], **SHORT)
    assert result.points[-1].bounds["max"] < 40


def test_a_rule_without_a_twin_is_judged_by_what_it_observed() -> None:
    rule = dq.Freshness(name="age", columns="at", max="1 day")
    past = [
        dq.Recorded(START + n * DAY, {"count_value:at": 5, "age:at": n}, observed=("age:at",))
        for n in range(4)
    ]
    result = dq.backtest(past, rule, **SHORT)
    assert [(point.metric, point.value) for point in result] == [("age:at", n) for n in range(4)]


def test_decimals_on_record_are_judged_like_floats() -> None:
    past = [dq.Recorded(START + n * DAY, {KEY: Decimal(n) / 4}) for n in range(5)]
    result = dq.backtest(past, **SHORT)
    assert [point.value for point in result] == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_one_partition_is_shown_with_the_bounds_that_all_give_it() -> None:
    past = of_days(10, 20, 30, 25, 100)
    [only] = dq.backtest(past, partition=day(4), **SHORT)
    assert (only.status, only.bounds) == ("Error", {"min": 4.375, "max": 39.375})
    with pytest.raises(dq.DqError, match=r"'2024-03-06' has no number on record\. Did you mean"):
        dq.backtest(past, partition=day(5))


def test_partitions_that_are_no_times_have_a_past_of_their_own() -> None:
    past = [
        dq.Recorded(START + n * DAY, {KEY: value * (1 + 9 * (place == "fr"))}, partition=place)
        for n, value in enumerate([10, 20, 30, 25, 100])
        for place in ("de", "fr")
    ]
    result = dq.backtest(past, **SHORT)
    assert list(result.parts()) == ["record_count, de", "record_count, fr"]
    for part in result.parts().values():
        assert words(part) == ["learning"] * 3 + ["Ok", "Error"]
    with pytest.raises(dq.DqError, match="'de'"):
        dq.backtest(past, baseline="previous_partitions")


def test_a_baseline_of_its_own_past_for_days() -> None:
    past = [replace(one, partition=day(0)) for one in records(10, 20, 30, 25, 100)]
    assert len(dq.backtest(past)) == 1
    own = dq.backtest(past, baseline="same_slice", **SHORT)
    assert words(own) == ["learning"] * 3 + ["Ok", "Error"]


def test_only_partitions_of_one_series_are_compared() -> None:
    values = {"de": [10, 20, 30, 25, 100], "fr": [1000, 2000, 3000, 2500, 2600]}
    keys = {f"{day(n)}|{place}": (n, place) for place in values for n in range(5)}
    past = [
        dq.Recorded(START, {KEY: values[place][n]}, partition=key)
        for key, (n, place) in keys.items()
    ]
    result = dq.backtest(
        past,
        times={key: START + n * DAY for key, (n, _) in keys.items()},
        series={key: place for key, (_, place) in keys.items()},
        **SHORT,
    )
    found = {name: words(part) for name, part in result.parts().items()}
    assert found == {
        "record_count, de": ["learning"] * 3 + ["Ok", "Error"],
        "record_count, fr": ["learning"] * 3 + ["Ok", "Ok"],
    }


def test_times_without_a_zone_are_meant_in_utc() -> None:
    past = [replace(one, at=one.at.replace(tzinfo=None)) for one in records(1, 2)]
    assert dq.backtest(past).points[0].at == START


# Learning, and then all statuses, by runs and by days, with and without Errors in the past.
SERIES = [10, 12, 11, 13, 12, 10, 11, 30, 12, 14, 29, 11, 31, 10, 16]
PARAMETERS: list[dict[str, Any]] = [
    {"learning_period": 4, "lookback_window": 6, "soft_iqr_factor": 1.0},
    {"learning_period": 4, "lookback_window": 6, "exclude_errors": True, "min_iqr": 2.0},
    {"learning_period": 3, "lookback_window": 4, "period_unit": "days"},
]


def reported(result: Any) -> list[tuple[str, str, Any]]:
    return [(str(one.status), one.message, dict(one.bounds)) for one in result]


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_days_that_were_judged_one_after_the_other(
    spark: SparkSession, parameters: dict[str, Any]
) -> None:
    rule = dq.ColumnSumTypical(name="sum", columns="x", **parameters)
    days = [day(n) for n in range(len(SERIES))]
    frame = spark.createDataFrame(
        list(zip(days, map(float, SERIES), strict=True)), "d string, x double"
    )
    live: list[dq.Outcome] = []
    for start in range(0, len(days), 5):
        past = [dq.Recorded.of(one, at=START + 50 * DAY) for one in live]
        some = days[start : start + 5]
        live += dq.evaluate(frame, [rule], partition_by="d", partitions=some, history={"sum": past})
    replayed = dq.backtest([dq.Recorded.of(one, at=START) for one in live[::-1]], rule)
    assert reported(replayed) == reported(live)
    assert {"Empty", "Ok", "Error"} <= {one.status for one in live}


@pytest.mark.parametrize("parameters", PARAMETERS[1:])
def test_runs_that_were_judged_one_after_the_other(
    spark: SparkSession, parameters: dict[str, Any]
) -> None:
    rule = dq.ColumnSumTypical(name="sum", columns="x", **parameters)
    live: list[dq.Outcome] = []
    past: list[dq.Recorded] = []
    for n, value in enumerate(SERIES):
        now = START + n * DAY
        frame = pd.DataFrame({"x": [float(value)]})
        [outcome] = dq.evaluate(frame, [rule], history={"sum": past}, now=now)
        live.append(outcome)
        past.append(dq.Recorded.of(outcome, at=now))
    assert reported(dq.backtest(past, rule)) == reported(live)
