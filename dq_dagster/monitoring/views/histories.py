"""The past of one rule as points of a chart, and partitions by rules as a grid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import dagster as dg

from dq_dagster.judging.judgement import BADNESS, Status, worst
from dq_dagster.monitoring.index.numbers import Four, read_many
from dq_dagster.monitoring.model.days import RANKED, moment_of
from dq_dagster.monitoring.views.dataset import WHOLE, outdated_numbers
from dq_dagster.monitoring.views.reader import Dataset, IndexReader, KnownCheck
from dq_dagster.monitoring.views.shapes import (
    HistoryPoint,
    PartitionGrid,
    PartitionRow,
    PointBounds,
    RuleHistory,
    StatusDay,
)

_MOST_PARTITIONS = 2_000
_HALF_A_YEAR = 183
_POINT = "at, part, rank, run, value, low, high, soft_low, soft_high, many, total, failed, storage"


def rule_history(
    reader: IndexReader,
    dataset: Dataset,
    check: KnownCheck,
    *,
    part: int | None,
    partition: str | None,
    limit: int,
    before: float | None,
) -> RuleHistory:
    """The newest evaluations, the oldest of them first; ``part``: of this slice only.

    Those of one run come by the keys of their partitions, since Dagster stores faults first.
    """
    number = check.number
    condition = "check_id = ?"
    values: list[float | None] = [number]
    if part is not None:
        condition, values = f"{condition} AND part = ?", [*values, part]
    [in_all] = reader.connection.execute(
        f"SELECT count(*) FROM evaluation WHERE {condition}",  # noqa: S608 (fixed words)
        values,
    ).fetchone()
    if before is not None:
        condition, values = f"{condition} AND at < ?", [*values, before]
    # By day, which the index has in this order for all slices of a check.
    order = "at DESC, storage DESC" if part is not None else "day DESC, at DESC, storage DESC"
    rows = reader.connection.execute(
        f"SELECT {_POINT} FROM evaluation WHERE {condition} ORDER BY {order} LIMIT ?",  # noqa: S608 (fixed words)
        [*values, limit + 1],
    ).fetchall()
    more, rows = len(rows) > limit, rows[:limit]
    parts = reader.names("part", (row[1] for row in rows))
    runs = reader.names("run", (row[3] for row in rows))
    points = tuple(
        _point(row, parts.get(row[1]), runs[row[3]]) for row in _by_run(rows, parts, runs)
    )
    return RuleHistory(
        dataset.name,
        check.info,
        points,
        _partitions_of(reader, [check]),
        partition,
        in_all,
        rows[-1][0] if more else None,
    )


def _by_run(
    rows: Sequence[Sequence[Any]], parts: Mapping[int, str], runs: Mapping[int, str]
) -> list[Sequence[Any]]:
    """The oldest run first, each by the keys of its partitions."""
    ends: dict[int, float] = {}
    for at, _, _, run, *_ in rows:
        ends[run] = max(at, ends.get(run, at))

    def place(row: Sequence[Any]) -> tuple[float, int, str, float, int]:
        at, part, _, run, *_, storage = row
        # What was reported without a run is of no run in common.
        return ends[run] if runs[run] else at, run, parts.get(part, ""), at, storage

    return sorted(rows, key=place)


def _point(row: Sequence[Any], partition: str | None, run_id: str) -> HistoryPoint:
    at, _, rank, _, value, low, high, soft_low, soft_high, many, total, failed, _ = row
    several = read_many(many)
    return HistoryPoint(
        moment_of(at),
        partition,
        RANKED[rank],
        run_id,
        value,
        _bounds((low, high, soft_low, soft_high)),
        {name: one for name, (one, _) in several.items()},
        {name: _bounds(bounds) for name, (_, bounds) in several.items()},
        total,
        failed,
    )


def _bounds(four: Four) -> PointBounds:
    low, high, soft_low, soft_high = four
    return PointBounds(low, high, soft_low, soft_high)


def _partitions_of(reader: IndexReader, checks: Iterable[KnownCheck]) -> tuple[str | None, ...]:
    """Those with evaluations, the latest first."""
    latest: dict[int, float] = {}
    for one in checks:
        rows = reader.connection.execute(
            "SELECT part, at FROM slice WHERE check_id = ?", (one.number,)
        )
        for part, at in rows:
            latest[part] = max(at, latest.get(part, at))
    ordered = sorted(latest, key=latest.__getitem__, reverse=True)[:_MOST_PARTITIONS]
    names = reader.names("part", ordered)
    return tuple(names.get(part) for part in ordered)


@dataclass(frozen=True, slots=True)
class _Cell:
    """What the grid needs of the last evaluation of a rule on a slice."""

    check: int
    part: int
    number: int
    at: float
    rank: int
    storage: int
    run: int
    target: int | None


def partition_grid(
    instance: dg.DagsterInstance,
    reader: IndexReader,
    dataset: Dataset,
    *,
    limit: int,
    offset: int,
    status: Status | None = None,
) -> PartitionGrid:
    """The slices that were evaluated last, each with the status of every rule that counts."""
    checks = [one for one in dataset.checks if one.info.counts]
    latest: dict[int, tuple[float, int]] = {}
    ranks: dict[int, int] = {}
    for one in checks:
        rows = reader.connection.execute(
            "SELECT part, at, rank, run FROM slice WHERE check_id = ?", (one.number,)
        )
        for part, at, rank, run in rows:
            latest[part] = max((at, run), latest.get(part, (at, run)))
            ranks[part] = max(rank, ranks.get(part, rank))
    names = reader.names("part", latest)
    counts = Counter(RANKED[rank] for rank in ranks.values())
    if status is not None:
        latest = {part: when for part, when in latest.items() if RANKED[ranks[part]] is status}
    ordered = _last_first(latest, names, reader)
    shown = ordered[offset : offset + limit]
    cells = _cells(reader, checks, shown)
    every = [cell for row in cells.values() for cell in row.values()]
    runs = reader.names("run", (cell.run for cell in every))
    outdated = outdated_numbers(instance, dataset, every, names, runs)
    return PartitionGrid(
        dataset.name,
        tuple(one.info for one in checks),
        tuple(
            PartitionRow(
                names.get(part),
                worst(RANKED[cell.rank] for cell in cells[part].values()),
                moment_of(latest[part][0]),
                tuple(
                    RANKED[cells[part][one.number].rank] if one.number in cells[part] else None
                    for one in checks
                ),
                any(cell.number in outdated for cell in cells[part].values()),
            )
            for part in shown
        ),
        len(ordered),
        offset,
        _days_of_data(names, ranks),
        {one: counts[one] for one in sorted(counts, key=BADNESS.__getitem__, reverse=True)},
    )


def _last_first(
    latest: Mapping[int, tuple[float, int]], names: Mapping[int, str], reader: IndexReader
) -> list[int]:
    """The whole dataset, then the partitions of each run by their keys, the newest of all first.

    Within a run they come in the order of nothing: those with faults are often judged apart.
    """
    ends: dict[int, float] = {}
    for at, run in latest.values():
        ends[run] = max(at, ends.get(run, at))
    runs = reader.names("run", ends)

    def place(part: int) -> tuple[bool, float, str]:
        at, run = latest[part]
        # What was reported without a run is of no run in common.
        return part == WHOLE, ends[run] if runs[run] else at, names.get(part, "")

    return sorted(latest, key=place, reverse=True)


def _days_of_data(names: Mapping[int, str], ranks: Mapping[int, int]) -> tuple[StatusDay, ...]:
    """What stands of partitions that are days, as Dagster writes them; nothing if any is none."""
    by_day = {_day_named(name): ranks[part] for part, name in names.items()}
    days = [day for day in by_day if day is not None]
    if not days or len(days) < len(by_day):
        return ()
    first = max(days).toordinal() - _HALF_A_YEAR
    return tuple(
        StatusDay(day, RANKED[by_day[day]], RANKED[by_day[day]])
        for day in sorted(days)
        if day.toordinal() > first
    )


def _day_named(partition: str) -> date | None:
    try:
        day = date.fromisoformat(partition)
    except ValueError:
        return None
    return day if day.isoformat() == partition else None


def _cells(
    reader: IndexReader, checks: Sequence[KnownCheck], parts: Sequence[int]
) -> dict[int, dict[int | None, _Cell]]:
    found: dict[int, dict[int | None, _Cell]] = {part: {} for part in parts}
    for one in checks:
        for part in parts:
            row = reader.connection.execute(
                "SELECT check_id, part, number, at, rank, storage, run, target FROM slice "
                "WHERE check_id = ? AND part = ?",
                (one.number, part),
            ).fetchone()
            if row is not None:
                found[part][one.number] = _Cell(*row)
    return found
