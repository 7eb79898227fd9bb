"""What else there is of a dataset: qualities, groups of rows, and rows in quarantine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import dagster as dg

from dq_dagster.integration.event_log.logged import LoggedEvaluation, key_of_name, logged_numbered
from dq_dagster.integration.event_log.views import DIMENSIONS
from dq_dagster.integration.guarded.stats import build_records
from dq_dagster.judging.judgement import Status, worst
from dq_dagster.monitoring.model.days import RANKED, moment_of
from dq_dagster.monitoring.model.scores import TREND_DAYS, Score
from dq_dagster.monitoring.views.reader import Dataset, IndexReader, KnownCheck, counted
from dq_dagster.monitoring.views.shapes import (
    BuildRow,
    DimensionsView,
    GroupBreakdown,
    GroupStatus,
    QualityDimensionRow,
    QuarantineView,
)

# How many of the last evaluations of each rule are searched for groups.
_SLICES = 3


def dimensions_view(
    instance: dg.DagsterInstance, reader: IndexReader, dataset: Dataset
) -> DimensionsView:
    return DimensionsView(
        dataset.name,
        tuple(_qualities(reader, dataset)),
        tuple(_breakdowns(instance, reader, dataset)),
    )


def _qualities(reader: IndexReader, dataset: Dataset) -> Iterator[QualityDimensionRow]:
    """One a quality, as rules were declared; those without have none."""
    today = reader.today
    days = reader.days(dataset, today - TREND_DAYS, today)
    _, now = days.counted(today)
    _, before = days.counted(today - TREND_DAYS)
    standing = {one.check: RANKED[one.last] for one in now}
    by_quality: dict[str, list[KnownCheck]] = {}
    for one in dataset.checks:
        if one.info.counts and one.info.quality_dimension:
            by_quality.setdefault(one.info.quality_dimension, []).append(one)
    for name, checks in sorted(by_quality.items()):
        statuses = [standing.get(one.number or -1, Status.NOT_COMPUTED) for one in checks]
        yield QualityDimensionRow(
            name,
            worst(statuses),
            Score.of(dataset.score(now, name), dataset.score(before, name)),
            tuple(one.info.check for one in checks),
            counted(statuses),
        )


def _breakdowns(
    instance: dg.DagsterInstance, reader: IndexReader, dataset: Dataset
) -> Iterator[GroupBreakdown]:
    """What the last evaluations of each rule say of groups."""
    numbers: dict[int, KnownCheck] = {}
    for one in dataset.counting.values():
        rows = reader.connection.execute(
            "SELECT number FROM slice WHERE check_id = ? ORDER BY at DESC LIMIT ?",
            (one.number, _SLICES),
        )
        numbers |= {number: one for (number,) in rows}
    logged = logged_numbered(instance, numbers)
    for number, check in numbers.items():
        if number in logged:
            yield from _groups(check, logged[number])


def _groups(check: KnownCheck, said: LoggedEvaluation) -> Iterator[GroupBreakdown]:
    by_dimension: dict[str, list[GroupStatus]] = {}
    rows = said.entries.get(DIMENSIONS)
    for row in rows if isinstance(rows, list) else ():
        by_dimension.setdefault(str(row.get("dimension", "")), []).append(_group(row))
    for dimension, groups in by_dimension.items():
        yield GroupBreakdown(
            check.info, said.partition, dimension, moment_of(said.at), tuple(groups)
        )


def _group(row: Mapping[str, Any]) -> GroupStatus:
    status = row.get("status")
    impact = row.get("impact")
    return GroupStatus(
        str(row.get("group", "")),
        Status(status) if status in set(Status) else None,
        _count(row.get("rows")),
        _count(row.get("failed rows")),
        str(row.get("observed", "")),
        float(impact) if isinstance(impact, int | float) else None,
    )


def quarantine_view(instance: dg.DagsterInstance, asset: str, *, limit: int) -> QuarantineView:
    """What the last builds of a guarded asset did with their rows."""
    key = key_of_name(asset)
    # Of an asset that is not guarded, not all materializations are read for nothing.
    records = build_records(instance, key, limit=limit, patience=1)
    return QuarantineView(asset, tuple(_build(one) for one in records))


def _build(record: Mapping[str, Any]) -> BuildRow:
    rules = record.get("rules") or {}
    seconds = record.get("duration_seconds")
    return BuildRow(
        datetime.fromisoformat(record["time"]),
        record.get("partition"),
        str(record.get("run_id", "")),
        str(record.get("status", "")),
        _count(record.get("rows_in")) or 0,
        _count(record.get("rows_published")) or 0,
        _count(record.get("rows_quarantined")) or 0,
        _count(record.get("rows_dropped")) or 0,
        float(seconds) if isinstance(seconds, int | float) else None,
        {
            name: one["faults"]
            for name, one in rules.items()
            if _count(one.get("faults")) is not None
        },
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
