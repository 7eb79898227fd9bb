"""Small pictures that a page has many of, as plain SVG text: strips of days, rings and bars.

They hold numbers and the names of statuses only, so there is nothing in them to escape. The style
sheet colours their classes; each status also has its height or its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import pi

from markupsafe import Markup

from dq_dagster.judging.judgement import BADNESS, Status
from dq_dagster.judging.wording import NOTHING

WORST_FIRST = sorted(Status, key=BADNESS.__getitem__, reverse=True)
WORDS = {
    Status.OK: "Ok",
    Status.WARNING: "Warning",
    Status.ERROR: "Error",
    Status.EMPTY: "Empty",
    Status.NOT_COMPUTED: "Not computed",
}
CLASSES = {status: WORDS[status].lower().replace(" ", "-") for status in Status}
STATUSES = {name: status for status, name in CLASSES.items()}

# A day of a strip, in pixels. The worse it was, the higher it stands.
_DAY, _GAP, _HEIGHT = 5, 2, 22
_HEIGHTS = {
    Status.NOT_COMPUTED: 2,
    Status.OK: 8,
    Status.EMPTY: 8,
    Status.WARNING: 15,
    Status.ERROR: _HEIGHT,
}
_RADIUS = 24


def strip(days: Sequence[Status]) -> Markup:
    """A bar a day, oldest first."""
    paths: dict[Status, list[str]] = {}
    for n, status in enumerate(days):
        height = _HEIGHTS[status]
        place = f"M{n * (_DAY + _GAP)} {_HEIGHT - height}h{_DAY}v{height}h-{_DAY}z"
        paths.setdefault(status, []).append(place)
    drawn = "".join(
        f'<path class="fill-{CLASSES[status]}" d="{"".join(some)}"/>'
        for status, some in paths.items()
    )
    width = max(len(days) * (_DAY + _GAP) - _GAP, 1)
    return _svg("strip", drawn, width, _HEIGHT, strip_words(days))


def strip_words(days: Sequence[Status]) -> str:
    """Such as "The last 30 days: 2 Error, 1 Warning, 27 Ok"."""
    return f"The last {len(days)} days: {counts_in_words(counted(days)) or 'nothing computed'}"


def counted(statuses: Sequence[Status]) -> dict[Status, int]:
    """How often each occurs, the worst first."""
    counts = {status: statuses.count(status) for status in WORST_FIRST}
    return {status: count for status, count in counts.items() if count}


def counts_in_words(counts: Mapping[Status, int]) -> str:
    return ", ".join(
        f"{counts[status]:,} {WORDS[status]}" for status in WORST_FIRST if counts.get(status)
    )


def shares(counts: Mapping[Status, int], *, width: int = 120, height: int = 8) -> Markup:
    """One bar whose parts are as long as their counts."""
    total = sum(counts.values())
    words = counts_in_words(counts) or "none"
    parts, left = [], 0.0
    for status in WORST_FIRST:
        if count := counts.get(status, 0):
            # What is there can be seen, however small its share.
            long = max(width * count / total, 3)
            parts.append(
                f'<rect class="fill-{CLASSES[status]}" x="{left:.1f}" y="0" '
                f'width="{long:.1f}" height="{height}"/>'
            )
            left += long
    return _svg("shares", "".join(parts), width, height, words, inside=max(left, width))


def ring(score: float | None, status: Status) -> Markup:
    """A score from 0 to 100 as an arc with its number inside."""
    words = "none" if score is None else f"{points(score)} of 100"
    around = 2 * pi * _RADIUS
    arc = ""
    if score is not None:
        arc = (
            f'<circle class="arc stroke-{CLASSES[status]}" cx="32" cy="32" r="{_RADIUS}" '
            f'stroke-dasharray="{around * score / 100:.2f} {around:.2f}" '
            'transform="rotate(-90 32 32)"/>'
        )
    inside = NOTHING if score is None else points(score)
    drawn = (
        f'<circle class="track" cx="32" cy="32" r="{_RADIUS}"/>{arc}'
        f'<text x="32" y="32" dy=".35em">{inside}</text>'
    )
    return _svg("ring", drawn, 64, 64, f"Score: {words}")


def _svg(
    kind: str, drawn: str, width: int, height: int, words: str, *, inside: float | None = None
) -> Markup:
    """``inside`` is how wide it is in its own numbers, if that is not its width on the page."""
    return Markup(  # noqa: S704 - numbers and words of our own.
        f'<svg class="{kind}" viewBox="0 0 {inside or width:g} {height}" width="{width}" '
        f'height="{height}" preserveAspectRatio="none" role="img" aria-label="{words}">'
        f"<title>{words}</title>{drawn}</svg>"
    )


def points(score: float) -> str:
    """Such as "99.3"; never "100" for what is not perfect."""
    shown = f"{score:.1f}".removesuffix(".0")
    return "99.9" if shown == "100" and score < 100 else shown


def percent(share: float) -> str:
    return f"{points(100 * share)} %"
