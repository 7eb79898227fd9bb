"""`dq-dagster`: what can be done with rules without writing Python."""

from __future__ import annotations

import codecs
import errno
import io
import json
import sqlite3
import sys
import traceback
from typing import Any

import click

from dq_dagster.cli.backtest import backtest
from dq_dagster.cli.diff import diff_command
from dq_dagster.cli.input import BadInput
from dq_dagster.cli.location.coverage import coverage_command
from dq_dagster.cli.location.explain import explain_command
from dq_dagster.cli.location.run import run_command
from dq_dagster.cli.location.validate import validate_command
from dq_dagster.cli.monitored import history_command, status_command, timeline_command
from dq_dagster.cli.monitoring.pages import report_command, ui_command
from dq_dagster.cli.replay import replay_command
from dq_dagster.cli.rows import rows
from dq_dagster.cli.rules.contract import contract
from dq_dagster.cli.rules.imports import imports
from dq_dagster.cli.rules.plan import plan_command
from dq_dagster.cli.rules.schema_of import rule_types, schema_of
from dq_dagster.cli.rules.templates import templates
from dq_dagster.cli.trial import trial

_ESCAPED = "dq_dagster.escaped"


def _escaped(error: UnicodeError) -> tuple[str, int]:
    r"""What the encoding of a terminal or file has no signs for, as \uXXXX, as JSON takes it."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error(_ESCAPED, _escaped)


class Commands(click.Group):
    """Commands of which none ends with 1, which is an answer, because it failed."""

    def invoke(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors=_ESCAPED)
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise
            if isinstance(error, OSError | sqlite3.Error) or _is_of_databases(error):
                raise BadInput(f"{type(error).__name__}: {error}") from None
            traceback.print_exc()
            ctx.exit(BadInput.exit_code)


def _is_of_databases(error: Exception) -> bool:
    """Known by where it comes from: most commands need no database."""
    return type(error).__module__.partition(".")[0] in {"sqlalchemy", "psycopg2", "MySQLdb"}


@click.group(cls=Commands)
@click.version_option(package_name="dq_dagster")
def main() -> None:
    """Data-quality rules for Dagster and Spark."""


main.add_command(schema_of)


@main.command()
def schema() -> None:
    """Print the JSON Schema of rules files, for editors that complete and check YAML."""
    # Here: no help needs any rules.
    from dq_dagster.rules.catalogue import plugin_problems
    from dq_dagster.sources.json_schema import json_schema

    for problem in plugin_problems():
        click.echo(f"Left out: {problem}", err=True)
    click.echo(json.dumps(json_schema(), indent=2))


main.add_command(rule_types)
main.add_command(templates)
main.add_command(trial)
main.add_command(rows)
main.add_command(explain_command)
main.add_command(validate_command)
main.add_command(coverage_command)
main.add_command(run_command)
main.add_command(backtest)
main.add_command(replay_command)
main.add_command(plan_command)
main.add_command(diff_command)
main.add_command(imports)
main.add_command(contract)
main.add_command(ui_command)
main.add_command(report_command)
main.add_command(status_command)
main.add_command(timeline_command)
main.add_command(history_command)
