"""`dq-dagster`: what can be done with rules without writing Python."""

from __future__ import annotations

import json

import click

from dq_dagster.cli.backtest import backtest
from dq_dagster.cli.diff import diff_command
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


@click.group()
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
