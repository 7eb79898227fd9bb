"""What the checks of a partitioned asset said, day by day, for the terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import dagster as dg
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

import dq_dagster as dq
from examples.shop import report

ALL_DAYS = "all days"
_LETTERS = {
    dq.Status.EMPTY: ".",
    dq.Status.OK: "+",
    dq.Status.WARNING: "W",
    dq.Status.ERROR: "E",
}


@dataclass(frozen=True)
class Verdict:
    """What one check said about one day, or about all days together."""

    check: str
    day: str | None
    status: dq.Status
    message: str

    @property
    def catches(self) -> bool:
        return self.status in {dq.Status.WARNING, dq.Status.ERROR}


def verdicts_of(result: dg.ExecuteInProcessResult) -> list[Verdict]:
    """The verdicts by check, and those of a check by day."""
    every = [
        Verdict(one.check_name, one.partition, report.status_of(one), one.description or "")
        for one in result.get_asset_check_evaluations()
    ]
    return sorted(every, key=lambda one: (one.day is None, one.check, one.day or ""))


def print_days(verdicts: Sequence[Verdict], console: Console) -> None:
    """A letter for each day, then the days on which something was found, with the message."""
    strips = defaultdict(list)
    for verdict in verdicts:
        strips[verdict.check].append(verdict)
    console.print(_strips(strips.values()))
    letters = ", ".join(f"{letter} {status}" for status, letter in _LETTERS.items())
    console.print(f"({letters}; Empty: the rule is still learning what is typical)\n")
    console.print(_caught([verdict for verdict in verdicts if verdict.catches]))


def _strips(checks: Iterable[Sequence[Verdict]]) -> Table:
    table = _table("check", "days, from the first to the last")
    for verdicts in checks:
        strip = Text()
        for verdict in verdicts:
            strip.append(_LETTERS[verdict.status], style=report.COLOURS[verdict.status])
        if verdicts[0].day is None:
            strip.append(f" ({ALL_DAYS} together)")
        table.add_row(verdicts[0].check, strip)
    return table


def _caught(verdicts: Sequence[Verdict]) -> Table:
    table = _table("day", "check", "status")
    table.add_column("message", ratio=1)
    for one in sorted(verdicts, key=lambda verdict: verdict.day or "~"):
        status = Text(one.status, style=report.COLOURS[one.status])
        table.add_row(one.day or ALL_DAYS, one.check, status, Text(one.message))
    return table


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in columns:
        table.add_column(name, no_wrap=True)
    return table
