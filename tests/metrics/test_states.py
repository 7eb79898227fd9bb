"""States merge to the state of all rows, for any split and any order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import permutations
from operator import or_
from random import Random
from time import process_time
from typing import Any, Literal, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dq_dagster.errors import Unmeasurable
from dq_dagster.metrics.constant import Single
from dq_dagster.metrics.metric import ColumnAvg, ColumnStddev, ColumnSum
from dq_dagster.metrics.states import EXACT, Extreme, Moments, Odd, State, Tally, Total

S = TypeVar("S", bound=State)

steady = settings(derandomize=True, deadline=None, max_examples=100, database=None)
seeds = st.integers(0, 2**32)
ZONES = [UTC, timezone(timedelta(hours=9)), timezone(timedelta(hours=-5, minutes=-30))]


def merged(
    values: Sequence[Any], state: Callable[[Sequence[Any]], S], seed: int, *, parts: int = 0
) -> S:
    """Splits the values at random, empty parts included, and merges the parts in random order.

    ``parts``: so many parts, each of one value or of none.
    """
    random = Random(seed)
    split: list[list[Any]] = [[] for _ in range(parts or random.randint(1, 6))]
    for n, value in enumerate(values):
        (split[n] if parts else random.choice(split)).append(value)
    return put_together([state(part) for part in split], seed)


def put_together(states: Sequence[S], seed: int) -> S:
    """Merges states in random order."""
    random = Random(seed)
    states = list(states)
    while len(states) > 1:
        # Neighbours or not, left or right first: any tree of merges.
        one, other = (states.pop(random.randrange(len(states))) for _ in range(2))
        states.append(one.merge(other))
    return states[0]


# --- counts and sums ----------------------------------------------------------------------------


def total(values: Sequence[Any]) -> Total:
    exact = reduce(EXACT.add, values, Decimal(0)) if _decimal(values) else sum(values)
    return Total(len(values), exact)


def _decimal(values: Sequence[Any]) -> bool:
    return bool(values) and isinstance(values[0], Decimal)


def float_total(values: Sequence[float]) -> Total:
    odd = reduce(or_, map(_odd, values), Odd.NONE)
    return Total(len(values), sum(filter(math.isfinite, values), 0.0), odd)


def _odd(value: float) -> Odd:
    if math.isnan(value):
        return Odd.NAN
    if math.isfinite(value):
        return Odd.NONE
    return Odd.PLUS_INFINITY if value > 0 else Odd.MINUS_INFINITY


@steady
@given(st.lists(st.integers()), seeds)
def test_tallies(values: list[int], seed: int) -> None:
    assert merged(values, lambda part: Tally(len(part)), seed) == Tally(len(values))


@steady
@given(st.lists(st.integers(-(2**63), 2**63 - 1)), seeds)
def test_totals_of_longs_are_exact(values: list[int], seed: int) -> None:
    assert merged(values, total, seed) == Total(len(values), sum(values))


@steady
@given(st.lists(st.decimals(-(10**20) + 1, 10**20 - 1, places=18)), seeds)
def test_totals_of_decimals_are_exact(values: list[Decimal], seed: int) -> None:
    found = merged(values, total, seed)
    assert found.count == len(values)
    assert found.total is not None
    assert Fraction(found.total) == sum(map(Fraction, values), Fraction(0))


@steady
@given(st.lists(st.floats(-1e300, 1e300), min_size=1), seeds)
def test_totals_of_doubles_are_exact(values: list[float], seed: int) -> None:
    one_by_one = merged(values, float_total, seed, parts=len(values))
    exact = sum(map(Fraction, values), Fraction(0))
    assert one_by_one == Total(len(values), exact)
    assert one_by_one.result == float(exact)
    assert ColumnAvg("x").value(one_by_one) == float(exact / len(values))


@steady
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=8), seeds)
def test_totals_of_odd_doubles_never_look_fine(values: list[float], seed: int) -> None:
    result = merged(values, float_total, seed).result
    kinds = {value for value in values if math.isinf(value)}
    if any(map(math.isnan, values)) or len(kinds) == 2:
        assert isinstance(result, float)
        assert math.isnan(result)
    elif kinds:
        assert result in kinds
    else:
        assert result is None or math.isfinite(result)


@pytest.mark.parametrize(
    ("states", "overflowed"),
    [
        ([Total(1, 1e308), Total(1, 1e308)], True),
        ([Total(1, 1e308), Total(1, 0.5)], False),
        ([Total(1, 0.0, Odd.PLUS_INFINITY), Total(1, 1e308)], False),
        ([Total(1, 1), Total(1, None)], True),
        ([Total(0, 0), Total(1, 5)], False),
        ([Total(0, 0), Total(1, 0.5)], False),
        ([Total(0, 0), Total(1, Decimal("0.5"))], False),
    ],
)
def test_overflow_survives_merging(states: list[Total], overflowed: bool) -> None:
    for ordered in (states, states[::-1]):
        assert (reduce(Total.merge, ordered).result is None) is overflowed


@steady
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_sums_and_means_of_longs(values: list[int]) -> None:
    assert ColumnSum("x").value(total(values)) == sum(values)
    mean = ColumnAvg("x").value(total(values))
    assert mean is not None
    exact = Fraction(sum(values), len(values))
    assert abs(Fraction(mean) - exact) <= abs(exact) * Fraction(1, 2**52)


# --- extremes -----------------------------------------------------------------------------------

moments = st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1))  # noqa: DTZ001 (zones come below)
ORDERED: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "int": st.integers(),
    "float": st.floats(allow_nan=False),
    "decimal": st.decimals(allow_nan=False, allow_infinity=False),
    "str": st.text(),
    "bytes": st.binary(),
    "date": st.dates(),
    "naive datetime": moments,
    "aware datetime": st.builds(
        lambda moment, zone: moment.replace(tzinfo=zone), moments, st.sampled_from(ZONES)
    ),
}


def extreme(side: Literal["min", "max"]) -> Callable[[Sequence[Any]], Extreme]:
    choose: Callable[[list[Any]], Any] = min if side == "min" else max

    def state(values: Sequence[Any]) -> Extreme:
        there = [value for value in values if value is not None]
        nan = next((value for value in there if value != value), None)  # noqa: PLR0124
        return Extreme(side, nan if nan is not None else choose(there) if there else None)

    return state


@pytest.mark.parametrize("side", ["min", "max"])
@pytest.mark.parametrize("kind", ORDERED)
def test_extremes(kind: str, side: Literal["min", "max"]) -> None:
    @steady
    @given(st.lists(st.none() | ORDERED[kind]), seeds)
    def check(values: list[Any], seed: int) -> None:
        found = merged(values, extreme(side), seed)
        assert found.side == side
        assert found.value == extreme(side)(values).value

    check()


@pytest.mark.parametrize("side", ["min", "max"])
@pytest.mark.parametrize("place", range(4))
def test_one_nan_makes_the_extreme_nan(place: int, side: Literal["min", "max"]) -> None:
    values: list[Any] = [1.0, -math.inf, None]
    values.insert(place, math.nan)
    for seed in range(20):
        found = merged(values, extreme(side), seed).value
        assert isinstance(found, float)
        assert math.isnan(found)


def test_extremes_of_instants_in_the_hour_that_is_there_twice() -> None:
    first, second = (datetime(2024, 11, 3, hour, 30, tzinfo=UTC) for hour in (5, 6))
    for states in ((first, second), (second, first)):
        one, other = (Extreme("max", moment) for moment in states)
        assert one.merge(other).value == second


@pytest.mark.parametrize("day", [date(1, 1, 1), date(9999, 12, 31)])
def test_the_ends_of_the_calendar(day: date) -> None:
    middle = Extreme("min", date(2024, 1, 1))
    assert middle.merge(Extreme("min", day)).value == min(day, date(2024, 1, 1))


@pytest.mark.parametrize("side", ["min", "max"])
@pytest.mark.parametrize(
    "equal",
    [
        [0.0, -0.0],
        [1, Decimal(1), Decimal("1.00"), 1.0, Single(1.0)],
        [Decimal("1E+2"), Decimal(100), Decimal("100.000")],
        [datetime(2024, 5, 1, 12, tzinfo=zone) for zone in (UTC, timezone(timedelta(0), "GMT"))],
        [math.nan, -math.nan, Single(math.nan)],
    ],
    ids=str,
)
def test_which_of_equal_values_is_kept_does_not_depend_on_order(
    equal: list[Any], side: Literal["min", "max"]
) -> None:
    forms = set()
    for ordered in permutations(equal):
        value = reduce(Extreme.merge, [Extreme(side, one) for one in ordered]).value
        forms.add((type(value), str(value)))
    assert len(forms) == 1
    assert (float, "-0.0") not in forms


# --- moments ------------------------------------------------------------------------------------


def moments_of(values: Sequence[float]) -> Moments:
    """As Spark measures them: mean and squares are rounded."""
    if not values:
        return Moments.of(0, 0.0, 0.0)
    mean = sum(map(Fraction, values), Fraction(0)) / len(values)
    return Moments.of(len(values), float(mean), float(squares_of(values)))


def squares_of(values: Sequence[float]) -> Fraction:
    """The sum of squared differences from the mean."""
    exact = [Fraction(value) for value in values]
    mean = sum(exact, Fraction(0)) / len(exact)
    return sum(((value - mean) ** 2 for value in exact), Fraction(0))


def exact_variance(values: Sequence[float]) -> Fraction:
    return squares_of(values) / (len(values) - 1)


@steady
@given(st.lists(st.floats(-1e100, 1e100), min_size=2), seeds)
def test_moments_of_single_values_are_exact(values: list[float], seed: int) -> None:
    found = merged(values, moments_of, seed, parts=len(values) + 1)
    assert found.count == len(values)
    assert found.mean == float(sum(map(Fraction, values), Fraction(0)) / len(values))
    assert found.variance == float(exact_variance(values))
    assert ColumnStddev("x").value(found) == math.sqrt(float(exact_variance(values)))


@steady
@given(st.lists(st.lists(st.floats(-1e9, 1e9), max_size=5), min_size=1), seeds)
def test_moments_are_the_same_in_any_order(parts: list[list[float]], seed: int) -> None:
    states = [moments_of(part) for part in parts]
    assert put_together(states, seed) == reduce(Moments.merge, states)


@steady
@given(st.lists(st.integers(-100, 100), min_size=2), seeds)
def test_moments_far_from_zero(noise: list[int], seed: int) -> None:
    values = [1e9 + number / 64 for number in noise]
    deviation = ColumnStddev("x").value(merged(values, moments_of, seed))
    expected = math.sqrt(exact_variance([number / 64 for number in noise]))
    assert deviation == pytest.approx(expected, rel=1e-6, abs=1e-6)


@steady
@given(st.lists(st.lists(st.floats(-1e150, 1e150), min_size=1, max_size=5), min_size=1), seeds)
def test_moments_of_exact_sums(parts: list[list[float]], seed: int) -> None:
    def of_sum(part: Sequence[float]) -> Moments:
        total = sum(map(Fraction, part), Fraction(0))
        return Moments.of_sum(len(part), total, float(squares_of(part)))

    values = [value for part in parts for value in part]
    found = put_together([of_sum(part) for part in parts], seed)
    assert found.mean == float(sum(map(Fraction, values), Fraction(0)) / len(values))
    if len(values) > 1:
        assert found.variance == pytest.approx(float(exact_variance(values)), rel=1e-12)


@steady
@given(st.floats(allow_nan=False, allow_infinity=False), st.lists(st.integers(1, 10**9)), seeds)
def test_parts_of_one_value_have_no_variance(value: float, sizes: list[int], seed: int) -> None:
    parts = [Moments.of(size, value, 0.0) for size in [*sizes, 2]]
    assert put_together(parts, seed).variance == 0


@pytest.mark.parametrize("values", [[], [5.0]])
def test_too_few_values_have_no_deviation(values: list[float]) -> None:
    assert ColumnStddev("x").value(moments_of(values)) is None


def test_a_deviation_beyond_all_doubles_is_no_number() -> None:
    apart = Moments.of(1, 1e200, 0.0).merge(Moments.of(1, -1e200, 0.0))
    assert apart.variance is None
    with pytest.raises(Unmeasurable, match="standard deviation of 'x' is too large"):
        ColumnStddev("x").value(apart)


@pytest.mark.parametrize(
    ("mean", "squares"),
    [(math.nan, math.nan), (math.inf, math.nan), (-math.inf, math.nan), (1.0, math.inf)],
)
def test_odd_moments_stay_odd(mean: float, squares: float) -> None:
    # What Spark brings back for values of which one is odd, or too large to be squared.
    strange, plain = Moments.of(2, mean, squares), moments_of([1.0])
    assert strange.merge(plain) == plain.merge(strange)
    variance = strange.merge(plain).variance
    assert variance is not None
    assert not math.isfinite(variance)


def test_opposite_infinities_are_no_number_in_any_order() -> None:
    states = [Moments.of(1, math.inf, math.nan), moments_of([1.0]), Moments.of(1, -math.inf, 0.0)]
    for ordered in permutations(states):
        assert math.isnan(ColumnStddev("x").value(reduce(Moments.merge, ordered)) or 0)


def test_very_many_parts_merge_in_no_time() -> None:
    random = Random(3)
    states = [Moments.of(7, random.uniform(0, 1e4), random.uniform(0, 1e6)) for _ in range(50_000)]
    start = process_time()
    reduce(Moments.merge, states)
    assert process_time() - start < 2
