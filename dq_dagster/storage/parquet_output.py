"""Rows at a path that somebody else named: Parquet files that take the place of those before."""

from __future__ import annotations

import shutil
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from dq_dagster.errors import UnreadableData
from dq_dagster.spark.frames.frames import storable
from dq_dagster.spark.frames.reading import absolute, is_remote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FORMAT = "parquet"
_TRIES = 5


def replace_parquet(frame: DataFrame, path: str, name: str) -> DataFrame:
    """Writes the rows to the path, and gives them back as they are stored there.

    On a local file system the old rows stay until all new ones are written, and what is not
    Parquet is left alone. Behind a URI Spark overwrites. ``name`` is what the rows are called.
    """
    rows = storable(frame, name)
    target = absolute(path)
    if is_remote(target):
        rows.write.format(_FORMAT).mode("overwrite").save(target)
    else:
        _replace_local(rows, Path(target))
    # With the schema that was written: there need not be a file of no rows.
    return rows.sparkSession.read.schema(rows.schema).format(_FORMAT).load(target)


def _replace_local(rows: DataFrame, target: Path) -> None:
    _require_parquet(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Names that Spark does not read, beside the target: a rename is at once within one file system.
    fresh, old = (target.parent / f".{target.name}.{what}{uuid.uuid4().hex}" for what in "no")
    try:
        rows.write.format(_FORMAT).save(str(fresh))
        for left in reversed(range(_TRIES)):
            with suppress(FileNotFoundError):
                target.rename(old)
            try:
                fresh.rename(target)
                break
            except OSError:
                # Another writer was faster: its rows are replaced in turn.
                shutil.rmtree(old, ignore_errors=True)
                if not left:
                    raise
    finally:
        for folder in (fresh, old):
            shutil.rmtree(folder, ignore_errors=True)


def _require_parquet(target: Path) -> None:
    """Raises UnreadableData if something is there that was not written as Parquet."""
    if not target.exists() and not target.is_symlink():
        return
    if target.is_symlink() or not target.is_dir():
        raise UnreadableData.not_replaced(str(target))
    files = [one for one in target.iterdir() if not one.name.startswith((".", "_"))]
    if not all(one.suffix == ".parquet" or "=" in one.name for one in files):
        raise UnreadableData.not_replaced(str(target))
