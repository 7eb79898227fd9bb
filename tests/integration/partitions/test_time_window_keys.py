"""The keys that SQL gives rows are those that Dagster gives their times."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import dagster as dg
import pytest
from pyspark.sql import DataFrame, SparkSession

from dq_dagster.integration.partitions.keys import partition_key_sql
from tests.depth import deep_after

# Without zones: Dagster takes them in that of the definition.
START, END = map(datetime.fromisoformat, ("2023-01-01", "2025-01-01"))
SPRING, OCTOBER, AUTUMN = map(datetime.fromisoformat, ("2024-02-20", "2024-10-01", "2024-11-10"))
BERLIN, NEW_YORK, KOLKATA = "Europe/Berlin", "America/New_York", "Asia/Kolkata"


def cron(schedule: str, zone: str = "UTC", fmt: str = "%Y-%m-%d-%H:%M", **more: Any) -> Any:
    more = {"start": START, "end": END, **more}
    return dg.TimeWindowPartitionsDefinition(cron_schedule=schedule, timezone=zone, fmt=fmt, **more)


FORMULAS = {
    "daily": cron("0 0 * * *", fmt="%Y-%m-%d"),
    "daily in Berlin": cron("0 0 * * *", BERLIN, fmt="%Y-%m-%d"),
    "daily in New York at 2:30": cron("30 2 * * *", NEW_YORK, fmt="%Y-%m-%d"),
    "daily in New York at 1:30": cron("30 1 * * *", NEW_YORK, fmt="%d.%m.%Y"),
    "daily in Berlin at 2": cron("0 2 * * *", BERLIN, fmt="%Y%m%dT%H%M"),
    "daily in Havana": cron("0 0 * * *", "America/Havana", fmt="%Y-%m-%d"),
    "daily in Kolkata": cron("15 6 * * *", KOLKATA, fmt="%a %d %b %Y, 100%%"),
    "hourly": cron("0 * * * *", start=SPRING, end=AUTUMN),
    "hourly in Berlin": cron("0 * * * *", BERLIN, start=SPRING, end=AUTUMN),
    "hourly in New York at :30": cron("30 * * * *", NEW_YORK, start=SPRING, end=AUTUMN),
    "hourly in New York with offset": cron(
        "0 * * * *", NEW_YORK, fmt="%Y-%m-%dT%H:%M%z", start=SPRING, end=AUTUMN
    ),
    "hourly in Kolkata at :15": cron("15 * * * *", KOLKATA, start=SPRING, end=AUTUMN),
    "every 15 minutes in Berlin": cron("*/15 * * * *", BERLIN, start=OCTOBER, end=AUTUMN),
    "weekly": cron("0 0 * * 0", fmt="%Y-%m-%d"),
    "weekly in New York from Wednesday": cron("0 0 * * 3", NEW_YORK, fmt="%G-W%V-%u"),
    "weekly in Berlin on Sunday at 2:30": cron("30 2 * * 0", BERLIN, fmt="%I%p %M:%S.%f, %Y-%m-%d"),
    "monthly": cron("0 0 1 * *", fmt="%Y-%m"),
    "monthly in Berlin from the 15th": cron("0 0 15 * *", BERLIN, fmt="%Y-%m-%d"),
    "monthly from the 31st": cron("0 0 31 * *", fmt="%Y-%m-%d"),
    "monthly from the 30th at 4": cron("0 4 30 * *", NEW_YORK, fmt="%Y/%j"),
    "daily without a weekend": cron(
        "0 0 * * *", NEW_YORK, fmt="%Y-%m-%d", exclusions=["0 0 * * 6"]
    ),
    "daily without century": cron("0 0 * * *", NEW_YORK, fmt="%y-%m-%d"),
}
SEARCHES = {
    "every 6 hours": cron("0 */6 * * *", start=AUTUMN),
    "twice a month in Berlin": cron("0 0 1,15 * *", BERLIN, fmt="%Y-%m-%d"),
    "every 2 hours in New York": cron("0 */2 1-10 * *", NEW_YORK, start=OCTOBER),
    "week of the year": cron("0 0 * * 1", NEW_YORK, fmt="%Y-%U-%w"),
    "half-hour summer time": cron("0 */6 1,2 4,10 *", "Australia/Lord_Howe"),
}
ALL = {**FORMULAS, **SEARCHES}


def moments() -> list[datetime]:
    """Random ones, every ten minutes around the changes of clocks, and those at borders."""
    chance = random.Random(7)
    found = [
        datetime(2022, 11, 1, tzinfo=UTC) + timedelta(seconds=chance.randrange(27 * 30 * 86_400))
        for _ in range(1_500)
    ]
    for change in (
        *((2024, 3, 31), (2024, 10, 27), (2023, 10, 29)),  # Berlin
        *((2024, 3, 10), (2024, 11, 3), (2023, 3, 12)),  # New York and Havana
        *((2024, 4, 7), (2024, 10, 6)),  # Lord Howe
        *((2024, 2, 29), (2024, 12, 31), (2023, 1, 1), (2023, 5, 15)),
    ):
        day = datetime(*change, tzinfo=UTC) - timedelta(hours=16)
        found += [day + timedelta(minutes=10 * step) for step in range(40 * 6)]
        found += [day + timedelta(hours=step, microseconds=-1) for step in range(40)]
    return found


@cache
def windows(name: str) -> list[tuple[float, float, str]]:
    """Dagster's own list of them."""
    definition = ALL[name]
    found = [
        (definition.time_window_for_partition_key(key), key)
        for key in definition.get_partition_keys()
    ]
    return [(window.start.timestamp(), window.end.timestamp(), key) for window, key in found]


