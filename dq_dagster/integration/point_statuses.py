"""What single numbers were judged, in few words: most of them were judged alike.

A word stands for all. Where some differ, they are named in a mapping, and the word under the empty
name stands for the others; groups in turn hold a word, or such a mapping of metrics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.judging.status import Status

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
