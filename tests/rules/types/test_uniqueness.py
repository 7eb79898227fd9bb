"""What is observed of values that may occur once only is what the message speaks of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

import dq_dagster as dq
from dq_dagster.judging.evidence import Evidence


@pytest.mark.parametrize(
    ("threshold", "unique", "status", "observed", "bounds", "words"),
    [
        ("all", 4, "Ok", 0, {"max": 0}, "none allowed"),
        ("all", 1, "Error", 3, {"max": 0}, "none allowed"),
        (
            {"type": "proportion", "min": 0.5, "soft_min": 0.9},
            2,
            "Warning",
            2,
            {"soft_min": 0.9, "min": 0.5},
            "at least 50 % required, ideally at least 90 %",
        ),
        ({"type": "count", "min": 3}, 2, "Error", 2, {"min": 3}, "at least 3 required"),
    ],
)
def test_the_values_that_are_not_unique_are_observed(
    threshold: Any, unique: int, status: str, observed: int, bounds: dict[str, Any], words: str
) -> None:
    rules: list[dq.Rule] = [
        dq.ColumnUnique(columns="id", threshold=threshold),
        dq.UniqueKey(columns=["id"], threshold=threshold),
    ]
    for rule in rules:
        values = dict(zip(rule.metrics(), (unique, 4), strict=True))
        found = rule.judge(Evidence(values, UTC, datetime(2024, 1, 1, tzinfo=UTC)))
        share = f"{observed} of 4 values ({observed * 25} %)"
        assert found.message == f"{share} of 'id' are not unique ({words})."
        assert found.status.value == status
        assert found.observed == found.failed_rows == observed
        assert dict(found.bounds) == bounds
        assert found.expected == words
