"""`dq-dagster schema-of`: the schema of stored data, as a rule to start from."""

from __future__ import annotations

import click

from dq_dagster.sources.yaml_writing import to_yaml


@click.command("schema-of")
@click.argument("path")
@click.option("--format", "kind", default="parquet", show_default=True, help="A format of Spark.")
@click.option(
    "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of that format."
)
def schema_of(path: str, kind: str, options: tuple[str, ...]) -> None:
    """Print a schema_equals rule with the columns that PATH has now.

    PATH is a file, a folder, or a URI that Spark can read.
    """
    # Here, since other commands need no Spark.
    from pyspark.errors import PySparkException

    from dq_dagster.spark import schemas
    from dq_dagster.spark.session import current_session

    settings = dict(_setting(option) for option in options)
    try:
        frame = current_session().read.format(kind).options(**settings).load(_absolute(path))
        columns = schemas.schema_of(frame)
    except PySparkException as error:
        raise click.ClickException(_first_line(error)) from None
    click.echo(to_yaml([{"type": "schema_equals", "expected": columns}]), nl=False)


def _setting(option: str) -> tuple[str, str]:
    key, equals, value = option.partition("=")
    if not equals:
        raise click.BadParameter(f"'{option}' is not of the form KEY=VALUE.")
    return key, value


def _absolute(path: str) -> str:
    from dq_dagster.integration.readers import absolute

    return absolute(path)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
