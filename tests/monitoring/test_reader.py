"""What is read of the index, against a plain oracle over random event logs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from dq_dagster.integration.event_log.logged import LoggedEvaluation
from dq_dagster.judging.judgement import score
from dq_dagster.monitoring.declared import DeclaredAsset, DeclaredCheck
from dq_dagster.monitoring.index.database import IndexDatabase
from dq_dagster.monitoring.index.writing import put, settle_days, settle_slices
from dq_dagster.monitoring.model.days import RANKED, day_number, start_of
from dq_dagster.monitoring.views.reader import IndexReader
from tests.monitoring.oracle import ERROR, EVALUATIONS, OK, WARNING, One, oracle

ASSET = "orders"
A, C = 1, 3
RULE, OTHER, THIRD = 1, 2, 3


def logged(number: int, one: One) -> LoggedEvaluation:
    return LoggedEvaluation(
        number,
        number,
        ASSET,
        f"rule_{one.check}",
        f"p{one.part}" if one.part else None,
        "a-run",
        None,
        # One a second: their order is that of the log.
        start_of(one.day) + number,
        RANKED[one.rank],
        "",
        None,
        {},
    )


def indexed(database: IndexDatabase, said: list[One], at_once: int) -> None:
    """Some at a time, as refreshing brings them."""
    page = [logged(number, one) for number, one in enumerate(said, 1)]
    for start in range(0, len(page), at_once):
        with database.writing() as connection:
            put(connection, page[start : start + at_once])
            settle_slices(connection, 1_000)
            while settle_days(connection):
                pass


def declared(weights: Mapping[int, float]) -> dict[str, DeclaredAsset]:
    """A code location that has these rules, and no others."""
    checks = {
        f"rule_{n}": DeclaredCheck(f"rule_{n}", f"rule_{n}", weight=weight)
        for n, weight in weights.items()
    }
    return {ASSET: DeclaredAsset(ASSET, "here", checks=checks)}


@given(
    EVALUATIONS,
    st.dictionaries(st.integers(1, 3), st.sampled_from([1.0, 1.0, 1.0, 2.0])),
    st.integers(1, 9),
    st.integers(0, 8),
    st.integers(1, 30),
)
# The rule of C ends within the days that are asked for: what its earlier day hid is seen again.
@example(
    [One(1, OTHER, A, WARNING), One(2, RULE, C, ERROR), One(5, RULE, C, OK)], {OTHER: 1}, 9, 3, 9
)
@example(
    [
        One(1, OTHER, A, WARNING),
        One(2, RULE, C, ERROR),
        One(4, RULE, C, OK),
        One(6, THIRD, C, OK),
    ],
    {},
    9,
    3,
    9,
)
def test_days_are_those_of_the_oracle(
    said: list[One], weights: dict[int, float], today: int, first: int, at_once: int
) -> None:
    every = sorted((one for one in said if one.day <= today), key=lambda one: one.day)
    now = datetime.fromtimestamp(start_of(today) + 3_600, UTC)
    with closing(IndexDatabase(None)) as database:
        indexed(database, every, at_once)
        with database.reading() as connection:
            reader = IndexReader(connection, declared(weights), now, knows=True)
            dataset = reader.datasets.get(ASSET)
            days = () if dataset is None else reader.status_days(dataset, first, today)
    for one in days:
        rank, ran, tally = oracle(every, day_number(one.day), set(weights), today)
        assert one.last is RANKED[rank]
        assert one.worst is (None if ran is None else RANKED[ran])
        # Rules that nobody declares any more count 1.
        assert one.score == score(
            (weights.get(check, 1.0), _worth(ranks)) for check, ranks in sorted(tally.items())
        )


def _worth(ranks: Mapping[int, int]) -> float | None:
    """The mean over slices: Ok 1, Warning 1/2, Error 0."""
    values = {OK: 1.0, WARNING: 0.5, ERROR: 0.0}
    judged = [values[rank] for rank, n in ranks.items() if rank in values for _ in range(n)]
    return sum(judged) / len(judged) if judged else None
