"""Outcomes on a terminal, and as JSON."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from typing import Any

import click

from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.evaluation.plain import plain
from dq_dagster.evaluation.result import Evaluation
from dq_dagster.judging.status import Status
from dq_dagster.ruleset import RuleSet

_COLOURS = {Status.OK: "green", Status.WARNING: "yellow", Status.ERROR: "red"}
_NARROWEST_MESSAGE = 40
_WIDEST_NAME = 40


def as_text(result: Evaluation, rule_set: RuleSet) -> str:
    """The plan in one line, a line or more for each outcome, and what it comes to."""
    name_width = min(max(len(o.rule.name) for o in result), _WIDEST_NAME)
    lines = [_lines(outcome, name_width) for outcome in result]
    title = f"{rule_set.asset_name}: {result.plan.headline()}"
    return "\n".join([title, "", *lines, "", result.headline()])


def as_json(result: Evaluation, rule_set: RuleSet) -> str:
    content = {
        "asset": rule_set.asset_name,
        "status": result.status.value,
        "plan": result.plan.headline(),
        "outcomes": [_record(outcome) for outcome in result],
    }
    return json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False)


def _lines(outcome: Outcome, name_width: int) -> str:
    status_width = max(map(len, _COLOURS))
    status = click.style(f"{outcome.status:<{status_width}}", fg=_COLOURS.get(outcome.status))
    margin = " " * (status_width + 2 + name_width + 2)
    message = _wrapped(outcome.message, margin)
    name = outcome.rule.name
    # A longer name has a line to itself, so that the messages stay in line.
    gap = f"\n{margin}" if len(name) > name_width else " " * (name_width - len(name) + 2)
    return f"{_coloured(status)}  {name}{gap}{message}"


def _coloured(text: str) -> str:
    # https://no-color.org: whatever its value, the variable means no colour.
    return click.unstyle(text) if os.environ.get("NO_COLOR") else text


def _wrapped(message: str, margin: str) -> str:
    """Broken to the width of a terminal; a file or a pipe gets one line."""
    if not sys.stdout.isatty():
        return message
    width = max(shutil.get_terminal_size().columns - len(margin), _NARROWEST_MESSAGE)
    return f"\n{margin}".join(textwrap.wrap(message, width, break_on_hyphens=False))


def _record(outcome: Outcome) -> dict[str, Any]:
    return {
        "rule": outcome.rule.name,
        "type": outcome.rule.type,
        "status": outcome.status.value,
        "message": outcome.message,
        "observed": plain(outcome.observed),
        "expected": outcome.expected,
        "bounds": plain(outcome.bounds),
        "rows": outcome.rows,
        "failed_rows": outcome.failed_rows,
        "metrics": plain(outcome.metrics),
        "details": plain(outcome.details),
    }
