"""Many items are run together; those that break are found by as few further runs as it takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dq_dagster.errors import RuleFailure, TooManyParts, Unmeasurable
from dq_dagster.spark.passes.isolation import (
    Suspicion,
    attempted,
    in_halves,
    isolated,
    with_failures,
)


class Doubling:
    """Doubles numbers, all at once, and raises if one of them is negative."""

    def __init__(self) -> None:
        self.runs: list[list[str]] = []

    def __call__(self, items: Mapping[str, int]) -> dict[str, int | RuleFailure]:
        self.runs.append(list(items))
        if any(number < 0 for number in items.values()):
            raise ValueError("negative")
        return {name: 2 * number for name, number in items.items()}


def outcome(found: Mapping[str, int | RuleFailure]) -> dict[str, Any]:
    return {name: "failed" if isinstance(of, RuleFailure) else of for name, of in found.items()}


@pytest.mark.parametrize(
    ("items", "expected", "runs"),
    [
        ({}, {}, 0),
        ({"a": 1, "b": 2}, {"a": 2, "b": 4}, 1),
        ({"a": -1}, {"a": "failed"}, 1),
        ({"a": 1, "b": -2}, {"a": 2, "b": "failed"}, 3),
        ({"a": -1, "b": 2, "c": 3, "d": 4}, {"a": "failed", "b": 4, "c": 6, "d": 8}, 5),
        ({"a": -1, "b": -2, "c": -3}, {"a": "failed", "b": "failed", "c": "failed"}, 5),
    ],
)
def test_an_error_that_points_to_nothing_is_found_by_halves(
    items: dict[str, int], expected: dict[str, Any], runs: int
) -> None:
    run = Doubling()
    assert outcome(isolated(items, run, narrow=in_halves, fail=with_failures)) == expected
    assert len(run.runs) == runs


def test_what_an_error_points_to_is_not_run_again() -> None:
    def narrow(
        items: Mapping[str, int], error: Exception
    ) -> Suspicion[str, int, int | RuleFailure]:
        broken = {name: number for name, number in items.items() if number < 0}
        rest = {name: number for name, number in items.items() if number >= 0}
        return Suspicion(broken=broken, groups=[rest])

    run = Doubling()
    found = isolated({"a": 1, "b": -2, "c": 3}, run, narrow=narrow, fail=with_failures)
    assert outcome(found) == {"a": 2, "b": "failed", "c": 6}
    assert run.runs == [["a", "b", "c"], ["a", "c"]]


def test_too_many_parts_are_not_the_fault_of_one_item() -> None:
    def run(items: Mapping[str, int]) -> dict[str, int | RuleFailure]:
        raise TooManyParts.by(["country"])

    with pytest.raises(TooManyParts):
        isolated({"a": 1, "b": 2}, run, narrow=in_halves, fail=with_failures)


def test_a_failure_that_is_known_keeps_its_words() -> None:
    def run(items: Mapping[str, int]) -> dict[str, int | RuleFailure]:
        raise Unmeasurable("There is no such table.")

    found = isolated({"a": 1}, run, narrow=in_halves, fail=with_failures)
    assert str(found["a"]) == "There is no such table."


def test_a_single_call_has_its_answer_or_its_reason() -> None:
    assert attempted(lambda: 1, str) == 1
    assert attempted(lambda: int("x"), lambda error: type(error).__name__) == "ValueError"
