"""What the index keeps of one evaluation: the numbers that were judged, and their bounds."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from dq_dagster.integration.event_log.codec import Record
from dq_dagster.integration.event_log.logged import LoggedEvaluation

# Low, high, soft low and soft high.
Four: TypeAlias = tuple[float | None, float | None, float | None, float | None]
_NAMES = ("min", "max", "soft_min", "soft_max")
_NOTHING: Four = (None, None, None, None)
_COLUMN = re.compile(r"^\w+:(.*?)(?: where .*)?$", re.DOTALL)
# Points of a chart: more columns than that are no chart.
_MOST = 50


@dataclass(frozen=True, slots=True)
class JudgedNumbers:
    """The number that was judged with its bounds; of several, all of them by name, as JSON."""

    value: float | None = None
    bounds: Four = _NOTHING
    many: str | None = None


def numbers_of(evaluation: LoggedEvaluation) -> JudgedNumbers:
    """Of checks that this library did not make, the only number among their entries, if any."""
    record = evaluation.record
    if record is None:
        found = [
            one for entry in evaluation.entries.values() if (one := _number(entry)) is not None
        ]
        return JudgedNumbers(found[0]) if len(found) == 1 else JudgedNumbers()
    values = {
        key: one
        for key in record.observed
        if (one := _number(record.metrics.get(key, record.derived.get(key)))) is not None
    }
    if len(values) == 1:
        [(key, value)] = values.items()
        return JudgedNumbers(value, _bounds(_bounds_for(record, _label(key))))
    if not values:
        return JudgedNumbers(None, _bounds(record.limits or record.bounds))
    return JudgedNumbers(None, _NOTHING, _written(record, values))


def read_many(written: str | None) -> dict[str, tuple[float, Four]]:
    """The values and bounds by name."""
    if not written:
        return {}
    return {
        name: (value, (bounds[0], bounds[1], bounds[2], bounds[3]))
        for name, (value, bounds) in json.loads(written).items()
    }


def _written(record: Record, values: Mapping[str, float]) -> str:
    labelled = {key: _label(key) or key for key in values}
    # Two metrics of one column differ in their keys.
    if len(set(labelled.values())) < len(labelled):
        labelled = {key: key for key in values}
    many = {
        label: (values[key], _bounds(_bounds_for(record, _label(key))))
        for key, label in list(labelled.items())[:_MOST]
    }
    return json.dumps(many, separators=(",", ":"))


def _bounds_for(record: Record, label: str) -> Mapping[str, Any]:
    """Where columns have bounds of their own, those of this one."""
    bounds = record.limits or record.bounds
    own = bounds.get(label)
    if isinstance(own, Mapping):
        return own
    if any(isinstance(one, Mapping) for one in bounds.values()):
        first = next(iter(bounds.values()))
        return first if len(bounds) == 1 and isinstance(first, Mapping) else {}
    return bounds


def _bounds(bounds: Mapping[str, Any]) -> Four:
    low, high, soft_low, soft_high = (_number(bounds.get(name)) for name in _NAMES)
    return low, high, soft_low, soft_high


def _label(key: str) -> str:
    """The column in a metric's key such as ``column_avg:amount``; nothing if it is about none."""
    found = _COLUMN.match(key)
    return found[1] if found else ""


def _number(value: Any) -> float | None:
    """As charts take it; None for what is no finite number."""
    if value is None or isinstance(value, bool):
        return None
    if type(value) is not int and not isinstance(value, float | int | Decimal | Fraction):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
