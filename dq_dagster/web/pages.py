"""Each page: a question to the monitor, and what its template needs beside the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from dq_dagster.errors import NotOnRecord
from dq_dagster.judging.judgement import Status
from dq_dagster.monitoring.monitor import Monitor
from dq_dagster.monitoring.views.shapes import DatasetRow, DatasetView, HistoryPoint, RuleStatus
from dq_dagster.web import drawings
from dq_dagster.web.calendar_days import DAYS, WEEKDAYS, CalendarPage, months_of
from dq_dagster.web.flow import drawn
from dq_dagster.web.history_charts import charts_of
from dq_dagster.web.links import WHOLE, ServedLinks, choice_of, chosen_partition
from dq_dagster.web.recent import RecentOverview
from dq_dagster.web.rendering import render

_FIRST = date(1971, 1, 1)
_POINTS = 120
_PARTITIONS = 60
_MOST_OPTIONS = 500
_TABS = (
    ("rules", "Rules"),
    ("timeline", "Timeline"),
    ("partitions", "Partitions"),
    ("dimensions", "Dimensions"),
    ("quarantine", "Quarantine"),
    ("flow", "Flow"),
)

Query = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Pages:
    """All pages of one monitor, as HTML."""

    monitor: Monitor
    links: ServedLinks
    recent: RecentOverview
    title: str = "All datasets"

    def overview(self, query: Query) -> str:
        view = self.recent.view()
        return self._render(
            "overview.html",
            place="overview",
            view=view,
            title=self.title,
            datasets=view.datasets,
            counts=_counts(view.datasets),
        )

    def project(self, query: Query) -> str:
        name = query.get("name", "")
        view = self.recent.view()
        projects = {one.name: one for one in view.projects}
        if name not in projects:
            raise NotOnRecord.project(name, list(projects))
        datasets = [one for one in view.datasets if one.project == name]
        days = self._days(query, project=name)
        return self._render(
            "project.html",
            place="project",
            row=projects[name],
            datasets=datasets,
            counts=_counts(datasets),
            months=months_of(days.days),
            weekdays=WEEKDAYS,
            no_link=no_link,
            earlier=days.earlier and self.links.project(name, until=days.earlier.isoformat()),
            later=days.later and self.links.project(name, until=days.later.isoformat()),
        )

    def dataset(self, query: Query) -> str:
        asset = query.get("asset", "")
        views = {
            "timeline": self._timeline,
            "partitions": self._partitions,
            "dimensions": self._dimensions,
            "quarantine": self._quarantine,
        }
        return views.get(query.get("view", ""), self._rules)(asset, query)

    def _rules(self, asset: str, query: Query) -> str:
        view = self.monitor.dataset(asset, partition=query.get("partition"))
        return self._of_dataset("dataset_rules.html", view, tab="rules")

    def _timeline(self, asset: str, query: Query) -> str:
        view = self.monitor.dataset(asset)
        days = self._days(query, asset)
        # Until one is chosen, the last day on which anything ran.
        ran = [one.day for one in days.days if one.worst is not None]
        chosen = _date(query.get("day", "")) or (ran[-1] if ran else None)

        def link(until: str | None = query.get("until"), day: str | None = None) -> str:
            return self.links.dataset(asset, view="timeline", until=until, day=day)

        return self._of_dataset(
            "dataset_timeline.html",
            view,
            tab="timeline",
            months=months_of(days.days),
            weekdays=WEEKDAYS,
            day=None if chosen is None else self.monitor.day(asset, chosen),
            chosen=chosen,
            day_link=lambda day: link(day=day) + "#day",
            earlier=days.earlier and link(days.earlier.isoformat()),
            later=days.later and link(days.later.isoformat()),
        )

    def _days(
        self, query: Query, asset: str | None = None, *, project: str | None = None
    ) -> CalendarPage:
        last = datetime.now(UTC).date()
        until = _date(query.get("until", ""))
        # Nothing ran before there were computers, and calendars end somewhere.
        until = None if until is None or until < _FIRST else until
        timeline = self.monitor.timeline(asset, project=project, days=DAYS, until=until)
        return CalendarPage.of(timeline.days, last=last)

    def _partitions(self, asset: str, query: Query) -> str:
        view = self.monitor.dataset(asset)
        offset = _natural(query.get("offset", ""))
        status = drawings.STATUSES.get(query.get("status", ""))
        grid = self.monitor.partitions(asset, limit=_PARTITIONS, offset=offset, status=status)

        def link(offset: int | None = None, status: Status | None = status) -> str:
            return self.links.dataset(
                asset,
                view="partitions",
                status=None if status is None else drawings.CLASSES[status],
                offset=None if offset is None else str(offset),
            )

        after = offset + len(grid.partitions)
        return self._of_dataset(
            "dataset_partitions.html",
            view,
            tab="partitions",
            grid=grid,
            months=months_of(grid.days),
            weekdays=WEEKDAYS,
            day_link=lambda day: self.links.dataset(asset, partition=day),
            status=status,
            filters=[(one, link(status=None if one is status else one)) for one in grid.counts],
            newer=link(max(offset - _PARTITIONS, 0)) if offset else None,
            older=link(after) if after < grid.in_all else None,
        )

    def _dimensions(self, asset: str, query: Query) -> str:
        view = self.monitor.dataset(asset)
        found = self.monitor.dimensions(asset)
        return self._of_dataset("dataset_dimensions.html", view, tab="dimensions", dimensions=found)

    def _quarantine(self, asset: str, query: Query) -> str:
        view = self.monitor.dataset(asset)
        found = self.monitor.quarantine(asset)
        return self._of_dataset("dataset_quarantine.html", view, tab="quarantine", builds=found)

    def rule(self, query: Query) -> str:
        asset, check = query.get("asset", ""), query.get("rule", "")
        view = self.monitor.dataset(asset)
        chosen = query.get("slice", "")
        history = self.monitor.history(
            asset,
            check,
            partition=chosen_partition(chosen),
            whole=chosen == WHOLE,
            limit=_POINTS,
            before=_moment(query.get("before", "")),
        )
        rules: Sequence[RuleStatus] = [*view.rules, *view.past_rules]
        if (key := chosen_partition(chosen)) is not None:
            chosen = choice_of(key)
        # The address may have the name of the rule or that of its check.
        check = history.info.check
        charts, more = charts_of(history)
        address = {"slice": chosen or None}
        older = None if history.before is None else repr(history.before)
        return self._of_dataset(
            "rule.html",
            view,
            tab="rule",
            history=history,
            current=next((one for one in rules if one.info.check == check), None),
            options=options_of(history.partitions, chosen),
            chosen=chosen,
            charts=charts,
            more_charts=more,
            found={point.status for point in history.points},
            bands=_bands(history.points),
            breakdowns=[
                one for one in self.monitor.dimensions(asset).breakdowns if one.info.check == check
            ],
            older=older and self.links.rule(asset, check, **address, before=older),
            newest=self.links.rule(asset, check, **address) if "before" in query else None,
        )

    def flow(self, query: Query) -> str:
        asset = query.get("asset")
        flow = self.monitor.flow()
        lineage = None if asset is None else self.monitor.lineage(asset)
        return self._render(
            "flow.html",
            place="flow",
            flow=drawn(flow, lineage),
            lineage=lineage,
            has_rules=any(one.asset == asset and one.rules for one in flow.nodes),
        )

    def problem(self, title: str, message: str) -> str:
        return self._render("problem.html", place="", title=title, message=message)

    def _of_dataset(self, template: str, view: DatasetView, *, tab: str, **context: Any) -> str:
        # What only some datasets have is not offered for the others.
        missing = {
            "partitions": not view.partitioned,
            "quarantine": not self.monitor.quarantine(view.row.asset, limit=1).guarded,
        }
        tabs = [(name, words) for name, words in _TABS if name == tab or not missing.get(name)]
        context |= {"row": view.row, "view": view, "tab": tab, "tabs": tabs}
        return self._render(template, place="dataset", **context)

    def _render(self, template: str, **context: Any) -> str:
        return render(template, links=self.links, now=datetime.now(UTC), **context)


def no_link(day: str) -> None:
    """Days of a project lead nowhere: the rules are those of its datasets."""


def _counts(datasets: Sequence[DatasetRow]) -> dict[Status, int]:
    found = drawings.counted([one.status for one in datasets])
    return {status: found.get(status, 0) for status in Status}


def _bands(points: Sequence[HistoryPoint]) -> set[str]:
    """Which bounds a chart of these has, hard or soft."""
    every = [one for point in points for one in (point.bounds, *point.bounds_by.values())]
    hard = any(one.min is not None or one.max is not None for one in every)
    soft = any(one.soft_min is not None or one.soft_max is not None for one in every)
    return {name for name, there in (("hard", hard), ("soft", soft)) if there}


def options_of(partitions: Sequence[str | None], chosen: str) -> list[tuple[str, str]]:
    """The first of them, and in any case what is chosen."""
    every = {choice_of(one): "whole dataset" if one is None else one for one in partitions}
    if chosen and chosen not in every and (key := chosen_partition(chosen)) is not None:
        every = {chosen: key, **every}
    some = list(every.items())
    first = some[:_MOST_OPTIONS]
    return first + [one for one in some[_MOST_OPTIONS:] if one[0] == chosen]


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _natural(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _moment(text: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None
