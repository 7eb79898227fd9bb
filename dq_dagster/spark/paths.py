"""Paths of files that Spark reads and writes."""

from __future__ import annotations

from pathlib import Path


def absolute(path: str) -> str:
    """A local path from the root: Python and the JVM may have different working directories."""
    return path if "://" in path else str(Path(path).absolute())
