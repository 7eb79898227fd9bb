"""`dq-dagster status`, `timeline` and `history`: what became of checks, from the event log."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from datetime import date, datetime
from itertools import dropwhile
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from dq_dagster.cli.monitoring.opened import location_options, opened
from dq_dagster.cli.tables import plain as shown
from dq_dagster.cli.tables import print_table
from dq_dagster.judging.judgement import BADNESS, Status, worst
from dq_dagster.judging.wording import plural, show, value_words

if TYPE_CHECKING:
    from dq_dagster.monitoring.views.shapes import (
        DatasetView,
        DayView,
        HistoryPoint,
        Overview,
        RuleHistory,
        RuleStatus,
        SliceStatus,
        StatusTimeline,
    )

_Command = TypeVar("_Command", bound=Callable[..., Any])

# One sign a day.
_SIGNS = {
    Status.OK: "●",
    Status.EMPTY: "○",
    Status.WARNING: "▲",
    Status.ERROR: "✖",
    Status.NOT_COMPUTED: "·",
}
# Of each rule.
_MOST_SLICES = 5
# Columns of numbers.
_RIGHT = ("score", "trend", "value")
_LEVELS = {"error": Status.ERROR, "warning": Status.WARNING}


def monitor_options(command: _Command) -> _Command:
    """Which code location is known, what a project is, and for whom to print."""
    machine = click.option("--json", "machine", is_flag=True, help="Print JSON, for machines.")
    return location_options(machine(command))


@click.command("status")
@click.argument("asset", required=False)
@click.option("--partition", metavar="KEY", help="Only what was said of this partition.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "never"]),
    default="error",
    show_default=True,
    help="From which status on the exit code is 1.",
)
@monitor_options
def status_command(
    *,
    asset: str | None,
    partition: str | None,
    fail_on: str,
    machine: bool,
    by: Literal["group", "location"],
    modules: Sequence[str],
    files: Sequence[str],
) -> None:
    """Say how all datasets are, the worst first, or what the rules of ASSET say.

    Everything is read from the event log of the instance in DAGSTER_HOME. With a code location
    (-m, -f, or the project in this folder) its groups and owners are known, and rules that it has
    no more do not count; without, all checks on record do.

    The exit code is 0 if all is well, 1 if there is an Error, and 2 if the question could not be
    answered.
    """
    with opened(modules, files, by) as monitor:
        if asset is None:
            overview = monitor.overview()
            _answer(overview, lambda: _print_overview(overview), machine=machine)
            found = overview.status
        else:
            view = monitor.dataset(asset, partition=partition)
            _answer(view, lambda: _print_dataset(view), machine=machine)
            found = worst(one.status for one in view.rules)
    limit = _LEVELS.get(fail_on)
    if limit is not None and BADNESS[found] >= BADNESS[limit]:
        sys.exit(1)


@click.command("timeline")
@click.argument("asset", required=False)
@click.option("--project", metavar="NAME", help="The days of this project.")
@click.option("--days", type=click.IntRange(1, 3_660), default=30, show_default=True)
@click.option(
    "--day",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The rules behind this day of ASSET (UTC).",
)
@monitor_options
def timeline_command(
    *,
    asset: str | None,
    project: str | None,
    days: int,
    day: datetime | None,
    machine: bool,
    by: Literal["group", "location"],
    modules: Sequence[str],
    files: Sequence[str],
) -> None:
    """Print the last days of ASSET, of a project, or of all datasets together.

    Days are those of UTC. Each has the status as of its end, and the worst of what ran on it.

    The exit code is 0, or 2 if the question could not be answered.
    """
    if day is not None and asset is None:
        raise click.UsageError("--day needs an ASSET.")
    if asset is not None and project is not None:
        raise click.UsageError("Give an ASSET or a --project.")
    with opened(modules, files, by) as monitor:
        if day is not None and asset is not None:
            behind = monitor.day(asset, day.date())
            _answer(behind, lambda: _print_day(behind), machine=machine)
            return
        view = monitor.timeline(asset, project=project, days=days)
    _answer(view, lambda: _print_timeline(view), machine=machine)


@click.command("history")
@click.argument("rule")
@click.option("--asset", required=True, help="The asset that the rule is of.")
@click.option("--partition", metavar="KEY", help="Only on this partition.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@monitor_options
def history_command(
    *,
    rule: str,
    asset: str,
    partition: str | None,
    limit: int,
    machine: bool,
    by: Literal["group", "location"],
    modules: Sequence[str],
    files: Sequence[str],
) -> None:
    """Print the last evaluations of a RULE, by its name or that of its check.

    The exit code is 0, or 2 if the question could not be answered.
    """
    with opened(modules, files, by) as monitor:
        view = monitor.history(asset, rule, partition=partition, limit=limit)
    _answer(view, lambda: _print_history(view), machine=machine)


def _answer(view: Any, printed: Callable[[], None], *, machine: bool) -> None:
    from dq_dagster.monitoring.views.shapes import plain

    if machine:
        click.echo(json.dumps(plain(view), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        printed()


def _print_overview(view: Overview) -> None:
    if not view.datasets:
        click.echo("No check has been evaluated on this instance yet.")
        return
    rows = [
        [
            row.asset,
            row.project,
            row.status,
            _number(row.score.value),
            _trend(row.score.trend),
            "" if row.worst_today is None else row.worst_today,
            _moment(row.last_run),
            "".join(_SIGNS[one.last] for one in row.days[-14:]),
            _notes(row.outdated, monitored=row.monitored),
        ]
        for row in view.datasets
    ]
    names = ["dataset", "project", "status", "score", "trend", "today", "last run", "14 days", ""]
    print_table(names, rows, right=_RIGHT)
    click.echo(
        f"{view.status.value}: {plural(len(view.datasets), 'dataset')} in "
        f"{plural(len(view.projects), 'project')}, score {_number(view.score.value) or '-'}, "
        f"{plural(view.evaluations, 'evaluation')} on record."
    )


def _print_dataset(view: DatasetView) -> None:
    rows = [
        [
            rule.info.rule,
            "" if one is None or one.partition is None else one.partition,
            rule.status if one is None else one.status,
            "" if one is None else _observed(one.observed),
            "" if one is None else _moment(one.at),
            "" if one is None else one.message,
            _notes(
                one is not None and one.outdated,
                presence="" if rule.info.counts else rule.info.presence,
            ),
            _counted(rule) if n == 0 else "",
        ]
        for rule in (*view.rules, *view.past_rules)
        for n, one in enumerate(_worth_a_line(rule))
    ]
    names = ["rule", "partition", "status", "observed", "when", "message", "", "slices"]
    few = all(not row[-1] for row in rows)
    print_table(names[:-1] if few else names, [row[:-1] if few else row for row in rows])
    if view.partition is not None:
        found = worst(one.status for one in view.rules)
        click.echo(f"{shown(view.row.asset)}, partition {shown(view.partition)}: {found}.")
        return
    score = _number(view.row.score.value) or "-"
    slices = f" on {plural(view.slices_in_all, 'slice')} of {view.last_day}"
    more = slices if view.partitioned and view.last_day else ""
    click.echo(f"{shown(view.row.asset)}: {view.row.status.value}, score {score}{more}.")
    if view.row.objective is not None:
        click.echo(f"Objective: {view.row.objective.aim}, {view.row.objective.rest}.")


def _worth_a_line(rule: RuleStatus) -> Sequence[SliceStatus | None]:
    """The worst slices that are not as they should be, or else one for all."""
    broken = [one for one in rule.slices if BADNESS[one.status] >= BADNESS[Status.WARNING]]
    return broken[:_MOST_SLICES] or rule.slices[:1] or (None,)


def _counted(rule: RuleStatus) -> str:
    """Such as "1 Error, 41 Ok", where a rule was judged on several slices."""
    if sum(rule.counts.values()) < 2:
        return ""
    return ", ".join(f"{count:,} {status}" for status, count in rule.counts.items())


def _print_timeline(view: StatusTimeline) -> None:
    """From the first day that says anything."""
    known = list(dropwhile(lambda one: one.last is Status.NOT_COMPUTED, view.days))
    rows = [
        [
            one.day.isoformat(),
            one.last,
            "" if one.worst is None else one.worst,
            _number(one.score),
        ]
        for one in known
    ]
    if rows:
        print_table(["day (UTC)", "last", "worst", "score"], rows, right=_RIGHT)
    if before := len(view.days) - len(known):
        first = view.days[0].day
        click.echo(f"Of {plural(before, 'day')} from {first} on, nothing is on record.")


def _print_day(view: DayView) -> None:
    rows = [
        [
            one.info.rule,
            one.last,
            "" if one.worst is None else one.worst,
            str(one.evaluations),
            _moment(one.at),
            one.message,
        ]
        for one in view.rules
    ]
    print_table(["rule", "last", "worst", "evaluations", "when", "message"], rows)
    as_of = "" if view.as_of in {None, view.day.day} else f" (as of {view.as_of})"
    click.echo(f"{shown(view.asset)} on {view.day.day}: {view.day.last.value}{as_of}.")


def _print_history(view: RuleHistory) -> None:
    divided = any(one.partition is not None for one in view.points)
    rows = [
        [
            _moment(one.at),
            *([one.partition or ""] if divided else []),
            one.status,
            _value(one),
            _bounds(one),
            _failed(one),
            one.run_id,
        ]
        for one in reversed(view.points)
    ]
    partition = ["partition"] if divided else []
    names = ["when", *partition, "status", "value", "bounds", "failed rows", "run"]
    print_table(names, rows, right=_RIGHT)
    of = plural(view.in_all, "evaluation")
    click.echo(f"{len(view.points):,} of {of} of {shown(view.info.rule)}.")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _trend(value: float | None) -> str:
    return "" if value is None else f"{value:+.1f}"


def _moment(at: datetime | date | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"


def _observed(value: Any) -> str:
    return "" if value is None else value_words(value)


def _notes(outdated: bool, *, monitored: bool = True, presence: str = "") -> str:  # noqa: FBT001 (a fact, no option)
    words = [
        "older than the data" if outdated else "",
        "" if monitored else "not monitored",
        presence,
    ]
    return ", ".join(filter(None, words))


def _value(point: HistoryPoint) -> str:
    return _observed(point.values if len(point.values) > 1 else point.value)


def _failed(point: HistoryPoint) -> str:
    known = point.failed_rows is not None and point.rows is not None
    return f"{point.failed_rows:,} of {point.rows:,}" if known else ""


def _bounds(point: HistoryPoint) -> str:
    """Such as "10 to 20 (soft: 12 to 18)"; of several columns, what they have in common."""
    bounds = point.shared_bounds
    hard = _span(bounds.min, bounds.max)
    soft = _span(bounds.soft_min, bounds.soft_max)
    return f"{hard} (soft: {soft})".strip() if soft else hard


def _span(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    if high is None:
        return f"from {show(low)}"
    return f"up to {show(high)}" if low is None else f"{show(low)} to {show(high)}"
