"""The record of an outcome: written once, read back as it was, and nothing if it is none."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import dagster as dg
import pytest

import dq_dagster as dq
from dq_dagster.evaluation.outcome import GroupRow
from dq_dagster.integration.checks.results import entries_of
from dq_dagster.integration.event_log.codec import RECORD, VERSION, Record, StatesRecord
from dq_dagster.integration.event_log.history import EventLogHistory, stored_history
from dq_dagster.integration.event_log.pager import evaluations
from dq_dagster.integration.event_log.views import charts_of
from dq_dagster.judging.evidence import PastValue
from dq_dagster.judging.judgement import Judgement, Status
from dq_dagster.judging.typical import Typical
from dq_dagster.metrics.value_codec import NoValue

CHECK = dg.AssetCheckKey(dg.AssetKey("orders"), "average")
FULL = Record(
    Status.ERROR,
    was_empty=True,
    rule_type="column_avg_typical",
    metrics={"avg:a": Decimal("1.50"), "avg:b": NoValue.ABSENT, "n": 2**70},
    derived={"age:at": 3.5},
    observed=("avg:a", "avg:b", "age:at"),
    statuses={"avg:a": Status.OK, "avg:b": Status.ERROR, "n": Status.OK},
    groups={"region": {'"east"': {"avg:a": -math.inf}, "null": {"avg:a": None}}},
    group_statuses={"region": {'"east"': {"avg:a": Status.OK}, "null": {"avg:a": Status.EMPTY}}},
    bounds={"a": {"min": date(2024, 3, 1)}, "b": {"max": 2.5}},
    rows=0,
    failed_rows=0,
    error="RuleFailure",
    data="17",
    time=datetime(2024, 3, 1, tzinfo=UTC),
    series="DE",
    states=StatesRecord("io by day", {"n": 3}, 2, 17, "f00", {"2024-03-01": (17, {"n": 1})}),
    limits={"a": {"max": 3}, "b": {"max": 2.5}},
)


def through_json(record: Record) -> Any:
    """As an event log keeps it: strict JSON, in whatever order."""
    return json.loads(json.dumps(record.encode(), allow_nan=False, sort_keys=True))


def test_a_record_is_read_as_it_was_written() -> None:
    assert Record.decode(through_json(FULL)) == FULL
    assert FULL.judged is Status.EMPTY


def test_what_says_nothing_is_not_written() -> None:
    bare = Record(Status.OK)
    assert through_json(bare) == {"v": VERSION, "status": "Ok"}
    assert Record.decode(through_json(bare)) == bare


def test_a_key_is_written_once_and_what_was_observed_stands_apart() -> None:
    record = Record(Status.OK, metrics={"b": 1, "a": 2, "n": 3}, observed=("b", "a"))
    written = through_json(record)
    assert (written["observed"], written["metrics"]) == ({"a": 2, "b": 1}, {"n": 3})
    read = Record.decode(written)
    assert read is not None
    assert (read.metrics, set(read.observed)) == ({"a": 2, "b": 1, "n": 3}, {"a", "b"})


GOOD = {"v": 1, "status": "Ok", "observed": {"x": 1}, "groups": {"d": {"g": {"x": 1}}}}
BAD: dict[str, Any] = {
    "nothing": None,
    "a text": "Ok",
    "a list": [1, "Ok"],
    "no version": {"status": "Ok"},
    "a newer version": {**GOOD, "v": 2},
    "a version in words": {**GOOD, "v": "1"},
    "no status": {"v": 1, "observed": {"x": 1}},
    "an unknown status": {**GOOD, "status": "Fine"},
    "a status that is a list": {**GOOD, "status": ["Ok"]},
    **{
        f"{part} {junk!r}": {**GOOD, part: junk}
        for part, junk in {
            "observed": [1],
            "metrics": 7,
            "derived": "x",
            "groups": {"d": [1]},
            "group_statuses": {"d": "Fine"},
            "statuses": {"x": 7},
            "bounds": 3,
            "rows": "many",
            "failed_rows": True,
            "error": {},
            "data": 17,
            "time": "yesterday",
            "series": 1,
            "states": {"parts": {"a": [1]}},
        }.items()
    },
}


@pytest.mark.parametrize("written", BAD.values(), ids=BAD)
def test_what_is_no_record_of_this_version_is_nothing_on_record(written: Any) -> None:
    assert Record.decode(GOOD) is not None
    assert Record.decode(written) is None


def test_single_values_that_cannot_be_read_cost_only_themselves() -> None:
    found = Record.decode({**GOOD, "metrics": {"y": "?", "z": [1], "n": 2}})
    assert found is not None
    assert found.metrics == {"x": 1, "n": 2}


def store(instance: dg.DagsterInstance, written: Any, *, passed: bool = True) -> None:
    entries = {} if written is None else {RECORD: dg.MetadataValue.json(written)}
    instance.report_runless_asset_event(
        dg.AssetCheckEvaluation(
            asset_key=CHECK.asset_key, check_name=CHECK.name, passed=passed, metadata=entries
        )
    )


def test_readers_go_on_past_what_they_cannot_read() -> None:
    with dg.instance_for_test() as instance:
        store(instance, GOOD)
        store(instance, {**GOOD, "v": 2, "observed": {"x": 99}}, passed=False)
        store(instance, None)
        store(instance, [1, 2])
        stored = list(evaluations(instance, CHECK, first=1, most=10))
        assert [one.record is None for one in stored] == [True, True, True, False]
        assert [one.status for one in stored] == ["Ok", "Ok", "Error", "Ok"]
        rule = dq.RecordCountTypical(name="average")
        history = EventLogHistory(
            instance, CHECK.asset_key, {("average", False): "average"}, (), None
        )
        past = list(history.of(rule, by_partition=False))
        assert [one.metrics for one in past] == [{}, {}, {}, {"x": 1}]
        assert stored_history(instance, CHECK).observed == ("x",)


@pytest.mark.parametrize("count", [0, 5])
def test_people_see_at_most_seven_entries(count: int) -> None:
    start = datetime(2024, 3, 1, tzinfo=UTC)
    past = [PastValue(100 + n % 3, start.replace(day=n + 1)) for n in range(20)]
    typical = Typical(learning_period=3, soft_iqr_factor=0.1)
    judged = {
        name: typical.judge(value, past, start.replace(month=4), what="It")
        for name, value in {"a": 101, "b": 102.5}.items()
    }
    rule = dq.ColumnMaxTypical(columns=["a", "b"], dimensions="region", owners="me", tags=["t"])
    verdict = Judgement.of_columns(judged)
    warned = replace(
        verdict, status=Status.WARNING, observed=102.5, expected="typical", rows=100, failed_rows=3
    )
    groups = [GroupRow(f"g{n}", Status.OK, 3) for n in range(count)]
    outcome = dq.Outcome(rule, warned, dimensions={"region": groups})
    entries = entries_of(outcome, Record.of(outcome).encode(), chart=charts_of([outcome])[0])
    assert list(entries) == [
        "dq/status",
        "dq/observed",
        "dq/expected",
        "dq/rows",
        "dq/dimensions" if count else "dq/columns",
        "dq/chart",
        "dq/history",
        RECORD,
    ]
