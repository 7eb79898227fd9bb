"""What people see of an outcome in Dagster: at most seven entries, tables and a chart included."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from importlib.util import find_spec
from typing import Any

from dq_dagster.charts.chart import Dot, draw, short
from dq_dagster.evaluation.html import NO_VALUE, group_name
from dq_dagster.evaluation.outcome import Outcome, plain
from dq_dagster.judging.judgement import BADNESS, Status
from dq_dagster.judging.schemas import OK
from dq_dagster.judging.wording import show

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


def column_rows(columns: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "column": name,
            "status": plain(summary["status"]),
            "observed": _cell(summary.get("observed")),
            "message": str(summary["message"]),
        }
        for name, summary in list(columns.items())[:_MOST_COLUMNS]
    ]


def group_rows(dimensions: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row a group; a dimension that could not be broken down says why in its only row."""
    rows = []
    for dimension, groups in dimensions.items():
        listed = groups if isinstance(groups, list) else [{"group": groups}]
        rows += [
            {
                "dimension": dimension,
                "group": group_name(group),
                "status": plain(group.get("status", "")),
                "rows": _cell(group.get("rows", 0)),
                "failed rows": _cell(group.get("failed_rows")),
                "observed": str(_cell(group.get("observed"))),
                "impact": _cell(group.get("impact", 0.0)),
            }
            for group in listed
        ]
    return rows


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


def history_rows(details: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The values that were compared with, the newest first; of several columns, some of each."""
    judged = _judged(details)
    most = max(1, MOST_ROWS // max(1, len(judged)))
    rows = [
        {"column": name, **row} if name else row
        for name, one in judged.items()
        for row in _rows(one["typical"])[:most]
    ]
    return rows[:MOST_ROWS]


def charts_of(outcomes: Sequence[Outcome]) -> dict[int, str]:
    """Pictures as Markdown, by the place of the outcome; the worst outcomes get theirs first.

    Without matplotlib there is none.
    """
    if find_spec("matplotlib") is None:
        return {}
    worst_first = sorted(range(len(outcomes)), key=lambda n: -BADNESS[outcomes[n].status])
    left = MOST_CHARTS
    charts: dict[int, str] = {}
    for place in worst_first:
        pictures = _pictures(outcomes[place], most=min(left, _CHARTS_OF_ONE))
        left -= len(pictures)
        if pictures:
            charts[place] = "\n\n".join(map(_markdown, pictures))
    return charts


def _judged(details: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """What was judged by its past, by column ("" if there is but one), the worst first."""
    if "typical" in details:
        return {"": details} if "values" in details["typical"] else {}
    columns = {
        name: summary
        for name, summary in details.get("columns", {}).items()
        if "values" in summary.get("typical", {})
    }
    return dict(sorted(columns.items(), key=lambda item: -BADNESS[item[1]["status"]]))


def _rows(typical: Mapping[str, Any]) -> list[dict[str, Any]]:
    partitions = _of_partitions(typical)
    return [
        {
            "partition" if partitions else "time": _when(point, partitions=partitions),
            "value": plain(point["value"]),
        }
        for point in reversed(typical["values"])
    ]


def _of_partitions(typical: Mapping[str, Any]) -> bool:
    """Whether the values are of one partition each, rather than of one slice again and again."""
    keys = [point.get("partition") for point in typical["values"]]
    return None not in keys and (len(set(keys)) == len(keys) > 1)


def _when(point: Mapping[str, Any], *, partitions: bool) -> str:
    if partitions:
        return str(point["partition"])
    return datetime.fromisoformat(point["at"]).strftime("%Y-%m-%d %H:%M:%S %Z")


def _pictures(outcome: Outcome, *, most: int) -> list[bytes]:
    alone = {"status": outcome.status, "observed": outcome.observed}
    try:
        judged = list(_judged(outcome.details).items())[:most]
        drawn = [
            _drawn(name, {**alone, **one}, partition=outcome.partition) for name, one in judged
        ]
    except Exception:  # noqa: BLE001 (a picture must not cost a check its result)
        _log.warning("The chart of '%s' could not be drawn.", outcome.rule.name, exc_info=True)
        return []
    return [picture for picture in drawn if picture is not None]


def _drawn(name: str, one: Mapping[str, Any], *, partition: str | None) -> bytes | None:
    typical, bounds = one["typical"], one["typical"]["bounds"]
    by_partition = _of_partitions(typical)
    dots = [
        Dot(
            datetime.fromisoformat(point["at"]),
            point["value"],
            partition=point.get("partition") if by_partition else None,
        )
        for point in typical["values"]
    ]
    last = Dot(
        datetime.fromisoformat(typical["at"]),
        one["observed"],
        one["status"],
        bounds,
        partition if by_partition else None,
    )
    low, high = short(bounds["min"]), short(bounds["max"])
    words = f"typical: {low} to {high}" if low != high else f"typical: about {low}"
    title = f"{name}, {words}" if 0 < len(name) <= _LONGEST_NAME else words
    by_time = by_partition or typical["unit"] == "days"
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
CHART = "dq/chart"
HISTORY = "dq/history"

# Where Dagster's own word says something else: that a check has passed, or that it failed.
_OWN_WORDS = (Status.EMPTY, Status.WARNING)
# The first one that there is becomes the table: groups are declared, columns are just there.
_BREAKDOWNS: Sequence[tuple[str, str, Callable[[Any], list[dict[str, Any]]]]] = (
    ("schema", SCHEMA, schema_rows),
    ("dimensions", DIMENSIONS, group_rows),
    ("columns", COLUMNS, column_rows),
)


def shown(outcome: Outcome, *, chart: str = "") -> dict[str, Any]:
    """The entries as plain data, tables as lists of rows; ``chart`` is a picture in Markdown."""
    details = outcome.details
    history, breakdown = history_rows(details), _breakdown(details)
    entries: dict[str, Any] = {}
    if outcome.status in _OWN_WORDS:
        entries[STATUS] = outcome.status.value
    if outcome.observed is not None:
        entries[OBSERVED] = observed_value(outcome.observed)
    if outcome.expected:
        entries[EXPECTED] = outcome.expected
    if outcome.rows is not None:
        entries[ROWS] = outcome.rows
    failed = outcome.failed_rows
    # What is judged by its past has no rows that break a rule.
    if failed is not None and failed != outcome.observed and outcome.rows and not history:
        entries[FAILED_ROWS] = failed
    entries |= breakdown
    if chart:
        entries[CHART] = chart
    if history:
        entries[HISTORY] = history
    return entries


def _breakdown(details: Mapping[str, Any]) -> dict[str, Any]:
    for name, key, rows_of in _BREAKDOWNS:
        # Dagster refuses a table without rows, and the whole result with it.
        if name in details and (rows := rows_of(details[name])):
            return {key: rows}
    return {}
