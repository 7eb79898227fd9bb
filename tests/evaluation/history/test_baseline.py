"""Which past values a slice is judged by, and how far back the records are read for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from dq_dagster.evaluation.history.baseline import Timeline, previous_partitions, same_slice
from dq_dagster.evaluation.history.history import Recorded, group_key, moment_of
from dq_dagster.judging.judgement import Status
from dq_dagster.judging.typical import Typical
from dq_dagster.metrics.measured import WHOLE, Slice
from dq_dagster.metrics.value_codec import NoValue

NOW = datetime(2024, 3, 31, tzinfo=UTC)
DAY = timedelta(days=1)
SHORT = Typical(learning_period=3, lookback_window=4)


class Tape:
    """Records that know how many of them were read."""

    def __init__(self, records: Iterable[Recorded]) -> None:
        self.records = sorted(records, key=lambda record: record.at, reverse=True)
        self.read = 0

    def __iter__(self) -> Iterator[Recorded]:
        for record in self.records:
            self.read += 1
            yield record


def recorded(value: float | None, age: float, **fields: object) -> Recorded:
    numbers = {"n": 1.0} if value is None else {"x": value, "n": 1.0}
    return Recorded(NOW - age * DAY, numbers, **fields)  # type: ignore[arg-type]


def own(
    records: Iterable[Recorded],
    *parts: Slice,
    typical: Typical = SHORT,
    data: dict[str | None, str] | None = None,
) -> list[list[float]]:
    found = same_slice(records, parts, ["x"], typical=typical, at=NOW, data_of=(data or {}).get)
    return [[point.value for point in found[part]["x"]] for part in parts]


def test_the_oldest_comes_first() -> None:
    assert own([recorded(2, 1), recorded(1, 2)], WHOLE) == [[1, 2]]
    assert own([], WHOLE) == [[]]


def test_evaluations_of_one_state_are_one_point_and_the_latest_counts() -> None:
    tape = [
        recorded(9, 1, data="c"),
        recorded(8, 2, data="b"),
        recorded(7, 3, data="b"),
        recorded(6, 4),
        recorded(5, 5),
        recorded(4, 6, data="b"),
    ]
    typical = Typical()
    assert own(tape, WHOLE, typical=typical) == [[5, 6, 8, 9]]
    # What was recorded of the state under test is superseded.
    assert own(tape, WHOLE, typical=typical, data={None: "c"}) == [[5, 6, 8]]
    assert own(tape, WHOLE, typical=typical, data={None: "b"}) == [[5, 6, 9]]


def test_partitions_have_their_own() -> None:
    tape = [recorded(n, n, partition="a" if n % 2 else "b") for n in range(1, 7)]
    assert own(tape, Slice("a"), Slice("b"), Slice("c")) == [[5, 3, 1], [6, 4, 2], []]


def test_groups_have_their_own() -> None:
    groups = {"land": {group_key(None): {"x": 1.0}, group_key("null"): {"x": 2.0}}}
    tape = [recorded(9, 1, groups=groups), recorded(8, 2)]
    parts = [
        Slice(None, "land", None),
        Slice(None, "land", "null"),
        Slice(None, "land", "DE"),
        WHOLE,
    ]
    assert own(tape, *parts) == [[1], [2], [], [8, 9]]


@pytest.mark.parametrize(
    ("typical", "read"),
    [
        (SHORT, 4),
        (Typical(learning_period=6, lookback_window=2), 6),
        # Until one is as old as the longer period.
        (Typical("days", learning_period=3, lookback_window=9), 9),
        (Typical("days", learning_period=12, lookback_window=9), 12),
    ],
)
def test_no_more_is_read_than_matters(typical: Typical, read: int) -> None:
    tape = Tape(recorded(n, n) for n in range(1, 100))
    [points] = own(tape, WHOLE, typical=typical)
    assert (tape.read, len(points)) == (read, read)


def test_points_that_do_not_count_are_no_reason_to_stop() -> None:
    strict = Typical(learning_period=3, lookback_window=4, exclude_errors=True)
    tape = Tape(recorded(n, n, status=Status.ERROR if n % 2 else Status.OK) for n in range(1, 100))
    assert own(tape, WHOLE, typical=strict) == [[8, 6, 4, 2]]
    assert tape.read == 8
    odd = Tape(recorded(float("nan") if n % 2 else n, n) for n in range(1, 100))
    assert own(odd, WHOLE) == [[8, 6, 4, 2]]


EAST, WEST = Slice(None, "land", "east"), Slice(None, "land", "west")


def judged_apart(value: float, age: float, **fields: object) -> Recorded:
    """An Error, but for its number "x"; of its groups, "west" was fine."""
    groups = {"land": {group_key("east"): {"x": -value}, group_key("west"): {"x": 10 * value}}}
    return Recorded(
        NOW - age * DAY,
        {"x": value, "n": 1.0},
        Status.ERROR,
        groups=groups,
        statuses={"x": Status.OK},
        group_statuses={"land": {group_key("west"): {"x": Status.EMPTY}}},
        **fields,  # type: ignore[arg-type]
    )


def test_a_point_is_an_error_by_itself() -> None:
    strict = Typical(learning_period=3, lookback_window=4, exclude_errors=True)
    older = recorded(1, 4, status=Status.ERROR, groups={"land": {group_key("west"): {"x": 5.0}}})
    tape = [judged_apart(4, 2), judged_apart(3, 3), older]
    # The oldest says nothing of its numbers: they are what the evaluation was.
    assert own(tape, WHOLE, EAST, WEST, typical=strict) == [[3, 4], [], [30, 40]]
    assert own(tape, WHOLE, EAST, WEST) == [[1, 3, 4], [-3, -4], [5, 30, 40]]
    [part] = same_slice(
        tape, [WHOLE], ["n"], typical=strict, at=NOW, data_of=lambda partition: None
    ).values()
    assert part == {"n": []}


def test_every_slice_is_read_for() -> None:
    tape = Tape(recorded(n, n, partition="a" if n < 50 else "b") for n in range(1, 100))
    assert own(tape, Slice("a"), Slice("b")) == [[4, 3, 2, 1], [53, 52, 51, 50]]
    assert tape.read == 53


# --- partitions before ---------------------------------------------------------------------------


def key(age: int) -> str:
    return f"{NOW - age * DAY:%Y-%m-%d}"


def before(
    records: Iterable[Recorded], *ages: int, typical: Typical = SHORT, parts: Iterable[Slice] = ()
) -> Timeline:
    judged: dict[str | None, datetime] = {key(age): NOW - age * DAY for age in ages}
    slices = [Slice(name) for name in judged]
    return previous_partitions(
        records,
        judged,
        [*slices, *parts],
        ["x", "n"],
        typical=typical,
        time_of=moment_of,
        series_of=lambda partition: "",
    )


def values(timeline: Timeline, age: int, part: Slice | None = None) -> list[float]:
    found = timeline.before(part or Slice(key(age)), NOW - age * DAY)
    return [point.value for point in found.get("x", ())]


def test_partitions_are_ordered_by_their_times_not_by_their_evaluations() -> None:
    tape = [recorded(n, evaluated, partition=key(n)) for n, evaluated in ((3, 1), (5, 2), (4, 3))]
    timeline = before(tape, 0)
    found = timeline.before(Slice(key(0)), NOW)["x"]
    assert [(point.value, point.at) for point in found] == [(n, NOW - n * DAY) for n in (5, 4, 3)]


def test_itself_and_later_ones_take_no_part() -> None:
    tape = [recorded(n, 0.5, partition=key(n)) for n in range(10)]
    assert values(before(tape, 5), 5) == [9, 8, 7, 6]


def test_the_latest_evaluation_of_a_partition_counts() -> None:
    tape = [
        recorded(1, 1, partition=key(3)),
        recorded(2, 2, partition=key(3)),
        # Emptied since: it was measured, and has no value any more.
        recorded(None, 1, partition=key(4)),
        recorded(3, 2, partition=key(4)),
        # Broken: nothing was measured at all.
        Recorded(NOW - DAY, {}, Status.ERROR, key(5)),
        recorded(4, 2, partition=key(5)),
    ]
    assert values(before(Tape(tape), 0), 0) == [4, 1]


# What an evaluation leaves that found no number to compare with.
NO_NUMBER: dict[str, Recorded] = {
    "NULL": Recorded(NOW - DAY, {"x": None}),
    "NaN": Recorded(NOW - DAY, {"x": float("nan")}),
    "infinite": Recorded(NOW - DAY, {"x": float("inf")}),
    "not measurable": Recorded(NOW - DAY, {"x": NoValue.ABSENT}, Status.ERROR),
    "a text": Recorded(NOW - DAY, {"x": "many"}),
    "a truth": Recorded(NOW - DAY, {"x": True}),
    "no rows, as recorded before": Recorded(NOW - DAY, {}, Status.EMPTY),
}


@pytest.mark.parametrize("found", NO_NUMBER)
def test_an_evaluation_without_a_number_supersedes_the_one_before(found: str) -> None:
    newest = replace(NO_NUMBER[found], partition=key(4), data="b")
    groups = {"land": {group_key("DE"): {"x": 5.0}}}
    tape = [
        newest,
        recorded(1, 2, partition=key(3), groups=groups),
        recorded(3, 2, partition=key(4), groups=groups),
    ]
    group = Slice(key(0), "land", "DE")
    timeline = before(Tape(tape), 0, parts=[group])
    assert values(timeline, 0) == [1]
    # A group that is not there any more has no point, either.
    assert values(timeline, 0, group) == [5]
    here, there = Slice(key(4)), Slice(key(4), "land", "DE")
    same_state = recorded(3, 2, partition=key(4), data="b", groups=groups)
    older = recorded(2, 3, partition=key(4), data="a", groups=groups)
    assert own([newest, same_state, older], here, there) == [[2], [5]]


def test_decimals_are_points_like_floats() -> None:
    tape = [Recorded(NOW - n * DAY, {"x": Decimal(n) / 4}) for n in (1, 2)]
    assert own(tape, WHOLE) == [[0.5, 0.25]]


def test_what_another_rule_recorded_supersedes_nothing() -> None:
    tape = [
        Recorded(NOW - DAY, {"y": 7.0}, partition=key(4), data="b"),
        recorded(3, 2, partition=key(4), data="b"),
    ]
    assert values(before(Tape(tape), 0), 0) == [3]
    assert own(tape, Slice(key(4))) == [[3]]


def test_a_point_of_a_partition_is_an_error_by_itself() -> None:
    strict = Typical(learning_period=3, lookback_window=4, exclude_errors=True)
    tape = [judged_apart(n, n, partition=key(n)) for n in (1, 2, 3)]
    groups = [Slice(key(0), part.dimension, part.group) for part in (EAST, WEST)]
    timeline = before(tape, 0, typical=strict, parts=groups)
    assert values(timeline, 0) == [3, 2, 1]
    assert [values(timeline, 0, group) for group in groups] == [[], [30, 20, 10]]
    assert timeline.before(Slice(key(0)), NOW).get("n", []) == []


def test_what_is_judged_now_supersedes_what_was_recorded() -> None:
    tape = [recorded(n, 0.5, partition=key(n)) for n in range(10)]
    timeline = before(tape, 6, 4)
    assert values(timeline, 6) == [9, 8, 7]
    timeline.add(Recorded(NOW, {"x": 66.0}, partition=key(6)), NOW - 6 * DAY)
    assert values(timeline, 4) == [8, 7, 66, 5]


def test_groups_of_partitions() -> None:
    groups = {"land": {group_key("DE"): {"x": 5.0}}}
    tape = [recorded(n, n, partition=key(n), groups=groups) for n in (1, 2, 3)]
    part = Slice(key(0), "land", "DE")
    assert values(before(tape, 0, parts=[part]), 0, part) == [5, 5, 5]
    assert values(before(tape, 0, parts=[part]), 0, Slice(key(0), "land", "FR")) == []


@pytest.mark.parametrize("typical", [SHORT, Typical("days", learning_period=3, lookback_window=4)])
def test_the_daily_case_reads_little(typical: Typical) -> None:
    # Each day is evaluated on the morning after.
    tape = Tape(recorded(n, n - 1.25, partition=key(n)) for n in range(1, 1000))
    assert values(before(tape, 0, typical=typical), 0) == [4, 3, 2, 1]
    assert tape.read <= 12


def test_a_late_backfill_is_read_to_the_end() -> None:
    # Old days were evaluated again lately: any of the records may be of the days before.
    tape = Tape(recorded(n, 0.5, partition=key(n)) for n in range(400))
    assert values(before(tape, 350), 350) == [354, 353, 352, 351]
    assert tape.read == 400


def test_gaps_are_filled_from_further_back() -> None:
    tape = Tape(recorded(n, n - 1.25, partition=key(n)) for n in range(1, 1000) if n % 10 == 0)
    assert values(before(tape, 5), 5) == [40, 30, 20, 10]
    days = Typical("days", learning_period=3, lookback_window=4)
    # One that is old enough to know that learning is over.
    assert values(before(tape, 5, typical=days), 5) == [10]


def test_partitions_evaluated_ahead_of_their_time_are_seen() -> None:
    tape = Tape(recorded(n, n + 20, partition=key(n)) for n in range(1, 100))
    assert values(before(tape, 0), 0) == [4, 3, 2, 1]
