"""Numbers as floating-point columns hold them."""

from __future__ import annotations

import math
import struct
from decimal import Decimal


class Single(float):
    """A value that a 32-bit column held; what it is compared with is rounded likewise."""

    __slots__ = ()


def rounded(value: float) -> float:
    """The nearest 32-bit number, or the value itself if it is beyond all of those."""
    try:
        nearest: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return value
    return nearest


def nearest_float(value: float | Decimal) -> float | None:
    """The nearest double of a number; None for a finite one that is beyond all doubles."""
    try:
        nearest = float(value)
    except OverflowError:
        return None
    beyond = math.isinf(nearest) and isinstance(value, Decimal) and value.is_finite()
    return None if beyond else nearest
