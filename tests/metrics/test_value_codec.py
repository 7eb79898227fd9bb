"""Values on record are what they were: equal, of the same type, and in strict JSON."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dq_dagster.metrics.constant import Single, rounded
from dq_dagster.metrics.value_codec import NoValue, Undecodable, decode, decoded, encode

steady = settings(derandomize=True, deadline=None, max_examples=300, database=None)
zones = st.sampled_from([UTC, timezone(timedelta(hours=-5, minutes=-30))])
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.builds(lambda value: Single(rounded(value)), st.floats(allow_nan=False)),
    st.decimals(allow_nan=False),
    st.text(),
    st.binary(),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=zones),
    st.times(),
    st.timedeltas(),
)


def recorded(value: Any) -> Any:
    """What a reader of the record finds."""
    return decode(json.loads(json.dumps(encode(value), allow_nan=False)))


def same(one: Any, other: Any) -> bool:
    alike = repr(one) == repr(other) if isinstance(one, float | Decimal) else one == other
    return alike and type(one) is type(other)


@steady
@given(scalars)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert same(recorded(value), value)


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        -0.0,
        0.0,
        1.0,
        5e-324,
        1.7976931348623157e308,
        2**53,
        -(2**53) - 1,
        10**400,
        Decimal("1.50"),
        Decimal("12345678901234567890.123456789012345678"),
        Decimal("NaN"),
        Decimal("-Infinity"),
        Decimal("-0.00"),
        Decimal("1E+30"),
        True,
        "nan",
        "-inf",
        "",
        "!",
        "*",
        "t",
        "5",
        "Ärger 🎉 \x00",
        b"\x00\xff",
        date.min,
        date.max,
        datetime.fromisoformat("0001-01-01"),
        datetime.fromisoformat("9999-12-31T23:59:59.999999"),
        datetime.fromisoformat("2024-03-31T02:30"),
        datetime(2024, 3, 31, 2, 30, 0, 1, tzinfo=UTC),
        time(23, 59, 59, 999999),
        timedelta(days=-1, microseconds=1),
        NoValue.ABSENT,
        NoValue.WITHHELD,
    ],
    ids=repr,
)
def test_values_at_the_edge(value: Any) -> None:
    assert same(recorded(value), value)


def test_numbers_that_json_holds_exactly_are_themselves() -> None:
    values = [3, -1, 2**53 - 1, 0.1, -2.5, 1e22, True, None]
    assert [encode(value) for value in values] == values


class Colour(str, Enum):  # noqa: UP042 (as many still write them)
    RED = "red"


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (np.float64(2.5), 2.5),
        (np.float64("nan"), math.nan),
        (Colour.RED, "red"),
        (bytearray(b"x"), b"x"),
        (
            pd.Timestamp("2024-01-01 00:00:00.123456789"),
            datetime.fromisoformat("2024-01-01T00:00:00.123456"),
        ),
        # No scalar, and too much to keep.
        (object(), NoValue.WITHHELD),
        ([1], NoValue.WITHHELD),
        ("x" * 5_000, NoValue.WITHHELD),
        (16**5_000, NoValue.WITHHELD),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_of_other_types(value: Any, kept: Any) -> None:
    assert same(recorded(value), kept)


@pytest.mark.parametrize(
    "junk", ["", "x1", "iz", "d", "dx", "T2024", "D2024-13-01", "b?", "sx", "P1.5", [], {}, [1]]
)
def test_what_others_wrote_is_no_value(junk: Any) -> None:
    with pytest.raises(Undecodable):
        decode(junk)
    assert decoded({"theirs": junk, "ours": 1}) == {"ours": 1}
    assert decoded(junk) == {}


@pytest.mark.parametrize("word", ["nan", "inf", "-inf"])
def test_a_number_needs_its_kind(word: str) -> None:
    with pytest.raises(Undecodable):
        decode(word)
