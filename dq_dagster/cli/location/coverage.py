"""`dq-dagster coverage`: the assets of a code location without rules, and their columns without."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from dq_dagster.cli.code_location import code_location_options, definitions_of, instance_if_any
from dq_dagster.cli.input import BadInput, reported
from dq_dagster.cli.tables import print_table
from dq_dagster.judging.wording import plural

if TYPE_CHECKING:
    import dagster as dg

    from dq_dagster.integration.checks.columns import ColumnsOnRecord
    from dq_dagster.ruleset import RuleSet

_MOST_COLUMNS = 8


@dataclass(frozen=True, slots=True)
class AssetCoverage:
    """How much of an asset its rules are about.

    ``columns`` is None if none are on record. ``open_ended`` are rules that do not say which
    columns they look at; ``other_checks`` those that this library did not make.
    """

    asset: str
    rules: int
    columns: tuple[str, ...] | None
    covered: tuple[str, ...]
    open_ended: int
    other_checks: int

    @property
    def uncovered(self) -> tuple[str, ...]:
        return tuple(name for name in self.columns or () if name not in self.covered)


@click.command("coverage")
@click.argument("assets", nargs=-1, metavar="[ASSET]...")
@click.option(
    "--min-assets",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 if fewer assets have rules.",
)
@click.option(
    "--min-columns",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 if fewer columns on record have rules.",
)
@click.option("--json", "machine", is_flag=True, help="Print JSON, for machines.")
@code_location_options
@click.pass_context
def coverage_command(
    ctx: click.Context,
    *,
    assets: Sequence[str],
    min_assets: float | None,
    min_columns: float | None,
    machine: bool,
    module: str | None,
    file: str | None,
) -> None:
    """Say which ASSETs have no rules, and which of their columns have none.

    Counted are the assets that Dagster builds, and others that have rules; quarantines are not.
    Columns are those that the latest materialization recorded, or else those of the definition;
    one has a rule if an enabled rule judges it, not if it only filters or groups rows by it. The
    definitions are found as Dagster's own commands find them; without DAGSTER_HOME no instance is
    looked into.

    The exit code is 0, 1 if there is less than what --min-assets or --min-columns ask for, and 2 if
    nobody can tell.
    """
    with reported():
        found = coverage_of(definitions_of(module, file), assets)
    shares = _shares(found)
    if machine:
        click.echo(_as_json(found, shares))
    else:
        _print(found, shares)
    limits = {"assets": min_assets, "columns": min_columns}
    too_little = [
        name
        for name, least in limits.items()
        if least is not None and (share := shares[name]) is not None and share * 100 < least
    ]
    ctx.exit(int(bool(too_little)))


def coverage_of(defs: dg.Definitions, assets: Sequence[str] = ()) -> list[AssetCoverage]:
    """What the rules of the definitions are about; those without any rule first."""
    from dq_dagster.integration.checks.columns import columns_on_record
    from dq_dagster.integration.guarded.declared import DeclaredRules
    from dq_dagster.integration.internals import defined_in

    declared = DeclaredRules.of(defs)
    rules = {one.asset_name: one for one in declared.rule_sets()}
    graph = defs.resolve_asset_graph()
    keys = {key.to_user_string(): key for key in sorted(defined_in(graph))}
    counted = {
        name: key
        for name, key in keys.items()
        if (graph.get(key).is_materializable and name not in declared.homes) or name in rules
    }
    for name in assets:
        if name not in counted:
            raise BadInput.unknown("asset", name, list(counted))
    chosen = {name: key for name, key in counted.items() if not assets or name in assets}
    with instance_if_any() as instance:
        columns = columns_on_record(defs, list(chosen.values()), instance)
    others = _checks_of_others(defs)
    found = [
        _of_asset(name, rules.get(name), columns.get(key), others.count(key))
        for name, key in chosen.items()
    ]
    return sorted(found, key=lambda one: (bool(one.rules), one.asset))


def _checks_of_others(defs: dg.Definitions) -> list[dg.AssetKey]:
    """The asset of each check that this library did not make."""
    import dagster as dg

    from dq_dagster.integration.checks.results import RULE_TYPE

    return [
        spec.asset_key
        for one in (*(defs.assets or ()), *(defs.asset_checks or ()))
        if isinstance(one, dg.AssetsDefinition)
        for spec in one.check_specs
        if RULE_TYPE not in spec.metadata
    ]


def _of_asset(
    asset: str, rule_set: RuleSet | None, columns: ColumnsOnRecord | None, other_checks: int
) -> AssetCoverage:
    from dq_dagster.plan.columns import NamedColumns

    rules = () if rule_set is None else rule_set.enabled_rules
    named = [NamedColumns.of(rule) for rule in rules]
    judged = {name for one in named for name in one.judged}
    known = None if columns is None else columns.names
    covered = set() if columns is None else {columns.column_of(name) for name in judged}
    return AssetCoverage(
        asset,
        len(rules),
        None if known is None else tuple(known),
        tuple(name for name in known or () if name in covered),
        sum(one.may_be_any for one in named),
        other_checks,
    )


def _shares(found: Sequence[AssetCoverage]) -> dict[str, float | None]:
    """Of assets and of columns on record; None where there are none."""
    columns = sum(len(one.columns or ()) for one in found)
    covered = sum(len(one.covered) for one in found)
    with_rules = sum(bool(one.rules) for one in found)
    return {
        "assets": with_rules / len(found) if found else None,
        "columns": covered / columns if columns else None,
    }


def _print(found: Sequence[AssetCoverage], shares: dict[str, float | None]) -> None:
    if not found:
        click.echo("There are no assets.")
        return
    columns = ("asset", "rules", "columns with rules", "columns without")
    print_table(columns, [_cells(one) for one in found], right=columns[1:3])
    with_rules = sum(bool(one.rules) for one in found)
    click.echo(
        f"{with_rules:,} of {plural(len(found), 'asset')} have rules{_percent(shares['assets'])}"
    )
    on_record = sum(len(one.columns or ()) for one in found)
    covered = sum(len(one.covered) for one in found)
    if on_record:
        of = f"{covered:,} of {plural(on_record, 'column')} on record have rules"
        click.echo(f"{of}{_percent(shares['columns'])}")


def _percent(share: float | None) -> str:
    return "" if share is None else f" ({share * 100:.0f} %)"


def _cells(one: AssetCoverage) -> list[str]:
    count = f"{one.rules:,}" if one.rules else "none"
    if one.other_checks:
        count += f" (and {plural(one.other_checks, 'other check')})"
    if one.columns is None:
        return [one.asset, count, "?", "no columns on record"]
    missing = one.uncovered
    more = f" and {len(missing) - _MOST_COLUMNS:,} more" if missing[_MOST_COLUMNS:] else ""
    listed = ", ".join(missing[:_MOST_COLUMNS]) + more
    return [one.asset, count, f"{len(one.covered)} of {len(one.columns)}", listed]


def _as_json(found: Sequence[AssetCoverage], shares: dict[str, float | None]) -> str:
    content: dict[str, Any] = {
        "share_of_assets": shares["assets"],
        "share_of_columns": shares["columns"],
        "assets": [
            {
                "asset": one.asset,
                "rules": one.rules,
                "other_checks": one.other_checks,
                "columns": None if one.columns is None else list(one.columns),
                "columns_without_rules": list(one.uncovered),
                "rules_that_name_no_columns": one.open_ended,
            }
            for one in found
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False)
