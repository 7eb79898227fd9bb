"""Scores, trends and objectives, as tables of cases."""

from __future__ import annotations

from typing import Any

import pytest

from dq_dagster.judging.judgement import Status, score, worth
from dq_dagster.monitoring.model.scores import Objective, Score, kept, mean


@pytest.mark.parametrize(
    ("ok", "warning", "error", "expected"),
    [(0, 0, 0, None), (3, 0, 0, 1.0), (1, 1, 0, 0.75), (1, 1, 2, 0.375), (0, 0, 1, 0.0)],
)
def test_the_value_of_a_rule(ok: int, warning: int, error: int, expected: float | None) -> None:
    assert worth(ok=ok, warning=warning, error=error) == expected


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ([], None),
        ([(1.0, None)], None),
        ([(1.0, 1.0), (1.0, 0.0)], 50.0),
        ([(3.0, 1.0), (1.0, 0.0)], 75.0),
        ([(0.0, 0.0), (1.0, 1.0)], 100.0),
        ([(0.0, 1.0)], None),
        ([(1.0, 1.0), (1.0, 1.0), (1.0, 0.0)], 66.7),
    ],
)
def test_scores_are_means_by_weight(
    rules: list[tuple[float, float | None]], expected: float | None
) -> None:
    assert score(rules) == expected


def test_what_has_no_score_says_nothing() -> None:
    assert mean([None, 100.0, 50.0]) == 75.0
    assert mean([None]) is None
    assert Score.of(90.0, None) == Score(90.0, None)
    assert Score.of(90.0, 95.5) == Score(90.0, -5.5, 95.5)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"ok": 0.99}, Objective(0.99, 30)),
        ({"ok": 1, "days": 7}, Objective(1.0, 7)),
        ({"ok": 99}, None),
        ({"ok": 0}, None),
        ({"ok": "0.9"}, None),
        ({"ok": True, "days": 3}, None),
        ({"ok": 0.9, "days": 0}, None),
        ({"days": 30}, None),
        ("99 %", None),
    ],
)
def test_objectives_are_read_from_metadata(written: Any, expected: Objective | None) -> None:
    assert Objective.read(written) == expected


def test_a_budget_is_used_up() -> None:
    statuses = [Status.OK] * 198 + [Status.WARNING, Status.ERROR, Status.EMPTY]
    found = kept(Objective(0.99), statuses)
    assert (found.units, found.ok, found.budget, found.left) == (200, 198, 2.0, 0.0)
    assert not found.missed
    assert found.share == 0.99
    assert (found.aim, found.rest) == (
        "99 % of partitions Ok in 30 days: 198 of 200",
        "0 of 2 left",
    )
    over = kept(Objective(0.99, 7), [*statuses, Status.ERROR], "days")
    assert over.missed
    assert (over.aim, over.rest) == ("99 % of days Ok in 7 days: 198 of 201", "missed by 0.99")
    assert kept(Objective(0.99), []).share is None
