"""The pages as one file: for mail and for CI, without a server and without scripts."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from markupsafe import Markup

from dq_dagster.judging.judgement import Status, worst
from dq_dagster.monitoring.model.scores import Score
from dq_dagster.monitoring.monitor import Monitor
from dq_dagster.monitoring.views.lists import score_of
from dq_dagster.monitoring.views.shapes import DatasetRow, DatasetView, Overview, plain
from dq_dagster.web.calendar_days import WEEKDAYS, CalendarMonth, months_of
from dq_dagster.web.drawings import counted
from dq_dagster.web.flow import drawn
from dq_dagster.web.history_charts import charts_of
from dq_dagster.web.links import DagsterLinks, ReportLinks, content_of
from dq_dagster.web.pages import no_link
from dq_dagster.web.rendering import render

_DAYS, _PARTITIONS, _BUILDS, _POINTS = 62, 14, 10, 60
# Drawing one takes its time, and nobody reads hundreds of them.
_MOST_CHARTS = 40
_BROKEN = (Status.ERROR, Status.WARNING)


@dataclass(frozen=True, slots=True)
class DatasetSection:
    """All that a report says of a dataset."""

    place: str
    view: DatasetView
    months: Sequence[CalendarMonth]
    charts: Sequence[tuple[str, Markup]]
    grid: Any
    dimensions: Any
    builds: Any


def chosen(view: Overview, assets: Sequence[str], projects: Sequence[str]) -> list[DatasetRow]:
    """The datasets that a report is about: all, unless some are named."""
    return [
        one
        for one in view.datasets
        if (not assets or one.asset in assets) and (not projects or one.project in projects)
    ]


def together(rows: Sequence[DatasetRow], assets: Sequence[str]) -> tuple[Status, Score]:
    """Of the monitored ones, as for a project; what is named itself counts in any case."""
    seen = [one for one in rows if one.monitored or one.asset in assets]
    return worst(one.status for one in seen), score_of(seen)


def html_report(
    monitor: Monitor,
    *,
    dagster_url: str | None = None,
    assets: Sequence[str] = (),
    projects: Sequence[str] = (),
    title: str = "Data quality",
) -> str:
    """One page that holds everything it shows."""
    view = monitor.overview()
    rows = chosen(view, assets, projects)
    status, _ = together(rows, assets)
    places = {row.asset: f"dataset-{n}" for n, row in enumerate(rows)}
    sections = list(_sections(monitor, places))
    links = ReportLinks(places, dagster=DagsterLinks(dagster_url))
    style = content_of("app.css").decode()
    return render(
        "report.html",
        links=links,
        now=datetime.now(UTC),
        title=title,
        view=view,
        status=status,
        datasets=rows,
        counts=dict.fromkeys(Status, 0) | counted([row.status for row in rows]),
        whole=len(rows) == len(view.datasets),
        sections=sections,
        flow=drawn(monitor.flow()),
        weekdays=WEEKDAYS,
        no_link=no_link,
        style=Markup(style),  # noqa: S704 - our own file.
        policy=f"default-src 'none'; style-src '{_fingerprint(style)}'; img-src data:",
    )


def json_report(
    monitor: Monitor,
    *,
    dagster_url: str | None = None,
    assets: Sequence[str] = (),
    projects: Sequence[str] = (),
    title: str = "Data quality",
) -> str:
    """The same datasets with their rules, for machines."""
    view = monitor.overview()
    rows = chosen(view, assets, projects)
    status, score = together(rows, assets)
    content = {
        "title": title,
        "at": view.at,
        "status": status,
        "score": score,
        "datasets": [monitor.dataset(row.asset) for row in rows],
    }
    return json.dumps(plain(content), indent=2, ensure_ascii=False, allow_nan=False)


def _sections(monitor: Monitor, places: dict[str, str]) -> Iterator[DatasetSection]:
    left = _MOST_CHARTS
    for asset, place in places.items():
        view = monitor.dataset(asset)
        charts: list[tuple[str, Markup]] = []
        for n, rule in enumerate(view.rules):
            if rule.status in _BROKEN and left > 0:
                history = monitor.history(asset, rule.info.check, limit=_POINTS)
                # A single point says no more than the table does.
                several = len(history.points) > 1
                some, _ = charts_of(history, name=f"{place}-{n}", half=True) if several else ([], 0)
                charts += [(f"{rule.info.rule} {column}".strip(), one) for column, one in some]
                left -= len(some)
        yield DatasetSection(
            place,
            view,
            months_of(monitor.timeline(asset, days=_DAYS).days),
            charts,
            monitor.partitions(asset, limit=_PARTITIONS) if view.partitioned else None,
            monitor.dimensions(asset),
            monitor.quarantine(asset, limit=_BUILDS),
        )


def _fingerprint(text: str) -> str:
    """By which a content-security policy knows a style sheet that stands in the page."""
    # A template ends without the last line break, and browsers read every one as "\n".
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"
