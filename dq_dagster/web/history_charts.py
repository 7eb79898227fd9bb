"""The charts of a rule's history: one for each number that is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from math import isfinite

from markupsafe import Markup

from dq_dagster.charts.chart import Dot
from dq_dagster.charts.themed import draw_themed
from dq_dagster.judging.wording import plural
from dq_dagster.monitoring.views.shapes import HistoryPoint, PointBounds, RuleHistory
from dq_dagster.web.drawings import counted, counts_in_words
from dq_dagster.web.rendering import shorter, visible

_MOST_CHARTS = 6
_HALF = {"width": 480, "height": 170}
# Evaluations of days are placed by their times; those of a backfill would lie upon each other.
_LONG = timedelta(days=2)


def charts_of(
    history: RuleHistory, *, name: str = "chart", half: bool = False
) -> tuple[list[tuple[str, Markup]], int]:
    """Each with its title, empty if there is one number only; and how many are left out.

    Several stand side by side, as does one that is to take ``half`` of the width.
    """
    columns = dict.fromkeys(column for point in history.points for column in point.values)
    points = _ordered(history.points)
    named = list(columns) if len(columns) > 1 else [None]
    drawn = []
    for n, column in enumerate(named[:_MOST_CHARTS]):
        dots = [dot for point in points if (dot := _dot(point, column)) is not None]
        by_time = _spread_out(history) and all(dot.partition is None for dot in dots)
        about = history.info.rule if column is None else f"{history.info.rule}, {column}"
        words = counts_in_words(counted([point.status for point in history.points]))
        picture = draw_themed(
            dots,
            words=f"{shorter(visible(about))}: {plural(len(dots), 'evaluation')}, {words}",
            name=f"{name}-{n}",
            by_time=by_time,
            **(_HALF if half or len(named) > 1 else {}),
        )
        if picture is not None:
            # Made of elements, whose texts were escaped as they were written.
            drawn.append((column or "", Markup(picture.svg)))  # noqa: S704
    return drawn, max(len(named) - _MOST_CHARTS, 0)


def _ordered(points: Sequence[HistoryPoint]) -> Sequence[HistoryPoint]:
    """By partition if each is of another one: a backfill takes them in any order."""
    keys = {point.partition for point in points}
    if None in keys or len(keys) < len(points):
        return points
    return sorted(points, key=lambda point: str(point.partition))


def _dot(point: HistoryPoint, column: str | None) -> Dot | None:
    value = point.value if column is None else point.values.get(column)
    if value is None:
        return None
    bounds = point.bounds if column is None else point.bounds_by.get(column, point.bounds)
    key = None if point.partition is None else shorter(visible(point.partition))
    return Dot(point.at, value, point.status, _finite(bounds), key)


def _finite(bounds: PointBounds) -> Mapping[str, float]:
    return {
        name: bound
        for name, bound in asdict(bounds).items()
        if bound is not None and isfinite(bound)
    }


def _spread_out(history: RuleHistory) -> bool:
    points = history.points
    return len(points) > 1 and points[-1].at - points[0].at > _LONG
