"""What Dagster keeps of the comparison of two schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dq_dagster.judging.schemas import OK

_MOST_ROWS = 100
_MOST_BYTES = 12_000
_LONGEST_CELL = 200


def schema_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows in their order; of a wide table those that are not as expected come first."""
    kept: list[dict[str, Any]] = []
    room = _MOST_BYTES
    for row in sorted(rows, key=lambda row: row["verdict"] == OK)[:_MOST_ROWS]:
        record = {name: _cell(value) for name, value in row.items()}
        room -= len(json.dumps(record))
        if room < 0:
            break
        kept.append(record)
    return sorted(kept, key=lambda record: int(record["index"]))


def _cell(value: Any) -> str | int:
    if isinstance(value, int):
        return value
    text = str(value)
    return text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 1]}…"
