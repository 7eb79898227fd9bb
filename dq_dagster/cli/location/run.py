"""`dq-dagster run`: runs checks of a code location, and says what came of each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from dq_dagster.cli.code_location import code_location_options, definitions_of, instance_of_user
from dq_dagster.cli.input import BadInput, progress, reported
from dq_dagster.cli.tables import print_table
from dq_dagster.judging.judgement import BADNESS, Status, worst
from dq_dagster.judging.wording import plural

if TYPE_CHECKING:
    from dq_dagster.integration.checks.launch import CheckedSlice, LaunchedRun

_COULD_NOT = 2


@click.command("run")
@click.argument("assets", nargs=-1, metavar="[ASSET]...")
@click.option("--rule", "rules", metavar="NAME", multiple=True, help="Run this rule only.")
@click.option(
    "--partition", "partitions", metavar="KEY", multiple=True, help="Run it on this partition."
)
@click.option(
    "--partition-range", "ends", metavar="FIRST...LAST", help="Run it on these partitions."
)
@click.option("--all-partitions", "every", is_flag=True, help="Run it on all that were built.")
@click.option("--strict", is_flag=True, help="Let a Warning count as an Error.")
@click.option("--json", "machine", is_flag=True, help="Print JSON, for machines.")
@code_location_options
@click.pass_context
def run_command(
    ctx: click.Context,
    *,
    assets: Sequence[str],
    rules: Sequence[str],
    partitions: Sequence[str],
    ends: str | None,
    every: bool,
    strict: bool,
    machine: bool,
    module: str | None,
    file: str | None,
) -> None:
    """Run the checks of ASSETs, or of all that have some, and build nothing.

    Checks of single partitions run on those that are chosen, neighbours in one run; checks of the
    whole dataset run on that. A rule that is named by --rule runs on the partitions whatever its
    scope. --rule and --partition can be given several times. What they say is recorded in the
    Dagster instance of DAGSTER_HOME; the definitions are found as Dagster's own commands find them.

    The exit code is 0 if there is no Error, 1 if there is one, and 2 if a check could not be run.
    """
    first, last = _ends(ends)
    # Here: no help needs Dagster.
    from dq_dagster.integration.checks.launch import CheckChoice, launched, planned_launches

    choice = CheckChoice(assets, rules, partitions, first, last, every)
    runs: list[LaunchedRun] = []
    with reported():
        defs = definitions_of(module, file)
        with instance_of_user() as instance:
            launches = planned_launches(defs, instance, choice)
            for number, launch in enumerate(launches, 1):
                count = plural(len(launch.checks), "check")
                with progress(f"[{number} of {len(launches)}] {launch.title}: {count} ..."):
                    runs.append(launched(defs, instance, launch))
    results = [one for run in runs for one in run.results]
    _say_unanswered(runs)
    if machine:
        click.echo(_as_json(runs, results))
    else:
        _print(results)
    ctx.exit(_exit_code(runs, results, strict=strict))


def _ends(text: str | None) -> tuple[str | None, str | None]:
    if text is None:
        return None, None
    first, sign, last = text.partition("...")
    if not (first and sign and last):
        raise BadInput(f"--partition-range: '{text}' is not of the form FIRST...LAST.")
    return first, last


def _exit_code(
    runs: Sequence[LaunchedRun], results: Sequence[CheckedSlice], *, strict: bool
) -> int:
    bad = {Status.ERROR, Status.WARNING} if strict else {Status.ERROR}
    if any(run.unanswered for run in runs):
        return _COULD_NOT
    return int(any(one.status in bad for one in results))


def _say_unanswered(runs: Sequence[LaunchedRun]) -> None:
    for run in runs:
        if run.unanswered:
            names = ", ".join(key.name for key in run.unanswered)
            reason = f": {run.reason}" if run.reason else "."
            click.echo(f"{run.launch.title}: no result of {names}{reason}", err=True)


def _print(results: Sequence[CheckedSlice]) -> None:
    divided = any(one.partition is not None for one in results)
    columns = ["status", "asset", *(["partition"] if divided else []), "rule", "message"]
    if results:
        print_table(columns, [_cells(one, divided=divided) for one in _worst_first(results)])
    counts = Counter(one.status for one in results)
    said = ", ".join(f"{counts[status]:,} {status}" for status in Status if counts[status])
    click.echo(f"{plural(len(results), 'result')}{': ' if said else ''}{said}")


def _worst_first(results: Sequence[CheckedSlice]) -> list[CheckedSlice]:
    return sorted(results, key=lambda one: -BADNESS[one.status])


def _cells(one: CheckedSlice, *, divided: bool) -> list[str]:
    partition = [one.partition or ""] if divided else []
    return [
        one.status.value,
        one.check.asset_key.to_user_string(),
        *partition,
        one.rule,
        one.message,
    ]


def _as_json(runs: Sequence[LaunchedRun], results: Sequence[CheckedSlice]) -> str:
    content: dict[str, Any] = {
        "status": worst([one.status for one in results]).value if results else None,
        "runs": [
            {
                "run_id": run.run_id,
                "assets": list(
                    dict.fromkeys(key.asset_key.to_user_string() for key in run.launch.checks)
                ),
                "partitions": list(run.launch.partitions),
                "unanswered": [key.name for key in run.unanswered],
                "reason": run.reason,
            }
            for run in runs
        ],
        "results": [
            {
                "asset": one.check.asset_key.to_user_string(),
                "check": one.check.name,
                "rule": one.rule,
                "partition": one.partition,
                "status": one.status.value,
                "blocking": one.blocking,
                "message": one.message,
            }
            for one in results
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False)
