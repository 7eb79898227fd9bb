"""What happens in a run, printed while it happens."""

from __future__ import annotations

import time
from collections.abc import Sequence

import dagster as dg
from rich.console import Console

import dq_dagster as dq
from dq_dagster.integration.guarded.stats import DROPPED
from examples.shop import report

# How the library names the step that checks an asset.
_CHECK = "dq__"


class Progress:
    """Prints a line for each step that is done."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._start = time.monotonic()
        self._built: list[dg.DagsterEvent] = []
        self._statuses: list[dq.Status] = []

    def __call__(self, entry: dg.EventLogEntry) -> None:
        event = entry.dagster_event
        if event is None:
            return
        match event.event_type:
            case dg.DagsterEventType.ASSET_MATERIALIZATION:
                self._built.append(event)
            case dg.DagsterEventType.ASSET_CHECK_EVALUATION:
                self._statuses.append(report.status_of(event.asset_check_evaluation_data))
            case dg.DagsterEventType.STEP_SUCCESS | dg.DagsterEventType.STEP_FAILURE:
                self._end_of_step(event)

    def _end_of_step(self, event: dg.DagsterEvent) -> None:
        asset = (event.step_key or "").removeprefix(_CHECK)
        if self._built:
            self._say(f"{asset}: built{_details(self._built)}")
        if self._statuses:
            self._say(f"{asset}: checked, {report.counts_of(self._statuses)}")
        elif event.is_step_failure:
            self._say(f"{asset}: failed")
        self._built, self._statuses = [], []

    def _say(self, text: str) -> None:
        self._console.print(f"[dim]{time.monotonic() - self._start:4.0f} s[/dim]  {text}")


def _details(built: Sequence[dg.DagsterEvent]) -> str:
    partitions = [one.partition for one in built if one.partition]
    left_out = sum(rows_left_out(one) for one in built)
    return (f", {len(partitions)} partitions" if partitions else "") + (
        f", {left_out:,} rows left out" if left_out else ""
    )


def rows_left_out(event: dg.DagsterEvent) -> int:
    """How many rows of a guarded asset were not published; of others none is left out."""
    entry = event.step_materialization_data.materialization.metadata.get(DROPPED)
    return 0 if entry is None else int(str(entry.value))


def is_check(event: dg.DagsterEvent) -> bool:
    """Whether an event is about a step that checks an asset."""
    return (event.step_key or "").startswith(_CHECK)
