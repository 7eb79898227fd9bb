"""Records that are added to a table by many writers: none is lost, and none is there twice.

Two writers that append files to one folder through Spark may remove each other's files. So where a
table has no transactions, each adds one file of its own: written aside, then renamed.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import UnreadableData
from dq_dagster.spark.frames.columns import identifier
from dq_dagster.spark.frames.reading import is_remote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Formats that are nothing but files in a folder; the others take care of writers themselves.
_FILES = frozenset({"parquet", "orc", "csv", "json", "text", "avro"})
_RUN = "dq_append"


def append_records(
    session: SparkSession, target: str, rows: Sequence[tuple[Any, ...]], schema: str, token: str
) -> None:
    """Adds rows to a table of the catalog, or to a folder of Parquet files.

    The same token again replaces what was added by it, where the table is made of files.
    """
    frame = session.createDataFrame(list(rows), schema).coalesce(1)
    if "/" in target:
        _add_file(frame, target, token)
        return
    if not session.catalog.tableExists(target):
        session.sql(f"CREATE TABLE IF NOT EXISTS {_quoted(target)} ({schema}) USING parquet")
    provider, place = _described(session, target)
    if provider not in _FILES:
        frame.write.mode("append").saveAsTable(target)
        return
    _add_file(frame, place, token)
    session.catalog.refreshTable(target)


def _quoted(table: str) -> str:
    return ".".join(identifier(part) for part in table.split("."))


def _described(session: SparkSession, table: str) -> tuple[str, str]:
    """The format of a table, and the folder of its files."""
    rows = session.sql(f"DESCRIBE TABLE EXTENDED {_quoted(table)}").collect()
    facts = {row["col_name"]: row["data_type"] for row in rows}
    return str(facts.get("Provider", "")).lower(), str(facts.get("Location", ""))


def _add_file(frame: DataFrame, place: str, token: str) -> None:
    """One file, named after the token, so that there is one however often it is tried."""
    place = place.removeprefix("file:")
    if is_remote(place):
        # Nothing can be renamed here: each has a folder of its own instead, which Spark replaces.
        frame.write.mode("overwrite").parquet(f"{place.rstrip('/')}/{_RUN}={_name(token)}")
        return
    folder = Path(place)
    folder.mkdir(parents=True, exist_ok=True)
    aside = folder / f".{_RUN}-{uuid.uuid4().hex}"
    frame.write.parquet(str(aside))
    [file] = aside.glob("*.parquet")
    try:
        file.replace(folder / f"part-{_name(token)}.parquet")
    except OSError as error:
        raise UnreadableData(f"Records cannot be added to '{place}': {error.strerror}.") from None
    for rest in aside.iterdir():
        rest.unlink()
    aside.rmdir()


def _name(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()[:32]
