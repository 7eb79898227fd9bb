"""Partitions as folders of files: one frame of many, and one write into many."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.spark.frames.columns import identifier, text_literal
from dq_dagster.spark.frames.divided import AlikePartitions, Divided
from dq_dagster.spark.frames.frames import HIDDEN_KEY, require_distinct
from dq_dagster.storage.folders import PARTITION_COLUMN, StoredPartition, folder_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Those whose files may lie anywhere, and whose schema Spark takes from outside.
FILE_FORMATS = frozenset({"parquet", "orc", "avro", "json", "csv", "text", "xml"})
# Where Spark looks for its own names of the types.
_SPARK_SCHEMA = "org.apache.spark.sql.parquet.row.metadata"
# The folder of the partition, and below it perhaps that of an attempt.
_NAME_IN_PATH = f".*/{PARTITION_COLUMN}=([^/]*)/(?:[^/]*/)?[^/]*$"


def schema_text(frame: DataFrame) -> str:
    """The schema as JSON: what a stored partition remembers of its columns."""
    return frame.schema.json()


def write_no_rows(schema: T.StructType, folder: Path) -> None:
    """A Parquet file without rows, and without a job of Spark's: who reads it finds the columns."""
    import pyarrow as pa
    from pyarrow import parquet
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_schema

    try:
        columns = to_arrow_schema(schema, timezone="UTC").with_metadata(
            {_SPARK_SCHEMA: schema.json()}
        )
        parquet.write_table(columns.empty_table(), folder / "part-00000.parquet")
    except (PySparkException, pa.ArrowException):
        # A type that Arrow does not know: without a file the partition has no rows either.
        return


def load_whole(session: SparkSession, kind: str, stored: StoredPartition) -> DataFrame:
    """Data that is not partitioned, with the schema that it was written with."""
    reader = session.read.format(kind)
    if kind in FILE_FORMATS:
        reader = reader.schema(_schema(session, stored.schema))
    return reader.load(stored.place)


def load_divided(
    session: SparkSession, kind: str, root: str, partitions: Mapping[str, StoredPartition]
) -> Divided:
    """All partitions as one frame with all their columns, and with the partition of each row.

    Spark gets the schema that each was written with, so it opens no file to find out, and a
    column that only some of them have is there, with NULL in the others. Partitions of the same
    schema are read together.
    """
    if kind not in FILE_FORMATS:
        return Divided.of_frames(_load_apart(session, kind, partitions))
    groups: dict[str, dict[str, str]] = {}
    for key, one in partitions.items():
        groups.setdefault(one.schema, {})[key] = one.place
    return Divided.of_kinds(
        [
            AlikePartitions(
                frozenset(places), _load_alike(session, kind, root, _schema(session, text), places)
            )
            for text, places in groups.items()
        ]
    )


def _load_apart(
    session: SparkSession, kind: str, partitions: Mapping[str, StoredPartition]
) -> dict[str, DataFrame]:
    """Those of the partitions that are there."""
    found = {}
    for key, one in partitions.items():
        try:
            frame = session.read.format(kind).load(one.place)
            # Connect finds out here whether there is anything to read.
            _ = frame.schema
        except AnalysisException as error:
            if not is_missing(error):
                raise
        else:
            found[key] = frame
    return found


def is_missing(error: AnalysisException) -> bool:
    """Whether Spark did not find a path."""
    return error.getCondition() == "PATH_NOT_FOUND"


def _load_alike(
    session: SparkSession, kind: str, root: str, schema: T.StructType, places: Mapping[str, str]
) -> DataFrame:
    """Partitions of one schema. Spark takes their names from the folders, once for each file."""
    reader = session.read.format(kind)
    paths = list(places.values())
    taken = PARTITION_COLUMN in {field.name.lower() for field in schema.fields}
    # A column of that name must not be hidden by that of the folders, and text has one column only,
    # also if there is no file yet that would tell Spark that the other one comes from folders.
    if taken or kind == "text":
        frame = reader.schema(schema).load(paths)
        # Not by its name alone: the data may have a column that is called like this, too.
        path = frame.metadataColumn("_metadata").getField("file_path")
        named_rows = frame.withColumn(HIDDEN_KEY, F.regexp_extract(path, _NAME_IN_PATH, 1))
        return named_rows.withColumn(HIDDEN_KEY, F.expr(partition_of(HIDDEN_KEY, places)))
    # As text: Spark would make the number 1 of the key 01.
    named = T.StructType([*schema.fields, T.StructField(PARTITION_COLUMN, T.StringType())])
    frame = reader.option("basePath", root).schema(named).load(paths)
    key = partition_of(PARTITION_COLUMN, places)
    return frame.withColumn(HIDDEN_KEY, F.expr(key)).drop(PARTITION_COLUMN)


