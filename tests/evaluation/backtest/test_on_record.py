"""Rules judged on recorded values: other bounds, other rules, and what the record lacks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import dq_dagster as dq
from dq_dagster.evaluation.backtest.backtest import Calendar
from dq_dagster.evaluation.backtest.on_record import AssetRecord, merged_points
from dq_dagster.evaluation.history.history import Recorded
from dq_dagster.metrics.value_codec import NoValue

START = datetime(2024, 3, 1, 6, tzinfo=UTC)


def at(day: int, hour: int = 0) -> datetime:
    return START + timedelta(days=day, hours=hour)


def test_checks_of_one_state_of_the_data_are_one_point() -> None:
    points = merged_points(
        {
            "rows": [
                Recorded(at(1), {"record_count": 7}, data="2"),
                Recorded(at(0), {"record_count": 5}, data="1"),
            ],
            "empty": [
                # Judged again: the newer number counts.
                Recorded(at(0, 3), {"count_empty:a": 1}, data="1"),
                Recorded(at(0), {"count_empty:a": 4, "record_count": 5}, data="1"),
                Recorded(at(2), {"count_empty:a": 2, "record_count": 9}),
            ],
        }
    )
    assert [(one.at, dict(one.metrics)) for one in points] == [
        (at(0, 3), {"record_count": 5, "count_empty:a": 1}),
        (at(1), {"record_count": 7}),
        (at(2), {"count_empty:a": 2, "record_count": 9}),
    ]
    record = AssetRecord(points)
    found = record.judge(dq.ColumnNotEmpty(columns=["a"], threshold=0.2), days=90)
    assert [(one.day.day, one.status.value) for one in found.days] == [(1, "Ok"), (3, "Error")]
    assert found.unknown == 1
    assert found.words == (
        "would have been Error on 1 (2024-03-03) of the last 3 days; 1 day not on record"
    )
    assert record.judge(dq.ColumnNotEmpty(columns=["a"], threshold=0.3), days=1).words == (
        "would have been no Error in the last 1 day"
    )


def test_what_was_not_measured_is_not_on_record() -> None:
    record = AssetRecord((Recorded(at(0), {"column_max:a": NoValue.WITHHELD, "record_count": 1}),))
    missing_by_rule: dict[dq.Rule, str] = {
        dq.ColumnMaxInRange(columns=["a"], max="x"): "column_max:a, count_value:a",
        dq.RecordCountInRange(where="a > 0", min=1): "record_count where a > 0",
    }
    for rule, missing in missing_by_rule.items():
        found = record.judge(rule, days=9)
        assert (found.days, found.words) == ((), f"not on record: {missing}")


def test_ages_count_from_the_evaluation() -> None:
    values = {"column_newest:t": at(0), "count_value:t": 3}
    record = AssetRecord((Recorded(at(0, 2), values), Recorded(at(3), values)))
    found = record.judge(dq.Freshness(columns=["t"], max="1 day"), days=9)
    assert [one.message for one in found.days] == [
        "The newest 't' is 2 hours old, as expected (at most 1 day).",
        "The newest 't' is 3 days old, above the maximum of 1 day.",
    ]


def test_scopes_and_days_of_partitions() -> None:
    points = [
        Recorded(at(9), {"record_count": n}, partition=f"p{n}", data=str(n)) for n in range(4)
    ]
    whole = Recorded(at(9), {"record_count": 6}, data="9")
    times = {f"p{n}": at(n) for n in range(4)}
    record = AssetRecord((*points, whole), Calendar(times))
    rule = dq.RecordCountInRange(min=2)
    assert record.judge(rule, days=3).words == (
        "would have been Error on 1 (2024-03-02) of the last 3 days"
    )
    of_all = record.judge(dq.RecordCountInRange(min=9, scope="whole_dataset"), days=9)
    assert [(one.day.day, one.partition) for one in of_all.days] == [(10, None)]
    both = record.judge(dq.RecordCountInRange(min=2, scope="both"), days=9)
    assert len(both.days) == 5
    # Of several verdicts on one day the worst counts.
    same_day = AssetRecord((*points, whole))
    assert [one.status.value for one in same_day.judge(rule, days=9).days] == ["Error"]
