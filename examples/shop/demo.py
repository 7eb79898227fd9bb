"""Runs the shop from end to end and shows what its checks found."""

from __future__ import annotations

import argparse
import os
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
from rich.console import Console

import dq_dagster as dq
from definitions import defs
from dq_dagster.spark.java import ensure_java
from examples.shop import report, resources, rules

SPARK_LOG = resources.HOME / "spark.log"
# Wide enough for the messages where the output is no terminal.
WIDTH = 120
# How the library names the step that checks an asset.
_CHECK = "dq__"


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    terminal = Console()
    console = terminal if terminal.is_terminal else Console(width=WIDTH)
    shop = {"orders": options.orders, "repaired": options.repaired}
    saved = bool(os.environ.get("DAGSTER_HOME"))
    instance = dg.DagsterInstance.get() if saved else dg.DagsterInstance.ephemeral()
    with instance:
        console.print("Starting Spark ...")
        start_spark()
        result = run(instance, console, resources={"shop": {"config": shop}})
    return show(result, console, saved=saved)


def start_spark() -> None:
    """Starts Spark here, so that what it has to say goes to a file of its own."""
    ensure_java()
    SPARK_LOG.parent.mkdir(parents=True, exist_ok=True)
    with _stderr_to(SPARK_LOG):
        _ = resources.pyspark.spark_session


def run(
    instance: dg.DagsterInstance, console: Console, *, resources: Mapping[str, Any]
) -> dg.ExecuteInProcessResult:
    """Builds and checks the shop, with a line for each step that is done."""
    run_id = str(uuid.uuid4())
    instance.add_event_listener(run_id, Progress(console))
    return defs.resolve_job_def("shop_job").execute_in_process(
        run_config={
            "resources": resources,
            "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
        },
        instance=instance,
        run_id=run_id,
        # A blocking rule that is broken fails the run; here that is part of the show.
        raise_on_error=False,
    )


class Progress:
    """Tells what happens in a run while it happens."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._start = time.monotonic()
        self._statuses: list[dq.Status] = []

    def __call__(self, entry: dg.EventLogEntry) -> None:
        event = entry.dagster_event
        if event is None:
            return
        match event.event_type:
            case dg.DagsterEventType.ASSET_MATERIALIZATION if event.asset_key:
                self._say(f"{event.asset_key.to_user_string()}: built")
            case dg.DagsterEventType.ASSET_CHECK_EVALUATION:
                self._statuses.append(report.status_of(event.asset_check_evaluation_data))
            case dg.DagsterEventType.STEP_SUCCESS | dg.DagsterEventType.STEP_FAILURE:
                self._end_of_step(event)

    def _end_of_step(self, event: dg.DagsterEvent) -> None:
        if self._statuses:
            self._say(f"{_asset(event)}: checked, {report.counts_of(self._statuses)}")
            self._statuses = []
        elif event.is_step_failure:
            self._say(f"{_asset(event)}: failed")

    def _say(self, text: str) -> None:
        self._console.print(f"[dim]{time.monotonic() - self._start:4.0f} s[/dim]  {text}")


def show(result: dg.ExecuteInProcessResult, console: Console, *, saved: bool) -> int:
    """Prints what the checks said, and what to do next; returns the exit code."""
    lines = report.lines_of(result, rules.RULE_SETS)
    report.print_table(lines, console)
    counts = report.counts_of([line.status for line in lines])
    console.print(f"{len(lines)} checks: {counts}\n", highlight=False)
    for line in lines:
        if line.blocks:
            console.print(_what_blocking_means(line))
    crashes = result.filter_events(lambda event: event.is_step_failure and not _is_check(event))
    for event in crashes:
        console.print(f"[bold red]{event.step_key} could not be built:[/bold red] {event.message}")
        console.print(event.step_failure_data.error_display_string, markup=False)
    console.print(_next_step(saved=saved))
    return 1 if crashes else 0


def _is_check(event: dg.DagsterEvent) -> bool:
    return (event.step_key or "").startswith(_CHECK)


def _asset(event: dg.DagsterEvent) -> str:
    return (event.step_key or "").removeprefix(_CHECK)


def _what_blocking_means(line: report.Line) -> str:
    return (
        f"[bold]{line.asset}.{line.check}[/bold] is a blocking rule, and it is broken: Dagster "
        f"marks the run as failed and does not build what comes after {line.asset}. That is what "
        "blocking means. Run [bold]./dev demo --repaired[/bold] to see the same shop without that "
        "defect.\n"
    )


def _next_step(*, saved: bool) -> str:
    if not saved:
        return "Nothing was saved, since DAGSTER_HOME is not set. [bold]./dev demo[/bold] sets it."
    return (
        "Next: [bold]./dev ui[/bold] shows the same in Dagster, on "
        "http://127.0.0.1:3000/assets/payments?view=checks\n"
        "(Assets, then an asset, then its tab Checks; a click on a check shows its history)."
    )


@contextmanager
def _stderr_to(file: Path) -> Iterator[None]:
    """What is started meanwhile writes its errors to the file, for as long as it lives."""
    sys.stderr.flush()
    terminal = os.dup(2)
    try:
        with file.open("ab") as log:
            os.dup2(log.fileno(), 2)
        yield
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev demo", description=__doc__)
    parser.add_argument("--orders", type=int, default=5_000, help="how many orders there are")
    parser.add_argument(
        "--repaired", action="store_true", help="leave out the defect that blocks settlements"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