def _schema(session: SparkSession, text: str) -> T.StructType:
    schema = T.StructType.fromJson(json.loads(text))
    require_distinct(session, schema)
    return schema


# The name of no key: a mark is followed by the digits of a character.
OUTSIDE = "!!"


@dataclass(frozen=True, slots=True)
class Outsiders:
    """Rows that belong to none of the partitions: how many, and keys they have instead."""

    rows: int
    examples: tuple[str, ...]


def with_folder_names(
    frame: DataFrame, key: str, partitions: Sequence[str], column: str
) -> DataFrame:
    """The rows with the folder name of their partition, or ``OUTSIDE``, in a further column."""
    helper = _unused("dq_key", [*frame.columns, column])
    keyed = frame.selectExpr("*", f"{key} AS {identifier(helper)}")
    named = _name(identifier(helper), partitions)
    return keyed.selectExpr("*", f"{named} AS {identifier(column)}").drop(helper)


def partition_of(name: str, partitions: Iterable[str]) -> str:
    """The SQL of the partition whose folder name this is; a plain name is the partition itself."""
    odd = {folder_name(key): key for key in partitions if folder_name(key) != key}
    if not odd:
        return name
    table = ", ".join(f"{text_literal(each)}, {text_literal(key)}" for each, key in odd.items())
    return f"coalesce(element_at(map({table}), {name}), {name})"


def unused_column(frame: DataFrame, name: str) -> str:
    """A name like this one that the frame has no column of."""
    return _unused(name, frame.columns)


def outsiders(frame: DataFrame, key: str) -> Outsiders:
    """About rows that all are outside."""
    row = frame.selectExpr(f"{key} AS k").agg(*_about_outsiders(F.col("k"))).collect()[0]
    return _outsiders(row)


def survey(frame: DataFrame, key: str, partitions: Sequence[str]) -> tuple[set[str], Outsiders]:
    """The partitions that have rows, and those rows that have none of them."""
    names = {folder_name(partition): partition for partition in partitions}
    keyed = frame.selectExpr(f"{key} AS k").selectExpr("k", f"{_name('k', partitions)} AS name")
    rows = keyed.groupBy("name").agg(*_about_outsiders(F.col("k"))).collect()
    outside = [_outsiders(row) for row in rows if row["name"] == OUTSIDE]
    found = {names[row["name"]] for row in rows if row["name"] != OUTSIDE}
    return found, outside[0] if outside else Outsiders(0, ())


def _about_outsiders(key: Any) -> list[Any]:
    return [F.count("*").alias("n"), F.min(key).alias("first"), F.max(key).alias("last")]


def _outsiders(row: Any) -> Outsiders:
    seen = dict.fromkeys(key for key in (row["first"], row["last"]) if key is not None)
    return Outsiders(row["n"], tuple(seen))


def _name(key: str, partitions: Sequence[str]) -> str:
    """A set of plain keys is looked up by hash; only odd ones need a table of their names."""
    names = {partition: folder_name(partition) for partition in partitions}
    plain = [text_literal(partition) for partition, name in names.items() if partition == name]
    odd = {
        text_literal(partition): text_literal(name)
        for partition, name in names.items()
        if partition != name
    }
    cases = ""
    if plain:
        cases += f" WHEN {key} IN ({', '.join(plain)}) THEN {key}"
    if odd:
        table = ", ".join(f"{partition}, {name}" for partition, name in odd.items())
        cases += f" WHEN {key} IN ({', '.join(odd)}) THEN element_at(map({table}), {key})"
    return f"CASE{cases} ELSE {text_literal(OUTSIDE)} END"


def _unused(name: str, taken: Sequence[str]) -> str:
    known = {each.lower() for each in taken}
    while name.lower() in known:
        name += "_"
    return name
