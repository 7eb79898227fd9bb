"""Paths of files that Spark reads and writes."""

from __future__ import annotations

from pathlib import Path


def absolute(path: str) -> str:
    """A local path from the root: Python and the JVM may have different working directories."""
    return path if is_remote(path) else str(Path(path).absolute())


def is_remote(path: str) -> bool:
    """Whether only Spark can reach it."""
    return "://" in path
