"""Pictures with few colours: a tenth of the size, and nobody sees the difference."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
