"""`dq-dagster schema-of`: the schema of stored data, as a rule to start from."""

from __future__ import annotations

import re

import click

from dq_dagster.sources.yaml_writing import to_yaml

_SENTENCE = re.compile(r"\[[A-Z0-9_.]+\] ([^\n]*?)(?: SQLSTATE: \w+.*)?$", re.MULTILINE)


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
    # Here, since other commands need neither Dagster nor Spark.
    from dq_dagster.spark import schemas
    from dq_dagster.spark.paths import absolute
    from dq_dagster.spark.session import current_session

    settings = dict(_setting(option) for option in options)
    try:
        frame = current_session().read.format(kind).options(**settings).load(absolute(path))
        columns = schemas.schema_of(frame)
    except Exception as error:  # noqa: BLE001 (whatever Spark and Java raise, people get one line)
        raise click.ClickException(f"'{path}' can not be read: {_reason(error)}") from None
    click.echo(to_yaml([{"type": "schema_equals", "expected": columns}]), nl=False)


def _setting(option: str) -> tuple[str, str]:
    key, equals, value = option.partition("=")
    if not equals:
        raise click.BadParameter(f"'{option}' is not of the form KEY=VALUE.")
    return key, value


def _reason(error: Exception) -> str:
    """Spark's own sentence, without the Java around it."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    sentence = _SENTENCE.search(str(error))
    return sentence[1] if sentence else lines[0]
