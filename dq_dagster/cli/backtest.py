"""`dq-dagster backtest`: tries change detection on what checks recorded, and saves nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from dq_dagster.cli.backtest_report import as_json, as_png, print_text
from dq_dagster.cli.bad_input import BadInput, told
from dq_dagster.errors import NotOnRecord
from dq_dagster.evaluation.backtest import backtest as tested
from dq_dagster.judging.lookback import Baseline
from dq_dagster.judging.typical import PeriodUnit
from dq_dagster.rules.rule import Rule
from dq_dagster.ruleset import dataset_check_name
from dq_dagster.sources.yaml_files import load_rules

if TYPE_CHECKING:
    import dagster as dg

    from dq_dagster.evaluation.tested_history import Backtest
    from dq_dagster.integration.stored_history import StoredHistory


@click.command("backtest")
@click.argument("check")
@click.option("--asset", required=True, help="The asset that the check is of.")
@click.option(
    "--rules",
    type=click.Path(path_type=Path),
    help="A YAML file or folder: the check's rule in it has the parameters to start from.",
)
@click.option("--metric", "metrics", metavar="KEY", multiple=True, help="Judge these numbers.")
@click.option("--period-unit", type=click.Choice(get_args(PeriodUnit)), help="What periods count.")
@click.option("--learning-period", type=int, help="How much past is needed.")
@click.option("--lookback-window", type=int, help="How much past counts.")
@click.option("--iqr-factor", type=float, help="How many IQRs off is an Error.")
@click.option("--soft-iqr-factor", type=float, help="How many IQRs off is a Warning.")
@click.option("--min-iqr", type=float, help="The least IQR to reckon with.")
@click.option(
    "--exclude-errors/--include-errors", default=None, help="Whether Errors count as past."
)
@click.option(
    "--baseline", type=click.Choice(get_args(Baseline)), help="What a partition is compared with."
)
@click.option("--partition", metavar="KEY", help="Show the points of this partition only.")
@click.option(
    "--chart",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.png",
    help="Draw the points into a file, too.",
)
@click.option("--json", "machine", is_flag=True, help="Print JSON, for machines.")
def backtest(
    *,
    check: str,
    asset: str,
    rules: Path | None,
    chart: Path | None,
    machine: bool,
    metrics: Sequence[str],
    **parameters: Any,
) -> None:
    """Say which past values of a CHECK would have been a Warning or an Error.

    Each value that the check recorded in the Dagster instance of DAGSTER_HOME is judged by those
    before it only, with the parameters given here. Nothing is saved. --metric can be given several
    times; without it, and without --rules, what the check observed is judged.

    The exit code is 0, or 2 if the question could not be answered.
    """
    if chart is not None and find_spec("matplotlib") is None:
        raise BadInput("--chart needs matplotlib: pip install 'dq_dagster[charts]'.")
    with told():
        rule = None if rules is None else _rule(rules, asset, check)
        stored = _stored(asset, check)
        result = _tested(stored, rule, metrics, parameters)
        if not result.points:
            raise NotOnRecord.numbers(check, len(stored.records), _keys(stored))
    if chart is not None:
        _write(chart, result)
    if machine:
        click.echo(as_json(result, asset=asset, check=check))
    else:
        print_text(result, title=f"{asset}, {check}")


def _tested(
    stored: StoredHistory, rule: Rule | None, metrics: Sequence[str], parameters: dict[str, Any]
) -> Backtest:
    keys = metrics if metrics or rule is not None else stored.observed
    if rule is None and not keys:
        # Not everything that was measured beside what was judged.
        return tested((), None, **parameters)
    return tested(
        stored.records,
        rule,
        metrics=keys,
        times=stored.times,
        series=stored.series,
        **parameters,
    )


def _rule(path: Path, asset: str, check: str) -> Rule:
    rule_sets = {rule_set.asset_name: rule_set for rule_set in load_rules(path)}
    if asset not in rule_sets:
        raise BadInput.unknown("asset", asset, list(rule_sets))
    by_check: dict[str, Rule] = {}
    for rule in rule_sets[asset].rules:
        by_check |= {rule.check_name: rule, dataset_check_name(rule): rule}
    if check not in by_check:
        raise BadInput.unknown("rule", check, list(by_check))
    return by_check[check]


def _stored(asset: str, check: str) -> StoredHistory:
    import dagster as dg

    from dq_dagster.integration.stored_history import stored_history

    with _instance() as instance:
        return stored_history(instance, dg.AssetCheckKey(dg.AssetKey(asset.split("/")), check))


def _instance() -> dg.DagsterInstance:
    import dagster as dg

    if not os.environ.get("DAGSTER_HOME"):
        raise BadInput(
            "DAGSTER_HOME is not set: let it name the folder of the Dagster instance that the "
            "checks ran in."
        )
    try:
        return dg.DagsterInstance.get()
    except dg.DagsterError as error:
        raise BadInput(f"The Dagster instance can not be opened: {error}") from None


def _keys(stored: StoredHistory) -> list[str]:
    return list(dict.fromkeys(key for record in stored.records for key in record.metrics))


def _write(path: Path, result: Backtest) -> None:
    picture = as_png(result)
    if picture is None:
        raise BadInput("There is nothing to draw: no value is finite.")
    try:
        path.write_bytes(picture)
    except OSError as error:
        raise BadInput(f"'{path}' can not be written: {error.strerror}.") from None
