"""What people see of an outcome in Dagster: a few entries, tables and a chart included."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from dq_dagster.charts.chart import Dot, draw, short
from dq_dagster.evaluation.html import NO_VALUE, group_name
from dq_dagster.evaluation.outcome import GroupTable, Outcome, plain
from dq_dagster.judging.evidence import PastValue
from dq_dagster.judging.judgement import BADNESS, Judgement, Status
from dq_dagster.judging.schemas import OK
from dq_dagster.judging.typical import TypicalFinding
from dq_dagster.judging.wording import show
from dq_dagster.metrics.conditions import Sample

_MOST_ROWS = 100
_MOST_BYTES = 12_000
_LONGEST_CELL = 200


def schema_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows in their order; of a wide table those that are not as expected come first."""
    kept: list[dict[str, Any]] = []
    room = _MOST_BYTES
    for row in sorted(rows, key=lambda row: row["verdict"] == OK)[:_MOST_ROWS]:
        record = {name: _schema_cell(value) for name, value in row.items()}
        room -= len(json.dumps(record))
        if room < 0:
            break
        kept.append(record)
    return sorted(kept, key=lambda record: int(record["index"]))


def _schema_cell(value: Any) -> str | int:
    if isinstance(value, int):
        return value
    text = str(value)
    return text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 1]}…"


_MOST_COLUMNS = 50


