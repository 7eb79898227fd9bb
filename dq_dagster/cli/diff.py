"""`dq-dagster diff`: what differs between two tables or files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from dq_dagster.cli.input import PAIRS, BadInput, reported, started

_DIFFERENT = 1
_HEAD = '<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>Diff</title></head>'


def _figures(ctx: Any, param: click.Parameter, texts: Sequence[str]) -> Any:
    """A number for all columns, or COLUMN=NUMBER for each; a time is a text such as 5 min."""
    by_column: dict[str, Any] = {}
    for text in texts:
        column, sign, figure = text.rpartition("=")
        if not sign:
            if len(texts) > 1:
                raise click.BadParameter("give one number, or COLUMN=NUMBER for each.", ctx, param)
            return _number(figure)
        by_column[column] = _number(figure)
    return by_column or 0


def _number(text: str) -> float | int | str:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


@click.command("diff")
@click.argument("left")
@click.argument("right")
@click.option(
    "--key",
    "keys",
    metavar="COLUMN",
    multiple=True,
    required=True,
    help="A column that tells rows apart, with others if there are several.",
)
@click.option(
    "--column", "columns", metavar="COLUMN", multiple=True, help="Compare this column, not all."
)
@click.option("--ignore", metavar="COLUMN", multiple=True, help="Do not compare this column.")
@click.option("--renamed", help="What a column of LEFT is called in RIGHT.", **PAIRS)
@click.option(
    "--tolerance",
    metavar="[COLUMN=]NUMBER",
    multiple=True,
    callback=_figures,
    help="By how much numbers may differ; of times, such as at='5 min'.",
)
@click.option(
    "--relative-tolerance",
    metavar="[COLUMN=]NUMBER",
    multiple=True,
    callback=_figures,
    help="The same as a share of the larger number.",
)
@click.option("--ignore-case", is_flag=True, help="Let upper and lower case be the same.")
@click.option("--ignore-whitespace", is_flag=True, help="Let white space not matter.")
@click.option(
    "--partition-by",
    metavar="SQL",
    help="A column, or SQL, that gives a row's partition: those that are the same are not joined.",
)
@click.option("--samples", type=int, default=0, help="Show so many rows of each kind.")
@click.option("--json", "machine", is_flag=True, help="Print JSON, for machines.")
@click.option("--html", metavar="FILE", help="Write the report there as a page.")
@click.option("--conf", help="A setting of Spark, if it has to be started.", **PAIRS)
@click.pass_context
def diff_command(
    ctx: click.Context,
    *,
    left: str,
    right: str,
    keys: Sequence[str],
    columns: Sequence[str],
    ignore: Sequence[str],
    renamed: Mapping[str, str],
    tolerance: Any,
    relative_tolerance: Any,
    ignore_case: bool,
    ignore_whitespace: bool,
    partition_by: str | None,
    samples: int,
    machine: bool,
    html: str | None,
    conf: Mapping[str, str],
) -> None:
    """Compare LEFT and RIGHT by their keys. Each is a path of files or the name of a table.

    Options in the singular can be given several times. No values of rows are shown, unless
    --samples asks for some.

    The exit code is 0 if both are the same, 1 if they differ, and 2 if they cannot be compared.
    """
    if html is not None and not Path(html).absolute().parent.is_dir():
        raise BadInput(f"--html: there is no folder '{Path(html).parent}'.")
    with reported():
        # Here, since other commands need no Spark.
        from dq_dagster.evaluation.diff.diff import diff
        from dq_dagster.spark.frames.reading import require_place

        for side in (left, right):
            require_place(side)
        started(conf, announced=not machine)
        found = diff(
            left,
            right,
            keys=keys,
            columns=columns or None,
            ignore=ignore,
            renamed=renamed,
            tolerance=tolerance,
            relative_tolerance=relative_tolerance,
            ignore_case=ignore_case,
            ignore_whitespace=ignore_whitespace,
            partition_by=partition_by,
            samples=samples,
        )
    click.echo(found.to_json() if machine else str(found))
    if html is not None:
        shown = found._repr_html_()
        _write(Path(html), f"{_HEAD}<body>{shown}</body></html>\n")
    ctx.exit(0 if found.equal else _DIFFERENT)


def _write(file: Path, page: str) -> None:
    try:
        file.write_text(page, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"--html: '{file}' cannot be written: {error.strerror}.") from None
