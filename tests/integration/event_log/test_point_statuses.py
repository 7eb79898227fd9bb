"""What single numbers were judged, as the metadata of a result keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

import dq_dagster as dq
from dq_dagster.integration.event_log.codec import of_groups, of_metrics, read_groups, read_metrics
from dq_dagster.integration.event_log.metadata import of_outcome
from dq_dagster.judging.judgement import Judgement, Status

OK, EMPTY, ERROR = Status.OK, Status.EMPTY, Status.ERROR
RULE = dq.ColumnAvgTypical(columns=["a", "b"], dimensions=["region"])


def outcome(status: Status, **fields: Any) -> dq.Outcome:
    metrics = {"avg:a": 1.0, "avg:b": 2.0, "n": 3}
    return dq.Outcome(RULE, Judgement(status, "so it is"), metrics=metrics, **fields)


@pytest.mark.parametrize(
    ("statuses", "written"),
    [
        ({}, {}),
        ({"avg:a": ERROR, "avg:b": ERROR, "n": ERROR}, {}),
        # What was an Error has no number here: a column that is not there.
        ({"avg:a": OK, "avg:b": OK, "n": OK}, {"": "Ok"}),
        ({"avg:a": OK}, {"": "Error", "avg:a": "Ok"}),
        ({"avg:a": OK, "n": OK}, {"": "Ok", "avg:b": "Error"}),
    ],
)
def test_metrics_that_differ(statuses: Mapping[str, Status], written: Mapping[str, str]) -> None:
    one = outcome(ERROR, statuses=statuses)
    assert of_metrics(one) == written
    read = read_metrics(written, one.metrics)
    assert {key: read.get(key, ERROR) for key in one.metrics} == {
        key: one.judged_of(key) for key in one.metrics
    }


def test_nothing_is_written_of_what_on_empty_makes_an_error() -> None:
    assert of_metrics(outcome(ERROR, statuses=dict.fromkeys(["avg:a", "n"], EMPTY))) != {}
    same = dict.fromkeys(["avg:a", "avg:b", "n"], EMPTY)
    assert of_metrics(outcome(ERROR, statuses=same, was_empty=True)) == {}


@pytest.mark.parametrize(
    ("groups", "written"),
    [
        ({"e": {"x": OK}, "w": {"x": OK}}, {}),
        ({"e": {"x": EMPTY}, "w": {"x": EMPTY}}, {"region": "Empty"}),
        (
            {"e": {"x": OK}, "w": {"x": ERROR}, "n": {"x": OK}},
            {"region": {"": "Ok", "w": "Error"}},
        ),
        (
            {"e": {"x": OK, "y": OK}, "w": {"x": OK, "y": ERROR}},
            {"region": {"": "Ok", "w": {"": "Ok", "y": "Error"}}},
        ),
        ({"w": {"x": OK, "y": ERROR}}, {"region": {"w": {"": "Ok", "y": "Error"}}}),
        ({}, {}),
    ],
)
def test_groups_that_differ(
    groups: Mapping[str, Mapping[str, Status]], written: Mapping[str, Any]
) -> None:
    one = outcome(OK, group_statuses={"region": {**groups, "left out": {"x": ERROR}}})
    assert of_groups(one, {"region": groups}) == written
    read = read_groups(written, {"region": groups}).get("region", {})
    for group, statuses in groups.items():
        assert {key: read.get(group, {}).get(key, OK) for key in statuses} == statuses


@pytest.mark.parametrize("junk", [None, 3, [], "Fine", {"": 7}, {"x": {"y": "Ok"}}, {"x": ["Ok"]}])
def test_what_others_wrote_says_nothing(junk: Any) -> None:
    assert read_metrics(junk, ["x"]) == {}
    assert read_groups(junk, {"x": {"g": ["y"]}}).get("x", {}).get("g", {}) == {}
    assert read_groups({"d": junk}, {"d": {"g": ["y"]}})["d"]["g"] == {}


def test_statuses_leave_with_their_numbers() -> None:
    many = {f"avg:{n}": float(n) for n in range(1_200)}
    one = replace(
        outcome(ERROR, statuses={**dict.fromkeys(many, OK), "avg:7": ERROR}),
        metrics=many,
        group_metrics={"region": {"e": {"x": 1.0}}},
        group_statuses={"region": {"e": {"x": OK}}},
    )
    entries = of_outcome(one)
    # There is no room for groups, and what is judged by its past keeps its numbers.
    assert {"dq/groups", "dq/group_statuses"}.isdisjoint(entries)
    assert entries["dq/metrics"] == many
    assert entries["dq/statuses"] == {"": "Ok", "avg:7": "Error"}
    few = of_outcome(replace(one, metrics={"avg:7": 7.0, "avg:8": 8.0}))
    assert few["dq/group_statuses"] == {"region": "Ok"}
    assert few["dq/groups"] == {"region": {"e": {"x": 1.0}}}
