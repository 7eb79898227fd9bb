"""`dq-dagster rules` and `schema-of`: which rule types there are, and one made from data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from dq_dagster.cli.input import PAIRS, BadInput, reported, started

if TYPE_CHECKING:
    from dq_dagster.rules.base.rule import Rule


@click.command("rules")
@click.argument("kind", metavar="[TYPE]", required=False)
@click.option("--json", "machine", is_flag=True, help="Print JSON, for machines.")
def rule_types(*, kind: str | None, machine: bool) -> None:
    """List the rule types, or show the fields and an example of one TYPE.

    The exit code is 0, or 2 if there is no such type.
    """
    # Here, in all of these: no help needs any rules.
    from dq_dagster.rules import catalogue

    known = catalogue.rule_types()
    if kind is not None and kind not in known:
        raise BadInput.unknown("rule type", kind, list(known))
    if machine:
        content = [_content(one, known[one]) for one in ([kind] if kind else known)]
        click.echo(json.dumps(content[0] if kind else content, indent=2, ensure_ascii=False))
    else:
        lines = _listed(known) if kind is None else _described(known[kind])
        click.echo("\n".join(lines))


def _listed(known: Mapping[str, type[Rule]]) -> Iterator[str]:
    """The types by what they are about, with a line each."""
    from dq_dagster.rules import catalogue

    shown = lines({kind: _meaning(rule) for kind, rule in known.items()})
    by_kind = dict(zip(known, shown, strict=True))
    for place, (family, kinds) in enumerate(catalogue.by_family(known).items()):
        yield f"{chr(10) * bool(place)}{family}"
        yield from (f"  {by_kind[kind]}" for kind in kinds)


def _described(rule: type[Rule]) -> Iterator[str]:
    from dq_dagster.rules import catalogue
    from dq_dagster.rules.base.documentation import Documentation, own_fields

    about = Documentation.of(rule)
    built_in = rule in catalogue.RULE_TYPES.values()
    yield f"{'dq.' * built_in}{rule.__name__}: {about.meaning}"
    yield from (f"\n{paragraph}" for paragraph in about.details)
    # Plugins need not say as much as the built-in types.
    if about.observed:
        yield f"\nObserved: {about.observed}"
    yield ""
    fields = own_fields(rule)
    yield from lines({field.name: f"{field.meaning} ({field.default})" for field in fields})
    if about.example:
        yield f"\n{about.example}"


def _content(kind: str, rule: type[Rule]) -> dict[str, Any]:
    from dq_dagster.rules.base.documentation import Documentation, own_fields

    about = Documentation.of(rule)
    return {
        "type": kind,
        "class": rule.__name__,
        "family": rule.family.value,
        "meaning": about.meaning,
        "observed": about.observed,
        "fields": [
            {"name": one.name, "meaning": one.meaning, "default": one.default}
            for one in own_fields(rule)
        ],
        "example": about.example,
    }


def _meaning(rule: type[Rule]) -> str:
    from dq_dagster.rules.base.documentation import Documentation

    return Documentation.of(rule).meaning


def lines(texts: Mapping[str, str]) -> Iterator[str]:
    """Names and what is said of them, side by side."""
    width = max(map(len, texts), default=0)
    return (f"{name:<{width}}  {text}" for name, text in texts.items())


@click.command("schema-of")
@click.argument("path")
@click.option(
    "--format", "kind", help="The format of the files; by default what their names end in."
)
@click.option("--option", "options", help="An option for reading the files.", **PAIRS)
@click.option("--conf", help="A setting of Spark, if it has to be started.", **PAIRS)
@click.option("--json", "machine", is_flag=True, help="Print JSON, for machines.")
def schema_of(
    *,
    path: str,
    kind: str | None,
    options: Mapping[str, str],
    conf: Mapping[str, str],
    machine: bool,
) -> None:
    """Print a schema_equals rule with the columns that PATH has now.

    PATH is a file, a folder, or a URI that Spark can read. --option and --conf can be given
    several times. CSV files are read with a header and with types that fit their values, unless
    --option header=false or --option inferSchema=false says otherwise.

    The exit code is 0, or 2 if the data could not be read.
    """
    # Here, since other commands need neither Dagster nor Spark.
    from dq_dagster.sources.yaml.text import to_yaml
    from dq_dagster.spark.frames import schemas
    from dq_dagster.spark.frames.reading import read_files, require_existing

    with reported():
        require_existing(path)
        frame = read_files(started(conf, announced=False), path, kind=kind, options=options)
        columns = schemas.schema_of(frame)
        if not columns:
            raise BadInput(f"'{path}' has no columns.")
    rules = [{"type": "schema_equals", "expected": columns}]
    if machine:
        click.echo(json.dumps(rules, indent=2, ensure_ascii=False))
    else:
        click.echo(to_yaml(rules), nl=False)
