"""`dq-dagster schema-of`: the schema of stored data, as a rule to start from."""

from __future__ import annotations

from collections.abc import Mapping

import click

from dq_dagster.cli.bad_input import BadInput, told
from dq_dagster.cli.spark_input import PAIRS, started
from dq_dagster.sources.yaml_writing import to_yaml


@click.command("schema-of")
@click.argument("path")
@click.option(
    "--format", "kind", help="The format of the files; by default what their names end in."
)
@click.option("--option", "options", help="An option for reading the files.", **PAIRS)
@click.option("--conf", help="A setting of Spark, if it has to be started.", **PAIRS)
def schema_of(
    *, path: str, kind: str | None, options: Mapping[str, str], conf: Mapping[str, str]
) -> None:
    """Print a schema_equals rule with the columns that PATH has now.

    PATH is a file, a folder, or a URI that Spark can read. --option and --conf can be given
    several times. CSV files are read with a header and with types that fit their values, unless
    --option header=false or --option inferSchema=false says otherwise.

    The exit code is 0, or 2 if the data could not be read.
    """
    # Here, since other commands need neither Dagster nor Spark.
    from dq_dagster.spark import schemas
    from dq_dagster.spark.reading import read_files, require_existing

    with told():
        require_existing(path)
        frame = read_files(started(conf, announced=False), path, kind=kind, options=options)
        columns = schemas.schema_of(frame)
        if not columns:
            raise BadInput(f"'{path}' has no columns.")
    click.echo(to_yaml([{"type": "schema_equals", "expected": columns}]), nl=False)
