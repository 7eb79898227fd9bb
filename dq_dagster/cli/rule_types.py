"""`dq-dagster rules`: which rule types there are, and what each of them means."""

from __future__ import annotations

from collections.abc import Iterator

import click

from dq_dagster.cli.bad_input import BadInput
from dq_dagster.rules import catalogue
from dq_dagster.rules.documentation import Documentation, own_fields
from dq_dagster.rules.rule import Rule


@click.command("rules")
@click.argument("kind", metavar="[TYPE]", required=False)
def rule_types(*, kind: str | None) -> None:
    """List the rule types, or show the fields and an example of one TYPE."""
    known = catalogue.rule_types()
    if kind is None:
        click.echo("\n".join(_lines({name: _meaning(rule) for name, rule in known.items()})))
    elif kind in known:
        click.echo("\n".join(_described(known[kind])))
    else:
        raise BadInput.unknown("rule type", kind, list(known))


def _described(rule: type[Rule]) -> Iterator[str]:
    about = Documentation.of(rule)
    built_in = rule in catalogue.RULE_TYPES.values()
    yield f"{'dq.' * built_in}{rule.__name__}: {about.meaning}"
    yield from (f"\n{paragraph}" for paragraph in about.details)
    # Plugins need not tell as much as the built-in types.
    if about.observed:
        yield f"\nObserved: {about.observed}"
    yield ""
    fields = own_fields(rule)
    yield from _lines({field.name: f"{field.meaning} ({field.default})" for field in fields})
    if about.example:
        yield f"\n{about.example}"


def _meaning(rule: type[Rule]) -> str:
    return Documentation.of(rule).meaning


def _lines(texts: dict[str, str]) -> Iterator[str]:
    width = max(map(len, texts), default=0)
    return (f"{name:<{width}}  {text}" for name, text in texts.items())
