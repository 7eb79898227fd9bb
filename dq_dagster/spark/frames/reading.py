"""Data from files and tables, with plain words where it cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import UnreadableData

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def absolute(path: str) -> str:
    """A local path from the root: Python and the JVM may have different working directories."""
    return path if is_remote(path) else str(Path(path).absolute())


def is_remote(path: str) -> bool:
    """Whether only Spark can reach it."""
    return "://" in path


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

# What Spark takes files for that nobody says anything about.
_DEFAULT = "parquet"

_HINTS = {"UNABLE_TO_INFER_SCHEMA": "there is no file with content in it"}

# The one column that Spark finds in a JSON file where no line is an object.
_CORRUPT = "_corrupt_record"


def read_files(
    session: SparkSession, path: str, *, kind: str | None, options: Mapping[str, str]
) -> DataFrame:
    """Files of any format that Spark knows; without one, that of their names."""
    known = kind or format_of(path)
    kind = known or _DEFAULT
    given = {**_OPTIONS.get(kind, {}), **options}
    reader = session.read.format(kind).options(**given)
    guess = "" if known else ", the default, since its name does not say a format"
    what = f"'{path}' cannot be read as {kind}{guess}"
    frame = explained(lambda: reader.load(_absolute(path)), what)
    if frame.columns == [_CORRUPT]:
        raise UnreadableData(
            f"'{path}' holds no JSON objects, one on each line. If it is one document over several "
            "lines, read it with the option multiLine=true."
        )
    return frame


def read_table(session: SparkSession, name: str) -> DataFrame:
    return explained(lambda: session.table(name), f"Table '{name}' cannot be read")


def any_data(data: Any) -> DataFrame:
    """A DataFrame of Spark or pandas as it is, or what a path, or the name of a table, stands for.

    A text is a path if there is a slash in it, or something to read at that place. What says by
    itself where data lies (``dq.Table``, ``dq.Files``, ``dq.Reference``) is read there.
    """
    from dq_dagster.spark.frames.frames import as_spark, is_frame
    from dq_dagster.spark.session.session import current_session

    # Of a frame, any name may be one of its columns.
    place = None if is_frame(data) else _place(data)
    if place is None:
        return as_spark(data)
    table, path, kind, options = place
    if table is not None:
        return read_table(current_session(), table)
    require_existing(path)
    return read_files(current_session(), path, kind=kind, options=options)


def require_place(text: str) -> None:
    """Says so if a text is the path of files that are not there, before Spark is started."""
    place = _place(text)
    if place is not None and place[0] is None:
        require_existing(place[1])


def _place(data: Any) -> tuple[str | None, str, str | None, Mapping[str, str]] | None:
    """The table, or else the path, the format and the options of files; None if it is no place."""
    if isinstance(data, Path):
        return None, str(data), None, {}
    if isinstance(data, str):
        is_path = is_remote(data) or "/" in data or "\\" in data or Path(data).exists()
        return (None, data, None, {}) if is_path else (data, "", None, {})
    table = getattr(data, "table", None) or getattr(data, "name", None)
    path = getattr(data, "files", None) or getattr(data, "path", None)
    kind, options = getattr(data, "format", None), getattr(data, "options", None)
    if isinstance(kind, str) and isinstance(options, Mapping) and isinstance(path, str):
        return None, path, kind, options
    reads = hasattr(data, "required_resource_keys") or hasattr(data, "dataset")
    return (table, "", None, {}) if reads and isinstance(table, str) else None


def few_rows(
    frame: DataFrame, names: Sequence[str], *, most_rows: int, most_characters: int
) -> Sequence[Mapping[str, Any]] | str:
    """The rows of a small table by these names of its columns, or why it is none.

    Times come as texts with their zone: Python would shift them into its own.
    """
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    if frame.isStreaming:
        return "it is a stream, which never has all of its rows."
    renamed = frame.toDF(*(f"c{n}" for n in range(len(names))))
    size = renamed.selectExpr(
        "count(1) AS rows", "sum(length(to_json(struct(*)))) AS characters"
    ).collect()[0]
    for noun, most in (("rows", most_rows), ("characters", most_characters)):
        if (size[noun] or 0) > most:
            return f"it has {size[noun]:,} {noun}; at most {most:,} are read."
    shown = [
        F.date_format(field.name, "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX").alias(field.name)
        if isinstance(field.dataType, T.TimestampType)
        else F.to_json(field.name).alias(field.name)
        if isinstance(field.dataType, T.VariantType)
        else F.col(field.name)
        for field in renamed.schema.fields
    ]
    rows = renamed.select(*shown).collect()
    return [dict(zip(names, tuple(row), strict=True)) for row in rows]


def rows_where(frame: DataFrame, condition: str) -> DataFrame:
    # Here: what can be said of files before needs no Spark.
    from dq_dagster.spark.frames.ansi import under_ansi

    rows = under_ansi(frame)
    return explained(lambda: rows.where(condition), f"'{condition}' cannot be used as a row filter")


def require_expression(frame: DataFrame, sql: str, what: str) -> None:
    """Says so if an expression over a frame's columns cannot be computed. Reads no data."""
    explained(lambda: frame.selectExpr(sql), f"{what}, is neither a column nor an SQL expression")


def format_of(path: str) -> str | None:
    """The format that the names of files speak of; None if they do not."""
    named = Path(path.rstrip("/"))
    if (named / "_delta_log").is_dir():
        return "delta"
    inside = sorted(named.rglob("*")) if named.is_dir() else []
    for file in (named, *inside):
        # Names such as orders.csv.gz are of the format before the last suffix.
        kinds = [_FORMATS[end.lower()] for end in file.suffixes if end.lower() in _FORMATS]
        if kinds:
            return kinds[-1]
    return None


def require_existing(path: str) -> None:
    """Says so if there is nothing at a local path, before Spark is started to find that out."""
    if "://" in path or any(sign in path for sign in "*?[{"):
        return
    try:
        if not path.strip() or not Path(path).exists():
            raise UnreadableData(f"'{path}' does not exist.")
        if Path(path).is_dir() and not any(map(_is_data, Path(path).iterdir())):
            raise UnreadableData(f"'{path}' is a folder without files.")
    except OSError as error:
        raise UnreadableData(f"'{path}' cannot be read: {error.strerror}.") from None


def _is_data(file: Path) -> bool:
    # Spark does not see any others.
    return not file.name.startswith((".", "_")) or file.name == "_delta_log"


def _absolute(path: str) -> str:
    # Python and the JVM may have different working directories.
    return path if "://" in path else str(Path(path).absolute())


def explained(read: Callable[[], DataFrame], what: str) -> DataFrame:
    """A frame whose columns Spark knows, or UnreadableData that says what it says."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    from dq_dagster.spark.frames.failures import condition_of, first_line, without_quoting_rows

    try:
        with without_quoting_rows():
            frame = read()
            # Spark Connect finds out when the schema is asked for.
            _ = frame.schema
    except (PySparkException, Py4JError) as error:
        hint = _HINTS.get(condition_of(error)) or first_line(error)
        raise UnreadableData(f"{what}: {hint.removesuffix('.')}.") from None
    return frame