def expected(name: str, moment: datetime) -> str | None:
    known = windows(name)
    place = bisect_right(known, moment.timestamp(), key=lambda window: window[0]) - 1
    inside = place >= 0 and moment.timestamp() < known[place][1]
    return known[place][2] if inside else None


def keys_in(frame: DataFrame, kinds: str, names: Sequence[str]) -> list[list[str | None]]:
    """The keys of all definitions, for one column, in one Spark job."""
    sql = [
        f"{partition_key_sql(ALL[name], kinds, frame.schema)} AS k{number}"
        for number, name in enumerate(names)
    ]
    rows = frame.selectExpr("id", *sql).collect()
    rows.sort(key=lambda row: row.id)
    return [list(row[1:]) for row in rows]


def differences(
    name: str, found: Sequence[str | None], meant: Sequence[datetime]
) -> list[tuple[str, str | None, str | None]]:
    known = {key for _, _, key in windows(name)}
    pairs = [
        (moment, got, expected(name, moment)) for moment, got in zip(meant, found, strict=True)
    ]
    assert sum(wanted is not None for _, _, wanted in pairs) > 200, name
    return [
        (str(moment), got, wanted)
        for moment, got, wanted in pairs
        if got != wanted and not (wanted is None and got not in known)
    ]


@pytest.mark.parametrize("kind", deep_after(1, ["t", "n", "d"]))
def test_rows_get_the_keys_that_dagster_gives(spark: SparkSession, kind: str) -> None:
    instants = moments()
    rows = [(number, at, at.replace(tzinfo=None), at.date()) for number, at in enumerate(instants)]
    frame = spark.createDataFrame(rows, "id int, t timestamp, n timestamp_ntz, d date")
    names = list(ALL)
    found = keys_in(frame, kind, names)
    wrong = {}
    for number, name in enumerate(names):
        zone = ZoneInfo(ALL[name].timezone)
        meant: dict[str, list[datetime]] = {
            "t": instants,
            "n": [at.replace(tzinfo=zone) for at in instants],
            "d": [datetime(at.year, at.month, at.day, tzinfo=zone) for at in instants],
        }
        bad = differences(name, [row[number] for row in found], meant[kind])
        if bad:
            wrong[name] = (len(bad), bad[:4])
    assert wrong == {}
