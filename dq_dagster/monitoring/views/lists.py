"""Datasets, projects and the instance in short, the worst first, with their days."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date
from typing import Literal

from dq_dagster.errors import NotOnRecord
from dq_dagster.judging.judgement import BADNESS, Status, worst
from dq_dagster.monitoring.model.days import RANKED, Day, date_of
from dq_dagster.monitoring.model.scores import TREND_DAYS, ObjectiveKept, Score, Unit, kept, mean
from dq_dagster.monitoring.views.reader import Dataset, IndexReader, counted, time_at
from dq_dagster.monitoring.views.shapes import (
    DatasetRow,
    Overview,
    ProjectRow,
    StatusDay,
    StatusTimeline,
)


def overview(reader: IndexReader, days: int) -> Overview:
    """Everything there is."""
    rows = [dataset_row(reader, one, days) for one in reader.datasets.values()]
    rows.sort(key=_worst_first)
    projects = [_project(name, some) for name, some in _by_project(rows).items()]
    projects.sort(key=lambda one: (-BADNESS[one.status], one.name))
    seen = [one for one in rows if one.monitored]
    [evaluations] = reader.connection.execute("SELECT count(*) FROM evaluation").fetchone()
    return Overview(
        reader.now,
        worst(one.status for one in seen),
        score_of(seen),
        tuple(projects),
        tuple(rows),
        _together(seen),
        evaluations,
        sum(len(one.checks) for one in reader.datasets.values()),
    )


def dataset_row(reader: IndexReader, dataset: Dataset, days: int) -> DatasetRow:
    """A dataset with that many days, today the last of them."""
    today = reader.today
    # A week more, which trends compare with.
    every = reader.status_days(dataset, today - days - TREND_DAYS + 1, today)
    now = every[-1]
    last = reader.connection.execute(
        "SELECT at, name FROM slice JOIN run ON run.id = run WHERE asset = ? "
        "ORDER BY at DESC, storage DESC LIMIT 1",
        (dataset.number,),
    ).fetchone()
    at, run_id = last or (None, "")
    declared = dataset.declared
    return DatasetRow(
        dataset.name,
        dataset.project,
        now.last,
        dataset.monitored,
        Score.of(now.score, every[-1 - TREND_DAYS].score),
        time_at(at),
        run_id,
        now.worst,
        every[-days:],
        _rule_counts(reader, dataset),
        "" if declared is None else declared.group,
        "" if declared is None else declared.location,
        _owners(dataset),
        "" if declared is None else declared.description,
        _is_outdated(reader, dataset, at, run_id),
        time_at(dataset.built_at),
        _objective(reader, dataset),
    )


def timeline(
    reader: IndexReader,
    kind: Literal["dataset", "project", "instance"],
    subject: str,
    first: Day,
    last: Day,
) -> StatusTimeline:
    """The days from the first to the last."""
    if kind == "dataset":
        dataset = reader.dataset(subject)
        return StatusTimeline(subject, kind, reader.status_days(dataset, first, last))
    every = reader.datasets.values()
    projects = {one.project for one in every}
    if kind == "project" and subject not in projects:
        raise NotOnRecord.project(subject, sorted(projects))
    # A project may have datasets of which none is monitored: then nothing is said of its days.
    members = [
        one for one in every if one.monitored and (kind == "instance" or one.project == subject)
    ]
    rows = [reader.status_days(one, first, last) for one in members]
    return StatusTimeline(
        subject, kind, _days_together(rows, [date_of(n) for n in range(first, last + 1)])
    )


def _worst_first(row: DatasetRow) -> tuple[object, ...]:
    value = row.score.value
    return not row.monitored, -BADNESS[row.status], 101 if value is None else value, row.asset


def _by_project(rows: Iterable[DatasetRow]) -> dict[str, list[DatasetRow]]:
    found: dict[str, list[DatasetRow]] = {}
    for row in rows:
        found.setdefault(row.project, []).append(row)
    return found


def _project(name: str, rows: Sequence[DatasetRow]) -> ProjectRow:
    seen = [one for one in rows if one.monitored]
    return ProjectRow(
        name,
        worst(one.status for one in seen),
        score_of(seen),
        len(rows),
        len(seen),
        counted(one.status for one in seen),
        max((one.last_run for one in seen if one.last_run is not None), default=None),
        _worst_of(one.worst_today for one in seen),
        _together(seen),
    )


def score_of(rows: Collection[DatasetRow]) -> Score:
    """The means of those that have one, today and a week ago."""
    return Score.of(mean(one.score.value for one in rows), mean(one.score.before for one in rows))


def _together(rows: Collection[DatasetRow]) -> tuple[StatusDay, ...]:
    days = [one.day for row in list(rows)[:1] for one in row.days]
    return _days_together([one.days for one in rows], days)


def _days_together(
    rows: Sequence[Sequence[StatusDay]], days: Sequence[date]
) -> tuple[StatusDay, ...]:
    """Of several datasets: the worst of each day, and the mean of the scores."""
    return tuple(
        StatusDay(
            day,
            worst(row[place].last for row in rows),
            _worst_of(row[place].worst for row in rows),
            mean(row[place].score for row in rows),
        )
        for place, day in enumerate(days)
    )


def _worst_of(statuses: Iterable[Status | None]) -> Status | None:
    known = [one for one in statuses if one is not None]
    return worst(known) if known else None


def _owners(dataset: Dataset) -> tuple[str, ...]:
    of_asset = () if dataset.declared is None else dataset.declared.owners
    of_rules = [owner for one in dataset.checks if one.info.counts for owner in one.info.owners]
    return tuple(dict.fromkeys([*of_asset, *of_rules]))


def _rule_counts(reader: IndexReader, dataset: Dataset) -> dict[Status, int]:
    """The statuses of the rules that count, as of the last day that says anything."""
    _, some = reader.days(dataset, reader.today, reader.today).counted(reader.today)
    standing = {one.check: RANKED[one.last] for one in some}
    return counted(
        standing.get(one.number or -1, Status.NOT_COMPUTED)
        for one in dataset.checks
        if one.info.counts
    )


def _is_outdated(reader: IndexReader, dataset: Dataset, at: float | None, run_id: str) -> bool:
    """Whether it was built by a run that did not evaluate it, or not by all of its rules."""
    if dataset.built_at is None or at is None:
        return False
    # What was reported without a run is of no run in common.
    if dataset.built_at > at and (not run_id or dataset.built_run != run_id):
        return True
    return any(
        reader.connection.execute(
            "SELECT 1 FROM slice JOIN run ON run.id = run WHERE check_id = ? AND part = 0 "
            "AND max(storage, coalesce(target, 0)) < ? AND (name = '' OR name != ?)",
            (check, dataset.built_id, dataset.built_run),
        ).fetchone()
        for check in dataset.counting
    )


def _objective(reader: IndexReader, dataset: Dataset) -> ObjectiveKept | None:
    """By the partitions that were evaluated within its days; without any, by the days."""
    objective = None if dataset.declared is None else dataset.declared.objective
    if objective is None:
        return None
    first = reader.today - objective.days + 1
    return kept(objective, *_units(reader, dataset, first))


def _units(reader: IndexReader, dataset: Dataset, first: Day) -> tuple[list[Status], Unit]:
    ranks: dict[int, int] = {}
    recent: set[int] = set()
    for check in dataset.counting:
        for part, rank, day in reader.connection.execute(
            "SELECT part, rank, day FROM slice WHERE check_id = ? AND part != 0", (check,)
        ):
            ranks[part] = max(rank, ranks.get(part, 0))
            if day >= first:
                recent.add(part)
    if ranks:
        return [RANKED[ranks[part]] for part in recent], "partitions"
    days = reader.status_days(dataset, first, reader.today)
    return [one.last for one in days if one.worst is not None], "days"
