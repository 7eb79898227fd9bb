"""`dq-dagster`: what can be done with rules without writing Python."""

from __future__ import annotations

import json

import click

from dq_dagster.cli.backtest import backtest
from dq_dagster.cli.imports import imports
from dq_dagster.cli.plan import plan_command
from dq_dagster.cli.replay import replay_command
from dq_dagster.cli.rows import rows
from dq_dagster.cli.schema_of import rule_types, schema_of
from dq_dagster.cli.trial import trial
from dq_dagster.rules.catalogue import plugin_problems
from dq_dagster.sources.json_schema import json_schema


@click.group()
@click.version_option(package_name="dq_dagster")
def main() -> None:
    """Data-quality rules for Dagster and Spark."""


main.add_command(schema_of)


@main.command()
def schema() -> None:
    """Print the JSON Schema of rules files, for editors that complete and check YAML."""
    for problem in plugin_problems():
        click.echo(f"Left out: {problem}", err=True)
    click.echo(json.dumps(json_schema(), indent=2))


main.add_command(rule_types)
main.add_command(trial)
main.add_command(rows)
main.add_command(backtest)
main.add_command(replay_command)
main.add_command(plan_command)
main.add_command(imports)
