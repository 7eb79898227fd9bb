"""Where data is stored: on a local file system, or where only Spark can reach."""

from __future__ import annotations

from pathlib import Path

from dq_dagster.spark.frames.reading import is_remote
from dq_dagster.storage.folders import KEEP_REPLACED
from dq_dagster.storage.local import LocalPartitions
from dq_dagster.storage.remote import RemotePartitions


def store_at(
    target: str, name: str, kind: str, keep: float = KEEP_REPLACED
) -> LocalPartitions | RemotePartitions:
    """The store of what has that name, at a path or behind a URI."""
    if is_remote(target):
        return RemotePartitions(name, target, kind)
    return LocalPartitions(name, Path(target), kind, keep)
