"""Faults of which a row may have any, said in fewer."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from dq_dagster.metrics.conditions import (
    Condition,
    Fault,
    IsEmpty,
    Outside,
    PatternMatch,
    RowBreaks,
    SetMembership,
)
from dq_dagster.metrics.constant import Constant
from dq_dagster.plan.unions import united

# A little more than 0.1, and as a double the same.
FINE = Decimal("0.10000000000000000001")
BLANK = IsEmpty("x", blank_is_empty=True)


def outside(low: Any = None, high: Any = None, column: str = "x", **further: Any) -> Outside:
    bounds = [None if bound is None else Constant.of(bound) for bound in (low, high)]
    return Outside(column, blank_is_empty=False, low=bounds[0], high=bounds[1], **further)


def in_set(*values: Any, **further: Any) -> SetMembership:
    listed = tuple(map(Constant.of, values))
    return SetMembership("x", False, listed, **{"member": True, **further})


def match(pattern: str, **further: Any) -> PatternMatch:
    return PatternMatch("x", False, pattern, **{"whole": True, "matches": False, **further})


def must_not(pattern: str) -> PatternMatch:
    return match(pattern, matches=True)


def breaks(sql: str, *, null_breaks: bool = True) -> RowBreaks:
    return RowBreaks(sql, null_breaks)


def conditions(*some: Condition) -> list[Condition]:
    return [fault.condition for fault in united(map(Fault, some))]


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        (outside(1, 9), outside(2, 10), outside(2, 9)),
        (outside(1), outside(high=9), outside(1, 9)),
        (outside(0.1), outside(FINE), outside(FINE)),
        (outside(high=10**30), outside(high=1e29), outside(high=1e29)),
        (outside(high=float("inf")), outside(high=5), outside(high=5)),
        (outside(date(2024, 1, 1)), outside(date(2023, 1, 1)), outside(date(2024, 1, 1))),
        (outside(1, of="length"), outside(3, of="length"), outside(3, of="length")),
        (in_set("a", "b"), in_set("b", "c"), in_set("a", "b", "c")),
        (match("[a-z]{1,9}"), match("[a-z]{1,7}"), match("[a-z]{1,7}")),
        (match("[a-z]{2,}"), match("[a-z]{3,4}"), match("[a-z]{3,4}")),
        (match("[A-Z]{2}[0-9]{4}"), match("[A-Z]{2}[0-9]{1,8}"), match("[A-Z]{2}[0-9]{4}")),
        (must_not("[a-z]{1,9}"), must_not("[a-z]{1,7}"), must_not("[a-z]{1,9}")),
        (must_not("[a-z]{2,}"), must_not("[a-z]{3,4}"), must_not("[a-z]{2,}")),
        (breaks("x < 5"), breaks("x < 7"), breaks("x < 5")),
        (breaks("x >= 0"), breaks("3 <= x"), breaks("3 <= x")),
        (breaks("x < 1.25"), breaks("x < 1.20"), breaks("x < 1.20")),
        (match("[a-z]{1,9}"), outside(2, 5, of="length"), match("[a-z]{2,5}")),
        (outside(2, of="length"), match("[A-Z]{2}[0-9]{0,}"), match("[A-Z]{2}[0-9]{0,}")),
        (outside(high=9, of="length"), match("[A-Z]{2}[0-9]{1,}"), match("[A-Z]{2}[0-9]{1,7}")),
        (
            outside(2, 6, of="length", low_is_outside=True, high_is_outside=True),
            match("[a-z]{1,}"),
            match("[a-z]{3,5}"),
        ),
        (BLANK, BLANK, BLANK),
    ],
)
def test_one_says_what_both_say(one: Condition, other: Condition, together: Condition) -> None:
    assert conditions(one, other) == [together]
    assert len(conditions(other, one, one)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (outside(1), outside(2, column="y")),
        (outside(1), outside(2, of="length")),
        (outside(1), outside(2, low_is_outside=True)),
        (outside(high=1), outside(high=2, high_is_outside=True)),
        (outside(1), outside(date(2024, 1, 1))),
        (outside("2024-01-01"), outside("2023-01-01")),
        (outside(datetime(2024, 1, 1)), outside(datetime(2023, 1, 1))),  # noqa: DTZ001
        (in_set("a", member=False), in_set("b", member=False)),
        (in_set("a"), in_set("b", ignore_case=True)),
        (match("[a-z]{1,5}"), match("[a-z]{3,9}")),
        (match("[a-z]{1,5}"), match("[a-y]{1,5}")),
        (match("[a-z]{1,5}"), match("[a-z]{1,3}", whole=False)),
        (must_not("[a-z]{1,5}"), must_not("[a-z]{3,9}")),
        (must_not("[a-z]{1,5}"), match("[a-z]{1,3}")),
        (match("a|[a-z]{1,5}"), match("a|[a-z]{1,3}")),
        (match("[a-z]{1,5}"), outside(7, of="length")),
        (match("[a-z]{5}"), outside(5, of="length")),
        (match("[a-z]{1,5}"), outside(2, of="length", column="y")),
        (match("[a-z]{1,5}"), outside(2)),
        (match("[a-z]{1,5}", whole=False), outside(2, of="length")),
        (must_not("[a-z]{1,5}"), outside(2, of="length")),
        (match("[a-z]{1,5}"), outside(2.5, of="length")),
        (breaks("x < 5"), breaks("x <= 5")),
        (breaks("x < 5"), breaks("X < 4")),
        (breaks("x < 5"), breaks("x < 4.5")),
        (breaks("x < 5"), breaks("x < 4", null_breaks=False)),
        (breaks("x < 5"), breaks("x < 3000000000")),
        (breaks("x < 5 OR y"), breaks("x < 4 OR y")),
        (breaks("x < 5"), breaks("current_date < 5")),
        (BLANK, IsEmpty("x", blank_is_empty=False)),
    ],
)
def test_others_stay_two(one: Condition, other: Condition) -> None:
    assert conditions(one, other) == [one, other]


def test_rows_that_another_filter_chooses_stay_apart() -> None:
    faults = [Fault(outside(1), where="y > 0"), Fault(outside(2)), Fault(outside(3))]
    assert united(faults) == [faults[0], Fault(outside(3))]


def test_a_fault_that_depends_on_the_time_stays_as_it_is() -> None:
    faults = [Fault(outside(n), where="t < current_timestamp()") for n in (1, 2)]
    assert united(faults) == faults


def test_of_patterns_in_any_order_the_shortest_are_left() -> None:
    patterns = [
        match(f"[a-z]{{{least},{most}}}") for least, most in [(1, 9), (3, 6), (2, 7), (1, 5)]
    ]
    for turn in range(4):
        found = conditions(*patterns[turn:], *patterns[:turn])
        assert set(found) == {patterns[1], patterns[3]}
