"""Runs the shop from end to end and shows what its checks found."""

from __future__ import annotations

import argparse
import os
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
from rich.console import Console

import dq_dagster as dq
from definitions import defs
from dq_dagster.integration.guarded.replay import Replay
from dq_dagster.integration.guarded.stats import DROPPED, ROWS_IN, ROWS_OUT
from dq_dagster.spark.session.java import ensure_java
from examples.shop import assets, data, days, report, resources, rules
from examples.shop.progress import Progress, is_check

SPARK_LOG = resources.HOME / "spark.log"
# Wide enough for the messages where the output is no terminal.
WIDTH = 120
BY_DAY = assets.orders_by_day.key.to_user_string()
PAYMENTS = "payments"
_UI = "http://127.0.0.1:3000/assets"


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
        whole = run(instance, console, resources={"shop": {"config": shop}})
        replayed = replay(whole, instance, console)
        by_day = run_days(instance, console)
    return show(whole, replayed, by_day, console, saved=saved)


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
    return _run("shop_job", instance, console, resources=resources)


def replay(
    whole: dg.ExecuteInProcessResult,
    instance: dg.DagsterInstance,
    console: Console,
    *,
    definitions: dg.Definitions = defs,
) -> Replay | None:
    """Repairs the payments that were left out, and lets them be judged again, if there are any."""
    if not _payments_built(whole).get(DROPPED):
        return None
    replayed = dq.replay(definitions, PAYMENTS, repair=data.repaired_payments, instance=instance)
    console.print(f"        {PAYMENTS}: replayed, {replayed.released:,} rows released")
    return replayed


def _payments_built(whole: dg.ExecuteInProcessResult) -> Mapping[str, int]:
    """The numbers that are on record of the payments of a run; none if they were not built."""
    for event in whole.get_asset_materialization_events():
        built = event.step_materialization_data.materialization
        if built.asset_key == dg.AssetKey(PAYMENTS):
            return {
                name: entry.value
                for name, entry in built.metadata.items()
                if isinstance(entry, dg.IntMetadataValue) and entry.value is not None
            }
    return {}


def run_days(
    instance: dg.DagsterInstance, console: Console, *, resources: Mapping[str, Any] | None = None
) -> dg.ExecuteInProcessResult:
    """Builds and checks all days in one run, as a backfill does."""
    keys = assets.DAYS.get_partition_keys()
    tags = {
        "dagster/asset_partition_range_start": keys[0],
        "dagster/asset_partition_range_end": keys[-1],
    }
    return _run("orders_by_day_job", instance, console, resources=resources or {}, tags=tags)


def _run(
    job: str,
    instance: dg.DagsterInstance,
    console: Console,
    *,
    resources: Mapping[str, Any],
    tags: Mapping[str, str] | None = None,
) -> dg.ExecuteInProcessResult:
    run_id = str(uuid.uuid4())
    instance.add_event_listener(run_id, Progress(console))
    return defs.resolve_job_def(job).execute_in_process(
        run_config={
            "resources": resources,
            "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
        },
        instance=instance,
        run_id=run_id,
        tags=dict(tags or {}),
        # A blocking rule that is broken fails the run; here that is part of the show.
        raise_on_error=False,
    )


def show(
    whole: dg.ExecuteInProcessResult,
    replayed: Replay | None,
    by_day: dg.ExecuteInProcessResult,
    console: Console,
    *,
    saved: bool,
) -> int:
    """Prints what the checks said, and what to do next; returns the exit code."""
    _show_tables(whole, console)
    if replayed is not None:
        _show_replay(_payments_built(whole), replayed, console)
    _show_days(by_day, console)
    crashes = [event for result in (whole, by_day) for event in _crashes(result)]
    for event in crashes:
        console.print(f"[bold red]{event.step_key} could not be built:[/bold red] {event.message}")
        console.print(event.step_failure_data.error_display_string, markup=False)
    console.print(_next_step(saved=saved))
    return 1 if crashes else 0


def _show_replay(built: Mapping[str, int], replayed: Replay, console: Console) -> None:
    console.print(
        f"[bold]{PAYMENTS}[/bold] is guarded: its rows are judged before they are published. Of "
        f"{built[ROWS_IN]:,} rows, {built[DROPPED]:,} were left out and kept in "
        f"{PAYMENTS}_quarantine; settlements was built from the other {built[ROWS_OUT]:,}. Then "
        f"they were repaired and replayed: {replayed.released:,} passed and are in {PAYMENTS} now, "
        f"{replayed.remaining:,} stay in quarantine.\n",
        highlight=False,
    )


def _show_tables(whole: dg.ExecuteInProcessResult, console: Console) -> None:
    every = [*rules.RULE_SETS, *rules.IN_FLIGHT]
    unpartitioned = [rule_set for rule_set in every if rule_set.asset_name != BY_DAY]
    lines = report.lines_of(whole, unpartitioned)
    report.print_table(lines, console)
    counts = report.counts_of([line.status for line in lines])
    console.print(f"{len(lines)} checks: {counts}\n", highlight=False)
    for line in lines:
        if line.blocks:
            console.print(_what_blocking_means(line))


def _show_days(by_day: dg.ExecuteInProcessResult, console: Console) -> None:
    verdicts = days.verdicts_of(by_day)
    if verdicts:
        keys = sorted({one.day for one in verdicts if one.day})
        console.print(
            f"[bold]{BY_DAY}[/bold] was built and checked in one run for {len(keys)} days, from "
            f"{keys[0]} to {keys[-1]}. What is typical of a day, its rules learn from the days "
            "before it.",
            highlight=False,
        )
        days.print_days(verdicts, console)


def _crashes(result: dg.ExecuteInProcessResult) -> Sequence[dg.DagsterEvent]:
    return result.filter_events(lambda event: event.is_step_failure and not is_check(event))


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
        "Next: [bold]./dev pages[/bold] shows statuses, timelines and histories, on "
        "http://127.0.0.1:3001\n"
        f"[bold]./dev ui[/bold] shows the same in Dagster, on {_UI}/products?view=checks\n"
        "(Assets, then an asset, then its tab Checks; a click on a check shows its history).\n"
        f"Payments before and after: {_UI}/{PAYMENTS}?view=checks&checkDetail=no_card_numbers "
        "(history)\n"
        f"The days are on {_UI}/{BY_DAY}?view=checks&checkDetail=orders_come_in, under Partitions."
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
        "--repaired", action="store_true", help="leave out the defect that blocks price_list"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
