"""How verdicts on frequent values read."""

from __future__ import annotations

import pytest

import dq_dagster as dq
from dq_dagster.judging.evidence import Evidence
from dq_dagster.metrics.frequency import Level


@pytest.mark.parametrize(
    ("top", "values", "inside", "message"),
    [
        (1, [1], [1], "The most frequent value of 'a' is in the set of 1 value."),
        (1, [1], [0], "The most frequent value of 'a' is not in the set of 1 value."),
        (2, [1, 1], [1, 1], "The 2 most frequent values of 'a' are in the set of 1 value."),
        (2, [1, 1], [0, 0], "The 2 most frequent values of 'a' are not in the set of 1 value."),
        (2, [1, 1], [1, 0], "1 of the 2 most frequent values of 'a' is not in the set of 1 value."),
        (
            2,
            [1, 3],
            [1, 1],
            (
                "2 of the 4 most frequent values of 'a' are not in the set of 1 value. "
                "3 of them tie for 1 place."
            ),
        ),
    ],
)
def test_messages(top: int, values: list[int], inside: list[int], message: str) -> None:
    rule = dq.ColumnTopValuesInSet(columns="a", top=top, values=["x"])
    leading, rows = rule.metrics()
    members = leading.against  # type: ignore[attr-defined]
    levels = tuple(
        Level(9 - n, many, (9 - n) * many, {members: good})
        for n, (many, good) in enumerate(zip(values, inside, strict=True))
    )
    verdict = rule.judge(Evidence({leading: levels, rows: 99}))
    assert verdict.message == message
    assert verdict.status == (dq.Status.OK if inside == values else dq.Status.ERROR)
