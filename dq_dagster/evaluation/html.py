"""Outcomes as notebooks show them. Whatever comes from data or rules is shown as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from dq_dagster.judging.judgement import Status
from dq_dagster.judging.wording import show
from dq_dagster.metrics.conditions import sample_words

if TYPE_CHECKING:
    from dq_dagster.evaluation.outcome import GroupRow, Outcome

# What people know the statuses by.
COLOURS = {
    Status.OK: "#1a7f37",
    Status.WARNING: "#9a6700",
    Status.ERROR: "#cf222e",
    Status.EMPTY: "#57606a",
    Status.NOT_COMPUTED: "#57606a",
}
NO_VALUE = "(no value)"


def html_of_all(headline: str, outcomes: Sequence[Outcome]) -> str:
    """A row an outcome, and below them a table for each that is broken down by groups."""
    partitioned = any(outcome.partition is not None for outcome in outcomes)
    names = ["status", "rule", *["partition"] * partitioned, "observed", "message"]
    rows = [
        [
            _status(outcome.status),
            escape(outcome.rule.name),
            *[escape(outcome.partition or "")] * partitioned,
            escape(_words(outcome.observed)),
            escape(outcome.message) + _samples(outcome, before="<br>values: "),
        ]
        for outcome in outcomes
    ]
    groups = "".join(_groups(outcome) for outcome in outcomes)
    return f"<p><b>{escape(headline)}</b></p>{html_table(names, rows)}{groups}"


def html_of(outcome: Outcome) -> str:
    """What one outcome says, line by line, and its columns and groups if it has any."""
    about = {
        "rule": escape(f"{outcome.rule.name} ({outcome.rule.type})"),
        "partition": escape(outcome.partition or ""),
        "status": _status(outcome.status),
        "message": escape(outcome.message),
        "observed": escape(_words(outcome.observed)),
        "expected": escape(outcome.expected),
        "rows": "" if outcome.rows is None else f"{outcome.rows:,}",
        "failed rows": "" if outcome.failed_rows is None else f"{outcome.failed_rows:,}",
        "values": _samples(outcome),
    }
    lines = "".join(
        f"<tr><th {_LEFT}>{name}</th><td {_LEFT}>{text}</td></tr>"
        for name, text in about.items()
        if text
    )
    return f"<table><tbody>{lines}</tbody></table>{_columns(outcome)}{_groups(outcome)}"


def _samples(outcome: Outcome, before: str = "") -> str:
    return before + escape(sample_words(outcome.samples)) if outcome.samples else ""


def _columns(outcome: Outcome) -> str:
    if not outcome.columns:
        return ""
    rows = [
        [
            escape(name),
            _status(column.status),
            escape(_words(column.observed)),
            escape(column.message),
        ]
        for name, column in outcome.columns.items()
    ]
    return html_table(["column", "status", "observed", "message"], rows)


def _groups(outcome: Outcome) -> str:
    """A table for each dimension, or the sentence that says why there is none."""
    of = "" if outcome.partition is None else f", partition {outcome.partition}"
    return "".join(
        f"<p>{escape(f'{outcome.rule.name}{of}, by {dimension}')}</p>"
        + (f"<p>{escape(groups)}</p>" if isinstance(groups, str) else _group_table(groups))
        for dimension, groups in outcome.dimensions.items()
    )


def _group_table(groups: Sequence[GroupRow]) -> str:
    names = ["group", "status", "observed", "rows", "failed rows", "impact", "message"]
    rows = [
        [
            escape(group_name(group)),
            _status(group.status),
            escape(_words(group.observed)),
            escape(_words(group.rows)),
            escape(_words(group.failed_rows)),
            escape(_words(group.impact)),
            escape(group.message),
        ]
        for group in groups
    ]
    return html_table(names, rows)


def group_name(group: GroupRow) -> str:
    """The value that the rows of a group share; of several groups how many they are."""
    if group.groups > 1:
        return f"{group.name} ({group.groups:,} groups)"
    return NO_VALUE if group.name is None else group.name


_LEFT = 'style="text-align:left"'


def html_table(names: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells are HTML already."""
    head = "".join(f"<th {_LEFT}>{name}</th>" for name in names)
    body = "".join(f"<tr>{''.join(_cells(row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(row: Sequence[str]) -> Iterator[str]:
    return (f"<td {_LEFT}>{cell}</td>" for cell in row)


def _status(status: Status) -> str:
    return f'<b style="color:{COLOURS[status]}">{status.value}</b>'


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_words(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    return "" if value is None else show(value)
