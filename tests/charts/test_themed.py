"""Charts of pages: classes instead of colours, shapes of statuses, titles, and nothing inline."""

from __future__ import annotations

import math
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

from dq_dagster.charts.chart import Dot
from dq_dagster.charts.themed import draw_themed
from dq_dagster.judging.judgement import Status

START = datetime(2024, 3, 1, tzinfo=UTC)
BOUNDS = {"min": 10, "soft_min": 20, "soft_max": 60, "max": 80}
DOTS = [
    Dot(START, 40, Status.OK, BOUNDS),
    Dot(START + timedelta(days=1), 70, Status.WARNING, BOUNDS),
    Dot(START + timedelta(days=2), 95, Status.ERROR, BOUNDS, "2024-03-03"),
    Dot(START + timedelta(days=3), 30, Status.EMPTY, {}),
]


def svg(dots: list[Dot] = DOTS, name: str = "chart") -> str:
    picture = draw_themed(dots, words="a <b> & c", name=name)
    assert picture is not None
    return picture.svg


def test_colours_are_classes_and_nothing_is_inline() -> None:
    drawn = svg()
    assert not re.search(r"style=|<style|#0000|xlink|<metadata|<!DOCTYPE", drawn)
    for role in (
        "fill-hard",
        "fill-soft",
        "stroke-trace",
        "fill-error",
        "stroke-empty",
        "fill-paper",
    ):
        assert role in drawn
    assert 'aria-label="a &lt;b&gt; &amp; c"' in drawn


def test_every_dot_says_what_it_is() -> None:
    root = ET.fromstring(svg())
    titles = [title.text for mark in root.iter("use") for title in mark.iter("title")]
    assert sorted(map(str, titles)) == [
        "2024-03-01 00:00 UTC · 40 · Ok",
        "2024-03-02 00:00 UTC · 70 · Warning",
        "2024-03-03 00:00 UTC · 2024-03-03 · 95 · Error",
        "2024-03-04 00:00 UTC · 30 · Empty",
    ]


def test_each_status_has_its_shape() -> None:
    root = ET.fromstring(svg())
    shapes = {
        path.get("d")
        for group in root.iter("g")
        if group.get("class") == "dots"
        for path in group.iter("path")
    }
    assert len(shapes) >= 3


def test_charts_on_one_page_keep_their_ids_apart() -> None:
    one, other = (set(re.findall(r' id="([^"]+)"', svg(name=name))) for name in ("a", "b"))
    assert one
    assert not one & other
    assert all(
        f'id="{name}"' in svg(name="a") for name in re.findall(r'href="#([^"]+)"', svg(name="a"))
    )


def test_what_cannot_be_drawn_is_not() -> None:
    assert draw_themed([], words="") is None
    assert draw_themed([Dot(START, math.nan), Dot(START, math.inf)], words="") is None
    assert "<svg" in svg([Dot(START, 1e300, Status.OK), Dot(START, -1e300, Status.ERROR)])
    assert "<svg" in svg([Dot(START, 5, Status.OK, {}, "<script>")])


def test_threads_do_not_disturb_each_other() -> None:
    alone = svg()
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: svg(), range(8))) == {alone}
