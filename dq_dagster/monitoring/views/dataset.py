"""One dataset: what its rules say now, and what was behind one of its days."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import dagster as dg

from dq_dagster.integration.event_log.logged import LoggedEvaluation, key_of_name, logged_numbered
from dq_dagster.integration.event_log.views import EXPECTED, OBSERVED
from dq_dagster.integration.internals import storage_ids
from dq_dagster.integration.log_storage import runs_of_events
from dq_dagster.judging.judgement import BADNESS, Status, worst
from dq_dagster.monitoring.model.days import (
    RANKED,
    Day,
    date_of,
    day_number,
    moment_of,
    start_of,
)
from dq_dagster.monitoring.model.many_days import SaidOfDay
from dq_dagster.monitoring.views.lists import dataset_row
from dq_dagster.monitoring.views.reader import (
    Dataset,
    IndexReader,
    KnownCheck,
    counted,
    status_day,
)
from dq_dagster.monitoring.views.shapes import (
    DatasetView,
    DayView,
    RuleDay,
    RuleStatus,
    SliceStatus,
)

WHOLE = 0
# Of each rule, the worst slices are listed with all that they say.
MOST_SLICES = 20
# How many slices are listed by name.
_MOST_NAMES = 1_000


@dataclass(frozen=True, slots=True)
class _Standing:
    """The last evaluation of a rule on a slice, as the index has it."""

    check: int
    part: int
    number: int
    at: float
    rank: int
    storage: int
    run: int
    target: int | None


def dataset_view(
    instance: dg.DagsterInstance,
    reader: IndexReader,
    dataset: Dataset,
    *,
    days: int,
    partition: str | None = None,
) -> DatasetView:
    """A dataset now; ``partition``: only what was said of that one."""
    as_of, _ = reader.days(dataset, reader.today, reader.today).counted(reader.today)
    parts = _parts_on(reader, dataset, as_of)
    if partition is not None:
        parts = [reader.part_of(dataset, partition)]
    standings = _standings(reader, dataset, parts)
    listed = {
        check: sorted(some, key=lambda one: (-one.rank, -one.at))[:MOST_SLICES]
        for check, some in standings.items()
    }
    found = _Found.of(instance, reader, dataset, standings, listed)
    rules = [
        _rule(one, standings.get(one.number or -1, ()), listed.get(one.number or -1, ()), found)
        for one in dataset.checks
    ]
    rules.sort(key=lambda one: (-BADNESS[one.status], one.info.check))
    names = reader.names("part", parts)
    shown = sorted((names.get(part) for part in parts), key=lambda name: (name is not None, name))
    return DatasetView(
        dataset_row(reader, dataset, days),
        tuple(one for one in rules if one.info.counts),
        tuple(one for one in rules if not one.info.counts),
        tuple(shown[:_MOST_NAMES]),
        len(parts),
        None if as_of is None else date_of(as_of),
        partition,
        _is_partitioned(reader, dataset),
    )


@dataclass(frozen=True, slots=True)
class ErrorOnSlice:
    """A rule's last outcome on a slice is Error; ``partition`` is None for the whole dataset."""

    check: str
    partition: str | None
    at: datetime


def errors_of(reader: IndexReader, dataset: Dataset) -> list[ErrorOnSlice]:
    """All that make up the status of a dataset, however many: a view lists a few of them."""
    as_of, _ = reader.days(dataset, reader.today, reader.today).counted(reader.today)
    parts = _parts_on(reader, dataset, as_of)
    names = reader.names("part", parts)
    standings = _standings(reader, dataset, parts)
    return [
        ErrorOnSlice(check.info.check, names.get(one.part), moment_of(one.at))
        for number, check in dataset.counting.items()
        for one in standings[number]
        if RANKED[one.rank] is Status.ERROR
    ]


def _parts_on(reader: IndexReader, dataset: Dataset, day: Day | None) -> list[int]:
    """The slices that any rule which counts was judged on that day."""
    found: set[int] = set()
    for check in dataset.counting:
        rows = reader.connection.execute(
            "SELECT DISTINCT part FROM evaluation WHERE check_id = ? AND day = ?", (check, day)
        )
        found |= {part for (part,) in rows}
    return sorted(found)


def _is_partitioned(reader: IndexReader, dataset: Dataset) -> bool:
    if dataset.declared is not None and dataset.declared.partitions_def is not None:
        return True
    return any(
        reader.connection.execute(
            "SELECT 1 FROM slice WHERE check_id = ? AND part != 0 LIMIT 1", (one.number,)
        ).fetchone()
        for one in dataset.checks
    )


def _standings(
    reader: IndexReader, dataset: Dataset, parts: Sequence[int]
) -> dict[int, list[_Standing]]:
    """By check; a check that counts no more has its last evaluation, whatever it was of."""
    found: dict[int, list[_Standing]] = {}
    for one in dataset.checks:
        if one.number is None:
            continue
        if one.info.counts:
            rows: list[Any] = []
            for start in range(0, len(parts), 900):
                some = parts[start : start + 900]
                marks = ", ".join("?" * len(some))
                rows += reader.connection.execute(
                    "SELECT check_id, part, number, at, rank, storage, run, target FROM slice "  # noqa: S608 (marks)
                    f"WHERE check_id = ? AND part IN ({marks})",
                    [one.number, *some],
                )
        else:
            rows = reader.connection.execute(
                "SELECT check_id, part, number, at, rank, storage, run, target FROM slice "
                "WHERE check_id = ? ORDER BY at DESC LIMIT 1",
                (one.number,),
            ).fetchall()
        found[one.number] = [_Standing(*row) for row in rows]
    return found


