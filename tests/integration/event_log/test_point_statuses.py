"""What single numbers were judged, as the metadata of a result keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

import dq_dagster as dq
from dq_dagster.integration.checks.results import entries_of
from dq_dagster.integration.event_log.codec import Record
from dq_dagster.judging.judgement import Judgement, Status

OK, EMPTY, ERROR = Status.OK, Status.EMPTY, Status.ERROR
RULE = dq.ColumnAvgTypical(columns=["a", "b"], dimensions=["region"])


def outcome(status: Status, **fields: Any) -> dq.Outcome:
    metrics = {"avg:a": 1.0, "avg:b": 2.0, "n": 3}
    return dq.Outcome(RULE, Judgement(status, "so it is"), metrics=metrics, **fields)


def written_of(one: dq.Outcome) -> dict[str, Any]:
    return Record.of(one).encode()


def read(written: Mapping[str, Any]) -> Record:
    record = Record.decode(written)
    assert record is not None
    return record


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
    assert written_of(one).get("statuses", {}) == written
    found = read(written_of(one)).statuses
    assert {key: found.get(key, ERROR) for key in one.metrics} == {
        key: one.judged_of(key) for key in one.metrics
    }


def test_nothing_is_written_of_what_on_empty_makes_an_error() -> None:
    assert "statuses" in written_of(outcome(ERROR, statuses=dict.fromkeys(["avg:a", "n"], EMPTY)))
    same = dict.fromkeys(["avg:a", "avg:b", "n"], EMPTY)
    assert "statuses" not in written_of(outcome(ERROR, statuses=same, was_empty=True))


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
    numbers = {group: dict.fromkeys(statuses, 1) for group, statuses in groups.items()}
    one = outcome(
        OK,
        group_metrics={"region": numbers},
        group_statuses={"region": {**groups, "left out": {"x": ERROR}}},
    )
    assert written_of(one).get("group_statuses", {}) == written
    found = read(written_of(one)).group_statuses.get("region", {})
    for group, statuses in groups.items():
        assert {key: found.get(group, {}).get(key, OK) for key in statuses} == statuses


@pytest.mark.parametrize("junk", [3, [], "Fine", {"": 7}, {"x": {"y": "Ok"}}, {"x": ["Ok"]}])
def test_statuses_that_are_none_make_a_record_none(junk: Any) -> None:
    record = {"v": 1, "status": "Ok", "metrics": {"x": 1}, "groups": {"x": {"x": {"x": 1}}}}
    assert read(record).statuses == {}
    assert Record.decode({**record, "statuses": junk}) is None
    assert Record.decode({**record, "group_statuses": {"x": {"x": junk}}}) is None


def test_statuses_leave_with_their_numbers() -> None:
    many = {f"avg:{n}": float(n) for n in range(1_200)}
    one = replace(
        outcome(ERROR, statuses={**dict.fromkeys(many, OK), "avg:7": ERROR}),
        metrics=many,
        group_metrics={"region": {"e": {"x": 1.0}}},
        group_statuses={"region": {"e": {"x": OK}}},
    )
    entries = entries_of(one, Record.of(one).encode())["dq/record"]
    # There is no room for groups, and what is judged by its past keeps its numbers.
    assert {"groups", "group_statuses"}.isdisjoint(entries)
    assert entries["metrics"] == many
    assert entries["statuses"] == {"": "Ok", "avg:7": "Error"}
    few = replace(one, metrics={"avg:7": 7.0, "avg:8": 8.0})
    entries = entries_of(few, Record.of(few).encode())["dq/record"]
    assert entries["group_statuses"] == {"region": "Ok"}
    assert entries["groups"] == {"region": {"e": {"x": 1.0}}}
