"""`dq-dagster replay`: judges rows in quarantine again, and releases those that pass."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from dq_dagster.cli.code_location import code_location_options, definitions_of, instance_of_user
from dq_dagster.cli.input import BadInput, reported

if TYPE_CHECKING:
    from dq_dagster.integration.guarded.replay import Replay
    from dq_dagster.integration.guarded.replayed import Repair


@click.command("replay")
@click.argument("asset")
@click.option(
    "--partition", "partitions", metavar="KEY", multiple=True, help="Replay this partition only."
)
@click.option("--dry-run", is_flag=True, help="Change nothing: say what would come of it.")
@click.option(
    "--repair",
    metavar="MODULE:FUNCTION",
    help="A function that gets the rows as a DataFrame, and gives them back repaired.",
)
@click.option("--json", "machine", is_flag=True, help="Print JSON, for machines.")
@code_location_options
def replay_command(
    *,
    asset: str,
    partitions: Sequence[str],
    dry_run: bool,
    repair: str | None,
    machine: bool,
    module: str | None,
    file: str | None,
) -> None:
    """Judge the rows in the quarantine of ASSET again, by the rules as they are now.

    Those that pass are released into the asset, the others stay. --partition can be given several
    times; without it, all partitions in quarantine are replayed, one run each. The definitions are
    found as Dagster's own commands find them, the instance by DAGSTER_HOME.

    The exit code is 0 if it could be done, whatever came of it, and 2 if it could not.
    """
    from dq_dagster.integration.guarded.replay import replay

    with reported():
        defs = definitions_of(module, file)
        function = None if repair is None else _function(repair)
        result = replay(
            defs,
            asset,
            partitions=list(partitions) or None,
            repair=function,
            dry_run=dry_run,
            instance=instance_of_user(),
        )
    click.echo(_as_json(result) if machine else _as_text(result))


def _function(path: str) -> Repair:
    from dq_dagster.rules.fields.python_function import function_at

    try:
        return function_at(path)
    except ValueError as error:
        raise BadInput(f"--repair: {error}.") from None


def _as_text(result: Replay) -> str:
    lines = [str(result)]
    for one in result.slices:
        if one.partition is not None:
            lines.append(f"  {one.partition}: {one.released:,} released, {one.remaining:,} remain")
        lines += [f"  {count:,} break {rule}" for rule, count in sorted(one.rules.items())]
    return "\n".join(lines)


def _as_json(result: Replay) -> str:
    content = {
        "asset": result.asset,
        "dry_run": result.dry_run,
        "before": result.before,
        "released": result.released,
        "remaining": result.remaining,
        "notes": list(result.notes),
        "slices": [
            {
                "partition": one.partition,
                "before": one.before,
                "released": one.released,
                "remaining": one.remaining,
                "rules": dict(one.rules),
                "run_id": one.run_id,
            }
            for one in result.slices
        ],
    }
    return json.dumps(content, indent=2)