@dataclass(frozen=True, slots=True)
class _Found:
    """What the log, and the names of the index, add to evaluations that are shown."""

    logged: Mapping[int, LoggedEvaluation]
    parts: Mapping[int, str]
    runs: Mapping[int, str]
    outdated: frozenset[int]

    @classmethod
    def of(
        cls,
        instance: dg.DagsterInstance,
        reader: IndexReader,
        dataset: Dataset,
        standings: Mapping[int, Sequence[_Standing]],
        listed: Mapping[int, Sequence[_Standing]],
    ) -> _Found:
        """What those that are ``listed`` say, and which of all are older than the data."""
        every = [one for some in standings.values() for one in some]
        parts = reader.names("part", (one.part for one in every))
        runs = reader.names("run", (one.run for one in every))
        return cls(
            logged_numbered(instance, [one.number for some in listed.values() for one in some]),
            parts,
            runs,
            outdated_numbers(instance, dataset, every, parts, runs),
        )


def outdated_numbers(
    instance: dg.DagsterInstance,
    dataset: Dataset,
    standings: Iterable[Any],
    parts: Mapping[int, str],
    runs: Mapping[int, str],
) -> frozenset[int]:
    """The evaluations that are older than what they are about, unless their own run built it."""
    key = key_of_name(dataset.name)
    every = list(standings)
    by_part: dict[str, int] = {}
    if any(one.part != WHOLE for one in every):
        by_part = storage_ids(instance, key)
    newer: dict[int, int] = {}
    for one in every:
        built = dataset.built_id if one.part == WHOLE else by_part.get(parts.get(one.part, ""))
        if built is not None and built > max(one.target or 0, one.storage):
            newer[one.number] = built
    builders = runs_of_events(instance, set(newer.values()))
    return frozenset(
        one.number
        for one in every
        # What was reported without a run is of no run in common.
        if one.number in newer
        and (not runs.get(one.run) or builders.get(newer[one.number]) != runs[one.run])
    )


def _rule(
    check: KnownCheck, every: Sequence[_Standing], listed: Sequence[_Standing], found: _Found
) -> RuleStatus:
    slices = tuple(_slice(one, found) for one in listed)
    return RuleStatus(
        check.info,
        worst(RANKED[one.rank] for one in every),
        counted(RANKED[one.rank] for one in every),
        slices,
        max((moment_of(one.at) for one in every), default=None),
        any(one.number in found.outdated for one in every),
    )


def _slice(one: _Standing, found: _Found) -> SliceStatus:
    said = found.logged.get(one.number)
    record = None if said is None else said.record
    entries = {} if said is None else said.entries
    return SliceStatus(
        found.parts.get(one.part),
        RANKED[one.rank],
        moment_of(one.at),
        found.runs.get(one.run, ""),
        "" if said is None else said.message,
        entries.get(OBSERVED),
        str(entries.get(EXPECTED, "")),
        {} if record is None else record.bounds,
        None if record is None else record.rows,
        None if record is None else record.failed_rows,
        one.number in found.outdated,
    )


def day_view(
    instance: dg.DagsterInstance, reader: IndexReader, dataset: Dataset, day: Day
) -> DayView:
    """The rules behind a day, the worst first."""
    days = reader.days(dataset, day, day)
    as_of, some = days.counted(day)
    last = max((one.last for one in some), default=0)
    shown = status_day(SaidOfDay(day, last, days.worst_of(day), dataset.score(some)))
    by_check = {one.check: one for one in some}
    last_said = {
        check: said
        for check in by_check
        if (said := _last_before(reader, check, start_of(day + 1))) is not None
    }
    logged = logged_numbered(instance, [number for number, _, _ in last_said.values()])
    runs = reader.names("run", (run for _, _, run in last_said.values()))
    rules = []
    for one in dataset.checks:
        known = None if one.number is None else by_check.get(one.number)
        if known is None or one.number not in last_said:
            continue
        number, at, run = last_said[one.number]
        ran = known.day == day
        rules.append(
            RuleDay(
                one.info,
                RANKED[known.last],
                RANKED[known.worst] if ran and known.worst is not None else None,
                known.evaluations if ran else 0,
                known.by_status(),
                moment_of(at),
                runs.get(run, ""),
                logged[number].message if number in logged else "",
            )
        )
    rules.sort(
        key=lambda one: (-BADNESS[one.last], -BADNESS[one.worst or one.last], one.info.check)
    )
    return DayView(dataset.name, shown, None if as_of is None else date_of(as_of), tuple(rules))


def _last_before(reader: IndexReader, check: int, end: float) -> tuple[int, float, int] | None:
    """The worst of the last day up to then, and of those the last: what is to be read first."""
    found: tuple[int, float, int] | None = reader.connection.execute(
        "SELECT number, at, run FROM evaluation WHERE check_id = ? AND day = (SELECT max(day) FROM "
        "evaluation WHERE check_id = ? AND day < ?) ORDER BY rank DESC, at DESC LIMIT 1",
        (check, check, day_number(moment_of(end).date())),
    ).fetchone()
    return found