def observed_value(value: Any) -> Any:
    """Numbers stay numbers, which Dagster plots; text is described, never quoted."""
    if isinstance(value, Mapping):
        return {str(name): observed_value(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [observed_value(one) for one in value]
    return show(value) if isinstance(value, str) else plain(value)


def column_rows(columns: Mapping[str, Judgement]) -> list[dict[str, Any]]:
    return [
        {
            "column": name,
            "status": column.status.value,
            "observed": _cell(column.observed),
            "message": column.message,
        }
        for name, column in list(columns.items())[:_MOST_COLUMNS]
    ]


def sample_rows(samples: Sequence[Sample]) -> list[dict[str, Any]]:
    """One row a value, or a combination of values."""
    return [
        {
            "column": ", ".join(sample.columns),
            "value": ", ".join(sample.texts()),
            "rows": sample.rows,
        }
        for sample in samples
    ]


def group_rows(dimensions: Mapping[str, GroupTable]) -> list[dict[str, Any]]:
    """One row a group; a dimension that could not be broken down says why in its only row."""
    rows = []
    for dimension, groups in dimensions.items():
        if isinstance(groups, str):
            rows.append(_group_row(dimension, groups))
            continue
        rows += [
            _group_row(
                dimension,
                group_name(group),
                status=group.status.value,
                rows=group.rows,
                failed_rows=_cell(group.failed_rows),
                observed=str(_cell(group.observed)),
                impact=group.impact,
            )
            for group in groups
        ]
    return rows


def _group_row(
    dimension: str,
    group: str,
    *,
    status: str = "",
    rows: int = 0,
    failed_rows: str | int | float | bool = "",
    observed: str = "",
    impact: float = 0.0,
) -> dict[str, Any]:
    return {
        "dimension": dimension,
        "group": group,
        "status": status,
        "rows": rows,
        "failed rows": failed_rows,
        "observed": observed,
        "impact": impact,
    }


def _cell(value: Any) -> str | int | float | bool:
    """Tables of Dagster hold nothing but these, and refuse the whole result otherwise."""
    seen = "" if value is None else observed_value(value)
    return seen if isinstance(seen, str | int | float) else _in_words(seen)


def _in_words(seen: Any) -> str:
    if isinstance(seen, Mapping):
        return ", ".join(f"{name}: {_in_words(one)}" for name, one in seen.items())
    if isinstance(seen, list):
        return ", ".join(map(_in_words, seen))
    return NO_VALUE if seen is None else str(seen)


MOST_ROWS = 30
# A picture takes some 50 milliseconds, so that a backfill of many partitions gets no more of them.
MOST_CHARTS = 40
_CHARTS_OF_ONE = 2
_LONGEST_NAME = 20
_log = logging.getLogger(__name__)


def history_rows(judgement: Judgement) -> list[dict[str, Any]]:
    """The values that were compared with, the newest first; of several columns, some of each."""
    judged = _judged(judgement)
    most = max(1, MOST_ROWS // max(1, len(judged)))
    rows = [
        {"column": name, **row} if name else row
        for name, (_, finding) in judged.items()
        for row in _rows(finding)[:most]
    ]
    return rows[:MOST_ROWS]


def charts_of(outcomes: Sequence[Outcome]) -> dict[int, str]:
    """Pictures as Markdown, by the place of the outcome; the worst outcomes get theirs first.

    Without matplotlib there is none.
    """
    if find_spec("matplotlib") is None:
        return {}
    worst_first = sorted(range(len(outcomes)), key=lambda n: -BADNESS[outcomes[n].judgement.status])
    left = MOST_CHARTS
    charts: dict[int, str] = {}
    for place in worst_first:
        pictures = _pictures(outcomes[place], most=min(left, _CHARTS_OF_ONE))
        left -= len(pictures)
        if pictures:
            charts[place] = "\n\n".join(map(_markdown, pictures))
    return charts


def _judged(judgement: Judgement) -> dict[str, tuple[Judgement, TypicalFinding]]:
    """What was judged by its past, by column ("" if there is but one), the worst first."""
    columns = judgement.columns or {"": judgement}
    worst_first = sorted(columns.items(), key=lambda item: -BADNESS[item[1].status])
    return {
        name: (one, one.typical)
        for name, one in worst_first
        if one.typical is not None and one.typical.bounds
    }


def _rows(finding: TypicalFinding) -> list[dict[str, Any]]:
    points = finding.points
    by_partition = _of_partitions(points)
    return [
        {
            "partition" if by_partition else "time": (
                str(point.partition) if by_partition else point.at.strftime("%Y-%m-%d %H:%M:%S %Z")
            ),
            "value": plain(point.value),
        }
        for point in reversed(points)
    ]


def _of_partitions(points: Sequence[PastValue]) -> bool:
    """Whether the values are of one partition each, rather than of one slice again and again."""
    keys = [point.partition for point in points]
    return None not in keys and (len(set(keys)) == len(keys) > 1)


def _pictures(outcome: Outcome, *, most: int) -> list[bytes]:
    try:
        judged = list(_judged(outcome.judgement).items())[:most]
        drawn = [
            _drawn(name, one, finding, partition=outcome.partition)
            for name, (one, finding) in judged
        ]
    except Exception:  # noqa: BLE001 (a picture must not cost a check its result)
        _log.warning("The chart of '%s' could not be drawn.", outcome.rule.name, exc_info=True)
        return []
    return [picture for picture in drawn if picture is not None]


def _drawn(
    name: str, one: Judgement, finding: TypicalFinding, *, partition: str | None
) -> bytes | None:
    points, bounds = finding.points, finding.bounds
    by_partition = _of_partitions(points)
    dots = [
        Dot(point.at, point.value, partition=point.partition if by_partition else None)
        for point in points
    ]
    here = partition if by_partition else None
    last = Dot(finding.at, one.observed, one.status, bounds, here)
    low, high = short(bounds["min"]), short(bounds["max"])
    words = f"typical: {low} to {high}" if low != high else f"typical: about {low}"
    title = f"{name}, {words}" if 0 < len(name) <= _LONGEST_NAME else words
    by_time = by_partition or finding.parameters.period_unit == "days"
    return draw([*dots, last], title=title, by_time=by_time)


def _markdown(picture: bytes) -> str:
    return f"![history](data:image/png;base64,{base64.b64encode(picture).decode()})"


# In this order. Of the three tables there is one at most.
STATUS = "dq/status"
OBSERVED = "dq/observed"
EXPECTED = "dq/expected"
ROWS = "dq/rows"
FAILED_ROWS = "dq/failed_rows"
SCHEMA = "dq/schema"
DIMENSIONS = "dq/dimensions"
COLUMNS = "dq/columns"
SAMPLES = "dq/samples"
CHART = "dq/chart"
HISTORY = "dq/history"

# Where Dagster's own word says something else: that a check has passed, or that it failed.
_OWN_WORDS = (Status.EMPTY, Status.WARNING)


def shown(outcome: Outcome, *, chart: str = "") -> dict[str, Any]:
    """The entries as plain data, tables as lists of rows; ``chart`` is a picture in Markdown."""
    judgement = outcome.judgement
    history = history_rows(judgement)
    entries: dict[str, Any] = {}
    if judgement.status in _OWN_WORDS:
        entries[STATUS] = judgement.status.value
    if judgement.observed is not None:
        entries[OBSERVED] = observed_value(judgement.observed)
    if judgement.expected:
        entries[EXPECTED] = judgement.expected
    if judgement.rows is not None:
        entries[ROWS] = judgement.rows
    # What is judged by its past has no rows that break a rule; and no number is plotted twice.
    failed = judgement.failed_rows
    if failed is not None and failed != judgement.observed and judgement.rows and not history:
        entries[FAILED_ROWS] = failed
    entries |= _breakdown(outcome)
    if outcome.samples:
        entries[SAMPLES] = sample_rows(outcome.samples)
    if chart:
        entries[CHART] = chart
    if history:
        entries[HISTORY] = history
    return entries


def _breakdown(outcome: Outcome) -> dict[str, Any]:
    """One table at most: groups are there on purpose, columns by themselves."""
    judgement = outcome.judgement
    tables = {
        SCHEMA: schema_rows(judgement.details["schema"]) if "schema" in judgement.details else [],
        DIMENSIONS: group_rows(outcome.dimensions),
        COLUMNS: column_rows(judgement.columns),
    }
    # Dagster refuses a table without rows, and the whole result with it.
    return next(({key: rows} for key, rows in tables.items() if rows), {})
