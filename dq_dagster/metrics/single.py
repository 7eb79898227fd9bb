"""Numbers of 32-bit floating-point columns."""

from __future__ import annotations

import struct


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
