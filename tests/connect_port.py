"""Spark Connect in tests: one server at a time, since all of them listen on the same port."""

from __future__ import annotations

import fcntl
import tempfile
from pathlib import Path
from typing import IO

_held: list[IO[str]] = []


def wait_for_port() -> None:
    """Waits until no other process of tests has a server; ours has it until the process ends."""
    file = (Path(tempfile.gettempdir()) / "dq_dagster-connect.lock").open("w")
    fcntl.flock(file, fcntl.LOCK_EX)
    _held.append(file)
