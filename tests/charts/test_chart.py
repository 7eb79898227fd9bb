"""Pictures of the past: valid, small, and with the colours that they are read by."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from io import BytesIO
from random import Random
from typing import Any

import pytest
from PIL import Image

from dq_dagster.charts.chart import HEIGHT, WIDTH, Dot, below_each_other, draw, names_of, short
from dq_dagster.evaluation.result import COLOURS
from dq_dagster.judging.evidence import PastValue
from dq_dagster.judging.judgement import Status
from dq_dagster.judging.typical import Typical

START = datetime(2024, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)
BAND = (0xE3, 0xEE, 0xF9)
SOFT_BAND = (0xC6, 0xDC, 0xF1)


def some(count: int, middle: float = 1000, spread: float = 30) -> list[float]:
    random = Random(count)
    return [random.gauss(middle, spread) for _ in range(count)]


def dots(values: Sequence[Any], value: Any, **parameters: Any) -> list[Dot]:
    """Past values, one a day, and one that is judged by them."""
    past = [PastValue(one, START + n * DAY) for n, one in enumerate(values)]
    at = START + len(values) * DAY
    typical = Typical(learning_period=1, lookback_window=100, **parameters)
    judged = typical.judge(value, past, at, what="It")
    points = [Dot(point.at, point.value) for point in past]
    return [*points, Dot(at, value, judged.status, dict(judged.bounds))]


def opened(png: bytes | None) -> Image.Image:
    assert png is not None
    image = Image.open(BytesIO(png))
    image.load()
    assert image.format == "PNG"
    return image.convert("RGB")


def colours(image: Image.Image) -> Counter[Any]:
    pixels: Any = image.get_flattened_data()
    return Counter(pixels)


def rgb(status: Status) -> tuple[int, ...]:
    return tuple(bytes.fromhex(COLOURS[status].removeprefix("#")))


CASES: dict[str, tuple[list[Dot], str]] = {
    "normal": (dots(some(30), 1010.0), "Ok"),
    "far away": (dots(some(30), 120_000.0), "Error"),
    "soft bounds": (dots(some(30), 1055.0, soft_iqr_factor=0.5), "Warning"),
    "constant, and changed": (dots([5] * 20, 7), "Error"),
    "constant": (dots([5] * 20, 5), "Ok"),
    "zero": (dots([0] * 20, 0), "Ok"),
    "one point": (dots([5], 5), "Ok"),
    "a hundred points": (dots(some(100), 1010.0), "Ok"),
    "whole numbers of 38 digits": (dots([10**37 + n for n in range(9)], 10**38), "Error"),
    "nearly all floats": (dots([1e308, -1e308, 0.0, 5e307], 1.7e308), "Ok"),
    "tiny": (dots([x * 1e-300 for x in some(30)], 2e-297), "Error"),
    "nearly equal": (dots([1e15 + n / 8 for n in range(20)], 1e15 + 20), "Error"),
    "negative": (dots([-x for x in some(20)], -600.0), "Error"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("by_time", [False, True])
def test_a_picture_of_anything_is_valid_and_small(case: str, by_time: bool) -> None:
    points, status = CASES[case]
    assert points[-1].status == status
    png = draw(points, title="typical", by_time=by_time)
    image = opened(png)
    assert image.size == (WIDTH, HEIGHT)
    assert png is not None
    assert len(png) <= (6_000 if len(points) > 50 else 4_500)
    found = colours(image)
    assert found.most_common(1)[0][0] in {(255, 255, 255), BAND}
    # The dot, and the words at the top.
    assert found[rgb(Status(status))] > 30


def test_each_status_has_its_own_colour() -> None:
    for status in (Status.OK, Status.WARNING, Status.ERROR):
        points = [*dots(some(9), 1000.0)[:-1], Dot(START + 20 * DAY, 1000.0, status)]
        found = colours(opened(draw(points)))
        assert [one for one in COLOURS if found[rgb(one)] > 30 and one in CHECKED] == [status]


CHECKED = {Status.OK, Status.WARNING, Status.ERROR}


def test_the_bands_are_there_as_far_as_there_are_bounds() -> None:
    hard = colours(opened(draw(dots(some(30), 1000.0))))
    assert hard[BAND] > 5_000
    # Smoothed edges have some of it, too.
    assert hard[SOFT_BAND] < 100
    soft = colours(opened(draw(dots(some(30), 1000.0, soft_iqr_factor=0.5))))
    assert soft[SOFT_BAND] > 1_000
    none = colours(opened(draw([Dot(START + n * DAY, value) for n, value in enumerate(some(9))])))
    assert max(none[BAND], none[SOFT_BAND]) < 500


def test_a_dot_outside_lies_above_the_band() -> None:
    image = opened(draw(dots(some(30), 1500.0)))
    width, height = image.size
    inside = range(22, height - 20)
    red = [y for y in inside if image.getpixel((width - 18, y)) == rgb(Status.ERROR)]
    band = [y for y in inside if image.getpixel((width - 60, y)) == BAND]
    assert red
    assert band
    assert max(red) < min(band)


def test_values_that_are_no_numbers_are_left_out() -> None:
    assert draw([]) is None
    assert draw([Dot(START, math.nan), Dot(START, math.inf)]) is None
    points = [*dots(some(9), 1000.0)[:-1], Dot(START + 9 * DAY, math.nan, Status.ERROR)]
    assert colours(opened(draw(points)))[rgb(Status.ERROR)] == 0


@pytest.mark.parametrize("text", ["$x^2$ $$", "\x00\x1b[31m", "日本語", "<script>", "a" * 500])
def test_no_text_gets_it_into_trouble(text: str) -> None:
    points = [
        Dot(START + n * DAY, value, partition=f"{text}{n}") for n, value in enumerate(some(5))
    ]
    assert opened(draw(points, title=text)).size == (WIDTH, HEIGHT)


def test_several_become_one() -> None:
    one, two = draw(dots(some(9), 1000.0)), draw(dots(some(9), 3000.0))
    assert one
    assert two
    assert opened(below_each_other([one, two])).size == (WIDTH, 2 * HEIGHT)
    assert below_each_other([]) is None


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1010, "1,010"),
        (0.125, "0.125"),
        (1234567, "1,234,567"),
        (123456789012, "1.23e+11"),
        (-1.5625e308, "-1.56e+308"),
        (1.0530712e-09, "1.05e-09"),
        (-(10**37), "-1e+37"),
    ],
)
def test_numbers_are_short(number: float, text: str) -> None:
    assert short(number) == text


def test_only_a_picture_loads_matplotlib() -> None:
    modules = "dq_dagster.integration.checks.results, dq_dagster.cli.main"
    script = f"import {modules}, sys; print('matplotlib' in sys.modules, 'PIL' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize(
    ("partitions", "names"),
    [
        (["a", "b"], ["a", "b"]),
        # One was judged again.
        (["a", "b", "c", "a"], ["a", "b", "c", "a"]),
        (["a", "b"] * 2, ["2024-01-01", "2024-01-03", "2024-01-05", "2024-01-07"]),
        (["a", None], ["2024-01-01", "2024-01-03"]),
    ],
)
def test_dots_are_named_by_partitions_unless_many_come_again(
    partitions: list[str | None], names: list[str]
) -> None:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    moments = [start + timedelta(days=2 * n) for n in range(len(partitions))]
    dots = [Dot(at, 1, partition=key) for at, key in zip(moments, partitions, strict=True)]
    assert names_of(dots) == names
