"""A report in Markdown, for pull requests and job summaries: what is wrong, and how much is not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dq_dagster.judging.judgement import Status
from dq_dagster.judging.wording import NOTHING, value_words
from dq_dagster.monitoring.monitor import Monitor
from dq_dagster.monitoring.views.shapes import DatasetRow, RuleStatus
from dq_dagster.web.drawings import WORDS, counted, counts_in_words, points
from dq_dagster.web.links import DagsterLinks
from dq_dagster.web.rendering import utc_words, visible
from dq_dagster.web.report import chosen, together

_SIGNS = {
    Status.OK: "✅",
    Status.WARNING: "⚠️",
    Status.ERROR: "❌",
    Status.EMPTY: "⭕",
    Status.NOT_COMPUTED: "▫️",
}
_BROKEN = (Status.ERROR, Status.WARNING)
# Most places for comments take some 65,000 characters.
_MOST_RULES = 100
_LONGEST = 400
# What begins emphasis, code, links, tables or formulas anywhere in a line, and what makes links of
# addresses and pictures of ":words:". What has a meaning only where a line begins stays readable.
_SPECIAL = re.compile(r"([\\`*_\[\]|~$#]|:(?=[\w/])|(?<=www)\.)")
_BREAKS = re.compile(r"[\t-\r\x85\u2028\u2029]+")


def markdown_report(
    monitor: Monitor,
    *,
    dagster_url: str | None = None,
    assets: Sequence[str] = (),
    projects: Sequence[str] = (),
    title: str = "Data quality",
) -> str:
    """A headline, a table of the datasets, and what the broken rules say."""
    view = monitor.overview()
    rows = chosen(view, assets, projects)
    counts = counted([row.status for row in rows])
    status, _ = together(rows, assets)
    words = counts_in_words(counts) or "No dataset has been evaluated yet"
    head = [
        f"## {_SIGNS[status]} {text_of(title)}: {WORDS[status]}",
        "",
        f"{words}. As of {utc_words(view.at)}.",
        "",
    ]
    broken = [row for row in rows if row.status in _BROKEN]
    return "\n".join([*head, *_table(rows), *_rules(monitor, broken, DagsterLinks(dagster_url))])


def _table(rows: Sequence[DatasetRow]) -> Iterator[str]:
    if not rows:
        return
    yield "| | Dataset | Rules | Score | Last run |"
    yield "|---|---|---|---:|---|"
    for row in rows:
        score = NOTHING if row.score.value is None else points(row.score.value)
        ran = "never" if row.last_run is None else utc_words(row.last_run)
        notes = [
            *(["older than the data"] if row.outdated else []),
            *([] if row.monitored else ["not monitored"]),
        ]
        said = f" ({', '.join(notes)})" if notes else ""
        yield (
            f"| {_SIGNS[row.status]} {WORDS[row.status]} | {text_of(row.asset)}{said} | "
            f"{counts_in_words(row.counts) or 'none'} | {score} | {ran} |"
        )
    yield ""


def _rules(monitor: Monitor, rows: Sequence[DatasetRow], dagster: DagsterLinks) -> Iterator[str]:
    left = _MOST_RULES
    for row in rows:
        broken = [one for one in monitor.dataset(row.asset).rules if one.status in _BROKEN]
        if not broken:
            continue
        yield f"### {_SIGNS[row.status]} {text_of(row.asset)}"
        yield ""
        for one in broken[: max(left, 0)]:
            yield _line(one, dagster)
        if len(broken) > max(left, 0):
            yield f"- and {len(broken) - max(left, 0)} more"
        left -= len(broken)
        yield ""


def _line(rule: RuleStatus, dagster: DagsterLinks) -> str:
    said = rule.slices[0]
    of = "" if said.partition is None else f" ({text_of(said.partition)})"
    address = dagster.run(said.run_id)
    run = "" if address is None else f" [run](<{address}>)"
    message = said.message or f"observed {value_words(said.observed)}"
    return f"- {_SIGNS[rule.status]} **{text_of(rule.info.rule)}**{of}: {text_of(message)}{run}"


def text_of(text: str) -> str:
    """Any text so that Markdown shows it as it is: no markup, no links, nobody mentioned."""
    line = visible(_BREAKS.sub(" ", text))
    line = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", line).replace("@", "@\u200b")
