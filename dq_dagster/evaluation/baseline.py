"""From what was recorded to the past values that a slice is judged by.

Pure: records come in, the newest first, and are read only as far as they can matter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from dq_dagster.evaluation.history import Group, Recorded, group_of
from dq_dagster.judging.past import PastValue, number_of
from dq_dagster.judging.typical import Typical
from dq_dagster.metrics.slices import Slice

Pasts: TypeAlias = Mapping[str, Sequence[PastValue]]


@dataclass(slots=True)
class _Series:
    """The points of one metric on one slice, the newest first while they are read."""

    points: list[PastValue] = field(default_factory=list)
    states: set[str] = field(default_factory=set)
    complete: bool = False

    def completed_by(
        self, point: PastValue | None, data: str | None, typical: Typical, at: datetime
    ) -> bool:
        """Takes the next older point; says whether no further one is needed from now on.

        None for an evaluation that found no number: it stands for its state of the data as well.
        """
        if self.complete or data in self.states:
            return False
        if data is not None:
            self.states.add(data)
        if point is not None and typical.counts(point):
            self.points.append(point)
            self.complete = typical.suffices(len(self.points), point.at, at)
        return self.complete


def same_slice(
    records: Iterable[Recorded],
    parts: Collection[Slice],
    keys: Collection[str],
    *,
    typical: Typical,
    at: datetime,
    data_of: Callable[[str | None], str | None],
) -> dict[Slice, Pasts]:
    """The past of each slice, and of each group in it, by its own earlier evaluations."""
    series = {(part, key): _Series() for part in parts for key in keys}
    by_partition: dict[str | None, list[Slice]] = {}
    for part in parts:
        by_partition.setdefault(part.partition, []).append(part)
    current = {partition: data_of(partition) for partition in by_partition}
    open_ones = len(series)
    for record in records if series else ():
        if record.data is not None and record.data == current.get(record.partition):
            continue
        measured = [key for key in keys if record.measured((key,))]
        for part in by_partition.get(record.partition, ()):
            points = dict(points_of(record, group_of(part), measured, record.at))
            for key in measured:
                one = series[part, key]
                open_ones -= one.completed_by(points.get(key), record.data, typical, at)
        if not open_ones:
            break
    return {part: {key: series[part, key].points[::-1] for key in keys} for part in parts}


def points_of(
    record: Recorded, group: Group, keys: Collection[str], at: datetime
) -> Iterator[tuple[str, PastValue]]:
    """Its numbers as past values of that moment; what is no number is no point."""
    values = record.values(group)
    for key in keys:
        number = number_of(values.get(key))
        if number is not None:
            yield key, PastValue(number, at, record.status_of(key, group), record.partition)
