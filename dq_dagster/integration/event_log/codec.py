"""What later checks read of an outcome, as entries of metadata, and back.

All that machines read is written and read here; what people read is made in ``metadata``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.judging.judgement import Status
from dq_dagster.metrics.value_codec import decoded, encode

_OTHERS = ""


def of_metrics(outcome: Outcome) -> dict[str, Any]:
    """By metric key; nothing where all have the status of the evaluation."""
    written = _of_each({key: outcome.judged_of(key) for key in outcome.metrics})
    if written == outcome.judged.value:
        return {}
    return {_OTHERS: written} if isinstance(written, str) else written


def of_groups(outcome: Outcome, kept: Mapping[str, Iterable[str]]) -> dict[str, Any]:
    """Of the groups whose numbers are kept, by dimension; only where not all are the same."""
    written = {
        dimension: _in_short(
            {group: _of_each(outcome.group_statuses[dimension][group]) for group in groups}
        )
        for dimension, groups in kept.items()
        if dimension in outcome.group_statuses
    }
    same = outcome.judged.value
    return {dimension: words for dimension, words in written.items() if words not in (same, {})}


def read_metrics(written: Any, metrics: Iterable[str]) -> dict[str, Status]:
    """By metric key; without what says nothing, or not in our words."""
    found = {key: _word_for(written, key) for key in metrics}
    known = {status.value: status for status in Status}
    return {
        key: known[word] for key, word in found.items() if isinstance(word, str) and word in known
    }


def read_groups(
    written: Any, groups: Mapping[str, Mapping[str, Iterable[str]]]
) -> dict[str, dict[str, dict[str, Status]]]:
    """By dimension, group and metric key, for the numbers that are there."""
    by_dimension = written if isinstance(written, Mapping) else {}
    return {
        dimension: {
            group: read_metrics(_word_for(by_dimension[dimension], group), metrics)
            for group, metrics in some.items()
        }
        for dimension, some in groups.items()
        if dimension in by_dimension
    }


def _of_each(statuses: Mapping[str, Status]) -> str | dict[str, Any]:
    return _in_short({key: status.value for key, status in statuses.items()})


def _in_short(words: Mapping[str, str | dict[str, Any]]) -> str | dict[str, Any]:
    counts = Counter(word for word in words.values() if isinstance(word, str))
    if not counts:
        return dict(words)
    [(usual, _)] = counts.most_common(1)
    others = {key: word for key, word in words.items() if word != usual}
    return {_OTHERS: usual, **others} if others else usual


def _word_for(written: Any, key: str) -> Any:
    if isinstance(written, Mapping):
        return written.get(key, written.get(_OTHERS))
    return written


METRICS = "dq/metrics"
GROUPS = "dq/groups"
# What single numbers were judged, where that is not the status of the evaluation.
STATUSES = "dq/statuses"
GROUP_STATUSES = "dq/group_statuses"
# What the verdict is about, where that is not the first of the metrics: places among these in
# alphabetical order, which Dagster brings them into, and of what is no metric, key and value.
OBSERVED_METRICS = "dq/observed_metrics"

_MOST_BYTES_OF_GROUPS = 6_000


@dataclass(frozen=True, slots=True)
class Values:
    """What the record of an evaluation holds of metrics; see ``Recorded``."""

    metrics: Mapping[str, Any] = field(default_factory=dict)
    groups: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    statuses: Mapping[str, Status] = field(default_factory=dict)
    group_statuses: Mapping[str, Mapping[str, Mapping[str, Status]]] = field(default_factory=dict)
    observed: tuple[str, ...] = ()


def entries_of(outcome: Outcome) -> dict[str, Any]:
    """The values of the slice and of its groups, and what they were judged."""
    groups = _groups(outcome.group_metrics)
    entries = {
        METRICS: _encoded(outcome.metrics),
        OBSERVED_METRICS: _observed(outcome),
        STATUSES: of_metrics(outcome),
        GROUPS: groups,
        GROUP_STATUSES: of_groups(outcome, groups),
    }
    return {key: value for key, value in entries.items() if value}


def metrics_in(entries: Mapping[str, Any]) -> dict[str, Any]:
    """The values of metrics by key, without anything that somebody else wrote."""
    return decoded(entries.get(METRICS))


def values_in(entries: Mapping[str, Any]) -> Values:
    """What was recorded; nothing of what somebody else wrote."""
    metrics = metrics_in(entries)
    observed = _read_observed(entries)
    groups = {
        str(dimension): {str(group): decoded(some) for group, some in _mapping(groups).items()}
        for dimension, groups in _mapping(entries.get(GROUPS)).items()
    }
    return Values(
        {**metrics, **observed},
        groups,
        read_metrics(entries.get(STATUSES), metrics),
        read_groups(entries.get(GROUP_STATUSES), groups),
        tuple(observed),
    )


def only(keys: Collection[str], entries: Mapping[str, Any]) -> dict[str, Any]:
    """The entries with the values of these metrics and no others."""
    every: Mapping[str, Any] = entries.get(METRICS, {})
    metrics = {key: one for key, one in every.items() if key in keys}
    if OBSERVED_METRICS not in entries:
        return {**entries, METRICS: metrics}
    names, places = sorted(every), {key: place for place, key in enumerate(sorted(metrics))}
    observed = [
        places[names[one]] if isinstance(one, int) else one
        for one in entries[OBSERVED_METRICS]
        if not isinstance(one, int) or names[one] in places
    ]
    return {**entries, METRICS: metrics, OBSERVED_METRICS: observed}


def _encoded(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: encode(value) for key, value in values.items()}


def _groups(dimensions: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """The numbers of each group, the largest first, as far as there is room."""
    kept: dict[str, dict[str, Any]] = {}
    room = _MOST_BYTES_OF_GROUPS
    for dimension, groups in dimensions.items():
        kept[dimension] = {}
        for group, numbers in groups.items():
            written = _encoded(numbers)
            room -= len(json.dumps([group, written]))
            if room < 0:
                return kept
            kept[dimension][group] = written
    return kept


def _observed(outcome: Outcome) -> list[Any]:
    """Places among the metrics, keys with values of others; nothing where it is the first one."""
    names = sorted(outcome.metrics)
    if list(outcome.observed_metrics) == names[:1]:
        return []
    places = {key: place for place, key in enumerate(names)}
    return [
        places.get(key, [key, encode(value)]) for key, value in outcome.observed_metrics.items()
    ]


def _read_observed(entries: Mapping[str, Any]) -> dict[str, Any]:
    every = sorted(_mapping(entries.get(METRICS)).items(), key=lambda item: str(item[0]))
    written = entries.get(OBSERVED_METRICS)
    if not isinstance(written, list | tuple) or not written:
        return decoded(dict(every[:1]))
    found: dict[str, Any] = {}
    for one in written:
        match one:
            case int() if 0 <= one < len(every):
                found |= [every[one]]
            case [str() as key, value]:
                found[key] = value
    return decoded(found)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
