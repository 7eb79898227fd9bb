"""Bounds in the type of the observed value."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from dq_dagster.errors import Misfit
from dq_dagster.judging.ranges import aligned, kind_of

NEW_YORK, BERLIN = ZoneInfo("America/New_York"), ZoneInfo("Europe/Berlin")
EAST = timezone(timedelta(hours=9))
INSTANT = datetime(2024, 7, 1, 12, tzinfo=UTC)
WALL = INSTANT.replace(tzinfo=None)
DAY = date(2024, 7, 1)


@pytest.mark.parametrize(
    ("bound", "observed", "fitted"),
    [
        (1, 5, 1),
        (0.1, 5, Decimal("0.1")),
        (0.1, Decimal(5), Decimal("0.1")),
        (1e22, 5, Decimal("1e22")),
        (Decimal("0.1"), 0.5, 0.1),
        (2**53 + 1, 0.5, 2.0**53),
        (True, False, True),
        ("a", "b", "a"),
        ("2024-07-02", DAY, date(2024, 7, 2)),
        (" 2024-07-02 ", DAY, date(2024, 7, 2)),
        (date(2024, 7, 2), DAY, date(2024, 7, 2)),
        ("2024-07-01T12:00:00Z", INSTANT, INSTANT),
        ("2024-07-01T21:00:00+09:00", INSTANT, INSTANT),
        (datetime(2024, 7, 1, 21, tzinfo=EAST), INSTANT, INSTANT),
        ("2024-07-01T08:00", INSTANT, INSTANT),
        (WALL.replace(hour=8), INSTANT, INSTANT),
        (DAY, INSTANT, datetime(2024, 7, 1, 4, tzinfo=UTC)),
        ("2024-07-01", INSTANT, datetime(2024, 7, 1, 4, tzinfo=UTC)),
        ("2024-07-01T12:00", WALL, WALL),
        (DAY, WALL, WALL.replace(hour=0)),
    ],
)
def test_bounds_that_fit(bound: Any, observed: Any, fitted: Any) -> None:
    found = aligned(bound, observed, zone=NEW_YORK)
    assert found == fitted
    assert type(found) is type(fitted)


@pytest.mark.parametrize(
    ("bound", "observed"),
    [
        (True, 1),
        (True, 1.5),
        (1, True),
        ("1", 1),
        ("1", 1.5),
        (1, "1"),
        (DAY, "2024-07-01"),
        (1, DAY),
        ("tomorrow", DAY),
        ("2024-02-30", DAY),
        (INSTANT, DAY),
        ("2024-07-01T00:00", DAY),
        (1, INSTANT),
        ("noon", INSTANT),
        ("2024-07-01T12:00:00Z", WALL),
        (INSTANT, WALL),
        (1, b"x"),
        (1, None),
    ],
)
def test_bounds_that_do_not_fit(bound: Any, observed: Any) -> None:
    with pytest.raises(Misfit, match="cannot be compared"):
        aligned(bound, observed)


# The hour from 1 to 2 is there twice in New York on 2024-11-03; from 2 to 3 it is not there at all
# on 2024-03-10. A wall clock without a zone means the first of two, and what would follow in a gap.
@pytest.mark.parametrize(
    ("bound", "zone", "instant"),
    [
        ("2024-11-03T01:30", NEW_YORK, datetime(2024, 11, 3, 5, 30, tzinfo=UTC)),
        ("2024-11-03T02:00", NEW_YORK, datetime(2024, 11, 3, 7, tzinfo=UTC)),
        ("2024-03-10T02:30", NEW_YORK, datetime(2024, 3, 10, 7, 30, tzinfo=UTC)),
        ("2024-03-10T03:00", NEW_YORK, datetime(2024, 3, 10, 7, tzinfo=UTC)),
        ("2024-10-27T02:30", BERLIN, datetime(2024, 10, 27, 0, 30, tzinfo=UTC)),
        ("2024-07-01T12:00", EAST, datetime(2024, 7, 1, 3, tzinfo=UTC)),
    ],
)
def test_naive_bounds_are_in_the_session_zone(
    bound: str, zone: timezone | ZoneInfo, instant: datetime
) -> None:
    later = instant + timedelta(microseconds=1)
    assert aligned(bound, later.astimezone(zone), zone=zone) == instant
    assert later > aligned(bound, later, zone=zone)


@pytest.mark.parametrize(
    ("bound", "zone"),
    [
        ("9999-12-31T23:59:59", NEW_YORK),
        ("9999-12-31T23:59:59.999999", NEW_YORK),
        ("0001-01-01", BERLIN),
        ("0001-01-01T00:00:00+14:00", UTC),
    ],
)
def test_bounds_at_the_ends_of_the_calendar_are_no_errors(bound: str, zone: ZoneInfo) -> None:
    fitted = aligned(bound, INSTANT, zone=zone)
    assert (fitted > INSTANT) is (bound[0] == "9")


@pytest.mark.parametrize("huge", [10**400, -(10**400)])
def test_numbers_beyond_all_doubles_keep_their_place(huge: int) -> None:
    fitted = aligned(huge, 1.0)
    assert (math.inf > fitted) is True
    assert (-math.inf < fitted) is True
    assert (fitted > 1e308) is (huge > 0)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, "boolean"),
        (1, "number"),
        (1.5, "number"),
        (Decimal(1), "number"),
        (INSTANT, "timestamp"),
        (DAY, "date"),
        ("a", "text"),
        (b"a", "bytes"),
    ],
)
def test_kinds_in_words(value: Any, kind: str) -> None:
    assert kind_of(value) == kind
