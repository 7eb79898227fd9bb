"""Data from files and tables, told in plain words where it can not be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dq_dagster.errors import UnreadableData

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FORMATS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".orc": "orc",
    ".avro": "avro",
    ".xml": "xml",
}
# What people mean who hand over a file without saying more.
_OPTIONS = {"csv": {"header": "true", "inferSchema": "true"}}

# The one column that Spark finds in a JSON file where no line is an object.
_CORRUPT = "_corrupt_record"


def read_files(
    session: SparkSession, path: str, *, kind: str | None, options: Mapping[str, str]
) -> DataFrame:
    """Files of any format that Spark knows; without one, that of their names."""
    kind = kind or format_of(path)
    given = {**_OPTIONS.get(kind, {}), **options}
    reader = session.read.format(kind).options(**given)
    frame = _told(lambda: reader.load(_absolute(path)), f"'{path}' can not be read as {kind}")
    if frame.columns == [_CORRUPT]:
        raise UnreadableData(
            f"'{path}' holds no JSON objects, one on each line. If it is one document over several "
            "lines, read it with the option multiLine=true."
        )
    return frame


def read_table(session: SparkSession, name: str) -> DataFrame:
    return _told(lambda: session.table(name), f"Table '{name}' can not be read")


def rows_where(frame: DataFrame, condition: str) -> DataFrame:
    # Here: what can be said of files before needs no Spark.
    from dq_dagster.spark.ansi import under_ansi

    rows = under_ansi(frame)
    return _told(lambda: rows.where(condition), f"'{condition}' can not be used as a row filter")


def format_of(path: str) -> str:
    """The format that the names of files speak of; parquet, as Spark has it, if they do not."""
    named = Path(path.rstrip("/"))
    if (named / "_delta_log").is_dir():
        return "delta"
    inside = sorted(named.rglob("*")) if named.is_dir() else []
    for file in (named, *inside):
        # Names such as orders.csv.gz are of the format before the last suffix.
        kinds = [_FORMATS[end.lower()] for end in file.suffixes if end.lower() in _FORMATS]
        if kinds:
            return kinds[-1]
    return "parquet"


def require_existing(path: str) -> None:
    """Says so if a local path does not exist, before Spark is started to find that out."""
    if "://" in path or any(sign in path for sign in "*?[{"):
        return
    if not Path(path).exists():
        raise UnreadableData(f"'{path}' does not exist.")


def _absolute(path: str) -> str:
    # Python and the JVM may have different working directories.
    return path if "://" in path else str(Path(path).absolute())


def _told(read: Callable[[], DataFrame], what: str) -> DataFrame:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    from dq_dagster.spark.failures import first_line, without_quoting_rows

    try:
        with without_quoting_rows():
            frame = read()
            # Spark Connect finds out when the schema is asked for.
            _ = frame.schema
    except (PySparkException, Py4JError) as error:
        raise UnreadableData(f"{what}: {first_line(error)}") from None
    return frame
