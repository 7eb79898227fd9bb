"""Small pictures of numbers among their bounds: plain numbers in, PNG bytes out.

matplotlib is only the brush. All numbers are placed between 0 and 1 here, by exact arithmetic, so
that neither huge nor tiny ones nor nearly equal ones can get it into trouble.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from io import BytesIO
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

from dq_dagster.evaluation.result import COLOURS
from dq_dagster.judging.judgement import Status
from dq_dagster.judging.wording import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# How many steps an edge is smoothed in.
_SHADES = 4


def small_png(figure: Figure, *, light: Sequence[str], dark: Sequence[str]) -> bytes:
    """The figure in these colours (such as "#57606a"), and in what leads from dark ones to white.

    Chosen by hand: an algorithm that looks for the best few colours would blur those that mean
    something, since few pixels have them.
    """
    from PIL import Image

    palette = Image.new("P", (1, 1))
    palette.putpalette(_palette(light, dark))
    with BytesIO() as raw, BytesIO() as small:
        figure.savefig(raw, format="png", dpi=figure.dpi)
        image = Image.open(raw).convert("RGB")
        few = image.quantize(palette=palette, dither=Image.Dither.NONE)
        few.save(small, format="png", optimize=True)
        return small.getvalue()


def below_each_other(pictures: Sequence[bytes]) -> bytes | None:
    """Pictures of one width as a single one; None if there are none."""
    from PIL import Image

    images = [Image.open(BytesIO(picture)).convert("RGB") for picture in pictures]
    if not images:
        return None
    whole = Image.new("RGB", (images[0].width, sum(image.height for image in images)))
    top = 0
    for image in images:
        whole.paste(image, (0, top))
        top += image.height
    with BytesIO() as file:
        whole.save(file, format="png", optimize=True)
        return file.getvalue()


def _palette(light: Sequence[str], dark: Sequence[str]) -> list[int]:
    """Red, green and blue of each colour, one after the other."""
    shades = [
        255 - (255 - part) * step // _SHADES
        for colour in dict.fromkeys(dark)
        for step in range(1, _SHADES + 1)
        for part in _rgb(colour)
    ]
    return [*(part for colour in light for part in _rgb(colour)), *shades]


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


Number: TypeAlias = int | float

# In pixels: the picture, and the margins around what is drawn.
WIDTH, HEIGHT = 420, 140
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 12, 20, 18
_DPI = 100
_FONT = 7.0
_WHITE, _INK, _FRAME = "#ffffff", "#57606a", "#d0d7de"
_EDGE, _HARD, _SOFT = "#9dbbd8", "#e3eef9", "#c6dcf1"
# Two labels of the vertical axis that are nearer than this many pixels would touch.
_LINE_HEIGHT = 12
# Where dots are named below, the most important place first.
_NAMED = (0, 1, 1 / 3, 2 / 3)
# A value may stretch the picture to so many times what it would be without it.
_STRETCH = 3
BANDS = (("min", "max", _HARD), ("soft_min", "soft_max", _SOFT))


@dataclass(frozen=True, slots=True)
class Dot:
    """A number at its moment, with the bounds it had and the status it got, if any."""

    at: datetime
    value: Number
    status: Status | None = None
    bounds: Mapping[str, Number] = field(default_factory=dict)
    partition: str | None = None


def draw(
    dots: Sequence[Dot], *, title: str = "", by_time: bool = False, width: int = WIDTH
) -> bytes | None:
    """The dots in their order, each before the bounds it had; None if none of them can be drawn.

    ``by_time`` places them by their moments rather than one after the other. A dot that has a
    status is marked with its colour; the last one's value is written at the top.
    """
    finite = [dot for dot in dots if isfinite(dot.value)]
    if not finite:
        return None
    figure, axes = _canvas(width)
    scale = Scale.of(finite)
    places = places_of(finite, by_time=by_time)
    _draw_bounds(axes, finite, places, scale)
    _draw_dots(axes, finite, places, scale)
    _label(axes, finite, places, scale)
    _head(axes, finite[-1], title)
    light = (_WHITE, _FRAME, _EDGE, _HARD, _SOFT)
    return small_png(figure, light=light, dark=(_INK, *COLOURS.values()))


@dataclass(frozen=True, slots=True)
class Scale:
    """The span of numbers that is shown."""

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, dots: Sequence[Dot]) -> Scale:
        """Room for all bounds and unmarked dots; marked ones stretch it, but not without end."""
        usual = [Fraction(bound) for dot in dots for bound in dot.bounds.values()]
        usual += [Fraction(dot.value) for dot in dots if dot.status in {None, Status.OK}]
        every = [*usual, *(Fraction(dot.value) for dot in dots)]
        usual = usual or every
        most = (_STRETCH - 1) * (max(usual) - min(usual))
        low, high = min(every), max(every)
        if most:
            low, high = max(low, min(usual) - most), min(high, max(usual) + most)
        margin = (high - low) / 12 or abs(high) / 10 or Fraction(1)
        return cls(low - margin, high + margin)

    def place(self, value: Number) -> float:
        """Where a number lies between bottom (0) and top (1)."""
        return float((Fraction(value) - self.low) / (self.high - self.low))


def _canvas(width: int) -> tuple[Figure, Axes]:
    # Here, since nothing but a picture needs it. Not by pyplot, which keeps what it drew.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / _DPI, HEIGHT / _DPI), dpi=_DPI, facecolor=_WHITE)
    FigureCanvasAgg(figure)
    box = (
        _LEFT / width,
        _BOTTOM / HEIGHT,
        (width - _LEFT - _RIGHT) / width,
        (HEIGHT - _TOP - _BOTTOM) / HEIGHT,
    )
    axes = figure.add_axes(box, xlim=(-0.02, 1.02), ylim=(0, 1), facecolor=_WHITE)
    axes.tick_params(length=2, width=0.6, color=_EDGE, pad=2)
    for spine in axes.spines.values():
        spine.set(color=_FRAME, linewidth=0.6)
    return figure, axes


def places_of(dots: Sequence[Dot], *, by_time: bool) -> list[float]:
    """From left (0) to right (1)."""
    if len(dots) == 1:
        return [0.5]
    span = dots[-1].at - dots[0].at
    if by_time and span > timedelta():
        return [(dot.at - dots[0].at) / span for dot in dots]
    return [number / (len(dots) - 1) for number in range(len(dots))]


def _draw_bounds(axes: Axes, dots: Sequence[Dot], places: Sequence[float], scale: Scale) -> None:
    """A band between bounds; if all dots have the same ones, from one side to the other."""
    known = [(place, dot.bounds) for place, dot in zip(places, dots, strict=True) if dot.bounds]
    if known and all(bounds == known[0][1] for _, bounds in known):
        known = [(-0.02, known[0][1]), (1.02, known[0][1])]
    for low, high, colour in BANDS:
        some = [(place, bounds) for place, bounds in known if low in bounds or high in bounds]
        xs = [place for place, _ in some]
        lows = [scale.place(bounds[low]) if low in bounds else 0.0 for _, bounds in some]
        highs = [scale.place(bounds[high]) if high in bounds else 1.0 for _, bounds in some]
        axes.fill_between(xs, lows, highs, color=colour, linewidth=0)
        for edge in (lows, highs):
            axes.plot(xs, edge, color=_EDGE, linewidth=0.7)


def _draw_dots(axes: Axes, dots: Sequence[Dot], places: Sequence[float], scale: Scale) -> None:
    heights = [scale.place(dot.value) for dot in dots]
    inside = [min(max(height, 0.04), 0.96) for height in heights]
    size = 2.6 if len(dots) <= 60 else 1.8
    axes.plot(places, inside, color=_INK, linewidth=0.7, marker="o", markersize=size)
    for n, dot in enumerate(dots):
        if dot.status in {None, Status.EMPTY} and dot is not dots[-1]:
            continue
        # One that lies outside of the picture is an arrow at its edge.
        marker = "o" if 0 <= heights[n] <= 1 else ("^" if heights[n] > 1 else "v")
        big = 6.0 if dot is dots[-1] or dot.status is not Status.OK else size
        colour = COLOURS[dot.status] if dot.status else _INK
        axes.plot([places[n]], [inside[n]], marker=marker, markersize=big, color=colour)


def _label(axes: Axes, dots: Sequence[Dot], places: Sequence[float], scale: Scale) -> None:
    style: dict[str, Any] = {"fontsize": _FONT, "color": _INK, "parse_math": False}
    levels = levels_of(dots, scale)
    axes.set_yticks(list(levels), [short(levels[place]) for place in levels], **style)
    names = names_of(dots)
    ticks = spread(places)
    axes.set_xticks([places[n] for n in ticks], [names[n] for n in ticks], **style)
    labels = axes.get_xticklabels()
    if len(labels) > 1:
        labels[0].set_horizontalalignment("left")
        labels[-1].set_horizontalalignment("right")


def levels_of(
    dots: Sequence[Dot], scale: Scale, *, room: int = HEIGHT - _TOP - _BOTTOM
) -> dict[float, Number]:
    """The numbers beside the vertical axis: the last bounds, or how far the dots reach."""
    last = next((dot.bounds for dot in reversed(dots) if dot.bounds), {})
    wanted = [last[name] for name in ("min", "max", "soft_min", "soft_max") if name in last]
    values = [dot.value for dot in dots]
    found: dict[float, Number] = {}
    for number in [*wanted, min(values), max(values)]:
        height = scale.place(number)
        gap = _LINE_HEIGHT / room
        apart = all(abs(height - other) >= gap for other in found)
        if 0 <= height <= 1 and apart and short(number) not in map(short, found.values()):
            found[height] = number
    return found


def spread(places: Sequence[float]) -> list[int]:
    """Which dots are named below: the first, the last, and some between that are far enough."""
    chosen: list[int] = []
    for target in _NAMED:
        nearest = min(range(len(places)), key=lambda n: abs(places[n] - target))
        if all(abs(places[nearest] - places[n]) >= 0.28 for n in chosen):
            chosen.append(nearest)
    return sorted(chosen)


def names_of(dots: Sequence[Dot]) -> list[str]:
    """Keys of partitions if hardly any was judged more than once, and else dates or times."""
    keys = [dot.partition for dot in dots if dot.partition is not None and _fits(dot.partition)]
    if len(keys) == len(dots) and len(set(keys)) > len(dots) / 2:
        return keys
    near = dots[-1].at - dots[0].at < timedelta(days=2)
    return [dot.at.strftime("%m-%d %H:%M UTC" if near else "%Y-%m-%d") for dot in dots]


def _fits(text: str) -> bool:
    """Whether a text is short, and written in letters that every font has."""
    return len(text) <= 16 and text.isascii() and text.isprintable()


def _head(axes: Axes, last: Dot, title: str) -> None:
    style: dict[str, Any] = {"transform": axes.transAxes, "parse_math": False, "va": "bottom"}
    if title.isascii() and title.isprintable():
        axes.text(0, 1.03, title, fontsize=_FONT, color=_INK, **style)
    if last.status is not None:
        words = f"{short(last.value)}  {last.status}"
        colour = COLOURS[last.status]
        axes.text(1, 1.03, words, fontsize=8, color=colour, weight="bold", ha="right", **style)


def short(number: Number) -> str:
    """A number in at most some nine characters."""
    text = show(number)
    return text if len(text) <= 9 else f"{float(number):.3g}"
