"""What a day says, straight from the words of the documentation: slow, and plain to see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hypothesis import strategies as st

from dq_dagster.judging.judgement import Status
from dq_dagster.monitoring.model.days import RANKS

OK, EMPTY, WARNING, ERROR = (
    RANKS[one] for one in (Status.OK, Status.EMPTY, Status.WARNING, Status.ERROR)
)


@dataclass(frozen=True)
class One:
    """An evaluation in a random log."""

    day: int
    check: int
    part: int
    rank: int

    def said(self) -> tuple[int, int, int, int]:
        return self.day, self.check, self.part, self.rank


def oracle(
    said: list[One], day: int, counting: set[int], today: int
) -> tuple[int, int | None, dict[int, dict[int, int]]]:
    """What was said of the day, straight from the words of the documentation."""

    def counts(check: int, that_day: int) -> bool:
        runs = [one.day for one in said if one.check == check]
        return check in counting or (that_day < today and that_day <= max(runs))

    # What does not count is as if it had never been said.
    ours = [one for one in said if one.day <= day and counts(one.check, day)]
    active = max((one.day for one in ours), default=day)
    slices = {one.part for one in ours if one.day == active}
    last = {(one.check, one.part): one.rank for one in ours if one.part in slices}
    ran = [one.rank for one in ours if one.day == day]
    tally: dict[int, dict[int, int]] = {}
    for (check, _), rank in last.items():
        ranks = tally.setdefault(check, {})
        ranks[rank] = ranks.get(rank, 0) + 1
    return max(last.values(), default=0), max(ran, default=None), tally


def scored(tally: Mapping[int, Mapping[int, int]]) -> float | None:
    """100 times the mean over rules of the mean over slices: Ok 1, Warning 1/2, Error 0."""
    means = []
    for ranks in tally.values():
        values = [
            {OK: 1.0, WARNING: 0.5, ERROR: 0.0}[rank]
            for rank, count in ranks.items()
            if rank != EMPTY
            for _ in range(count)
        ]
        if values:
            means.append(sum(values) / len(values))
    return round(100 * sum(means) / len(means), 1) if means else None


EVALUATIONS = st.lists(
    st.builds(
        One, st.integers(1, 6), st.integers(1, 3), st.integers(0, 3), st.sampled_from([1, 2, 3, 4])
    ),
    max_size=25,
)
