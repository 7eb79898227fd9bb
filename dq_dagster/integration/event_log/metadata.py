"""The one way into Dagster's metadata: plain, strict JSON, small, and free of row values."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

import dagster as dg

from dq_dagster.evaluation.outcome import Outcome, plain
from dq_dagster.integration.event_log.codec import GROUP_STATUSES, GROUPS, entries_of, only
from dq_dagster.integration.event_log.views import (
    column_rows,
    group_rows,
    history_rows,
    observed_value,
    schema_rows,
)

STATUS = "dq/status"
# That the status stands for an Empty: what could not be judged yet is no value that was wrong.
WAS_EMPTY = "dq/was_empty"
OBSERVED = "dq/observed"
BOUNDS = "dq/bounds"
EXPECTED = "dq/expected"
ROWS = "dq/rows"
FAILED_ROWS = "dq/failed_rows"
COLUMNS = "dq/columns"
DIMENSIONS = "dq/dimensions"
SCHEMA = "dq/schema"
SLICE = "dq/slice"
DATA = "dq/data"
TIME = "dq/time"
SERIES = "dq/series"
HISTORY = "dq/history"
CHART = "dq/chart"
STATES = "dq/states"
# What its author called the rule, where that is no name for a check.
RULE = "dq/rule"
RULE_TYPE = "dq/type"
ERROR = "dq/error"
QUALITY_DIMENSION = "dq/quality_dimension"
TAGS = "dq/tags"
OWNERS = "dq/owners"

WHOLE_DATASET = "whole dataset"
_TABLES = {COLUMNS, DIMENSIONS, SCHEMA, HISTORY}
# What is left out first where there is too much: what people look at before what later checks
# learn from, which nobody would miss until a rule does not get beyond learning.
_LEFT_OUT = (CHART, HISTORY, COLUMNS, DIMENSIONS, STATES, SCHEMA, OBSERVED, BOUNDS, EXPECTED)
_LEFT_OUT_LAST = (GROUPS, GROUP_STATUSES)
# For the sake of pages that list many results, and of reading thousands of them at once. Nothing
# breaks beyond it, so that numbers may take more room.
_MOST_BYTES = 16_384
# What breaks: MySQL holds a result in a text of 65,535 bytes; SQLite and Postgres have no limit.
# From here on, only the numbers that are judged themselves are kept.
_MOST_BYTES_OF_NUMBERS = 48_000
_LONGEST_EXPECTED = 500


def of_outcome(
    outcome: Outcome,
    *,
    data: str | None = None,
    time: datetime | None = None,
    series: str = "",
    states: Mapping[str, Any] | None = None,
    chart: str = "",
) -> dict[str, Any]:
    """What Dagster keeps of an outcome: for people to read, and for later checks to learn from.

    ``data`` says which state of the data was looked at, ``time`` what time its partition is of,
    and ``series`` which other partitions it is compared with. ``chart`` is a picture in Markdown.
    """
    entries: dict[str, Any] = {
        **least_of(outcome),
        QUALITY_DIMENSION: outcome.rule.quality_dimension,
    }
    found = outcome.judgement
    if found.observed is not None:
        entries[OBSERVED] = observed_value(found.observed)
    if found.rows is not None:
        entries[ROWS] = found.rows
    if found.failed_rows is not None and found.failed_rows != found.observed and found.rows:
        entries[FAILED_ROWS] = found.failed_rows
    if found.expected:
        entries[EXPECTED] = found.expected
    if found.bounds:
        entries[BOUNDS] = plain(found.bounds)
    if outcome.rule.owners:
        entries[OWNERS] = ", ".join(outcome.rule.owners)
    if "error" in found.details:
        entries[ERROR] = str(found.details["error"])
    entries |= _tables(outcome)
    entries |= _given({CHART: chart})
    entries |= numbers_of(outcome, data=data, time=time, series=series, states=states)
    return _for_dagster(_within_limit(entries, _judged(outcome)))


def numbers_of(
    outcome: Outcome,
    *,
    data: str | None = None,
    time: datetime | None = None,
    series: str = "",
    states: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What later checks read: no table and no picture, so that nothing can be wrong with it."""
    origin = {DATA: data, TIME: time.isoformat() if time else None, SERIES: series}
    further = {STATES: dict(states or {}), WAS_EMPTY: outcome.was_empty}
    return {**least_of(outcome), **entries_of(outcome), **_given(origin), **_given(further)}


def least_of(outcome: Outcome) -> dict[str, str]:
    """What can be told of any outcome."""
    return {
        STATUS: outcome.status.value,
        RULE_TYPE: outcome.rule.type,
        SLICE: outcome.partition or WHOLE_DATASET,
    }


def _given(entries: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entries.items() if value}


def _tables(outcome: Outcome) -> dict[str, Any]:
    """The details that are shown as tables."""
    judgement = outcome.judgement
    tables = {
        COLUMNS: column_rows(judgement.columns),
        DIMENSIONS: group_rows(outcome.dimensions),
        SCHEMA: schema_rows(judgement.details.get("schema", ())),
        HISTORY: history_rows(judgement),
    }
    # Dagster refuses a table without rows, and the whole result with it.
    return _given(tables)


def _judged(outcome: Outcome) -> set[str]:
    """The keys of the metrics that the verdict is about, and of those compared with their past."""
    found = [outcome.judgement, *outcome.judgement.columns.values()]
    by_past = {one.typical.metric for one in found if one.typical is not None}
    return by_past | set(outcome.observed_metrics)


def _within_limit(entries: dict[str, Any], judged: Collection[str]) -> dict[str, Any]:
    """Leaves out optional entries until the rest is small enough for an event log.

    ``judged`` are the metrics without which a rule that compares with its past could not go on.
    They are kept, whatever their size.
    """
    for optional in _LEFT_OUT + _LEFT_OUT_LAST:
        if _size(entries) <= _MOST_BYTES:
            return entries
        if optional == EXPECTED and EXPECTED in entries:
            entries[EXPECTED] = _shortened(entries[EXPECTED])
        else:
            entries.pop(optional, None)
    return entries if _size(entries) <= _MOST_BYTES_OF_NUMBERS else only(judged, entries)


def _size(entries: Mapping[str, Any]) -> int:
    return len(json.dumps(entries))


def _shortened(words: str) -> str:
    return words if len(words) <= _LONGEST_EXPECTED else f"{words[: _LONGEST_EXPECTED - 1]}…"


def _for_dagster(entries: dict[str, Any]) -> dict[str, Any]:
    """Tables and pictures as what Dagster shows as such."""
    for table in _TABLES & entries.keys():
        records = [dg.TableRecord(row) for row in entries[table]]
        entries[table] = dg.MetadataValue.table(records)
    if CHART in entries:
        entries[CHART] = dg.MetadataValue.md(entries[CHART])
    return entries
