"""Values within a range are judged one by one, and what is observed is how many are not."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

import dq_dagster as dq
from dq_dagster.judging.evidence import Evidence


@pytest.mark.parametrize(
    ("fields", "beyond", "status", "limits"),
    [
        ({"min": 2, "soft_max": 40, "max": 100}, (0, 0), "Ok", {"max": 0}),
        ({"min": 2, "soft_max": 40, "max": 100}, (0, 4), "Warning", {"soft_max": 0}),
        ({"min": 2, "soft_max": 40, "max": 100}, (1, 4), "Error", {"max": 0}),
        ({"soft_max": 40}, (0,), "Ok", {"soft_max": 0}),
        ({"max": 40, "threshold": 0.01}, (3,), "Ok", {"max": 10}),
    ],
)
def test_how_many_may_be_beyond(
    fields: dict[str, Any], beyond: tuple[int, ...], status: str, limits: dict[str, float]
) -> None:
    rule = dq.ColumnValueLengthsInRange(columns="name", **fields)
    values = dict(zip(rule.metrics(), (*beyond, 1_000), strict=True))
    found = rule.judge(Evidence(values, UTC, datetime(2024, 1, 1, tzinfo=UTC)))
    assert (found.status.value, found.limits) == (status, limits)
