"""The same pictures for pages: SVG whose colours are classes, so that a style sheet gives them.

matplotlib writes the colours into each element, which neither follows the reader's light or dark
theme nor gets past a strict content-security policy. So every colour is drawn as the stand-in of
a role, and the role becomes a class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO
from math import isfinite
from threading import Lock
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from dq_dagster.charts.chart import (
    BANDS,
    Dot,
    Scale,
    levels_of,
    names_of,
    places_of,
    short,
    spread,
)
from dq_dagster.judging.judgement import Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 960, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 18, 14, 26
_DPI = 72  # A point is a pixel, so sizes below are those of the page.
_FONT = 11.0

# A stand-in for each role; no two may be equal.
_ROLES = {
    "#000001": "ink",
    "#000002": "frame",
    "#000003": "hard-edge",
    "#000004": "hard",
    "#000005": "soft",
    "#000006": "soft-edge",
    "#000007": "trace",
    "#000008": "paper",
    "#000010": "ok",
    "#000011": "warning",
    "#000012": "error",
    "#000013": "empty",
    "#000014": "not-computed",
}
_COLOUR = {role: colour for colour, role in _ROLES.items()}
# Each status has its shape, since not everybody tells colours apart: see also the icons of pages.
_MARKS: dict[Status | None, tuple[str, str, float]] = {
    Status.OK: ("ok", "o", 6),
    Status.WARNING: ("warning", "^", 8.5),
    Status.ERROR: ("error", "D", 7.5),
    Status.EMPTY: ("empty", "o", 6),
    Status.NOT_COMPUTED: ("not-computed", "x", 6),
    None: ("ink", "o", 4),
}
# More dots than this are drawn small.
_MANY = 90
_SVG = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
# Attributes that a style may become; fonts are left to the style sheet.
_KEPT = {"stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "text-anchor"}
# The settings of matplotlib are those of the process.
_LOCK = Lock()


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart as SVG text, and what it shows in words."""

    svg: str
    words: str


def draw_themed(
    dots: Sequence[Dot],
    *,
    words: str,
    name: str = "chart",
    by_time: bool = False,
    width: int = WIDTH,
    height: int = HEIGHT,
) -> Picture | None:
    """The dots before their bounds; None if none of them can be drawn.

    ``name`` keeps the ids of several charts on one page apart. Dots say on hover what they are.
    """
    finite = [dot for dot in dots if isfinite(dot.value)]
    if not finite:
        return None
    with _LOCK:
        figure, axes = _canvas(width, height)
        scale = Scale.of(finite)
        places = places_of(finite, by_time=by_time)
        _draw_bounds(axes, finite, places, scale)
        drawn = _draw_dots(axes, finite, places, scale)
        _label(axes, finite, places, scale, room=height - _TOP - _BOTTOM)
        root = _svg_of(figure)
    _themed(root, name)
    _add_titles(root, drawn)
    _describe(root, words, width, height)
    return Picture(ET.tostring(root, encoding="unicode"), words)


def _canvas(width: int, height: int) -> tuple[Figure, Axes]:
    # Here, since nothing but a picture needs it. Not by pyplot, which keeps what it drew.
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI)
    figure.patch.set_visible(False)
    FigureCanvasSVG(figure)
    box = (
        _LEFT / width,
        _BOTTOM / height,
        (width - _LEFT - _RIGHT) / width,
        (height - _TOP - _BOTTOM) / height,
    )
    axes = figure.add_axes(box, xlim=(-0.02, 1.02), ylim=(0, 1))
    axes.patch.set_visible(False)
    axes.tick_params(length=0, pad=6)
    for side, spine in axes.spines.items():
        spine.set(color=_COLOUR["frame"], linewidth=1, visible=side == "bottom")
    return figure, axes


def _draw_bounds(axes: Axes, dots: Sequence[Dot], places: Sequence[float], scale: Scale) -> None:
    """A band between bounds, with lines where they are; dashed ones where they are soft."""
    known = [(place, dot.bounds) for place, dot in zip(places, dots, strict=True) if dot.bounds]
    if known and all(bounds == known[0][1] for _, bounds in known):
        known = [(-0.02, known[0][1]), (1.02, known[0][1])]
    for low, high, _ in BANDS:
        role = "soft" if low.startswith("soft") else "hard"
        some = [(place, bounds) for place, bounds in known if low in bounds or high in bounds]
        xs = [place for place, _ in some]
        lows = [scale.place(bounds[low]) if low in bounds else 0.0 for _, bounds in some]
        highs = [scale.place(bounds[high]) if high in bounds else 1.0 for _, bounds in some]
        axes.fill_between(xs, lows, highs, color=_COLOUR[role], linewidth=0)
        for edge, bound in ((lows, low), (highs, high)):
            if any(bound in bounds for _, bounds in some):
                dashes = "--" if role == "soft" else "-"
                colour = _COLOUR[f"{role}-edge"]
                axes.plot(xs, edge, color=colour, linewidth=1, linestyle=dashes)


