"""`dq-dagster explain`: what is measured for the rules of an asset, and in how few passes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dq_dagster.cli.code_location import code_location_options, definitions_of
from dq_dagster.cli.input import BadInput, reported
from dq_dagster.cli.trial import chosen_rules, rule_set_of

if TYPE_CHECKING:
    from dq_dagster.plan.plan import Plan
    from dq_dagster.ruleset import RuleSet


@click.command("explain")
@click.argument("asset", required=False)
@click.option("--rule", "names", metavar="NAME", multiple=True, help="Explain this rule only.")
@click.option(
    "--rules",
    type=click.Path(path_type=Path),
    help="A YAML file or folder with the rules, instead of those of a code location.",
)
@click.option("--json", "machine", is_flag=True, help="Print JSON, for machines.")
@code_location_options
def explain_command(
    *,
    asset: str | None,
    names: Sequence[str],
    rules: Path | None,
    machine: bool,
    module: str | None,
    file: str | None,
) -> None:
    """Say what is measured for the rules of ASSET: the metrics, and the passes over the data.

    No data is read. Without --rules, ASSET is one of a code location, whose definitions are found
    as Dagster's own commands find them; its partitions are taken into account. --rule can be given
    several times.

    The exit code is 0, or 2 if there are no such rules.
    """
    with reported():
        if rules is not None:
            if module is not None or file is not None:
                raise BadInput("Give either --rules, or a code location (-m, -f).")
            rule_set, partitioned = _of_files(rules, asset)
        elif asset is None:
            raise BadInput("Give the ASSET of a code location, or --rules FILE.")
        else:
            rule_set, partitioned = _of_location(asset, module, file)
        plan = _plan(rule_set, names, partitioned=partitioned)
    click.echo(_as_json(plan, rule_set) if machine else f"{rule_set.asset_name}: {plan}")


def _of_files(path: Path, asset: str | None) -> tuple[RuleSet, bool]:
    from dq_dagster.sources.yaml.files import load_rules

    return rule_set_of(load_rules(path), asset), False


def _of_location(asset: str, module: str | None, file: str | None) -> tuple[RuleSet, bool]:
    from dq_dagster.integration.guarded.declared import DeclaredRules
    from dq_dagster.integration.partitions.asset_partitions import declared_partitions

    defs = definitions_of(module, file)
    rule_set = DeclaredRules.of(defs).of_asset(asset)
    found = declared_partitions(rule_set.asset, list(defs.assets or ()))
    return rule_set, found is not None


def _plan(rule_set: RuleSet, names: Sequence[str], *, partitioned: bool) -> Plan:
    from dq_dagster.plan.plan import make_plan
    from dq_dagster.plan.request import CheckRequest

    chosen = chosen_rules(rule_set, names)
    return make_plan(CheckRequest.of(chosen, partitioned=partitioned))


def _as_json(plan: Plan, rule_set: RuleSet) -> str:
    content = {
        "asset": rule_set.asset_name,
        "headline": plan.headline(),
        "rules": [
            {
                "rule": one.rule.name,
                "type": one.rule.type,
                "metrics": list(dict.fromkeys(metric.key for metric in one.metrics)),
            }
            for one in plan.request.rules
        ],
        "passes": [
            {
                "kind": step.kind.value,
                "by": [str(cut) for cut in step.cuts],
                "metrics": [metric.key for metric in step.metrics],
            }
            for step in plan.passes
        ],
        "without_pass": [metric.key for metric in plan.without_pass],
    }
    return json.dumps(content, indent=2, ensure_ascii=False)
