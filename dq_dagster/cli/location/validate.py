"""`dq-dagster validate`: rules against the assets of a code location, and their columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dq_dagster.cli.code_location import code_location_options, definitions_of, instance_if_any
from dq_dagster.cli.input import reported
from dq_dagster.judging.wording import plural

if TYPE_CHECKING:
    import dagster as dg

    from dq_dagster.errors import Problem
    from dq_dagster.ruleset import RuleSet


@click.command("validate")
@click.argument("rules", nargs=-1, type=click.Path(path_type=Path))
@click.option("--json", "machine", is_flag=True, help="Print JSON, for machines.")
@code_location_options
@click.pass_context
def validate_command(
    ctx: click.Context,
    *,
    rules: Sequence[Path],
    machine: bool,
    module: str | None,
    file: str | None,
) -> None:
    """Find the mistakes in RULES, which are YAML files or folders, all of them at once.

    Besides what rules say themselves, their assets are looked up in the definitions of a code
    location, and their columns in what the latest materialization of the asset recorded, or else
    in its definition. Without RULES, those of the definitions are looked at. No data is read, and
    without DAGSTER_HOME no instance either.

    The exit code is 0 if there is no mistake, 1 if there is one, and 2 if nobody can tell.
    """
    with reported():
        defs = definitions_of(module, file)
        found, problems = _of_files(rules) if rules else _of_location(defs)
        more, blind = _against(defs, found)
    every = _in_order([*problems, *(one for one in more if one not in problems)])
    if machine:
        click.echo(_as_json(found, every, blind))
    else:
        _print(found, every, blind)
    ctx.exit(int(bool(every)))


def _in_order(problems: Sequence[Problem]) -> list[Problem]:
    """By file, and then by line."""

    def place(problem: Problem) -> tuple[str, int]:
        file, _, line = (problem.place or "").rpartition(":")
        return file, int(line) if line.isdigit() else 0

    return sorted(problems, key=place)


def _of_files(paths: Sequence[Path]) -> tuple[list[RuleSet], list[Problem]]:
    from dq_dagster.sources.yaml.files import readable_rules

    read = [readable_rules(path) for path in paths]
    return (
        [one for rule_sets, _ in read for one in rule_sets],
        [one for _, problems in read for one in problems],
    )


def _of_location(defs: dg.Definitions) -> tuple[list[RuleSet], list[Problem]]:
    from dq_dagster.errors import DeclarationError
    from dq_dagster.integration.checks.loading import validate
    from dq_dagster.integration.guarded.declared import DeclaredRules

    try:
        validate(defs)
        problems: list[Problem] = []
    except DeclarationError as error:
        problems = list(error.problems)
    return DeclaredRules.of(defs).rule_sets(), problems


def _against(defs: dg.Definitions, rule_sets: Sequence[RuleSet]) -> tuple[list[Problem], list[str]]:
    """What does not fit the definitions, and the assets of which no columns are on record."""
    import dagster as dg

    from dq_dagster.integration.checks.columns import columns_on_record, misfits
    from dq_dagster.integration.internals import defined_in

    known = sorted(defined_in(defs.resolve_asset_graph()))
    keys = [dg.AssetKey(one.asset_path) for one in rule_sets]
    there = [key for key in dict.fromkeys(keys) if key in known]
    with instance_if_any() as instance:
        columns = columns_on_record(defs, there, instance)
    blind = [key.to_user_string() for key in there if key not in columns]
    return misfits(rule_sets, known, columns), blind


def _print(rule_sets: Sequence[RuleSet], problems: Sequence[Problem], blind: Sequence[str]) -> None:
    for problem in problems:
        click.echo(str(problem))
    if blind:
        click.echo(f"No columns are on record of {', '.join(blind)}: names were not looked up.")
    count = sum(len(one.rules) for one in rule_sets)
    of = f"{plural(count, 'rule')} of {plural(len(rule_sets), 'asset')}"
    click.echo(f"{of}: {plural(len(problems), 'mistake') if problems else 'no mistake'}.")


def _as_json(
    rule_sets: Sequence[RuleSet], problems: Sequence[Problem], blind: Sequence[str]
) -> str:
    content = {
        "ok": not problems,
        "assets": [one.asset_name for one in rule_sets],
        "rules": sum(len(one.rules) for one in rule_sets),
        "problems": [
            {
                "place": one.place,
                "asset": one.asset,
                "rule": one.rule,
                "field": one.field,
                "message": one.message,
            }
            for one in problems
        ],
        "without_columns": list(blind),
    }
    return json.dumps(content, indent=2, ensure_ascii=False)
