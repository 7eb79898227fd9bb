"""What a backtest found, on a terminal, as JSON and as a picture."""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from typing import TYPE_CHECKING

from dq_dagster.evaluation.plain import plain
from dq_dagster.evaluation.tested_history import Backtest, BacktestPoint
from dq_dagster.integration.chart import WIDTH, Dot, draw
from dq_dagster.integration.small_png import below_each_other
from dq_dagster.judging.status import Status
from dq_dagster.judging.typical import Typical
from dq_dagster.judging.wording import plural, show

if TYPE_CHECKING:
    from rich.table import Table

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
