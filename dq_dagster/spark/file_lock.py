"""A lock between processes, held by a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Holds a lock that ends with the process; says whether it was got.

    Some systems and some file systems have no such locks, and some files belong to others.
    """
    try:
        import fcntl
    except ImportError:
        yield False
        return
    try:
        file = path.open("a")
    except OSError:
        yield False
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
