"""Dates and timestamps: zones, the days on which clocks change, and the ends of the calendar.

The session's zone is New York: a bound without a zone is meant there.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from tests.oracle.cases import Case, judge_all, labels, rule
from tests.oracle.values import ZONE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOKYO = timezone(timedelta(hours=9))
NOON = datetime(2024, 7, 1, 12, tzinfo=UTC)  # 08:00 in New York, 21:00 in Tokyo
# On 2024-11-03 New York has the hour from 1 to 2 twice: 05:30Z is the first half past one.
FIRST, SECOND = (datetime(2024, 11, 3, hour, 30, tzinfo=UTC) for hour in (5, 6))
# On 2024-03-10 New York skips the hour from 2 to 3: 06:59Z is 01:59, 07:00Z is 03:00.
BEFORE, AFTER = datetime(2024, 3, 10, 6, 59, tzinfo=UTC), datetime(2024, 3, 10, 7, tzinfo=UTC)


def wall(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC).replace(tzinfo=None)  # type: ignore[arg-type, misc]


def both(
    label: str, kind: str, value: Any, bounds: dict[str, Any], status: str, observed: Any = None
) -> list[Case]:
    """The same bounds on the value itself and on the minimum, which is that value."""
    bad = 1 if status in {"Error", "Warning"} else 0
    return [
        Case(f"{label}, each", kind, [value], rule("column_values_in_range", **bounds), status,
             bad),
        Case(f"{label}, minimum", kind, [value], rule("column_min_in_range", **bounds), status,
             observed or value),
        Case(f"{label}, maximum", kind, [value], rule("column_max_in_range", **bounds), status,
             observed or value),
    ]  # fmt: skip


CASES = [
    # A bound without a zone is in the session's zone, one with a zone is an instant.
    *both("naive equal", "timestamp", NOON, {"min": "2024-07-01T08:00:00"}, "Ok"),
    *both("naive above", "timestamp", NOON, {"max": "2024-07-01T07:59:59.999999"}, "Error"),
    *both("naive with a space", "timestamp", NOON, {"max": "2024-07-01 08:00"}, "Ok"),
    *both("naive object", "timestamp", NOON, {"soft_min": wall(2024, 7, 1, 8, 1)}, "Warning"),
    *both("zoned equal", "timestamp", NOON, {"max": "2024-07-01T12:00:00Z"}, "Ok"),
    *both("zoned below", "timestamp", NOON, {"min": "2024-07-01T21:00:01+09:00"}, "Error"),
    *both("zoned object", "timestamp", NOON, {"max": datetime(2024, 7, 1, 21, tzinfo=TOKYO)}, "Ok"),
    *both("two zones", "timestamp", NOON,
          {"min": "2024-07-01T11:00:00+00:00", "max": "2024-07-01T09:00:00-04:00"}, "Ok"),
    *both("midnight of a date", "timestamp", datetime(2024, 7, 1, 4, tzinfo=UTC),
          {"min": date(2024, 7, 1), "max": date(2024, 7, 1)}, "Ok"),
    *both("just before that date", "timestamp", datetime(2024, 7, 1, 3, 59, tzinfo=UTC),
          {"min": "2024-07-01"}, "Error"),
    # The hour that is there twice: a naive bound means its first occurrence.
    *both("first half past one", "timestamp", FIRST, {"max": "2024-11-03T01:30:00"}, "Ok"),
    *both("second half past one", "timestamp", SECOND, {"max": "2024-11-03T01:30:00"}, "Error"),
    *both("second, later bound", "timestamp", SECOND, {"max": "2024-11-03T01:45:00"}, "Error"),
    *both("second, zoned bound", "timestamp", SECOND, {"max": "2024-11-03T01:45:00-05:00"}, "Ok"),
    *both("first, zoned bound", "timestamp", FIRST, {"min": "2024-11-03T01:15:00-05:00"}, "Error"),
    *both("second, from two", "timestamp", SECOND, {"min": "2024-11-03T02:00:00"}, "Error"),
    # The hour that is skipped: half past two is an hour after half past one.
    *both("before the gap", "timestamp", BEFORE, {"max": "2024-03-10T01:59:00"}, "Ok"),
    *both("after the gap", "timestamp", AFTER, {"min": "2024-03-10T03:00:00"}, "Ok"),
    *both("bound in the gap", "timestamp", AFTER, {"max": "2024-03-10T02:30:00"}, "Ok"),
    *both("bound in the gap, below", "timestamp", AFTER, {"min": "2024-03-10T02:30:00"}, "Error"),
    # Wall clocks have no zone, and no zoned bound fits them.
    *both("wall clock", "timestamp_ntz", wall(2024, 3, 10, 2, 30), {"max": "2024-03-10T02:30"},
          "Ok"),
    *both("wall clock, date", "timestamp_ntz", wall(2024, 3, 10), {"max": date(2024, 3, 10)}, "Ok"),
    Case("wall clock, zoned", "timestamp_ntz", [wall(2024, 3, 10)],
         rule("column_values_in_range", max="2024-03-10T00:00:00Z"), "Error", None,
         "of type timestamp_ntz"),
    # The ends of the calendar, and the days that the Julian calendar dropped.
    *both("year 1", "date", date(1, 1, 1), {"min": "0001-01-01"}, "Ok"),
    *both("year 1, above", "date", date(1, 1, 2), {"max": date(1, 1, 1)}, "Error"),
    *both("year 9999", "date", date(9999, 12, 31), {"max": "9999-12-31"}, "Ok"),
    *both("dropped day", "date", date(1582, 10, 10), {"min": "1582-10-10", "max": "1582-10-10"},
          "Ok"),
    *both("dropped day, wall clock", "timestamp_ntz", wall(1582, 10, 10),
          {"min": "1582-10-10", "max": "1582-10-10"}, "Ok"),
    *both("year 1, instant", "timestamp", datetime(1, 1, 1, tzinfo=UTC),
          {"min": "0001-01-01T00:00:00Z"}, "Ok"),
    *both("year 1, local mean time", "timestamp", datetime(1, 1, 1, 4, 56, 2, tzinfo=UTC),
          {"min": "0001-01-01", "max": "0001-01-01"}, "Ok"),
    *both("year 9999, instant", "timestamp", datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
          {"max": "9999-12-31T23:59:59.999999Z"}, "Ok"),
    # The usual "for ever", which in New York lies in the year 10000 of UTC.
    *both("for ever", "timestamp", NOON, {"max": "9999-12-31T23:59:59"}, "Ok"),
    *both("for ever, below", "timestamp", NOON, {"min": wall(9999, 12, 31, 23, 59)}, "Error"),
    *both("a microsecond", "timestamp", NOON + timedelta(microseconds=1), {"max": NOON}, "Error"),
    *both("wall clock to the microsecond", "timestamp_ntz", wall(2024, 1, 1, 0, 0, 0, 1),
          {"max": "2024-01-01"}, "Error"),
    # Sets.
    Case("set of dates", "date", [date(2024, 2, 29), date(1, 1, 1)],
         rule("column_values_in_set", values=["2024-02-29", date(1, 1, 1)]), "Ok", 0),
    Case("set of instants", "timestamp", [NOON, SECOND],
         rule("column_values_in_set", values=["2024-07-01 08:00", "2024-11-03T01:30-05:00"]),
         "Ok", 0),
    Case("set of ambiguous instants", "timestamp", [FIRST, SECOND],
         rule("column_values_in_set", values=["2024-11-03T01:30"]), "Error", 1),
]  # fmt: skip


@pytest.fixture(scope="module")
def outcomes(spark: SparkSession) -> dict[str, dq.Outcome]:
    return judge_all(spark, CASES)


@pytest.mark.parametrize("case", CASES, ids=labels(CASES))
def test_bounds_in_time(outcomes: dict[str, dq.Outcome], case: Case) -> None:
    case.check(outcomes[case.label])


def test_observed_instants_are_told_in_the_session_zone(
    outcomes: dict[str, dq.Outcome],
) -> None:
    assert "2024-07-01 08:00:00-04:00" in outcomes["naive equal, minimum"].message
    observed = outcomes["second half past one, maximum"].observed
    assert observed.astimezone(ZONE).fold == 1


@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamp_ntz"])
def test_bounds_that_are_no_time(spark: SparkSession, kind: str) -> None:
    data = spark.createDataFrame([("2024-07-01",)], "s string").selectExpr(f"CAST(s AS {kind}) x")
    bounds: list[Any] = ["yesterday", "2024-13-01", "2024-02-30", 20240101, 1.5, True]
    names = ("column_values_in_range", "column_min_in_range")
    rules = [
        rule(kind_of_rule, columns="x", min=bound, name=f"{kind_of_rule}_{n}")
        for kind_of_rule in names
        for n, bound in enumerate(bounds)
    ]
    for outcome in dq.evaluate(data, rules):
        assert outcome.status == "Error"
        assert "'x'" in outcome.message
        assert kind.removesuffix("_ntz") in outcome.message


def test_times_that_python_can_not_hold(spark: SparkSession) -> None:
    data = spark.sql(
        "SELECT date'+12024-01-01' AS d, timestamp'+12024-01-01' AS t,"
        " timestamp_ntz'-0004-01-01' AS n"
    )
    extremes = [rule("column_max_in_range", columns=c, min="2024-01-01") for c in "dtn"]
    values = [rule("column_values_in_range", columns=c, max="2024-01-01") for c in "dtn"]
    *unheld, day, moment, ancient = dq.evaluate(data, [*extremes, *values])
    for outcome in unheld:
        assert outcome.status == "Error"
        assert "outside the years 1 to 9999" in outcome.message
    # Spark itself compares them well.
    assert (day.observed, moment.observed, ancient.observed) == (1, 1, 0)
