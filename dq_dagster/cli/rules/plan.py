"""`dq-dagster plan`: runs a TopNotch plan, with the exit codes of TopNotch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from dq_dagster.cli.input import PAIRS, BadInput, reported, started

_FAILED = 3


class BadPlan(BadInput):
    """Nothing was run, because of the plan or of what came with it."""

    exit_code = 4


class _BadUsage(click.UsageError):
    exit_code = 4


class _PlanCommand(click.Command):
    """Ends with TopNotch's exit code if it is called in a way that it cannot be."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        try:
            return super().make_context(*args, **kwargs)
        except click.UsageError as error:
            raise _BadUsage(error.format_message(), error.ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BadInput as error:
            raise BadPlan(error.message) from None


@click.command("plan", cls=_PlanCommand)
@click.argument("plan", type=click.Path(path_type=Path))
@click.option("--variable", "variables", help="The value of a variable ${KEY}.", **PAIRS)
@click.option(
    "--path",
    "paths",
    help="Where data lies now: VALUE in the place of KEY, the beginning of a path.",
    **PAIRS,
)
@click.option(
    "--within", metavar="FOLDER", help="Where nested plans and files of commands may lie."
)
@click.option("--report", metavar="FILE", help="Write the report there as well.")
@click.option("--no-samples", is_flag=True, help="Leave row values out of the report.")
@click.option("--conf", help="A setting of Spark, if it has to be started.", **PAIRS)
@click.pass_context
def plan_command(
    ctx: click.Context,
    *,
    plan: Path,
    variables: Mapping[str, str],
    paths: Mapping[str, str],
    within: str | None,
    report: str | None,
    no_samples: bool,
    conf: Mapping[str, str],
) -> None:
    """Run a TopNotch PLAN and print its report as JSON.

    --variable, --path and --conf can be given several times. Relative paths of data are meant from
    the working directory. Rows are written where the plan has an outputPath. What failed is said
    apart from the report.

    The exit code is 0 if no assertion failed, 3 if one did or a command could not be run, and 4 if
    the arguments or the plan are wrong, so that nothing was run.
    """
    from dq_dagster.sources.topnotch.plan import read_plan

    with reported():
        file = read_plan(plan, variables=variables, paths=paths, within=within)
        _require_place(report, plan)
        from dq_dagster.evaluation.topnotch.run import require_inputs, run_plan

        require_inputs(file)
        for note in file.notes:
            click.echo(f"Note: {note}", err=True)
        found = run_plan(file, started(conf), samples=not no_samples)
    click.echo(found.to_json())
    click.echo(repr(found), err=True)
    if report is not None:
        with reported():
            found.write(report)
    ctx.exit(0 if found.ok else _FAILED)


def _require_place(report: str | None, plan: Path) -> None:
    """Finds out before anything runs that a report cannot be written, or should not be."""
    if report is None:
        return
    place = Path(report).absolute()
    if not place.parent.is_dir():
        raise BadPlan(f"--report: there is no folder '{Path(report).parent}'.")
    if place.exists() and place.samefile(plan):
        raise BadPlan("--report: that is the plan itself.")
