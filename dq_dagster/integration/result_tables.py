"""What an outcome says in tables: columns and groups, in cells that Dagster takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dq_dagster.evaluation.html import NO_VALUE, group_name
from dq_dagster.evaluation.plain import plain
from dq_dagster.judging.wording import show

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