def _draw_dots(
    axes: Axes, dots: Sequence[Dot], places: Sequence[float], scale: Scale
) -> dict[str, list[str]]:
    """Returns what the marks of each group say, in the order in which they are drawn."""
    heights = [min(max(scale.place(dot.value), 0.02), 0.98) for dot in dots]
    axes.plot(places, heights, color=_COLOUR["trace"], linewidth=1.4)
    drawn: dict[str, list[str]] = {}
    for status, (role, marker, size) in _MARKS.items():
        chosen = [n for n, dot in enumerate(dots) if dot.status is status]
        if not chosen:
            continue
        small = 0.6 if len(dots) > _MANY else 1
        [line] = axes.plot(
            [places[n] for n in chosen],
            [heights[n] for n in chosen],
            marker=marker,
            markersize=size * small,
            linestyle="none",
            color=_COLOUR[role],
            markerfacecolor=_COLOUR["paper" if status is Status.EMPTY else role],
        )
        line.set_gid(f"dots-{role}")
        line.set_clip_on(False)
        drawn[f"dots-{role}"] = [_said(dots[n]) for n in chosen]
    return drawn


def _said(dot: Dot) -> str:
    parts = [
        dot.at.strftime("%Y-%m-%d %H:%M UTC"),
        dot.partition or "",
        short(dot.value),
        dot.status.value if dot.status else "",
    ]
    return " · ".join(part for part in parts if part)


def _label(
    axes: Axes, dots: Sequence[Dot], places: Sequence[float], scale: Scale, *, room: int
) -> None:
    style: dict[str, Any] = {"fontsize": _FONT, "color": _COLOUR["ink"], "parse_math": False}
    # Phones write them a third larger.
    levels = levels_of(dots, scale, room=room * 3 // 4)
    axes.set_yticks(list(levels), [short(levels[place]) for place in levels], **style)
    names = names_of(dots)
    ticks = spread(places)
    axes.set_xticks([places[n] for n in ticks], [names[n] for n in ticks], **style)
    labels = axes.get_xticklabels()
    if len(labels) > 1:
        labels[0].set_horizontalalignment("left")
        labels[-1].set_horizontalalignment("right")


def _svg_of(figure: Figure) -> ET.Element:
    from matplotlib import rc_context

    with StringIO() as text, rc_context({"svg.fonttype": "none", "svg.hashsalt": "dq"}):
        figure.savefig(text, format="svg")
        # What matplotlib has just written, not a file from somewhere.
        return ET.fromstring(text.getvalue())  # noqa: S314


def _themed(root: ET.Element, name: str) -> None:
    """Styles become classes and attributes, and ids get a name of their own."""
    _drop(root, {f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"})
    _lay_scale_on_top(root)
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{_SVG}}}")
        style = element.attrib.pop("style", "")
        _give(element, dict(_declarations(style)))
        if link := element.attrib.pop(_LINK, None):
            element.set("href", f"#{name}-{link.removeprefix('#')}")
        if clip := element.get("clip-path"):
            element.set("clip-path", clip.replace("url(#", f"url(#{name}-"))
        if own := element.get("id"):
            element.set("id", f"{name}-{own}")
        # Numbers of many digits are most of the text.
        if element.tag == "text":
            element.attrib.pop("transform", None)


def _lay_scale_on_top(root: ET.Element) -> None:
    """The numbers at the left lie above the dots: pages keep them in sight on phones."""
    for parent in list(root.iter()):
        for child in [one for one in parent if one.get("id") == "matplotlib.axis_2"]:
            child.set("class", "scale")
            parent.remove(child)
            parent.append(child)


def _drop(root: ET.Element, tags: set[str]) -> None:
    for parent in list(root.iter()):
        for child in [one for one in parent if one.tag in tags]:
            parent.remove(child)


def _declarations(style: str) -> list[tuple[str, str]]:
    pairs = [part.partition(":") for part in style.split(";") if ":" in part]
    return [(key.strip(), value.strip()) for key, _, value in pairs]


def _give(element: ET.Element, style: dict[str, str]) -> None:
    classes = []
    for part in ("fill", "stroke"):
        value = style.get(part)
        if value in _ROLES:
            classes.append(f"{part}-{_ROLES[value]}")
        elif value == "none":
            element.set(part, "none")
    for key in _KEPT & style.keys():
        element.set(key, style[key])
    if classes:
        element.set("class", " ".join(classes))


def _add_titles(root: ET.Element, drawn: dict[str, list[str]]) -> None:
    for group in root.iter("g"):
        titles = next((some for gid, some in drawn.items() if _ends(group, gid)), None)
        if titles is not None:
            group.set("class", "dots")
            for mark, title in zip(group.iter("use"), titles, strict=True):
                ET.SubElement(mark, "title").text = title


def _ends(group: ET.Element, gid: str) -> bool:
    return group.get("id", "").endswith(f"-{gid}")


def _describe(root: ET.Element, words: str, width: int, height: int) -> None:
    root.attrib.clear()
    root.set("viewBox", f"0 0 {width} {height}")
    root.set("class", "chart" if width >= WIDTH else "chart half")
    root.set("role", "img")
    root.set("aria-label", words)


def warm_up() -> None:
    """Loads the drawing library, which takes a second, before somebody waits for it."""
    draw_themed([Dot(datetime(2024, 1, 1, tzinfo=UTC), 1, Status.OK)], words="")
