"""What is typical, by numbers alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dq_dagster.errors import Misfit
from dq_dagster.judging.evidence import PastValue
from dq_dagster.judging.judgement import Status
from dq_dagster.judging.typical import Typical, TypicalBounds, Unknown

AT = datetime(2024, 3, 31, 12, tzinfo=UTC)
DAY = timedelta(days=1)
SHORT = Typical(learning_period=3, lookback_window=5)


def past(*values: float, at: datetime = AT, status: Status = Status.OK) -> list[PastValue]:
    """One value a day, the last of them a day before."""
    return [PastValue(v, at - (len(values) - n) * DAY, status) for n, v in enumerate(values)]


def judge(typical: Typical, value: Any, points: Sequence[PastValue]) -> tuple[str, str]:
    judgement = typical.judge(value, points, AT, what="The sum of 'x'", rows=9)
    assert judgement.rows == 9
    return str(judgement.status), judgement.message


FIVE = past(10, 20, 30, 40, 50)  # Q1 20, Q3 40: -10 to 70
ERRORS = past(1, 2, 3, status=Status.ERROR)
CASES = {
    "no value": (SHORT, None, FIVE, "Empty", "Nothing to judge: the sum of 'x' has no value."),
    "NaN": (
        SHORT,
        math.nan,
        FIVE,
        "Error",
        "The sum of 'x' is NaN (not a number), which is never typical.",
    ),
    "NaN while learning": (SHORT, math.nan, [], "Error", "is NaN (not a number)"),
    "no past": (
        SHORT,
        7,
        [],
        "Empty",
        "The sum of 'x' is 7. Still learning: 0 of 3 earlier values are there, 3 to go.",
    ),
    "one short": (SHORT, 7, past(1, 2), "Empty", "2 of 3 earlier values are there, 1 to go."),
    "just enough": (SHORT, 2, past(1, 2, 3), "Ok", "3 earlier values: half of them between"),
    "inside": (
        SHORT,
        45,
        FIVE,
        "Ok",
        "is 45, as is typical (-10 to 70; 5 earlier values: half of them between 20 and 40).",
    ),
    "at the bound": (SHORT, 70, FIVE, "Ok", "The sum of 'x' is 70, as is typical"),
    "below": (
        SHORT,
        -10.5,
        FIVE,
        "Error",
        "is -10.5, below the typical minimum of -10 (5 earlier values: half of them between 20",
    ),
    "above": (SHORT, 71, FIVE, "Error", "is 71, above the typical maximum of 70 (5 earlier"),
    "infinite": (SHORT, math.inf, FIVE, "Error", "is inf, above the typical maximum of 70"),
    "infinite, bounds beyond all floats": (
        SHORT,
        -math.inf,
        past(-1e308, 0, 1e308),
        "Error",
        "is -inf, below the typical minimum of -1.79769e+308",
    ),
    "soft": (
        Typical(learning_period=3, soft_iqr_factor=0.5),
        55,
        FIVE,
        "Warning",
        "is 55, above the typical soft maximum of 50 (5 earlier",
    ),
    "soft and beyond the hard one": (
        Typical(learning_period=3, soft_iqr_factor=0.5),
        -11,
        FIVE,
        "Error",
        "below the typical minimum of -10",
    ),
    "the last ones only": (SHORT, 5000, past(9, 9, 10, 20, 30, 40, 50), "Error", "5 earlier"),
    "no spread": (
        SHORT,
        5,
        past(4, 4, 4),
        "Error",
        "is 5, above the typical maximum of 4 (3 earlier values: all 4).",
    ),
    "no spread, no change": (SHORT, 4, past(4, 4, 4), "Ok", "as is typical (4 to 4; 3 earlier"),
    "one value": (Typical(learning_period=1), 3, past(4), "Error", "(1 earlier value: 4)."),
    "least spread": (Typical(learning_period=3, min_iqr=2), 7, past(4, 4, 4), "Ok", "1 to 7"),
    "spread larger than the least": (
        Typical(learning_period=3, min_iqr=2),
        71,
        FIVE,
        "Error",
        "above the typical maximum of 70",
    ),
    "non-finite past": (
        SHORT,
        7,
        past(1, math.nan, math.inf, 2, -math.inf),
        "Empty",
        "2 of 3 earlier values",
    ),
    "errors count": (SHORT, 2, ERRORS, "Ok", "3 earlier values"),
    "errors left out": (
        Typical(learning_period=3, exclude_errors=True),
        2,
        [*ERRORS, *past(5, 6)],
        "Empty",
        "2 of 3 earlier values are there, 1 to go.",
    ),
    "a decimal as it is recorded": (SHORT, Decimal("0.1"), past(0.1, 0.1, 0.1), "Ok", "0.1 to 0.1"),
    "hardly different": (
        SHORT,
        0.1 + 1e-15,
        past(0.1, 0.1, 0.1),
        "Error",
        "is 0.100000000000001, above the typical maximum of 0.1 (",
    ),
    "large whole numbers": (
        SHORT,
        2**60 + 1,
        past(2**60, 2**60, 2**60),
        "Error",
        "is 1,152,921,504,606,846,977, above the typical maximum of 1,152,921,504,606,846,976",
    ),
    "days, nothing": (
        Typical("days"),
        7,
        [],
        "Empty",
        "Still learning: there is no earlier value, and 7 days of them are needed.",
    ),
    "days, too young": (
        Typical("days"),
        7,
        past(1, 2, 3),
        "Empty",
        "Still learning: the oldest of 3 earlier values is 3 days old, 4 days of 7 days to go.",
    ),
    "days, old enough": (Typical("days", 3), 2, past(1, 2, 3), "Ok", "3 earlier values"),
    "days, a moment short": (
        Typical("days", 3),
        2,
        [PastValue(1, AT - 3 * DAY + timedelta(microseconds=1))],
        "Empty",
        "1 second of 3 days to go",
    ),
    "days, too few": (
        Typical("days", 3),
        2,
        [PastValue(1, AT - 60 * DAY), PastValue(2, AT - 30 * DAY), *past(5, 6)],
        "Warning",
        "2. Only 2 earlier values in the last 30 days: at least 3 are needed to know what is ",
    ),
    "days, those within the window": (
        Typical("days", 3, 4),
        1000,
        [PastValue(1000, AT - 4 * DAY), *past(5, 6, 7)],
        "Error",
        "(3 earlier values: half of them between 5.5 and 6.5)",
    ),
    "days, errors are no start": (
        Typical("days", 3, exclude_errors=True),
        2,
        [PastValue(9, AT - 9 * DAY, Status.ERROR), PastValue(1, AT - DAY)],
        "Empty",
        "the oldest of 1 earlier value is 1 day old, 2 days of 3 days to go",
    ),
}


@pytest.mark.parametrize(
    ("typical", "value", "points", "status", "words"), CASES.values(), ids=CASES
)
def test_verdicts(
    typical: Typical, value: Any, points: list[PastValue], status: str, words: str
) -> None:
    found, message = judge(typical, value, points)
    assert (found, words in message) == (status, True), message


def test_what_a_chart_needs_is_found() -> None:
    judgement = Typical(learning_period=3, soft_iqr_factor=1).judge(
        45, FIVE, AT, what="It", metric="column_sum:x"
    )
    assert judgement.observed == 45
    assert judgement.bounds == {"min": -10, "soft_min": 0, "soft_max": 60, "max": 70}
    assert judgement.expected == "typical (-10 to 70)"
    assert judgement.typical is not None
    assert judgement.typical.bounds == judgement.bounds
    assert [point.value for point in judgement.typical.points] == [10, 20, 30, 40, 50]
    details = judgement.record()["typical"]
    assert {name: details[name] for name in ("q1", "q3", "iqr", "points")} == {
        "q1": 20, "q3": 40, "iqr": 20, "points": 5,
    }  # fmt: skip
    assert (details["window"], details["learning"]) == ("the last 30 values", "3 values")
    assert (details["metric"], details["unit"]) == ("column_sum:x", "runs")
    # Of several columns each has its own bounds, and all have the same moment.
    assert details["bounds"] == judgement.bounds
    assert details["at"] == "2024-03-31T12:00:00+00:00"
    assert details["values"][0] == {"at": "2024-03-26T12:00:00+00:00", "value": 10}
    learning = Typical("days").judge(45, FIVE, AT, what="It")
    assert (learning.observed, learning.bounds) == (45, {})
    assert learning.expected == "typical of the last 30 days"
    assert "2 days of 7 days to go" in learning.record()["typical"]["unknown"]


def test_long_windows_list_their_latest_points_only() -> None:
    points = past(*range(500))
    details = Typical(lookback_window=400).judge(45, points, AT, what="It").record()["typical"]
    assert (details["points"], len(details["values"])) == (400, 100)
    assert details["values"][-1]["value"] == 499


@pytest.mark.parametrize(
    ("value", "kind"), [(AT, "timestamp"), (AT.date(), "date"), ("a", "text"), (True, "boolean")]
)
def test_only_numbers_are_judged(value: Any, kind: str) -> None:
    with pytest.raises(Misfit, match=rf"^It is a {kind}, and change detection needs numbers\.$"):
        SHORT.judge(value, FIVE, AT, what="It")


numbers = st.floats(-1e12, 1e12) | st.integers(-(10**12), 10**12)


@given(st.lists(numbers, min_size=1, max_size=40), st.floats(0.01, 5), numbers)
def test_bounds_are_those_of_numpy(values: list[float], factor: float, value: float) -> None:
    typical = Typical(learning_period=1, lookback_window=40, iqr_factor=factor)
    found = typical.bounds(past(*values), AT)
    assert isinstance(found, TypicalBounds)
    q1, q3 = np.percentile(values, [25, 75])
    scale = 1e-9 * max(1.0, *map(abs, values)) * (1 + factor)
    assert found.q1 == pytest.approx(q1, abs=scale)
    assert found.q3 == pytest.approx(q3, abs=scale)
    low, high = q1 - factor * (q3 - q1), q3 + factor * (q3 - q1)
    assert found.min == pytest.approx(low, abs=scale)
    assert found.max == pytest.approx(high, abs=scale)
    status, _ = found.place(value)
    if abs(value - low) > scale and abs(value - high) > scale:
        assert (status is Status.OK) == (low <= value <= high)


@given(st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=9), st.integers(-(2**70), 2**70))
def test_whole_numbers_are_judged_exactly(values: list[int], value: int) -> None:
    found = Typical(learning_period=1, iqr_factor=0.5).bounds(past(*values), AT)
    assert isinstance(found, TypicalBounds)
    ordered = sorted(values)
    # Everything times 8 is whole.
    q1, q3 = (_times_four(ordered, quarter) * 2 for quarter in (1, 3))
    inside = q1 - (q3 - q1) // 2 <= 8 * value <= q3 + (q3 - q1) // 2
    assert (found.place(value)[0] is Status.OK) == inside


def _times_four(ordered: list[int], quarter: int) -> int:
    low, rest = divmod((len(ordered) - 1) * quarter, 4)
    high = ordered[min(low + 1, len(ordered) - 1)]
    return 4 * ordered[low] + rest * (high - ordered[low])


@given(st.lists(numbers, max_size=40), st.integers(1, 50))
def test_learning_takes_as_many_points_as_it_says(values: list[float], period: int) -> None:
    found = Typical(learning_period=period).bounds(past(*values), AT)
    assert isinstance(found, Unknown) == (len(values) < period)
