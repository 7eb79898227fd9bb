"""What the checks of a run said, as a table for the terminal."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

import dq_dagster as dq
from dq_dagster.integration.event_log.codec import RECORD, Record
from dq_dagster.integration.event_log.views import OBSERVED

_WIDE = 100
COLOURS = {
    dq.Status.OK: "green",
    dq.Status.WARNING: "yellow",
    dq.Status.ERROR: "bold red",
    dq.Status.EMPTY: "cyan",
    dq.Status.NOT_COMPUTED: "dim",
}


@dataclass(frozen=True)
class Line:
    """What one check said."""

    asset: str
    check: str
    status: dq.Status
    message: str
    observed: Any = None
    blocks: bool = False


def lines_of(result: dg.ExecuteInProcessResult, rule_sets: Sequence[dq.RuleSet]) -> list[Line]:
    """One line a check, in the order of the run, then those that were not run."""
    built = [event.asset_key for event in result.get_asset_materialization_events()]
    said: dict[str, dict[str, dg.AssetCheckEvaluation]] = defaultdict(dict)
    for one in result.get_asset_check_evaluations():
        said[one.asset_key.to_user_string()][one.check_name] = one
    return [
        _line(rule_set.asset_name, check, said[rule_set.asset_name].get(check))
        for rule_set in sorted(rule_sets, key=lambda one: _position(one, built))
        for check in dict.fromkeys(
            [*(rule.check_name for rule in rule_set.enabled_rules), *said[rule_set.asset_name]]
        )
    ]


def _position(rule_set: dq.RuleSet, built: Sequence[dg.AssetKey | None]) -> int:
    key = dg.AssetKey(rule_set.asset_path)
    return built.index(key) if key in built else len(built)


def _line(asset: str, check: str, evaluation: dg.AssetCheckEvaluation | None) -> Line:
    if evaluation is None:
        return Line(asset, check, dq.Status.NOT_COMPUTED, f"Not run: {asset} was not built.")
    status = status_of(evaluation)
    observed = evaluation.metadata.get(OBSERVED)
    return Line(
        asset,
        check,
        status,
        evaluation.description or "",
        observed=None if observed is None else observed.value,
        blocks=bool(evaluation.blocking) and status is dq.Status.ERROR,
    )


def status_of(evaluation: dg.AssetCheckEvaluation) -> dq.Status:
    record = Record.decode(evaluation.metadata[RECORD].value)
    if record is None:
        raise ValueError(f"Check '{evaluation.check_name}' has another form of record.")
    return record.status


def print_table(lines: Sequence[Line], console: Console) -> None:
    # The messages have the observed values too; on a narrow terminal they need the space.
    wide = console.width >= _WIDE
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("asset", no_wrap=True)
    table.add_column("check", no_wrap=True)
    table.add_column("status", no_wrap=True)
    if wide:
        table.add_column("observed", justify="right", no_wrap=True)
    table.add_column("message", ratio=1)
    previous = ""
    for line in lines:
        if previous and line.asset != previous:
            table.add_section()
        asset = "" if line.asset == previous else line.asset
        status = Text(line.status, style=COLOURS[line.status])
        observed = [_shown(line.observed)] if wide else []
        table.add_row(asset, line.check, status, *observed, _message(line))
        previous = line.asset
    console.print(table)


def counts_of(statuses: Sequence[dq.Status]) -> str:
    """Such as "2 Error, 1 Warning, 30 Ok"."""
    counts = Counter(statuses)
    return ", ".join(f"{counts[status]} {status}" for status in _worst_first() if counts[status])


def _worst_first() -> Sequence[dq.Status]:
    return list(dq.Status)[::-1]


def _message(line: Line) -> Text:
    # What is in order needs one line only; what is not is shown in full.
    brief = line.status is dq.Status.OK
    return Text(line.message, no_wrap=brief, overflow="ellipsis" if brief else "fold")


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        shown = [_shown(one) for one in value.values()]
        return shown[0] if len(set(shown)) == 1 else " / ".join(shown)
    if isinstance(value, float):
        return f"{value:,.2f}"
    if isinstance(value, int):
        return f"{value:,}"
    # Of a time the day will do; the message has the rest.
    return "" if value is None else str(value)[:10]
