"""`dq-dagster backtest`: tries change detection on what checks recorded, and saves nothing."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from dq_dagster.cli.code_location import instance_of_user
from dq_dagster.cli.input import BadInput, reported
from dq_dagster.errors import NotOnRecord
from dq_dagster.judging.judgement import Status
from dq_dagster.judging.typical import Baseline, PeriodUnit, Typical
from dq_dagster.judging.wording import plural, show

if TYPE_CHECKING:
    from rich.table import Table

    from dq_dagster.evaluation.backtest.result import Backtest, BacktestPoint
    from dq_dagster.integration.event_log.history import StoredHistory
    from dq_dagster.rules.base.rule import Rule

_STYLES = {Status.OK: "green", Status.WARNING: "yellow", Status.ERROR: "bold red"}
# The places of a drawn line: the bounds lie at a quarter and at three quarters of it.
_LENGTH, _LOW, _HIGH = 21, 5, 15
# A file or a pipe has no width of its own.
_WIDE = 200


def print_text(result: Backtest, *, title: str) -> None:
    """A table for each metric, and what it comes to."""
    from rich.console import Console
    from rich.text import Text

    console = Console(
        file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else _WIDE
    )
    console.print(Text(f"{title}, {_parameters(result.typical)}"))
    for name, part in result.parts().items():
        console.print(Text(f"\n{name}", style="bold"))
        console.print(_table(part))
        console.print(Text(part.headline()))
    if len(result.parts()) > 1:
        console.print(Text(f"\nIn all {result.headline()}"))
    if result.left_out:
        count = plural(result.left_out, "evaluation")
        console.print(Text(f"Left out: {count} without a number that could be judged."))


def as_json(result: Backtest, *, asset: str, check: str) -> str:
    from dq_dagster.evaluation.outcome import plain

    content = {
        "asset": asset,
        "check": check,
        "headline": result.headline(),
        "counts": {status.value: count for status, count in result.counts.items()},
        "left_out": result.left_out,
        "points": [plain(point.record()) for point in result],
    }
    return json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False)


def as_png(result: Backtest) -> bytes | None:
    """A picture of each part, one below the other; None if there is nothing finite to draw."""
    from dq_dagster.charts.chart import WIDTH, Dot, below_each_other, draw

    pictures = [
        draw(
            [Dot(one.at, one.value, one.status, one.bounds, one.partition) for one in part],
            title=name,
            by_time=part.by_partition or result.typical.period_unit == "days",
            width=2 * WIDTH,
        )
        for name, part in result.parts().items()
    ]
    return below_each_other([picture for picture in pictures if picture is not None])


def drawn(point: BacktestPoint) -> str:
    """A point between its bounds, such as "     |--:--•--:-|"; outside of them an "x"."""
    if not point.bounds:
        return ""
    low, high = Fraction(point.bounds["min"]), Fraction(point.bounds["max"])
    places = [" "] * _LENGTH
    if low < high:
        places[_LOW : _HIGH + 1] = ["-"] * (_HIGH + 1 - _LOW)
    for name, sign in (("soft_min", ":"), ("soft_max", ":"), ("min", "|"), ("max", "|")):
        if name in point.bounds:
            places[_place(Fraction(point.bounds[name]), low, high)] = sign
    inside = low <= point.value <= high
    if not math.isnan(point.value):
        places[_place(point.value, low, high)] = "•" if inside else "x"
    return "".join(places).rstrip()


def _place(value: Fraction | int | float, low: Fraction, high: Fraction) -> int:
    """Where a number lies; what is outside never lies on or within the bounds."""
    if value in (math.inf, -math.inf):
        return 0 if value < low else _LENGTH - 1
    if low == high:
        return (_LOW + _HIGH) // 2 if value == low else (0 if value < low else _LENGTH - 1)
    place = _LOW + round((Fraction(value) - low) / (high - low) * (_HIGH - _LOW))
    if value < low:
        return max(0, min(place, _LOW - 1))
    if value > high:
        return min(_LENGTH - 1, max(place, _HIGH + 1))
    return place


def _table(part: Backtest) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False, show_edge=False)
    for name in ("point", "value", "status", "from", "", "to"):
        number = name in {"value", "from"}
        table.add_column(name, justify="right" if number else "left", no_wrap=True)
    for label, point in zip(part.labels(), part, strict=True):
        style = _STYLES.get(point.status, "dim")
        table.add_row(
            Text(label),
            Text(show(point.value)),
            Text(point.verdict, style=style),
            Text(_bound(point, "min")),
            Text(drawn(point), style=style),
            Text(_bound(point, "max")),
        )
    return table


def _bound(point: BacktestPoint, name: str) -> str:
    return show(point.bounds[name]) if name in point.bounds else ""


def _parameters(typical: Typical) -> str:
    """Such as "judged by the last 30 values after 7 values, 1.5 IQR (soft: 1)"."""
    soft = "" if typical.soft_iqr_factor is None else f" (soft: {typical.soft_iqr_factor:g})"
    least = "" if typical.min_iqr is None else f", an IQR of at least {typical.min_iqr:g}"
    errors = ", without Errors" if typical.exclude_errors else ""
    return (
        f"judged by {typical.window_words()} after {typical.learning_words()}, "
        f"{typical.iqr_factor:g} IQR{soft}{least}{errors}"
    )


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
    with reported():
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
    from dq_dagster.evaluation.backtest.backtest import backtest as tested

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
    from dq_dagster.ruleset import dataset_check_name
    from dq_dagster.sources.yaml.files import load_rules

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

    from dq_dagster.integration.event_log.history import stored_history

    with instance_of_user() as instance:
        return stored_history(instance, dg.AssetCheckKey(dg.AssetKey(asset.split("/")), check))


def _keys(stored: StoredHistory) -> list[str]:
    return list(dict.fromkeys(key for record in stored.records for key in record.metrics))


def _write(path: Path, result: Backtest) -> None:
    picture = as_png(result)
    if picture is None:
        raise BadInput("There is nothing to draw: no value is finite.")
    try:
        path.write_bytes(picture)
    except OSError as error:
        raise BadInput(f"'{path}' cannot be written: {error.strerror}.") from None
