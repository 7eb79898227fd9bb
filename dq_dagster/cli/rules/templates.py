"""`dq-dagster templates`: which templates there are, and what each of them takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

import click

from dq_dagster.cli.input import BadInput, reported
from dq_dagster.cli.rules.schema_of import lines

if TYPE_CHECKING:
    from dq_dagster.rules.templates.template import Template


@click.command("templates")
@click.argument("name", required=False)
@click.option(
    "--library",
    type=click.Path(path_type=Path),
    help="A file or folder with templates of yours, to list beside the built-in ones.",
)
@click.option("--json", "machine", is_flag=True, help="Print JSON, for machines.")
def templates(*, name: str | None, library: Path | None, machine: bool) -> None:
    """List the templates, or show the parameters and the query of one.

    The exit code is 0, or 2 if there is no such template, or the library cannot be read.
    """
    # Here: no help needs any rules.
    from dq_dagster.rules.templates.library import LIBRARY
    from dq_dagster.sources.yaml.files import load_templates

    with reported():
        own = {} if library is None else load_templates(library)
    known = {**LIBRARY, **own}
    if name is not None and name not in known:
        raise BadInput.unknown("template", name, list(known))
    if machine:
        content = [one.model_dump(mode="json") for n, one in known.items() if name in {None, n}]
        found = content[0] if name else content
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(_listed(known) if name is None else _described(known[name])))


def _listed(known: Mapping[str, Template]) -> Iterator[str]:
    """The templates by the quality that they speak of, with a line each."""
    dimensions = dict.fromkeys(one.quality_dimension for one in known.values())
    texts = dict(
        zip(known, lines({f"{n}{_takes(t)}": t.description for n, t in known.items()}), strict=True)
    )
    for place, dimension in enumerate(dimensions):
        yield f"{chr(10) * bool(place)}{dimension.capitalize()}"
        yield from (
            f"  {texts[name]}" for name, one in known.items() if one.quality_dimension == dimension
        )


def _takes(template: Template) -> str:
    return f"({', '.join(template.parameters)})" if template.parameters else ""


def _described(template: Template) -> Iterator[str]:
    yield f"{template.name}: {template.description}"
    comparison = template.comparison
    judged = str(comparison).capitalize() if comparison else "A rule says what to compare with"
    yield f"\n{judged}. Quality: {template.quality_dimension}."
    if template.parameters:
        yield "\nParameters"
        given = {
            name: f"{one.type}: {one.description}".removesuffix(": ")
            for name, one in template.parameters.items()
        }
        yield from (f"  {line}" for line in lines(given))
    yield f"\nQuery\n{indent(template.sql, '  ')}"
