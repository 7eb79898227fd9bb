"""`dq-dagster import`: rules of other tools as YAML, with a report on what became of each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dq_dagster.cli.input import PAIRS, BadInput, reported

if TYPE_CHECKING:
    from dq_dagster.sources.migration import Migration, MigrationReport

report_option = click.option(
    "--report",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
    help="How the report is written.",
)


@click.group("import")
def imports() -> None:
    """Turn rules of other tools into YAML, with a report on every one of them."""


@imports.command("spark-expectations")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the rules there.")
@click.option("--product", "product_id", help="Take the rules of this product_id only.")
@click.option("--table", help="Take the rules of this table only.")
@click.option("--env", help="The environment, if the file has several.")
@click.option("--param", "params", help="A value for a placeholder in the rules.", **PAIRS)
@click.option("--asset", help="The asset that the rules are of; by default named by the table.")
@click.option("--view", help="What queries call the rows; by default <table>_view.")
@click.option("--untrusted", is_flag=True, help="Refuse queries, and conditions across rows.")
@report_option
@click.pass_context
def spark_expectations(
    ctx: click.Context,
    *,
    path: Path,
    output: Path | None,
    product_id: str | None,
    table: str | None,
    env: str | None,
    params: Mapping[str, str],
    asset: str | None,
    view: str | None,
    untrusted: bool,
    form: str,
) -> None:
    """Read the rules of a YAML or JSON file of Spark-Expectations.

    The report says of every rule whether it is taken as it is, means something else here, or is
    refused, with the reasons. With --output the rules are written to that file and the report is
    printed; without, the rules are printed, and the report goes to standard error.

    The exit code is 0, 1 if a rule is refused, and 2 if the file cannot be read.
    """
    # Here: other commands do not need it.
    from dq_dagster.sources.spark_expectations.load import load_spark_expectations

    with reported():
        found = load_spark_expectations(
            path, product_id=product_id, table=table, env=env, params=params, assets=asset,
            view=view, trusted=not untrusted,
        )  # fmt: skip
    write_migration(found, output, form)
    ctx.exit(int(bool(found.report.refused)))


def write_migration(found: Migration, output: Path | None, form: str) -> None:
    """The rules as YAML, with the report."""
    from dq_dagster.sources.yaml.writing import rule_sets_as_yaml

    rules = rule_sets_as_yaml(found.rule_sets) if found.rule_sets else ""
    write_beside(rules, found.report, output, form)


def write_beside(text: str, report: MigrationReport, output: Path | None, form: str) -> None:
    """A text into the file and the report onto the screen, or else both, apart."""
    forms: dict[str, Any] = {
        "text": report.__str__,
        "markdown": report.to_markdown,
        "json": report.to_json,
    }
    if output is None:
        click.echo(text, nl=False)
        click.echo(forms[form](), err=True)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"'{output}' cannot be written: {error.strerror}.") from None
    click.echo(forms[form]())
