"""Days and statuses, as tables of cases, and against a plain oracle on random logs."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dq_dagster.monitoring.model.days import CheckDay, DatasetDays, check_days, day_of
from dq_dagster.monitoring.model.many_days import DayInShort, DaysInShort, each_day
from tests.monitoring.oracle import EMPTY, ERROR, EVALUATIONS, OK, WARNING, One, oracle, scored

WHOLE, A, B, C = 0, 1, 2, 3
RULE, OTHER = 7, 8
JUNE_5, JUNE_6, JUNE_7, JUNE_8 = 5, 6, 7, 8


def days_of(
    said: Iterable[One],
    *,
    counting: Iterable[int] = (RULE, OTHER),
    today: int = 100,
) -> DatasetDays:
    every = sorted(said, key=lambda one: one.day)
    by_day: dict[int, list[CheckDay]] = {}
    for one in check_days(one.said() for one in every):
        by_day.setdefault(one.day, []).append(one)
    last_runs = {one.check: one.day for one in every if one.check not in set(counting)}

    def judged_alone(day: int, checks: Collection[int]) -> list[CheckDay]:
        ours = [one.said() for one in every if one.check in checks and one.day <= day]
        return [one for one in check_days(ours) if one.day == day]

    return DatasetDays(by_day, last_runs, set(counting), today, judged_alone)


def in_short(days: DatasetDays, weight: float = 1.0) -> DaysInShort:
    by_day = {day: DayInShort.of(day, some) for day, some in days.by_day.items()}
    weights = dict.fromkeys(range(10), weight)
    return DaysInShort(
        by_day, days.last_runs, days.counting, days.today, days.judged_alone, weights
    )


def statuses(days: DatasetDays, first: int, last: int) -> list[tuple[int, int | None]]:
    found = list(each_day(in_short(days), first, last))
    # One day at a time says the same.
    for day, rank, worst, _ in found:
        _, some = days.counted(day)
        assert (max((one.last for one in some), default=0), days.worst_of(day)) == (rank, worst)
    return [(rank, worst) for _, rank, worst, _ in found]


def test_the_partitions_of_the_last_day_count() -> None:
    """Rules on A and B on June 5th; on B, C and the whole dataset on June 7th."""
    days = days_of(
        [
            One(JUNE_5, RULE, A, ERROR),
            One(JUNE_5, RULE, B, OK),
            One(JUNE_7, RULE, B, OK),
            One(JUNE_7, RULE, C, WARNING),
            One(JUNE_7, RULE, WHOLE, OK),
        ]
    )
    # A and B on the 5th and the 6th; B, C and the whole dataset from the 7th on.
    assert statuses(days, JUNE_5, JUNE_8) == [
        (ERROR, ERROR),
        (ERROR, None),
        (WARNING, WARNING),
        (WARNING, None),
    ]
    as_of, [one] = days.counted(JUNE_8)
    assert (as_of, one.counts) == (JUNE_7, (0, 2, 0, 1, 0))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([], [(0, None)] * 3),
        # A rule that did not run on the day keeps its last status.
        ([One(1, RULE, WHOLE, ERROR), One(2, OTHER, WHOLE, OK)], [(4, 4), (4, 1), (4, None)]),
        # The last evaluation of a day counts, and the worst is kept apart.
        ([One(1, RULE, WHOLE, ERROR), One(1, RULE, WHOLE, OK)], [(1, 4), (1, None), (1, None)]),
        # Empty is worse than Ok, and better than Warning.
        ([One(1, RULE, WHOLE, EMPTY), One(1, OTHER, WHOLE, OK)], [(2, 2), (2, None), (2, None)]),
        # A partition has the worst of all rules on it, also of those that ran on another day.
        ([One(1, RULE, A, ERROR), One(3, OTHER, A, OK)], [(4, 4), (4, None), (4, 1)]),
        # A partition that was not computed on the last day does not count.
        ([One(1, RULE, A, ERROR), One(2, RULE, B, OK)], [(4, 4), (1, 1), (1, None)]),
    ],
)
def test_three_days(said: list[One], expected: list[tuple[int, int | None]]) -> None:
    assert statuses(days_of(said), 1, 3) == expected


def test_a_deleted_rule_keeps_its_past_and_no_more() -> None:
    said = [One(1, RULE, WHOLE, ERROR), One(1, OTHER, WHOLE, OK), One(3, RULE, WHOLE, ERROR)]
    days = days_of([*said, One(5, OTHER, WHOLE, OK)], counting=[OTHER])
    assert [one for one, _ in statuses(days, 1, 6)] == [ERROR, ERROR, ERROR, OK, OK, OK]


def test_today_only_rules_that_count_do() -> None:
    said = [One(1, RULE, WHOLE, ERROR), One(1, OTHER, WHOLE, OK)]
    assert statuses(days_of(said, counting=[OTHER], today=1), 1, 1) == [(OK, OK)]


def test_where_no_rule_that_counts_ran_an_earlier_day_stands() -> None:
    """A rule that is deleted now was the only one to run on partition C."""
    said = [One(1, OTHER, A, WARNING), One(2, RULE, C, ERROR)]
    days = days_of(said, counting=[OTHER])
    assert [one for one, _ in statuses(days, 1, 3)] == [WARNING, ERROR, WARNING]


def test_a_rule_that_is_gone_brings_no_slice_back() -> None:
    """It ran last on A, which another rule had left behind with an Error."""
    said = [One(1, OTHER, A, ERROR), One(2, OTHER, B, OK), One(3, RULE, A, OK)]
    days = days_of(said, counting=[OTHER])
    # On the 3rd it counted still.
    assert [one for one, _ in statuses(days, 1, 4)] == [ERROR, OK, ERROR, OK]
    # On the same day, too.
    days = days_of([*said[:2], One(2, RULE, A, OK)], counting=[OTHER])
    assert [one for one, _ in statuses(days, 1, 3)] == [ERROR, ERROR, OK]
    as_of, [one] = days.counted(3)
    assert (as_of, one.counts) == (2, (0, 1, 0, 0, 0))


@given(EVALUATIONS, st.sets(st.integers(1, 3)), st.integers(4, 9), st.integers(0, 6))
def test_days_are_as_documented(
    said: list[One], counting: set[int], today: int, resumed: int
) -> None:
    every = sorted(said, key=lambda one: one.day)
    days = days_of(every, counting=counting, today=today)
    found = list(each_day(in_short(days, 2.0), 1, 8))
    for day, last, worst, value in found:
        rank, ran, tally = oracle(every, day, counting, today)
        assert (last, worst) == (rank, ran)
        _, some = days.counted(day)
        assert {
            one.check: {rank: n for rank, n in enumerate(one.counts) if n} for one in some
        } == tally
        assert value == scored(tally)
    # What is made anew from some day on is what was made at once.
    standing: dict[int, dict[int, int]] = {}
    for one in every:
        if one.day < resumed:
            standing.setdefault(one.part, {})[one.check] = one.rank
    later = check_days((one.said() for one in every if one.day >= resumed), standing)
    assert list(later) == [
        one for day in sorted(days.by_day) if day >= resumed for one in days.by_day[day]
    ]


@pytest.mark.parametrize(
    ("moment", "day"), [(0.0, 0), (86_399.999, 0), (86_400.0, 1), (-0.5, -1), (1.7e9, 19675)]
)
def test_days_are_of_utc(moment: float, day: int) -> None:
    assert day_of(moment) == day
