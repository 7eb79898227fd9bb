"""The ratios as a picture: how much of what its target allows each of them takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dq_dagster.evaluation.result import COLOURS
from dq_dagster.judging.judgement import Status
from examples.bench.stopwatch import Laps
from examples.bench.targets import Measured, by_shapes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# In inches, of which each has 72 points.
_WIDTH, _ROW, _MARGIN = 9.5, 0.24, 0.75
# The colours of dq_dagster/charts.
_WHITE, _INK, _FRAME = "#ffffff", "#57606a", "#d0d7de"
# Whatever takes more is drawn at the edge, with its number beside it.
_WIDEST = 2.0


@dataclass(frozen=True)
class Bar:
    """A comparison with its target; of several shapes, the worst."""

    label: str
    ratio: float
    limit: float
    shape: str | None

    @property
    def used(self) -> float:
        return self.ratio / self.limit

    @property
    def held(self) -> bool:
        return self.ratio <= self.limit

    @property
    def words(self) -> str:
        shape = "" if self.shape is None else f", {self.shape}"
        return f"{self.ratio:.2f} of {self.limit:.2f}{shape}"


def bars_of(measured: Mapping[Measured, Laps]) -> list[Bar]:
    bars = []
    for (suite, package), by_shape in by_shapes(measured).items():
        shape, laps = next(iter(by_shape.items()))
        for one in Measured(suite, shape, package).ratios(laps):
            worst = max(by_shape, key=lambda name: one.ratio(by_shape[name]))
            named = worst if len(by_shape) > 1 else None
            label = f"{suite}  {one.label}"
            bars.append(Bar(label, one.ratio(by_shape[worst]), one.limit, named))
    return bars


def write_chart(path: Path, measured: Mapping[Measured, Laps]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(draw(bars_of(measured)), encoding="utf-8")
    return path


def draw(bars: Sequence[Bar]) -> str:
    """As SVG. The line is the target: what stays left of it is held."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    height = _MARGIN + _ROW * max(len(bars), 1)
    figure = Figure(figsize=(_WIDTH, height), facecolor=_WHITE)
    FigureCanvasSVG(figure)
    box = (0.5, 0.45 / height, 0.36, (height - _MARGIN) / height)
    axes = figure.add_axes(box, xlim=(0, _WIDEST), ylim=(len(bars) - 0.4, -0.6))
    _style(axes, [bar.label for bar in bars])
    for place, bar in enumerate(bars):
        colour = COLOURS[Status.OK if bar.held else Status.ERROR]
        axes.barh(place, min(bar.used, _WIDEST), height=0.62, color=colour, linewidth=0)
        axes.text(_WIDEST * 1.02, place, bar.words, **_text())
    axes.axvline(1, color=_INK, linewidth=1)
    with StringIO() as text, rc_context({"svg.fonttype": "none", "svg.hashsalt": "dq"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
        return text.getvalue()


def _style(axes: Axes, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), list(labels), fontsize=8, color=_INK)
    axes.set_xticks([0, 1, 2], ["0", "the target", "twice the target"], fontsize=8, color=_INK)
    axes.tick_params(length=0, pad=5)
    for spine in axes.spines.values():
        spine.set(color=_FRAME, linewidth=0.6)


def _text() -> dict[str, Any]:
    return {"fontsize": 8, "color": _INK, "va": "center", "parse_math": False}
