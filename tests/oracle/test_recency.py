"""Freshness and new rows against plain Python: 240 columns of times, two rules on each.

The zone of the session is New York. What its clocks show is computed here from the two days in
2024 on which they change; no other year in the tables has a time in summer.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from tests.depth import deep_after
from tests.oracle.frames import frame
from tests.oracle.generate import Column, Table
from tests.oracle.names import HOSTILE_NAMES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICRO = timedelta(microseconds=1)
HOUR = 3_600_000_000
NUMBER = "row number"
SIZES = (0, 1, 6, 12)
COLUMNS = 60
KINDS = ("date", "timestamp", "timestamp_ntz")
MISFITS = {"int": 1, "string": "2024-03-10", "boolean": True, "array<date>": [date(2024, 3, 10)]}
NOWS = (
    datetime(2024, 3, 10, 7, 30, tzinfo=UTC),  # half an hour after New York skipped one
    datetime(2024, 11, 3, 6, 30, tzinfo=UTC),  # the second half past one
    datetime(2024, 3, 11, 4, tzinfo=UTC),  # midnight
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
)
WINDOWS: tuple[tuple[Any, int], ...] = (
    ("1 hour", HOUR),
    ("1d", 24 * HOUR),
    ("PT25H", 25 * HOUR),
    (0.000001, 1),
    ("30 days", 720 * HOUR),
    ("3000000 days", 72_000_000 * HOUR),
)


def micros(moment: datetime) -> int:
    return (moment - EPOCH) // MICRO


# When summer time begins and ends, and when clocks first showed railway time.
SPRING = micros(datetime(2024, 3, 10, 7, tzinfo=UTC))
AUTUMN = micros(datetime(2024, 11, 3, 6, tzinfo=UTC))
RAILWAY = micros(datetime(1883, 11, 18, 17, tzinfo=UTC))
SUN, WINTER, SUMMER = -(4 * 3600 + 56 * 60 + 2) * 1_000_000, -5 * HOUR, -4 * HOUR


def offset(instant: int) -> int:
    if instant < RAILWAY:
        return SUN
    return SUMMER if SPRING <= instant < AUTUMN else WINTER


def from_wall(shown: datetime) -> int:
    """The first instant at which clocks showed that; if none did, the one they would have."""
    wall = micros(shown.replace(tzinfo=UTC))
    fitting = [wall - one for one in (SUN, SUMMER, WINTER) if offset(wall - one) == one]
    return min(fitting, default=wall - WINTER)


def instant(value: Any) -> int:
    if not isinstance(value, datetime):
        return from_wall(datetime.combine(value, time()))
    return micros(value) if value.tzinfo else from_wall(value)


def moment(random: Random, now: datetime) -> datetime:
    """Near the present and near the changes of clocks, to the microsecond; some at the ends."""
    if random.random() < 0.15:
        return random.choice((datetime(1, 1, 2, tzinfo=UTC), EPOCH, NOWS[-1] - timedelta(1)))
    around = random.choice((now, *NOWS[:3]))
    steps = (0, 1, -1, 1800 * 10**6, -1800 * 10**6, -HOUR, HOUR, -24 * HOUR, -25 * HOUR)
    try:
        return around + random.choice(steps) * MICRO
    except OverflowError:
        return around


def value(random: Random, kind: str, now: datetime) -> Any:
    when = moment(random, now)
    if kind == "date":
        return when.date()
    return when if kind == "timestamp" else when.replace(tzinfo=None)


def column(random: Random, name: str, size: int, now: datetime) -> Column:
    kind = random.choice(KINDS)
    nulls = random.choice((0.0, 0.3, 1.0))
    if random.random() < 0.08:
        kind = random.choice(list(MISFITS))
        return Column(name, kind, [MISFITS[kind]] * size)
    made = [None if random.random() < nulls else value(random, kind, now) for _ in range(size)]
    return Column(name, kind, made)


def table(number: int, now: datetime) -> Table:
    random = Random(number)
    size = SIZES[number]
    names = [*HOSTILE_NAMES, "one", "two", "three", "four", "five"][:COLUMNS]
    columns = [column(random, name, size, now) for name in names]
    return Table(size, [Column(NUMBER, "int", range(size)), *columns])


def rules(number: int, given: Table) -> list[dict[str, Any]]:
    random = Random(100 + number)
    made: list[dict[str, Any]] = []
    for n, one in enumerate(given.columns[1:]):
        where = {"where": f"`{NUMBER}` < 3"} if random.random() < 0.2 else {}
        low, high = sorted(random.choices((-HOUR, 0, 1, HOUR, 24 * HOUR, 10**17), k=2))
        bounds = {"min": Decimal(low) / 10**6, "max": Decimal(high) / 10**6}
        made.append({"type": "freshness", "columns": one.name, "name": f"f{n}", **bounds, **where})
        window, length = random.choice(WINDOWS)
        few = {"soft_min": 2, "min": 1} if random.random() < 0.5 else {"max": 2}
        made.append({"type": "row_inserted_count_in_range", "columns": one.name, "name": f"w{n}",
                     "window": window, "length": length, **few, **where})  # fmt: skip
    return made


def expected(rule: dict[str, Any], one: Column, now: datetime) -> tuple[str, Any]:
    """Status and observed value."""
    if one.kind not in KINDS:
        return "Error", None
    kept: Sequence[Any] = one.values[:3] if "where" in rule else one.values
    present = [item for item in kept if item is not None]
    if rule["type"] == "row_inserted_count_in_range":
        ages = [micros(now) - instant(item) for item in present]
        count = sum(0 <= age < rule["length"] for age in ages)
        return judged(rule, count), count
    if not present:
        return "Empty", None
    # The newest by what the column shows, which is what its order means.
    age = micros(now) - instant(max(present))
    return judged(rule, Decimal(age) / 10**6), age / 10**6


def judged(rule: dict[str, Any], found: Any) -> str:
    if found < rule.get("min", found) or found > rule.get("max", found):
        return "Error"
    return "Warning" if found < rule.get("soft_min", found) else "Ok"


@pytest.mark.parametrize("number", deep_after(2, range(len(SIZES))))
def test_times_are_judged_as_plain_python_does(spark: SparkSession, number: int) -> None:
    for now in NOWS[:3] if number > 1 else NOWS[3:]:
        given = table(number, now)
        asked = rules(number, given)
        shown = [{k: v for k, v in rule.items() if k != "length"} for rule in asked]
        found = dq.evaluate(frame(spark, given), shown, now=now)
        by_name = {one.name: one for one in given.columns}
        for rule, outcome in zip(asked, found, strict=True):
            one = by_name[rule["columns"]]
            status, observed = expected(rule, one, now)
            told = f"{rule} {one} {now}: {outcome.message}"
            assert outcome.status == status, told
            assert outcome.observed == observed or abs(outcome.observed - observed) < 1e-4, told


def test_the_cases_are_many_and_of_all_kinds() -> None:
    seen: set[tuple[str, str]] = set()
    for number in range(len(SIZES)):
        for now in NOWS[:3] if number > 1 else NOWS[3:]:
            given = table(number, now)
            by_name = {one.name: one for one in given.columns}
            for rule in rules(number, given):
                seen.add((rule["type"], expected(rule, by_name[rule["columns"]], now)[0]))
    assert COLUMNS * len(SIZES) >= 200
    wanted = {("freshness", status) for status in ("Ok", "Error", "Empty")}
    inserted = "row_inserted_count_in_range"
    assert seen == wanted | {(inserted, status) for status in ("Ok", "Warning", "Error")}


def test_times_beyond_what_python_can_hold(spark: SparkSession) -> None:
    data = spark.sql(
        "SELECT d, t, n FROM VALUES"
        " (DATE'+5881580-07-11', timestamp_micros(9223372036854775807),"
        "  TIMESTAMP_NTZ'+294247-01-10 04:00:54.775807'),"
        " (DATE'-5877641-06-23', timestamp_micros(-9223372036854775808),"
        "  TIMESTAMP_NTZ'-290308-12-21 19:59:05.224192'),"
        " (DATE'2024-03-10', TIMESTAMP'2024-03-10 05:00:00Z', TIMESTAMP_NTZ'2024-03-10')"
        " AS v(d, t, n)"
    )
    windows = [
        dq.RowInsertedCountInRange(name=f"{c} {w}", columns=c, window=w, min=1, max=1)
        for c in "dtn"
        for w in ("1 day", "3000000 days")
    ]
    ages = [dq.Freshness(name=c, columns=c, max="1 day") for c in "dtn"]
    found = dq.evaluate(data, [*windows, *ages], now=NOWS[0])
    assert [outcome.status for outcome in found] == ["Ok"] * 6 + ["Error"] * 3
    for outcome in found.outcomes[6:]:
        assert "holds a time outside the years 1 to 9999" in outcome.message


def test_a_column_without_a_type_has_no_times(spark: SparkSession) -> None:
    data = spark.sql("SELECT NULL AS nothing")
    inserted, fresh = dq.evaluate(
        data,
        [
            dq.RowInsertedCountInRange(columns="nothing", window="1 day", max=0),
            dq.Freshness(columns="nothing", max="1 day"),
        ],
    )
    assert (inserted.status, inserted.observed) == ("Ok", 0)
    assert fresh.status == "Empty"
