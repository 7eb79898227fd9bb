"""Judging how new data is, without Spark: zones, edges of the calendar, and what is said."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import dq_dagster as dq
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.metrics.metric import Metric

NEW_YORK, TOKYO = ZoneInfo("America/New_York"), ZoneInfo("Asia/Tokyo")
NOW = datetime(2024, 3, 10, 12, tzinfo=UTC)
LAST = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)


def wall(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC).replace(tzinfo=None)  # type: ignore[arg-type, misc]


def judge(newest: Any, zone: Any = UTC, now: datetime = NOW, **bounds: Any) -> Judgement:
    rule = dq.Freshness(columns="t", **bounds)
    newest_metric, count = rule.metrics()
    values: dict[Metric, Any] = {newest_metric: newest, count: 3}
    return rule.judge(Evidence(values, zone, now))


@pytest.mark.parametrize(
    ("newest", "zone", "now", "age"),
    [
        (NOW, UTC, NOW, 0),
        (NOW - timedelta(microseconds=1), UTC, NOW, 0.000001),
        (NOW + timedelta(hours=1), UTC, NOW, -3600),
        (NOW.astimezone(TOKYO), UTC, NOW, 0),
        # Both in one zone with a change of clocks between them: two hours by the wall, one passed.
        (datetime(2024, 3, 10, 1, 30, tzinfo=NEW_YORK), NEW_YORK,
         datetime(2024, 3, 10, 3, 30, tzinfo=NEW_YORK), 3600),
        (datetime(2024, 11, 3, 1, 30, tzinfo=NEW_YORK), NEW_YORK,
         datetime(2024, 11, 3, 1, 30, fold=1, tzinfo=NEW_YORK), 3600),
        # A date is its midnight in the session's zone.
        (date(2024, 3, 10), UTC, NOW, 12 * 3600),
        (date(2024, 3, 10), NEW_YORK, NOW, 7 * 3600),
        (date(2024, 3, 11), NEW_YORK, NOW, -16 * 3600),
        (date(2024, 3, 10), TOKYO, NOW, 21 * 3600),
        # So is a wall clock.
        (wall(2024, 3, 10, 1), NEW_YORK, NOW, 6 * 3600),
        (wall(2024, 3, 10, 3), NEW_YORK, NOW, 5 * 3600),
        # The ends of the calendar.
        (date(1, 1, 1), TOKYO, datetime(1, 1, 1, tzinfo=UTC), 9 * 3600 + 18 * 60 + 59),
        (date(9999, 12, 31), NEW_YORK, LAST, 19 * 3600 - 0.000001),
        (wall(9999, 12, 31, 23, 59, 59), NEW_YORK, LAST, -(5 * 3600 - 0.999999)),
    ],
)  # fmt: skip
def test_the_age_is_counted_in_time_that_passed(
    newest: Any, zone: Any, now: datetime, age: float
) -> None:
    judgement = judge(newest, zone, now, min="-1000000 days")
    assert judgement.observed == pytest.approx(age, abs=1e-9)
    assert (type(judgement.observed) is int) == (age == int(age))


def test_ages_are_compared_to_the_microsecond() -> None:
    ancient = datetime(1, 1, 1, tzinfo=UTC)
    bound = NOW - ancient
    assert judge(ancient, max=bound).status == "Ok"
    assert judge(ancient, max=bound - timedelta(microseconds=1)).status == "Error"
    assert judge(ancient, min=bound + timedelta(microseconds=1)).status == "Error"


def test_what_is_reported() -> None:
    old = judge(NOW - timedelta(days=3, hours=4), soft_max="1 hour", max="1 day")
    assert old.message == "The newest 't' is 3 days 4 hours old, above the maximum of 1 day."
    assert old.observed == 273_600
    assert old.bounds == {"soft_max": 3600, "max": 86_400}
    assert old.expected == "at most 1 day, ideally at most 1 hour"
    assert old.rows == 3
    coming = judge(NOW + timedelta(minutes=90), min=0)
    assert coming.message == (
        "The newest 't' is 1 hour 30 minutes in the future, below the minimum of 0 seconds."
    )
    nothing = judge(None, max=1)
    assert (nothing.status, nothing.message) == ("Empty", "Nothing to judge: 't' has no value.")


def test_new_rows_are_judged_even_if_there_are_none() -> None:
    rule = dq.RowInsertedCountInRange(columns="t", window="1 day", min=2, soft_min=5)
    counted, rows = rule.metrics()
    verdicts = [rule.judge(Evidence({counted: count, rows: 9})) for count in (0, 2, 5)]
    assert [verdict.status for verdict in verdicts] == ["Error", "Warning", "Ok"]
    assert verdicts[0].message == (
        "The number of rows with 't' in the last 1 day is 0, below the minimum of 2."
    )
    assert (verdicts[1].observed, verdicts[1].rows) == (2, 9)


def test_windows_of_one_length_are_one_metric() -> None:
    windows: list[Any] = ["1 day", "24h", 86_400, "PT1440M"]
    rules = [
        dq.RowInsertedCountInRange(name=str(n), columns="t", window=window, min=n)
        for n, window in enumerate(windows)
    ]
    assert len(dq.explain(rules).metrics) == 2
