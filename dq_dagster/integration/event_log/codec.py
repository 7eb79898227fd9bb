"""The record: all that the event log keeps of an outcome for machines, as one versioned entry.

It is written and read here only; what people see beside it is made in ``views``.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.evaluation.states import KeptStates
from dq_dagster.judging.judgement import Status
from dq_dagster.metrics import state_codec
from dq_dagster.metrics.states import State
from dq_dagster.metrics.value_codec import decoded, encoded

RECORD = "dq/record"
VERSION = 1

# Room for the numbers of groups, and for the states of single partitions: those that do not fit
# are measured again when they are needed.
_MOST_BYTES_OF_GROUPS = 6_000
_MOST_BYTES_OF_STATES = 7_000
# Stands for all that are not named.
_OTHERS = ""

Values = Mapping[str, Any]
Groups = Mapping[str, Mapping[str, Values]]
GroupStatuses = Mapping[str, Mapping[str, Mapping[str, Status]]]
Parts = Mapping[str, tuple[int, Values]]


class Malformed(ValueError):
    """What is no record of this version."""


@dataclass(frozen=True, slots=True)
class StatesRecord:
    """States of partitions, for answers that are put together later.

    ``whole`` holds the states of ``count`` partitions together, by key: ``as_of`` is the largest
    number among their materializations, ``fingerprint`` differs if any of them does. ``parts``
    holds, by partition, the number of its materialization and its own states. States stay as they
    are written until somebody wants them. ``origin`` is where rows come from and what gives them
    their partition: those that are read or divided otherwise do not add up with these.
    """

    origin: str = ""
    whole: Mapping[str, Any] = field(default_factory=dict)
    count: int = 0
    as_of: int | None = None
    fingerprint: str = ""
    parts: Parts = field(default_factory=dict)

    @classmethod
    def of(
        cls, kept: KeptStates, built: Mapping[str, int], *, origin: str = ""
    ) -> StatesRecord | None:
        """The states behind an outcome; None if there are none. ``built`` has the numbers."""
        found = cls(origin)
        whole = {
            key: text
            for key, state in kept.whole.items()
            if (text := state_codec.encode(state)) is not None
        }
        numbers = {name: built[name] for name in kept.partitions if name in built}
        if whole and numbers and len(numbers) == len(kept.partitions):
            latest = max(numbers.values())
            found = cls(origin, whole, len(numbers), latest, fingerprint_of(numbers))
        room = _MOST_BYTES_OF_STATES - len(json.dumps(found.encode()))
        found = replace(found, parts=_parts(kept, built, room))
        return found if found.whole or found.parts else None

    def encode(self) -> dict[str, Any]:
        written = {
            "origin": self.origin,
            "whole": dict(self.whole),
            "of": self.count,
            "as_of": self.as_of,
            "print": self.fingerprint,
            "parts": {name: [number, some] for name, (number, some) in self.parts.items()},
        }
        return {key: value for key, value in written.items() if value}

    @classmethod
    def decode(cls, written: Any) -> StatesRecord:
        """Raises Malformed if this is none."""
        entries = _mapping(written)
        parts: dict[str, tuple[int, Values]] = {}
        for name, entry in _mapping(entries.get("parts")).items():
            match entry:
                case [int() as number, Mapping() as states]:
                    parts[name] = (number, states)
                case _:
                    raise Malformed
        return cls(
            _text(entries.get("origin")) or "",
            _mapping(entries.get("whole")),
            _count(entries.get("of")) or 0,
            _count(entries.get("as_of")),
            _text(entries.get("print")) or "",
            parts,
        )

    def states_of(self, partition: str | None) -> Iterator[tuple[str, State]]:
        """Those that can be read, by key: of one partition, or of all of them together."""
        states = self.whole if partition is None else self.parts[partition][1]
        for key, text in states.items():
            state = state_codec.decode(text)
            if isinstance(state, State):
                yield key, state


def fingerprint_of(numbers: Mapping[str, int]) -> str:
    """A text that differs if any partition, or the number of its materialization, does."""
    return hashlib.sha256(json.dumps(sorted(numbers.items())).encode()).hexdigest()[:32]


def _parts(kept: KeptStates, built: Mapping[str, int], room: int) -> Parts:
    by_partition: dict[str, dict[str, Any]] = {}
    for key, states in kept.by_partition.items():
        for name, state in states.items():
            text = state_codec.encode(state)
            if text is not None and name in built:
                by_partition.setdefault(name, {})[key] = text
    found: dict[str, tuple[int, Values]] = {}
    # The latest first: they are the ones that are likely to be needed again.
    for name in sorted(by_partition, key=built.__getitem__, reverse=True):
        entry = (built[name], by_partition[name])
        room -= len(json.dumps({name: entry}))
        if room < 0:
            break
        found[name] = entry
    return found


@dataclass(frozen=True, slots=True)
class Record:
    """What later checks and other programs read of one outcome.

    ``metrics`` holds the measured values by metric key, ``derived`` what was observed without
    being the value of a metric; ``observed`` are the keys of either that the verdict is about.
    ``groups`` holds values by dimension and group. ``statuses`` and ``group_statuses`` hold what
    single numbers were judged where that is not ``judged``. ``data`` says which state of the data
    was judged, ``time`` what time its partition stands for, ``series`` which other partitions it
    is compared with. ``limits``: see Judgement.
    """

    status: Status
    # Whether the status stands for an Empty: what could not be judged yet is no wrong value.
    was_empty: bool = False
    rule_type: str = ""
    metrics: Values = field(default_factory=dict)
    derived: Values = field(default_factory=dict)
    observed: tuple[str, ...] = ()
    statuses: Mapping[str, Status] = field(default_factory=dict)
    groups: Groups = field(default_factory=dict)
    group_statuses: GroupStatuses = field(default_factory=dict)
    bounds: Mapping[str, Any] = field(default_factory=dict)
    rows: int | None = None
    failed_rows: int | None = None
    # The class of the error, where a rule could not be answered.
    error: str | None = None
    data: str | None = None
    time: datetime | None = None
    series: str = ""
    states: StatesRecord | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        outcome: Outcome,
        *,
        data: str | None = None,
        time: datetime | None = None,
        series: str = "",
        states: StatesRecord | None = None,
    ) -> Record:
        judgement, metrics = outcome.judgement, outcome.metrics
        error = judgement.details.get("error")
        return cls(
            judgement.status,
            outcome.was_empty,
            outcome.rule.type,
            metrics,
            {key: one for key, one in outcome.observed_metrics.items() if key not in metrics},
            tuple(outcome.observed_metrics),
            outcome.statuses,
            outcome.group_metrics,
            outcome.group_statuses,
            judgement.bounds,
            judgement.rows,
            judgement.failed_rows,
            None if error is None else str(error),
            data,
            time,
            series,
            states,
            judgement.limits,
        )

    @property
    def judged(self) -> Status:
        """The status before ``on_empty``."""
        return Status.EMPTY if self.was_empty else self.status

    def encode(self) -> dict[str, Any]:
        """Strict JSON, without what says nothing."""
        seen, derived, bounds = encoded(self.metrics), encoded(self.derived), encoded(self.bounds)
        judged, groups = self.judged, _groups(self.groups)
        written = {
            "v": VERSION,
            "status": self.status.value,
            "was_empty": self.was_empty or None,
            "type": self.rule_type,
            # Apart from those that were measured beside, so that each key is written once.
            "observed": {key: seen.pop(key) for key in self.observed if key in seen},
            "derived": derived,
            "metrics": seen,
            "statuses": _written_statuses(self.statuses, self.metrics, judged),
            "groups": groups,
            "group_statuses": _written_of_groups(self.group_statuses, groups, judged),
            "bounds": bounds,
            "limits": encoded(self.limits),
            "rows": self.rows,
            "failed_rows": self.failed_rows,
            "error": self.error,
            "data": self.data,
            "time": None if self.time is None else self.time.isoformat(),
            "series": self.series,
            "states": None if self.states is None else self.states.encode(),
        }
        return {key: value for key, value in written.items() if value not in (None, "", {})}

    @classmethod
    def decode(cls, written: Any) -> Record | None:
        """The record that was written down; None if this is none, or one of another version."""
        try:
            return cls._read(_mapping(written))
        except ValueError:
            return None

    @classmethod
    def _read(cls, entries: Mapping[str, Any]) -> Record:
        if entries.get("v") != VERSION:
            raise Malformed
        observed = decoded(_mapping(entries.get("observed")))
        derived = decoded(_mapping(entries.get("derived")))
        metrics = {**observed, **decoded(_mapping(entries.get("metrics")))}
        groups = {
            dimension: {group: decoded(_mapping(some)) for group, some in _mapping(groups).items()}
            for dimension, groups in _mapping(entries.get("groups")).items()
        }
        time, states = _text(entries.get("time")), entries.get("states")
        return cls(
            Status(str(entries.get("status"))),
            entries.get("was_empty") is True,
            _text(entries.get("type")) or "",
            metrics,
            derived,
            (*observed, *derived),
            _read_statuses(entries.get("statuses"), metrics),
            groups,
            _read_of_groups(_mapping(entries.get("group_statuses")), groups),
            _decoded(_mapping(entries.get("bounds"))),
            _count(entries.get("rows")),
            _count(entries.get("failed_rows")),
            _text(entries.get("error")),
            _text(entries.get("data")),
            None if time is None else datetime.fromisoformat(time),
            _text(entries.get("series")) or "",
            None if states is None else StatesRecord.decode(states),
            _decoded(_mapping(entries.get("limits"))),
        )


def reduced(written: Mapping[str, Any], keys: Collection[str]) -> dict[str, Any]:
    """A written record with the values of these metrics and no others."""
    kept = {
        part: {key: one for key, one in written[part].items() if key in keys}
        for part in ("observed", "metrics")
        if part in written
    }
    return {**written, **kept}


def _decoded(bounds: Mapping[str, Any]) -> dict[str, Any]:
    """By name; where columns have bounds of their own, by column and name."""
    by_column = {key: decoded(one) for key, one in bounds.items() if isinstance(one, Mapping)}
    return by_column or decoded(bounds)


def _groups(dimensions: Groups) -> dict[str, Any]:
    """The numbers of each group, the largest first, as far as there is room."""
    kept: dict[str, dict[str, Any]] = {}
    room = _MOST_BYTES_OF_GROUPS
    for dimension, groups in dimensions.items():
        kept[dimension] = {}
        for group, numbers in groups.items():
            written = encoded(numbers)
            room -= len(json.dumps([group, written]))
            if room < 0:
                return kept
            kept[dimension][group] = written
    return kept


def _written_statuses(
    statuses: Mapping[str, Status], metrics: Iterable[str], judged: Status
) -> dict[str, Any]:
    """By metric key; nothing where all have the status of the evaluation."""
    if not statuses:
        return {}
    written = _in_short({key: statuses.get(key, judged).value for key in metrics})
    if isinstance(written, str):
        return {} if written == judged.value else {_OTHERS: written}
    return written


def _written_of_groups(
    statuses: GroupStatuses, kept: Mapping[str, Iterable[str]], judged: Status
) -> dict[str, Any]:
    """Of the groups whose numbers are kept, by dimension; only where not all are the same."""
    written = {
        dimension: _in_short(
            {
                group: _in_short(
                    {key: one.value for key, one in statuses[dimension][group].items()}
                )
                for group in groups
            }
        )
        for dimension, groups in kept.items()
        if dimension in statuses
    }
    return {name: words for name, words in written.items() if words not in (judged.value, {})}


def _in_short(words: Mapping[str, str | dict[str, Any]]) -> str | dict[str, Any]:
    """The most frequent word for all, and those that differ."""
    counts = Counter(word for word in words.values() if isinstance(word, str))
    if not counts:
        return dict(words)
    [(usual, _)] = counts.most_common(1)
    others = {key: word for key, word in words.items() if word != usual}
    return {_OTHERS: usual, **others} if others else usual


def _read_statuses(written: Any, metrics: Iterable[str]) -> dict[str, Status]:
    """By metric key, where anything is said of it."""
    if written is None:
        return {}
    words = {key: _word_for(written, key) for key in metrics}
    return {key: Status(word) for key, word in words.items() if word is not None}


def _read_of_groups(
    written: Mapping[str, Any], groups: Groups
) -> dict[str, dict[str, dict[str, Status]]]:
    """By dimension, group and metric key, for the numbers that are there."""
    return {
        dimension: {
            group: _read_statuses(_word_for(written[dimension], group), metrics)
            for group, metrics in some.items()
        }
        for dimension, some in groups.items()
        if dimension in written
    }


def _word_for(written: Any, key: str) -> Any:
    if isinstance(written, Mapping):
        return written.get(key, written.get(_OTHERS))
    return written


def _mapping(value: Any) -> Mapping[str, Any]:
    # Nearly all are, and asking for the class itself is much faster where there are many.
    if value is not None and type(value) is not dict and not isinstance(value, Mapping):
        raise Malformed
    return value or {}


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise Malformed


def _count(value: Any) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise Malformed
