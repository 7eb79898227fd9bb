"""`dq-dagster rows`: shows rows that break rules, of data or of an asset, and saves nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dq_dagster.cli.code_location import code_location_options, definitions_of, instance_of_user
from dq_dagster.cli.input import PAIRS, BadInput, progress, reported, started
from dq_dagster.cli.row_table import as_json, print_rows
from dq_dagster.cli.trial import (
    TrialData,
    chosen_rules,
    data_options,
    require_filter,
    rule_set_of,
)

if TYPE_CHECKING:
    from dq_dagster.evaluation.faults import FoundRows
    from dq_dagster.rules.base.rule import Rule
    from dq_dagster.ruleset import RuleSet

# They are all brought to this process.
_MOST_ROWS = 100_000
_MOST_NAMES = 10


@dataclass(frozen=True, slots=True)
class RowsRequest:
    """Which rows are to be shown: of which rules, how many, and whether to a machine."""

    names: Sequence[str]
    limit: int
    machine: bool
    where: str | None

    def view(self, masked: Sequence[str] = ()) -> Any:
        from dq_dagster.spark.passes.rows import RowView

        return RowView(self.limit, frozenset(masked), as_json=self.machine)

    def rules_of(self, rule_set: RuleSet) -> list[Rule]:
        """Those that were named, or all that are enabled: as far as they count rows."""
        chosen = chosen_rules(rule_set, self.names)
        counting = [rule for rule in chosen if rule.counts_rows]
        others = [rule.name for rule in chosen if not rule.counts_rows]
        if others and (self.names or not counting):
            raise BadInput(
                f"No single row can be shown of {_listed(others)}, by which all rows are judged "
                "together."
            )
        if others:
            click.echo(f"Left out, as all rows are judged together: {_listed(others)}.", err=True)
        return counting


@click.command("rows")
@click.argument("of_location", metavar="[ASSET]", required=False)
@click.option(
    "--rule",
    "names",
    metavar="NAME",
    multiple=True,
    help="Show what breaks this rule only, also if it is disabled.",
)
@click.option(
    "--limit",
    type=click.IntRange(1, _MOST_ROWS),
    default=20,
    show_default=True,
    metavar="N",
    help="Show so many rows at most.",
)
@click.option(
    "--partition", "partitions", metavar="KEY", multiple=True, help="Look at this partition only."
)
@data_options
@click.option(
    "--rules",
    type=click.Path(path_type=Path),
    help="A YAML file or folder with the rules of the data.",
)
@click.option("--asset", help="The asset whose rules in it to take, if there are several.")
@click.option("--conf", help="A setting of Spark, if it has to be started.", **PAIRS)
@click.option("--json", "machine", is_flag=True, help="Print JSON, for machines.")
@code_location_options
@click.pass_context
def rows(
    ctx: click.Context,
    /,
    *,
    of_location: str | None,
    names: Sequence[str],
    limit: int,
    where: str | None,
    machine: bool,
    **given: Any,
) -> None:
    """Show rows that break rules, and which rules each of them breaks. Nothing is saved.

    ASSET is one of a code location: what is stored of it is read as its checks do, and judged by
    their rules. Of a quarantine, it is what each row broke when it was kept. The definitions are
    found as Dagster's own commands find them, the instance by DAGSTER_HOME. Without ASSET, --rules
    of YAML files are judged on --data or --table, as `dq-dagster test` does.

    --rule, --partition, --option and --conf can be given several times. Values of columns that a
    rule set calls sensitive are masked.

    The exit code is 0 if no row breaks the rules, 1 if there are some, and 2 if nothing could be
    shown.
    """
    request = RowsRequest(names, limit, machine, where)
    _require_one_place(of_location, given)
    with reported():
        if of_location is None:
            title, found = _of_data(request, **given)
        else:
            title, found = _of_asset(request, of_location, **given)
    _report(found)
    if machine:
        click.echo(as_json(found, title))
    else:
        print_rows(found.shown, title)
    ctx.exit(int(bool(found.shown.rows)))


# The options that mean something in one of the two places only, by their parameters.
_OF_DATA = {
    "data": "--data",
    "table": "--table",
    "kind": "--format",
    "options": "--option",
    "rules": "--rules",
    "asset": "--asset",
    "conf": "--conf",
}
_OF_ASSET = {"partitions": "--partition", "module": "--module-name", "file": "--python-file"}


def _require_one_place(asset: str | None, given: Mapping[str, Any]) -> None:
    """Refuses options that would be without effect, and data without rules."""
    others = _OF_ASSET if asset is None else _OF_DATA
    wrong = ", ".join(option for name, option in others.items() if given[name] not in _NOT_GIVEN)
    if asset is not None and wrong:
        raise BadInput(f"{wrong}: that goes with --data or --table, and not with an ASSET.")
    if asset is not None:
        return
    if given["data"] is None and given["table"] is None:
        raise BadInput(
            "Give what to look at: an ASSET of a code location, or --data PATH or --table NAME "
            "together with --rules."
        )
    if wrong:
        raise BadInput(f"{wrong}: that goes with an ASSET of a code location.")
    if given["rules"] is None:
        raise BadInput("Give the rules of the data: --rules FILE, as `dq-dagster test` takes them.")


_NOT_GIVEN: tuple[Any, ...] = (None, (), {})


def _of_data(
    request: RowsRequest,
    *,
    data: str | None,
    kind: str | None,
    options: Mapping[str, str],
    table: str | None,
    rules: Path,
    asset: str | None,
    conf: Mapping[str, str],
    **_: Any,
) -> tuple[str, FoundRows]:
    from dq_dagster.evaluation.faults import RowsToShow
    from dq_dagster.sources.yaml.files import load_rules
    from dq_dagster.spark.frames.other_datasets import OtherDatasets

    source = TrialData(data, table, kind, options, request.where)
    rule_set = rule_set_of(load_rules(rules), asset)
    source.check()
    chosen = request.rules_of(rule_set)
    beside = OtherDatasets(asset=rule_set.asset_name)
    judged = RowsToShow(source.read(started(conf)), beside=beside)
    return rule_set.asset_name, judged.found(chosen, request.view(rule_set.sensitive))


def _of_asset(
    request: RowsRequest,
    name: str,
    *,
    partitions: Sequence[str],
    module: str | None,
    file: str | None,
    **_: Any,
) -> tuple[str, FoundRows]:
    from dq_dagster.integration.guarded.rows import RowsOfAsset

    require_filter(request.where)
    asset = RowsOfAsset.of(definitions_of(module, file), name)
    rules = request.rules_of(asset.rule_set)
    with instance_of_user() as instance, progress(f"Reading {name} ..."):
        found = asset.found(
            rules,
            request.view(),
            instance=instance,
            partitions=partitions,
            where=request.where,
            every=not request.names,
        )
    kept = asset.quarantine
    if kept is not None and not asset.is_quarantine:
        click.echo(f"Rows that were not published: dq-dagster rows {kept.name}", err=True)
    return name, found


def _report(found: FoundRows) -> None:
    """Says what could not be judged or shown; ends the command if nothing is left to show."""
    wrong = [f"Rule '{name}' cannot be judged: {why}" for name, why in found.failures.items()]
    if wrong and not found.shown.rows:
        raise BadInput("\n".join(wrong))
    wrong += [f"Column '{name}' cannot be read." for name in found.shown.unreadable]
    for line in wrong:
        click.echo(line, err=True)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES:,} more" if names[_MOST_NAMES:] else ""
    return ", ".join(f"'{name}'" for name in names[:_MOST_NAMES]) + more
