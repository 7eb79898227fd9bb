"""`dq-dagster rules`: which rule types there are, and what each of them means."""

from __future__ import annotations

from collections.abc import Iterator

import click

from dq_dagster.cli.bad_input import BadInput
from dq_dagster.rules.catalogue import RULE_TYPES
from dq_dagster.rules.documentation import Documentation, own_fields
from dq_dagster.rules.rule import Rule


@click.command("rules")
@click.argument("kind", metavar="[TYPE]", required=False)
def rule_types(*, kind: str | None) -> None:
    """List the rule types, or show the fields and an example of one TYPE."""
    if kind is None:
        click.echo("\n".join(_lines({name: _meaning(rule) for name, rule in RULE_TYPES.items()})))
    elif kind in RULE_TYPES:
        click.echo("\n".join(_described(RULE_TYPES[kind])))
    else:
        raise BadInput.unknown("rule type", kind, list(RULE_TYPES))


def _described(rule: type[Rule]) -> Iterator[str]:
    about = Documentation.of(rule)
    yield f"dq.{rule.__name__}: {about.meaning}"
    yield from (f"\n{paragraph}" for paragraph in about.details)
    yield f"\nObserved: {about.observed}\n"
    fields = own_fields(rule)
    yield from _lines({field.name: f"{field.meaning} ({field.default})" for field in fields})
    yield f"\n{about.example}"


def _meaning(rule: type[Rule]) -> str:
    return Documentation.of(rule).meaning


def _lines(texts: dict[str, str]) -> Iterator[str]:
    width = max(map(len, texts), default=0)
    return (f"{name:<{width}}  {text}" for name, text in texts.items())
