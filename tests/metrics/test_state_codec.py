"""States go into records and come back as they were, or not at all."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dq_dagster.errors import Misfit
from dq_dagster.metrics.constant import Single, rounded
from dq_dagster.metrics.state_codec import decode, encode
from dq_dagster.metrics.states import Extreme, Moments, Odd, Opaque, State, Tally, Total

steady = settings(derandomize=True, deadline=None, max_examples=200, database=None)
counts = st.integers(0, 2**53 - 1)
doubles = st.floats()
finite = st.floats(allow_nan=False, allow_infinity=False)
decimals = st.decimals(-(10**38), 10**38, allow_nan=False, places=18)
odd = st.integers(0, 7)
zones = st.sampled_from([UTC, timezone(timedelta(hours=-5, minutes=-30))])
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    doubles,
    st.builds(lambda value: Single(rounded(value)), finite),
    decimals,
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=zones),
)
extremes = st.builds(Extreme, st.sampled_from(["min", "max"]), scalars)
totals = st.builds(Total, counts, st.none() | st.integers() | decimals | finite, odd)
float_totals = st.lists(st.builds(Total, st.integers(0, 9), finite, odd), min_size=2).map(
    lambda states: reduce(Total.merge, states)
)
moments = st.lists(
    st.builds(
        Moments.of, st.integers(0, 9), doubles, st.floats(0), st.sampled_from([0.0, 1.0, 0.01])
    ),
    min_size=1,
    max_size=9,
).map(lambda states: reduce(Moments.merge, states))
states = st.one_of(st.builds(Tally, counts), extremes, totals, float_totals, moments)


def recorded(state: object) -> Any:
    """What a reader of the record finds."""
    return json.loads(json.dumps(encode(state), allow_nan=False))


def kind(state: State) -> object:
    return type(state.value) if isinstance(state, Extreme) else type(state)


@steady
@given(states)
@example(Extreme("max", math.nan))
@example(Extreme("min", -math.inf))
@example(Extreme("max", 2**63 - 1))
@example(Extreme("min", datetime(1, 1, 1, tzinfo=UTC)))
@example(Total(3, Decimal("99999999999999999999.999999999999999999")))
@example(Total(3, Fraction(1, 3)))
@example(Moments.of(2, 5e-324, 1.7e308).merge(Moments.of(2, 1e308, 0.0)))
def test_what_is_recorded_comes_back(state: State) -> None:
    found = decode(recorded(state))
    assert found == state
    assert kind(found) == kind(state)
    assert encode(found) == encode(state)


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (Tally(1204), "1204"),
        (Extreme("min", None), '["n", null]'),
        (Extreme("max", date(2024, 5, 1)), '["x", "D2024-05-01"]'),
        (Extreme("max", 2**60), '["x", "i1000000000000000"]'),
        (Total(3, 60), '["t", 3, 60]'),
        (Total(3, Decimal("0.30")), '["t", 3, "d0.30"]'),
        (Total(2, 0.1, Odd.NAN), '["t", 2, "f0.1", 4]'),
        (Total(1, 0.5).merge(Total(1, 0.25)), '["t", 2, "f0.75"]'),
        (
            Moments.of(3, 0.1, 0.5),
            '["m", 3, "q26666666666667p-55", "q21eb851eb851eb947ae147ae147bp-110", "f0.0"]',
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_records_are_short(state: State, text: str) -> None:
    assert json.dumps(encode(state)) == text


@pytest.mark.parametrize(
    "state",
    [
        Extreme("min", "row value"),
        Extreme("max", b"row value"),
        Opaque("int", 5),
        Misfit("no such column"),
        None,
        Tally(2**53),
        Tally(-1),
        Extreme("max", Decimal("NaN")),
        Extreme("max", Decimal("1E+5000")),
    ],
    ids=repr,
)
def test_what_must_not_be_recorded_is_not(state: object) -> None:
    assert encode(state) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
letters = st.sampled_from(["n", "x", "t", "m"])
odd_texts = st.builds(lambda letter, text: letter + text, st.sampled_from("isfdqDT"), st.text())


@steady
@given(json_values | st.lists(letters | st.integers() | odd_texts, max_size=7))
@example(["n", "q1p-9999"])
@example(["t", 1, "q1p-9999"])
@example(["t", 1, "q1/0"])
@example(["t", 1, "d1E+999999999"])
@example(["t", 1, "dNaN"])
@example(["t", 1, True])
@example(["t", 1, 1, 8])
@example(["t", 1, 1, 0])
@example(["m", 1, "fnan", "f1.0", "f0.0"])
@example(["m", 1, "finf", "f1.0", "f0.0"])
@example(["m", 1, "f1.0", "f1.0", "f-1.0"])
@example(["x", "D2024-13-01"])
@example(["x", "T2024-01-01T25:00"])
@example(["x", "text"])
@example(["z", 1])
@example(True)
@example(-1)
def test_what_is_no_state_is_none(written: object) -> None:
    found = decode(written)
    # Some of it may happen to be one; then it is one that can be recorded again.
    assert found is None or decode(encode(found)) == found


@pytest.mark.parametrize(
    "damaged", [[], ["n"], ["n", 1, 2], ["m", 1, 2, 3], "5", 1.5, {}, ["t", "1", 1]]
)
def test_damaged_records_are_told_from_states(damaged: object) -> None:
    assert decode(damaged) is None
